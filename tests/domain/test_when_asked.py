"""What a question asks about time."""

from __future__ import annotations

import pytest

from mnemon.domain.when import Order, Relative, preference, relative


@pytest.mark.parametrize(
    ("question", "prefers", "asks"),
    [
        ("What is my most recent address?", "latest", None),
        ("What's the latest on the kitchen?", "latest", None),
        ("Where do I work now?", "newer", None),
        ("What car am I currently driving?", "newer", None),
        ("What was the last film I saw?", "latest", None),
        ("When did I last see the dentist?", "latest", "moment"),
        ("What did Ana cook recently?", "newer", None),
        ("How much do I weigh at the moment?", "newer", None),
        ("How long have I had my current phone?", "newer", "duration"),
        ("Was ist meine aktuelle Adresse? Wo wohne ich jetzt?", "newer", None),
        ("What did I use to cook? What was the original plan?", "older", None),
        ("What happened the last time I dropped my phone?", "latest", None),
        ("What was last Friday's plan?", None, None),
        ("When did I first meet Omar?", "earliest", "moment"),
        ("What was my first job?", "earliest", None),
        ("Where did I originally want to go?", "earliest", None),
        ("What did I use to cook? What did I initially plan?", "earliest", None),
        ("Which came first, the cat or the dog?", None, "order"),
        ("Which trip did I take first, Rome or Oslo?", None, "order"),
        ("Did I buy the bike before or after the car?", None, "order"),
        ("War ich zuerst in Rom oder in Oslo?", None, "order"),
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
    "question",
    [
        "When did I last see the dentist?",
        "When was the last time I went climbing?",
        "What was the last film I saw?",
        "How fast was my last 5 km run?",
        "What were the last two films I saw?",
        "Where did I last park the car?",
        "Who did I last talk to about the lease?",
        "When was Rex last at the vet?",
        "When have I last been to Rome?",
        "What is my newest bike?",
        "What did I most recently cook?",
        "Wann war ich das letzte Mal beim Zahnarzt?",
        "Quand suis-je allé chez le dentiste la dernière fois ?",
        "¿Cuándo fue la última vez que fui al dentista?",
        "我最近一次看牙医是什么时候？",
        "我上次去北京是什么时候",
        "最後に歯医者に行ったのはいつ？",
        "마지막으로 치과에 간 게 언제야?",
        "Anna's last message",
        "What did we last decide about the tiles?",
    ],
)
def test_the_latest_of_something_is_asked_for_in_many_ways(question):
    assert preference(question).prefers == "latest"


@pytest.mark.parametrize(
    "question",
    [
        "When did I first meet Omar?",
        "What was my first job?",
        "What was the first thing I cooked?",
        "Who was the first person I met in Oslo?",
        "How long did my first 5 km run take?",
        "How much did I weigh at first?",
        "What did I originally want?",
        "What was our first idea?",
        "Wann war ich das erste Mal in Rom?",
        "¿Cuándo fue la primera vez que vi el mar?",
        "我第一次去北京是什么时候",
        "初めて富士山に登ったのはいつ？",
        "제주도에 처음 간 게 언제야?",
    ],
)
def test_the_first_of_something_is_asked_for_in_many_ways(question):
    assert preference(question).prefers == "earliest"


@pytest.mark.parametrize(
    "question",
    [
        "What is my first name?",
        "What is my last name?",
        "Where did I do the first aid course?",
        "What did I eat last week?",
        "What did I do in the last two weeks?",
        "What happened over the last few days?",
        "Was it love at first sight?",
        "Did we fly first class?",
        "Did I watch The Last of Us?",
        "Do I want a lasting friendship?",
        "How long did the battery last?",
        "How long did my phone last on a charge?",
        "Did the trip last long?",
        "How long does milk last?",
        "Who lives on First Avenue?",
        "What did I read in the first half of May?",
        "Which was the last straw?",
        "Did we win first place?",
        "What's my first language?",
        "What do I do first thing in the morning?",
        "In the first place, do I like tea?",
        "What did my first-born say?",
        "What did I do in the first two weeks of May?",
        "What first-hand experience do I have?",
        "Is my last will signed?",
        "What did I do on the last day of May?",
        "Do I have a first edition of Dune?",
        "What did the First Lady wear?",
        "at last, what is my address",
    ],
)
def test_first_and_last_may_be_no_order(question):
    assert preference(question).prefers is None


@pytest.mark.parametrize(
    ("question", "event", "away"),
    [
        ("What did I buy two weeks before the wedding?", "the wedding", (11, 17)),
        ("What did I do the week after my birthday?", "my birthday", (1, 7)),
        ("Where was I the day before I had surgery?", "I had surgery", (1, 1)),
        ("Where did I live a year after the divorce?", "the divorce", (305, 425)),
        ("How many days before the exam did I fall ill?", "the exam", None),
        ("Where did I live before the move?", "the move", None),
        ("What did I sing during the two days of the fair?", "the two days of the fair", None),
    ],
)
def test_a_question_may_say_how_far_from_an_event_it_looks(question, event, away):
    found = relative(question)
    assert (found.event, found.away) == (event, away)


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
