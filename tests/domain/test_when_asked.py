"""What a question asks about time."""

from __future__ import annotations

import pytest

from mnemon.domain.when import Order, Relative, preference, relative


@pytest.mark.parametrize(
    ("question", "prefers", "asks"),
    [
        ("What is my most recent address?", "latest", None),
        ("What's the latest on the kitchen?", "latest", None),
        ("Where do I work now?", "latest", None),
        ("What car am I currently driving?", "latest", None),
        ("What was the last film I saw?", "latest", None),
        ("When did I last see the dentist?", "latest", "moment"),
        ("What did Ana cook recently?", "latest", None),
        ("How much do I weigh at the moment?", "latest", None),
        ("How long have I had my current phone?", "latest", "duration"),
        ("Was ist meine aktuelle Adresse? Wo wohne ich jetzt?", "latest", None),
        ("When did I first meet Omar?", "earliest", "moment"),
        ("What was my first job?", "earliest", None),
        ("Where did I originally want to go?", "earliest", None),
        ("What did I use to cook? What did I initially plan?", "earliest", None),
        ("Which came first, the cat or the dog?", None, "order"),
        ("Which trip did I take first, Rome or Oslo?", None, "order"),
        ("Did I buy the bike before or after the car?", None, "order"),
        ("In what order did I visit the three cities?", None, "order"),
        ("Who arrived earlier, Tom or Ina?", None, "order"),
        ("List my trips from earliest to latest", None, "order"),
        ("How long did the repair take?", None, "duration"),
        ("How many days passed between the two races?", None, "duration"),
        ("How many weeks did I spend in Kyoto?", None, "duration"),
        ("Wie lange war ich krank?", None, "duration"),
        ("When is the wedding?", None, "moment"),
        ("Do you know when Lena moves?", None, "moment"),
        ("What date did I sign the lease?", None, "moment"),
        ("Which month did we meet in?", None, "moment"),
        ("On what day does the course start?", None, "moment"),
        ("How long ago did I stop smoking?", None, "moment"),
        ("How many months ago was the flood?", None, "moment"),
        ("Since when do I know Pavel?", None, "moment"),
        ("Wann habe ich Geburtstag?", None, "moment"),
        ("Quand est le mariage?", None, "moment"),
        ("What did I eat last week?", None, None),
        ("What did I eat last Friday?", None, None),
        ("What is my first name?", None, None),
        ("First of all, do I like tea?", None, None),
        ("Who was there when it rained?", None, None),
        ("When I was a child, what did I want to be?", None, None),
        ("What did I buy on my first of many, many... no, where do I live?", "earliest", None),
        ("What did I get at the beginning of May?", None, None),
        ("Was my first order late?", "earliest", None),
        ("What time zone am I in?", None, None),
        ("How many days a week do I train?", None, None),
        ("How many cats do I have?", None, None),
        ("What is my favourite colour?", None, None),
        ("", None, None),
    ],
)
def test_a_question_prefers_an_end_of_time_and_asks_about_it(question, prefers, asks):
    assert preference(question) == Order(prefers, asks)


@pytest.mark.parametrize(
    ("question", "direction", "event"),
    [
        ("Where did I live before the move?", "before", "the move"),
        ("What did we do after the wedding?", "after", "the wedding"),
        ("After the wedding, where did we go?", "after", "the wedding"),
        ("What did I drive before I bought the van?", "before", "I bought the van"),
        ("How many flats did I see before signing the lease in Graz?", "before", "signing the lease in Graz"),
        ("What have I read since the surgery?", "after", "the surgery"),
        ("What did Mia sing during the recital?", "during", "the recital"),
        ("What did he cook while I was away?", "during", "I was away"),
        ("How many days before my exam did I fall ill?", "before", "my exam"),
        ("Where was I on the day before I had surgery?", "before", "I had surgery"),
        ("What did I do following the flood, and why?", "after", "the flood"),
        ("What did I earn prior to the promotion?", "before", "the promotion"),
        ("What did I do after my birthday on 3 March?", "after", "my birthday on 3 March"),
        ("What ramen did I eat when I was in Kyoto?", "during", "I was in Kyoto"),
        ("When we lived in Graz, who was our neighbour?", "during", "we lived in Graz"),
        ("What have I learned since I started at Acme?", "after", "I started at Acme"),
        ("Wo wohnte ich vor dem Umzug?", "before", "dem Umzug"),
        ("Was tat ich nach der Hochzeit?", "after", "der Hochzeit"),
        ("Qu'ai-je fait après le mariage ?", "after", "le mariage"),
        ("¿Dónde vivía antes de la mudanza?", "before", "la mudanza"),
    ],
)
def test_a_question_may_look_before_or_after_an_event(question, direction, event):
    assert relative(question) == Relative(direction, event)


@pytest.mark.parametrize(
    "question",
    [
        "What did I do before June?",
        "What did I learn after 2019?",
        "What have I eaten since last week?",
        "Where was I the day before yesterday?",
        "What happened during the summer?",
        "Did I buy it before or after the car?",
        "After all, what do I like?",
        "Who did I name the dog after?",
        "Who looks after the cat?",
        "Have I been there before?",
        "What happened after that?",
        "When did I move?",
        "What do I do when I am sad?",
        "What music do I listen to during my yoga practice?",
        "What is my name?",
        "",
    ],
)
def test_a_date_or_an_idiom_is_no_event(question):
    assert relative(question) is None
