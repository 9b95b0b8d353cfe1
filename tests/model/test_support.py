"""What supports a statement: a sentence that says it of the same somebody and time, and in earnest."""

from __future__ import annotations

import pytest

from mnemon.adapters.model.support import supports


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("My boss lives in Rome", "ann lives in Rome"),
        ("My boss is nice and lives in Rome", "ann lives in Rome"),
        ("My friend Tom has diabetes", "ann has diabetes"),
        ("I like jazz. My sister plays the violin.", "ann plays the violin"),
        ("My dog died", "ann died"),
        ("My mom was interested in art", "ann was interested in art"),
        ("My neighbour's dog barks at night", "ann has a dog"),
        ("Tom is allergic to bees", "ann is allergic to bees"),
        ("He works at Amazon now", "ann works at Amazon"),
        ("I met Tom, who lives in Rome", "ann lives in Rome"),
        ("You live in Bonn, not me", "ann lives in Bonn"),
        ("My boss lives in Rome", "ann's brother lives in Rome"),
        ("My brother is nice. My boss lives in Rome.", "ann's brother lives in Rome"),
        ("I live in Rome", "ann's boss lives in Rome"),
    ],
)
def test_what_is_said_of_another_supports_nothing_about_the_peer(said, claimed):
    assert not supports([said], claimed, "ann")


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("I used to live in Rome", "ann lives in Rome"),
        ("I worked at Google for five years", "ann works at Google"),
        ("I was allergic to milk as a child", "ann is allergic to milk"),
        ("I had a dog as a kid", "ann has a dog"),
        ("We were living in Rome back then", "ann lives in Rome"),
        ("I will live in Oslo", "ann lives in Oslo"),
        ("I'm going to study law", "ann studies law"),
        ("I want to live in Rome", "ann lives in Rome"),
        ("I want to live in Rome", "ann lived in Rome"),
        ("I'm hoping to work at Google", "ann works at Google"),
        ("I refuse to work at Amazon", "ann works at Amazon"),
        ("I almost bought a Tesla", "ann bought a Tesla"),
        ("I live in Lisbon", "ann used to live in Lisbon"),
        ("I live in Lisbon", "ann formerly lives in Lisbon"),
    ],
)
def test_what_was_will_be_or_is_wished_is_not_what_is(said, claimed):
    assert not supports([said], claimed, "ann")


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("She told me: I work at Amazon", "ann works at Amazon"),
        ('My brother said "I live in Madrid".', "ann lives in Madrid"),
        ("My boss thinks I'm lazy", "ann is lazy"),
        ("I live in Bern, just kidding", "ann lives in Bern"),
        ("In the game I'm a wizard", "ann is a wizard"),
        ("If I won the lottery, I live in Monaco", "ann lives in Monaco"),
    ],
)
def test_what_another_says_or_nobody_means_supports_nothing(said, claimed):
    assert not supports([said], claimed, "ann")


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("我不住在北京", "ann 住在北京"),
        ("我没有狗", "ann 有狗"),
        ("私はパリに住んでいません", "ann パリに住んでいます"),
        ("나는 서울에 살지 않아요", "ann 서울에 살아요"),
        ("Ich wohne nicht in Bonn", "ann wohne in Bonn"),
        ("Je n'habite pas Lyon", "ann habite Lyon"),
        ("я не живу в Москве", "ann живу в Москве"),
        ("I gave up smoking", "ann smokes, smoking"),
    ],
)
def test_a_denial_is_seen_in_other_languages(said, claimed):
    assert not supports([said], claimed, "ann")


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("My boss gave me a raise last week", "ann got a raise from a boss"),
        ("My mom lives in Rome", "ann's mother lives in Rome"),
        ("My dog Rex died in May", "ann's dog Rex died in May"),
        ("My son plays football", "ann has a son who plays football"),
        ("My brother Tom is great. He lives in Oslo.", "ann's brother Tom lives in Oslo"),
        ("I met Tom, who lives in Rome", "ann met Tom, who lives in Rome"),
        ("Tom and I live in Rome", "ann lives in Rome with Tom"),
        ("My wife and I live in Porto", "ann lives in Porto with a wife"),
        ("My boss lives in Rome. I live in lovely old Rome too.", "ann lives in Rome"),
        ("Rome is where I live", "ann lives in Rome"),
        ("Just got some new shoes, too!", "ann just got some new shoes"),
        ("You know, I live in Bonn", "ann lives in Bonn"),
        ("They diagnosed me with asthma", "ann was diagnosed with asthma"),
        ("Mom of two, works at Google", "ann works at Google"),
        ("My doctor says I'm allergic to latex", "ann is allergic to latex"),
        ("I told Tom that I live in Rome", "ann lives in Rome"),
    ],
)
def test_what_the_peer_has_a_part_in_is_supported(said, claimed):
    assert supports([said], claimed, "ann")


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("I've been living in Rome for ten years", "ann lives in Rome"),
        ("I've lived in Rome since 2010", "ann lives in Rome"),
        ("I used to live in Rome", "ann used to live in Rome"),
        ("I lived in Rome as a kid", "ann lived in Rome as a kid"),
        ("I'll fly to Oslo tomorrow", "ann flies to Oslo tomorrow"),
        ("I want to learn Spanish", "ann wants to learn Spanish"),
        ("I refuse to work at Amazon", "ann refuses to work at Amazon"),
        ("I was born in Rome", "ann was born in Rome"),
        ("I was diagnosed with diabetes", "ann is diagnosed with diabetes"),
        ("I started working at Google in May", "ann works at Google"),
        ("I loved the food in Lisbon", "ann loves the food in Lisbon"),
        ("I wanted to ask about a trip to Oslo", "ann wants to ask about a trip to Oslo"),
        ("I need to take insulin daily", "ann takes insulin daily"),
        ("If it helps, I'm vegan", "ann is vegan"),
        ("Could you remember that I'm allergic to nuts", "ann is allergic to nuts"),
        ("I used to smoke but quit in 2019", "ann quit smoking in 2019"),
        ("我不吃肉", "ann 不吃肉"),
        ("北京不错，我住在北京", "ann 住在北京"),
    ],
)
def test_what_is_said_of_the_same_time_in_other_words_is_supported(said, claimed):
    assert supports([said], claimed, "ann")
