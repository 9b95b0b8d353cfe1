"""What is found by words alone: each line by a question that is put otherwise, and not by another.

Through the index that a house has, without embedder, thesaurus and spelling. That a line only holds a
word inside one of its words, or is among the newest, does not count.
"""

from __future__ import annotations

from itertools import count

import pytest

from gate.world import World
from souvenance.adapters.index.ranked import RankedIndex

EMOJI = [
    ("pizza🍕night", "🍕", "🍣"),
    ("Thumbs 👍🏽 to that", "👍", "👎"),
    ("Thumbs 👍 to that", "👍🏿", "👎🏿"),
    ("Our office 👩‍💻", "💻", "🖨"),
    ("She 🏃‍♀️ every day", "🏃", "🏊"),
    ("3️⃣ places left", "3", "4"),
]
NAMES_AND_MODELS = [
    ("Bought an iPhone15", "iphone 15", "android 14"),
    ("Bought an iPhone 15", "iPhone15", "Galaxy14"),
    ("bought an iphone15", "iPhone", "Galaxy"),
    ("The PS5 broke", "ps 5", "xbox 4"),
    ("Flight LH454 tomorrow", "LH 454", "BA 455"),
    ("Flight LH 454 tomorrow", "LH454", "BA455"),
    ("Takes vitamin B12", "B-12", "B-6"),
    ("A 100mbps line", "100 mbps", "200 kbps"),
    ("Licence plate B-MW 1234", "BMW1234", "AUDI5678"),
    ("Order #A-1234-B", "A1234B", "A1235B"),
    ("Advice by the WHO", "What did the WHO say?", "What did the UN say?"),
    ("Works in the IT department", "Who is in IT?", "Is it raining?"),
    ("Moved to the US", "U.S.", "U.K."),
    ("An A/B test", "A/B", "C/D"),
    ("Leads R&D", "r&d", "M&A"),
    ("Melanie's cat", "Melanie", "Melvin"),
    ("The O’Briens came", "O'Brien", "O'Neill"),
]
LONG_NUMBERS = [
    ("Ring +49 30 1234567", "+49-30-1234567", "+43-40-7654321"),
    ("Ring +49 30 1234567", "030/1234567", "040/1234568"),
    ("Ring +49 30 1234567", "(030) 123 45 67", "(040) 124 46 68"),
    ("Ring +49 (0)30 123 45 67", "00493012345 67", "00494012345 68"),
    ("Ring (555) 123-4567", "5551234567", "5551234568"),
    ("Ring 555.123.4567", "+1 555 123 4567", "+2 444 124 4568"),
    ("IBAN DE89 3704 0044 0532 0130 00", "DE89370400440532013000", "DE89370400440532013001"),
    ("IBAN DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "AT88 3705 0045 0533 0131 01"),
    ("GB29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819", "GB29NWBK60161331926820"),
    ("Card 4111-1111-1111-1111", "4111 1111 1111 1111", "5222 2222 2222 2222"),
    ("ISBN 978-3-16-148410-0", "9783161484100", "9783161484101"),
]
AMOUNTS = [
    ("Paid 5k", "5000", "500"),
    ("Paid 5,000", "5k", "50k"),
    ("Paid 5 000 euros", "5000", "500"),
    ("Paid 5000", "5\N{NO-BREAK SPACE}000", "7\N{NO-BREAK SPACE}001"),
    ("Paid 1.5k", "1500", "150"),
    ("Zahlte 5.000 Euro", "5000", "500"),
    ("1.234.567 Menschen", "1,234,567", "1,234,568"),
    ("A total of 1 234 567", "1,234,567", "1,234,568"),
    ("Paid $1,200.50", "1200.50", "1200.51"),
    ("Pi is 3.14", "3.14", "314"),
    ("Release v2.3.1", "2.3.1", "2.3.2"),
    ("Born 07.05.1990", "1990-05-07", "1991-06-08"),
    ("At 10:30am", "10:30 am", "11:30 pm"),
    ("１２３ cats", "123", "124"),
]
CODE = [
    ("C++ and Rust", "C++", "C#"),
    ("Uses C#", "C#", "C"),
    ("Runs on .NET", ".net", "dot"),
    ("Uses node.js", "nodejs", "deno"),
    ("Uses NodeJS", "node.js", "deno.ts"),
    ("See src/app/main_loop.py", "main_loop.py", "side_lane.rs"),
    ("See src/app/main_loop.py", "main loop", "side lane"),
    (r"C:\Users\ann\notes.txt", "notes.txt", "todo.md"),
    ("Call get_user_name", "getUserName", "setPeerAge"),
    ("Call getUserName", "get_user_name", "set_peer_age"),
    ("Call getUserName", "user", "peer"),
    ("The kebab-case-name", "kebabCaseName", "snakeTail"),
    ("With the --dry-run flag", "dryrun", "wetrun"),
    ("https://docs.python.org/3/library/re.html", "docs.python.org", "wiki.ruby.net"),
    ("https://docs.python.org/3/library/re.html", "library", "bakery"),
    ("https://shop.example.com/item?id=4711&ref=mail", "4711", "4712"),
    ("Write to bob.smith@corp.io", "bob.smith@corp.io", "ann.jones@firm.de"),
    ("@ann_smith wrote", "ann_smith", "@ben"),
    ("#TeamGreen won", "team green", "side red"),
    ("#TeamGreen won", "#teamgreen", "#teamred"),
    ("My co-workers", "coworker", "cow"),
    ("By e-mail", "email", "letter"),
]
EUROPE = [
    ("The café", "cafe", "caf"),
    ("A naïve plan", "naive", "native"),
    ("Die Straße", "Strasse", "Strand"),
    ("ＡＢＣ lessons", "abc", "abd"),
    ("ΟΔΟΣ ΕΡΜΟΥ", "οδός", "πλατεία"),
    ("ο δρόμος", "ΔΡΟΜΟΣ", "σπίτι"),
    ("Iğdır'a gittim", "ığdır", "Ankara"),
    ("İZMİR güzel", "izmir", "bursa"),
    ("Купила новую книгу", "книга", "кино"),
    ("Живу в Москве", "Москва", "Минск"),
    ("Ходил с собаками", "собака", "кошка"),
]
NEAR_EAST = [
    ("شربت القَهْوَة", "قهوة", "شاي"),
    ("أحب الشاي وقهوة الصباح", "قهوة", "حليب"),
    ("سيارتها جديدة", "السيارات", "البيوت"),
    ("المهندسون هنا", "مهندس", "طبيب"),
    ("هذا بيتي", "البيت", "السيارة"),
    ("שָׁלוֹם עולם", "שלום", "להתראות"),
]
FAR_EAST = [
    ("ฉันชอบกินข้าวผัด", "ข้าวผัด", "ส้มตำ"),
    ("ຂ້ອຍມັກກິນເຂົ້າປຽກ", "ເຂົ້າປຽກ", "ສະບາຍ"),
    ("ខ្ញុំចូលចិត្តអាម៉ុក", "អាម៉ុក", "សៀមរាប"),
    ("ငါမုန့်ဟင်းခါးကြိုက်တယ်", "မုန့်ဟင်းခါး", "ရန်ကုန်"),
    ("去成都旅行", "成都", "北京"),
    ("한국어를 배운다", "한국어", "일본"),
    ("東京タワーへ", "タワー", "京都駅"),
    ("मैं हिन्दी सीखता हूँ", "हिन्दी", "तमिल"),
]


@pytest.fixture(scope="module")
def found():
    """Whether a question finds a line among others by its words."""
    world, compartments = World(index=RankedIndex()), count()
    cap = world.issue()

    def finds(line, question):
        compartment = f"room-{next(compartments)}"
        for text in (line, "lunch then"):
            world.put(cap, text, compartment)
        return any(
            one.text == line and one.score for one in world.get(cap, question, namespaces=[compartment])
        )

    return finds


@pytest.mark.parametrize(
    ("line", "question", "other"),
    EMOJI + NAMES_AND_MODELS + LONG_NUMBERS + AMOUNTS + CODE + EUROPE + NEAR_EAST + FAR_EAST,
)
def test_a_line_is_found_by_what_it_says_however_that_is_written(found, line, question, other):
    assert (found(line, question), found(line, other)) == (True, False)


@pytest.fixture
def world():
    return World(index=RankedIndex())


@pytest.mark.parametrize(
    ("kept", "question", "first"),
    [
        (
            ("Ann: +49 30 1234567", "Ben: +49 30 7654321", "Cem: +49 30 1112223"),
            "Whose number is (030) 765 43 21?",
            "Ben: +49 30 7654321",
        ),
        (
            ("Rent from DE89 3704 0044 0532 0130 00", "Savings at DE02 3704 0044 0532 0131 11"),
            "DE02370400440532013111",
            "Savings at DE02 3704 0044 0532 0131 11",
        ),
        (("Sold the iPhone 15", "Sold the iPhone 14", "15 cats"), "iPhone15", "Sold the iPhone 15"),
        (("Ran the 5K in Bonn", "Paid 5,000 for the run"), "the 5K run", "Ran the 5K in Bonn"),
        (("Tired of it all 🍕", "Long day 😂", "Nice 😂"), "So tired 😂", "Tired of it all 🍕"),
    ],
)
def test_among_what_is_much_alike_the_one_that_is_asked_for_comes_first(world, kept, question, first):
    cap = world.issue()
    for text in sorted(kept, key=lambda text: text != first):
        world.put(cap, text)
        world.clock.advance(seconds=1)
    assert world.get(cap, question)[0].text == first
