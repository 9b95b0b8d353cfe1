"""Phrases that people use for times, and the days they mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from spoken import WEDNESDAY, at, meant

from mnemon.domain.when import spans

HOUR = 3_600_000

DAYS = [
    ("I fixed the tap yesterday", "2026-05-12"),
    ("Today the parcel came", "2026-05-13"),
    ("Tomorrow I see the dentist", "2026-05-14"),
    ("the day before yesterday we had guests", "2026-05-11"),
    ("We leave the day after tomorrow", "2026-05-15"),
    ("earlier today I spilled the tea", "2026-05-13"),
    ("Yesterday's soup was better", "2026-05-12"),
    ("I slept badly last night", "2026-05-12T18:00/2026-05-13T06:00"),
    ("We eat out tonight", "2026-05-13T18:00/2026-05-14T06:00"),
    ("I swam this morning", "2026-05-13T05:00/2026-05-13T12:00"),
    ("This evening there is a concert", "2026-05-13T17:00/2026-05-13"),
    ("Yesterday evening it hailed", "2026-05-12T17:00/2026-05-12"),
    ("Call me tomorrow morning", "2026-05-14T05:00/2026-05-14T12:00"),
    ("I will water them in the morning", "2026-05-14T05:00/2026-05-14T12:00"),
    ("I watered them in the morning", "2026-05-13T05:00/2026-05-13T12:00"),
    ("A fox crossed the road the other day", "2026-05-03/2026-05-12"),
    ("I recently changed jobs", "2026-03-14/2026-05-13"),
]
WEEKDAYS = [
    ("We fly to Lisbon on Saturday, 16 May", "2026-05-16"),
    ("We fly to Lisbon on Saturday", "2026-05-16"),
    ("The plumber came on Monday", "2026-05-11"),
    ("On Monday the plumber came", "2026-05-11"),
    ("I'm seeing Mira on Thursday", "2026-05-14"),
    ("Last Friday I lost my keys", "2026-05-08"),
    ("last Tuesday was long", "2026-05-12"),
    ("last Wednesday we won", "2026-05-06"),
    ("This Friday is a holiday", "2026-05-15"),
    ("this past Sunday we baked", "2026-05-10"),
    ("The exam is this coming Monday", "2026-05-18"),
    ("Next Friday we move", "2026-05-22"),
    ("next Monday is fine", "2026-05-18"),
    ("Friday works for me", "2026-05-15"),
    ("See you on Sat", "2026-05-16"),
    ("Tuesday next week then", "2026-05-19"),
    ("next week on Tuesday", "2026-05-19"),
    ("Friday of last week was wild", "2026-05-08"),
    ("a week from Friday we close", "2026-05-22"),
    ("The gym opens Tuesday morning", "2026-05-19T05:00/2026-05-19T12:00"),
    ("We talked on Sunday night", "2026-05-10T18:00/2026-05-11T06:00"),
    ("two Fridays ago the band played", "2026-05-01"),
    ("The shop is shut from Friday to Monday", "2026-05-15/2026-05-18"),
    ("I have been ill since Monday", "2026-05-11/2026-05-13"),
    ("Please send it by Friday", "2026-05-13/2026-05-15"),
]
WEEKS = [
    ("where am I going this weekend?", "2026-05-16/2026-05-17"),
    ("Last weekend we hiked", "2026-05-09/2026-05-10"),
    ("this past weekend I painted the hall", "2026-05-09/2026-05-10"),
    ("next weekend is free", "2026-05-23/2026-05-24"),
    ("Over the weekend I read two books", "2026-05-09/2026-05-10"),
    ("Any plans for the weekend?", "2026-05-16/2026-05-17"),
    ("the weekend before last it snowed", "2026-05-02/2026-05-03"),
    ("two weekends ago we sailed", "2026-05-02/2026-05-03"),
    ("Last week was slow", "2026-05-04/2026-05-10"),
    ("I'm busy this week", "2026-05-11/2026-05-17"),
    ("Next week I start", "2026-05-18/2026-05-24"),
    ("the week before last I was in Bonn", "2026-04-27/2026-05-03"),
    ("The week after next is quiet", "2026-05-25/2026-05-31"),
    ("the week of May 7 was hard", "2026-05-04/2026-05-10"),
    ("the week of 2023-05-07", "2023-05-01/2023-05-07"),
    ("the weekend of 5 July 2024", "2024-07-06/2024-07-07"),
    ("the last week of August 2023", "2023-08-25/2023-08-31"),
    ("the last two weeks of August 2023", "2023-08-18/2023-08-31"),
    ("the first weekend of August 2023", "2023-08-05/2023-08-06"),
    ("the first Monday of July 2023", "2023-07-03"),
    ("the last Monday of May 2023 was a holiday", "2023-05-29"),
    ("the second Monday in December 2024", "2024-12-09"),
]
DISTANCES = [
    ("Three days ago I quit sugar", "2026-05-10"),
    ("I bought it 10 days ago", "2026-05-03"),
    ("Show 10 days ago", "2026-05-03"),
    ("two weeks ago we adopted a cat", "2026-04-26/2026-05-02"),
    ("It broke a week ago", "2026-05-03/2026-05-09"),
    ("a fortnight ago the roof leaked", "2026-04-26/2026-05-02"),
    ("a couple of days ago it rained", "2026-05-10/2026-05-11"),
    ("a few days ago she called", "2026-05-08/2026-05-11"),
    ("two months ago I moved", "2026-03"),
    ("a month ago we met", "2026-04"),
    ("ten years ago I was in Rome", "2016"),
    ("a few years ago I smoked", "2021/2024"),
    ("half a year ago I began to paint", "2025-11"),
    ("a year and a half ago we married", "2024-11"),
    ("a year ago today we moved in", "2025-05-13"),
    ("two summers ago I broke my leg", "2024-06/2024-08"),
    ("three years back I had a boat", "2023"),
    ("An hour ago the bell rang", "2026-05-13T10:30/2026-05-13T11:30"),
    ("In three days we sail", "2026-05-16"),
    ("In two weeks I will know", "2026-05-24/2026-05-30"),
    ("in a month we open", "2026-06"),
    ("three weeks from now it ends", "2026-05-31/2026-06-06"),
    ("How many films did I see in the last 3 months?", "2026-02-12/2026-05-13"),
    ("I ran a lot over the past two weeks", "2026-04-29/2026-05-13"),
    ("I've felt dizzy for the past week", "2026-05-06/2026-05-13"),
    ("The next few days are full", "2026-05-13/2026-05-18"),
    ("What was I doing this time last year?", "2025-04-28/2025-05-28"),
    ("around the same time last month I was ill", "2026-04-09/2026-04-17"),
]
MONTHS = [
    ("In May we go to Chengdu", "2026-05"),
    ("In May 2022 I changed jobs", "2022-05"),
    ("I started in March", "2026-03"),
    ("I will start in March", "2027-03"),
    ("we met in December", "2025-12"),
    ("October was wet", "2025-10"),
    ("last May I had the flu", "2025-05"),
    ("this December we stay home", "2026-12"),
    ("next May we marry", "2027-05"),
    ("August last year was dry", "2025-08"),
    ("in Jan 2024 the lease began", "2024-01"),
    ("June '19 was the best", "2019-06"),
    ("Last month I paid twice", "2026-04"),
    ("this month is short", "2026-05"),
    ("Next month we renovate", "2026-06"),
    ("early May is lovely", "2026-05-01/2026-05-10"),
    ("in mid-June 2025 it rained", "2025-06-11/2025-06-20"),
    ("late March 2024", "2024-03-22/2024-03-31"),
    ("at the end of May 2025 she left", "2025-05-22/2025-05-31"),
    ("the first half of September 2022", "2022-09-01/2022-09-15"),
    ("the end of the month is near", "2026-05-22/2026-05-31"),
    ("I have lived here since March", "2026-03-01/2026-05-13"),
    ("I must finish before June", "2026-05-13/2026-05-31"),
    ("What did I read before March 2026?", "../2026-02-28"),
    ("What did I learn after March 2026?", "2026-04-01/2026-05-13"),
    ("until August I'm on leave", "2026-05-13/2026-08-31"),
    ("How many cats had I as of July 2026?", "../2026-07-31"),
    ("between May and July 2025 I travelled", "2025-05/2025-07"),
    ("from November to February 2024 it froze", "2023-11/2024-02"),
    ("Closed July-August 2025", "2025-07/2025-08"),
]
DATES = [
    ("On 7 May it began", "2026-05-07"),
    ("May 7th, 2023 is when we met", "2023-05-07"),
    ("7 May 2023 it says", "2023-05-07"),
    ("the 7th of May, 2023", "2023-05-07"),
    ("the third of June 2020", "2020-06-03"),
    ("born on 12 December 1990", "1990-12-12"),
    ("Signed 2023-05-07", "2023-05-07"),
    ("logged 2023-05-07T10:00:00Z", "2023-05-07"),
    ("due 2023/05/07", "2023-05-07"),
    ("paid 5/7/2023", "2023-05-07"),
    ("paid 17/5/2023", "2023-05-17"),
    ("paid 5/17/23", "2023-05-17"),
    ("The fair is on 5/20", "2026-05-20"),
    ("Termin: 07.05.2023", "2023-05-07"),
    ("am 7.5.2023 war das", "2023-05-07"),
    ("Saturday, May 16, we fly", "2026-05-16"),
    ("Sunday, 17 May was cold", "2026-05-17"),
    ("Friday, 16 May was warm", "2025-05-16"),
    ("Trip to Chengdu, May 25-29", "2026-05-25/2026-05-29"),
    ("from 25 to 29 May 2024", "2024-05-25/2024-05-29"),
    ("28 April - 3 May 2024", "2024-04-28/2024-05-03"),
    ("between 3 June and 7 July 2024", "2024-06-03/2024-07-07"),
    ("from 3 December 2024 to 7 January", "2024-12-03/2025-01-07"),
    ("On the 16th we leave", "2026-05-16"),
    ("The rent went up on the 1st", "2026-05-01"),
    ("on the 5th of next month", "2026-06-05"),
    ("Saturday the 16th suits us", "2026-05-16"),
    ("after my birthday on 3 March I slept a week", "2026-03-03/2026-05-13"),
    ("the Sunday before October 25, 2022", "2022-10-23"),
    ("the weekend before 5 July 2023", "2023-07-01/2023-07-02"),
    ("the day after 31 December 2023", "2024-01-01"),
    ("two weeks before 3 July 2023", "2023-06-16/2023-06-22"),
    ("a month after 31 January 2023", "2023-02-13/2023-03-15"),
    ("on the night of 3 June 2024", "2024-06-03T18:00/2024-06-04T06:00"),
]
YEARS = [
    ("In 2022 I married", "2022"),
    ("Last year was better", "2025"),
    ("this year I run", "2026"),
    ("Next year we build", "2027"),
    ("I have had it since 2019", "2019-01-01/2026-05-13"),
    ("from 2015 to 2018 I studied", "2015/2018"),
    ("early 2020 was odd, in mid-2018 it was fine", "2020-01-01/2020-05-01 2018-05-03/2018-08-31"),
    ("in the 90s I had hair", "1990/1999"),
    ("a decade ago there was no bridge", "2014/2018"),
    ("Q3 2023 went well", "2023-07/2023-09"),
    ("earlier this year I fell", "2026-01-01/2026-05-13T12:00"),
]
SEASONS = [
    ("Last summer we camped", "2025-06/2025-08"),
    ("This summer we stay", "2026-06/2026-08"),
    ("in the fall of 2021 we moved", "2021-09/2021-11"),
    ("Summer 2019 was hot", "2019-06/2019-08"),
    ("last winter the pipes froze", "2025-12/2026-02"),
    ("In the spring I planted beans", "2026-03/2026-05"),
    ("Next winter I ski", "2026-12/2027-02"),
    ("We were there at Christmas", "2025-12-24/2025-12-26"),
    ("Christmas 2022 was quiet", "2022-12-24/2022-12-26"),
    ("New Year's Eve was loud", "2025-12-31"),
    ("the day after Christmas 2024", "2024-12-26"),
    ("On Halloween we will dress up", "2026-10-31"),
    ("At Thanksgiving last year I cooked", "2025-11-27"),
    ("I got it on Black Friday 2024", "2024-11-29"),
    ("Mother's Day 2025", "2025-05-11"),
    ("Labor Day 2024", "2024-09-02"),
    ("Memorial Day 2025", "2025-05-26"),
    ("At Easter 2025 we hid eggs", "2025-04-18/2025-04-21"),
    ("the service on Good Friday 2024", "2024-03-29"),
    ("on the 4th of July 2020", "2020-07-04"),
]
OTHER_TONGUES = [
    ("Gestern war ich in Berlin", "2026-05-12"),
    ("Wir fahren übermorgen", "2026-05-15"),
    ("Guten Morgen! Morgen fahre ich weg.", "2026-05-14"),
    ("Letzte Woche war ich krank", "2026-05-04/2026-05-10"),
    ("Nächstes Wochenende feiern wir", "2026-05-23/2026-05-24"),
    ("Vor zwei Wochen waren wir in Rom", "2026-04-26/2026-05-02"),
    ("Am 7. Mai 2023 zogen wir um", "2023-05-07"),
    ("Im Mai 2022 kam Lea", "2022-05"),
    ("Diesen Freitag grillen wir", "2026-05-15"),
    ("Hier soir j'ai lu", "2026-05-12T17:00/2026-05-12"),
    ("Hier nous avons mangé", "2026-05-12"),
    ("La semaine dernière il a plu", "2026-05-04/2026-05-10"),
    ("Il y a trois jours on a dansé", "2026-05-10"),
    ("Lundi prochain je pars", "2026-05-18"),
    ("Le 7 mai 2023 à Lyon", "2023-05-07"),
    ("L'été dernier à Nice", "2025-06/2025-08"),
    ("Ayer fui al cine", "2026-05-12"),
    ("La semana pasada llovió", "2026-05-04/2026-05-10"),
    ("Hace dos semanas compré pan", "2026-04-26/2026-05-02"),
    ("Este fin de semana bailamos", "2026-05-16/2026-05-17"),
    ("El lunes que viene empiezo", "2026-05-18"),
    ("El 7 de mayo de 2023 nació", "2023-05-07"),
    ("En mayo de 2022 fue", "2022-05"),
]
SEVERAL = [
    ("I saw her on 3 June 2024 and again last week", "2024-06-03 2026-05-04/2026-05-10"),
    ("Yesterday I booked the hotel for 7 July", "2026-05-12 2026-07-07"),
    ("First in 2019, then in May 2021, now today", "2019 2021-05 2026-05-13"),
]
PHRASES = [
    *DAYS,
    *WEEKDAYS,
    *WEEKS,
    *DISTANCES,
    *MONTHS,
    *DATES,
    *YEARS,
    *SEASONS,
    *OTHER_TONGUES,
    *SEVERAL,
]


def whole(expected):
    """The notation of the table written out: a month or a year stands for its first and last day."""
    first, _, last = expected.partition("/")
    last = last or first
    if first == ".." or "T" in first or len(first) == 10:
        return expected
    if len(first) == 4:
        return f"{first}-01-01/{last}-12-31"
    year, month = int(last[:4]), int(last[5:7])
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC) - timedelta(days=1)
    return f"{first}-01/{end:%Y-%m-%d}"


@pytest.mark.parametrize(("text", "expected"), PHRASES, ids=[text for text, _ in PHRASES])
def test_a_phrase_means_its_days(text, expected):
    assert meant(text) == [whole(one) for one in expected.split()]


def test_the_table_is_long_enough_to_trust():
    assert len(PHRASES) >= 150


@pytest.mark.parametrize(
    "text",
    [
        "It may rain and we may stay in",
        "May I come in? May you be happy.",
        "This may be the last may bug",
        "They march on; march with us",
        "The march for climate was long",
        "One second please, a second opinion",
        "Leaves fall and I fall asleep",
        "I will, we will, I shall",
        "We met. We had lunch. We sat in the sun.",
        "I sat down and the sun wed the sea",
        "Version 1.2.2023 is out",
        "Upgrade to 3.11.2 or v2.0.2024",
        "Call 555-1234-2023 or 030 12 05 2023",
        "The server at 192.168.20.23 is down",
        "It cost $2023, then 2,000 dollars",
        "He ran 2000 meters and wrote 1984 words",
        "We play cyberpunk 2077 and 2048",
        "Open 24/7, half of 5/7 and 3/4 cup",
        "Every Sunday I run, on Sundays too, Monday mornings as well",
        "I met April and June at the August house",
        "Put mayo on it, mar the wall, eat a Mars bar",
        "2. Mars missions and 3. August Schleicher",
        "The boat on Sun Moon Lake",
        "A Christmas tree, Easter eggs and a Halloween costume",
        "A hot spring and a summer camp",
        "Since the fall of Rome",
        "It feels like yesterday",
        "I finished the book in three days",
        "How many days ago did I run, and how long ago was the race?",
        "I swim three times a week and slept for two weeks",
        "The class has 30 people and 12 chairs",
        "ich bin hier",
        "Le chien a été malade",
        "the last minutes of the match",
        "Room 2023, chapter 7, seat 12",
        "hi",
        "",
    ],
)
def test_what_only_looks_like_a_time_is_none(text):
    assert meant(text) == []


def test_the_phrase_is_given_as_it_stands_in_the_text():
    text = "So: İ moved On MAY 7TH, 2023, or since last Summer"
    found = spans(text, at(WEDNESDAY))
    assert [span.phrase for span in found] == ["MAY 7TH, 2023", "since last Summer"]
    assert all(text[span.position :].startswith(span.phrase) for span in found)


@pytest.mark.parametrize("day", range(11, 18))
def test_this_weekend_is_the_same_on_every_day_of_its_week(day):
    said = datetime(2026, 5, day, 18, 30, tzinfo=UTC)
    assert meant("where am I going this weekend?", said) == ["2026-05-16/2026-05-17"]


@pytest.mark.parametrize("day", range(4, 11))
def test_next_weekend_said_the_week_before_is_that_weekend(day):
    said = datetime(2026, 5, day, 9, tzinfo=UTC)
    assert meant("We fly to Lisbon next weekend", said) == ["2026-05-16/2026-05-17"]


@pytest.mark.parametrize("back", [0, 1, 5, 30, 90, 150])
def test_a_weekday_beside_a_date_without_a_year_finds_the_year(back):
    said = datetime(2026, 5, 15, tzinfo=UTC) - timedelta(days=back)
    assert meant("We fly to Lisbon on Saturday, 16 May", said) == ["2026-05-16"]


def test_a_day_begins_when_the_speakers_clock_says_so():
    late = datetime(2026, 5, 13, 23, 30, tzinfo=UTC)
    [span] = spans("today", at(late), offset=2 * HOUR)
    assert (span.start_ms, span.end_ms) == (
        at(datetime(2026, 5, 13, 22, tzinfo=UTC)),
        at(datetime(2026, 5, 14, 22, tzinfo=UTC)),
    )
    [span] = spans("yesterday", at(late), offset=-5 * HOUR)
    assert span.start_ms == at(datetime(2026, 5, 12, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("surer", "vaguer"),
    [
        ("on 7 May 2023", "on 7 May"),
        ("17/5/2023", "5/7/2023"),
        ("last week", "on Friday"),
        ("on Friday", "a few days ago"),
        ("a few days ago", "recently"),
    ],
)
def test_the_less_a_phrase_settles_the_less_certain_it_is(surer, vaguer):
    [one], [other] = spans(surer, at(WEDNESDAY)), spans(vaguer, at(WEDNESDAY))
    assert one.certainty > other.certainty
