"""Lives as people tell them, in their own way and order, as in `utterances`."""

TELLING_LIVES = [
    # Lives as people tell them, and what only sounds like them.
    ("I'm allergic to mornings.", [("ann is allergic to mornings", None)]),
    ("I work for peanuts.", [("ann works for peanuts", None)]),
    ("My name is on the list.", [("ann's name is on the list", None)]),
    ("My job is killing me.", [("ann's job is killing them", None)]),
    ("I'm engaged in a debate.", [("ann is engaged in a debate", None)]),
    ("I'm married with two kids.", [("ann is married with two kids", "Relationship: married")]),
    ("I prefer not to say.", [("ann prefers not to say", None)]),
    ("I don't eat at night.", [("ann does not eat at night", None)]),
    ("I don't like coffee after dinner.", [("ann does not like coffee after dinner", None)]),
    ("I'm Gen Z.", [("ann is Gen Z", None)]),
    ("My late husband Tom loved fishing.", [("ann's late husband Tom loved fishing", None)]),
    ("My 10 year old son Leo plays chess.", [("ann's 10 year old son Leo plays chess", "Son: Leo")]),
    (
        "I live with my sister Dana in Austin.",
        [
            ("ann lives with their sister Dana in Austin", "Lives in: Austin"),
            ("Dana is ann's sister", "Sister: Dana"),
        ],
    ),
    (
        "I'm travelling with my partner Alex and our dog Biscuit.",
        [
            ("ann is travelling with their partner Alex and their dog Biscuit", "Partner: Alex"),
            ("Biscuit is ann's dog", "Pet: Biscuit (dog)"),
        ],
    ),
    (
        "My name is Robert but everyone calls me Bob.",
        [
            ("ann's name is Robert but everyone calls them Bob", "Name: Robert"),
            ("people call ann Bob", "Goes by: Bob"),
        ],
    ),
    (
        "I'm a freelance illustrator based in Lisbon.",
        [
            ("ann is a freelance illustrator based in Lisbon", "Works as: freelance illustrator"),
            ("ann is based in Lisbon", "Lives in: Lisbon"),
        ],
    ),
    (
        "I was born in 1950 in Glasgow.",
        [("ann was born in 1950 in Glasgow", "Born: 1950"), ("ann was born in Glasgow", "From: Glasgow")],
    ),
    ("I have asthma.", [("ann has asthma", "Health: asthma")]),
    ("I'm diabetic.", [("ann is diabetic", "Health: diabetic")]),
    (
        "We adopted a rescue dog last year, her name is Fado.",
        [
            (
                'ann said: "We adopted a rescue dog last year (2025), her name is Fado"',
                "Pet: Fado (rescue dog)",
            )
        ],
    ),
    ("We got a few fish and had a blast.", [('ann said: "We got a few fish and had a blast"', None)]),
    (
        "My wife Elin and I have three kids: Oskar (9), Maja (6) and Liv (2).",
        [
            (
                "ann and their wife Elin have three kids: Oskar (9), Maja (6) and Liv (2)",
                "Children: three kids, Oskar (9), Maja (6) and Liv (2)",
            ),
            ("Elin is ann's wife", "Wife: Elin"),
        ],
    ),
    ("i have a dog named rex", [("ann has a dog named rex", "Pet: rex (dog)")]),
    ("Remember: I live in Rome.", [("ann lives in Rome", "Lives in: Rome")]),
    ("Sorry, I forgot: I'm allergic to shellfish.", [("ann is allergic to shellfish", "Allergy: shellfish")]),
    ("I quit smoking.", [("ann quit smoking", None)]),
    ("I drive a bus for a living.", [("ann drives a bus for a living", None)]),
    ("I am alergic to peanuts.", [("ann is alergic to peanuts", "Allergy: peanuts")]),
    ("Ich bin allergisch gegen Nüsse.", [('ann said: "Ich bin allergisch gegen Nüsse"', "Allergy: Nüsse")]),
    ("Mein Mann heißt Stefan.", [('ann said: "Mein Mann heißt Stefan"', "Husband: Stefan")]),
    ("Mi esposa se llama Marta.", [('ann said: "Mi esposa se llama Marta"', "Wife: Marta")]),
    (
        "Trabajo como ingeniero en Ford.",
        [('ann said: "Trabajo como ingeniero en Ford"', "Works as: ingeniero")],
    ),
    (
        "Je suis allergique aux arachides.",
        [('ann said: "Je suis allergique aux arachides"', "Allergy: arachides")],
    ),
    (
        "J'ai un chat qui s'appelle Minou.",
        [("ann said: \"J'ai un chat qui s'appelle Minou\"", "Pet: Minou (cat)")],
    ),
    (
        "我叫王伟，我住在上海。",
        [('ann said: "我叫王伟"', "Name: 王伟"), ('ann said: "我住在上海"', "Lives in: 上海")],
    ),
    ("我对花生过敏。", [('ann said: "我对花生过敏"', "Allergy: 花生")]),
    (
        "私の名前は田中です。東京に住んでいます。",
        [
            ('ann said: "私の名前は田中です"', "Name: 田中"),
            ('ann said: "東京に住んでいます"', "Lives in: 東京"),
        ],
    ),
    ("My boyfriend Tom is great.", [("Tom is ann's boyfriend", "Boyfriend: Tom")]),
    ("My boyfriend Tom dumped me.", [("ann's boyfriend Tom dumped them", None)]),
    ("妻の名前は花子です。", [('ann said: "妻の名前は花子です"', "Wife: 花子")]),
    # New work; of what may be long ago nothing is said on a card.
    ("I got the job at Spotify!", [("ann got the job at Spotify", "Works at: Spotify")]),
    (
        "I start my new job at Siemens in March.",
        [("ann starts their new job at Siemens in March", "Starts at: Siemens (from 2027-03)")],
    ),
    (
        "I start at Siemens in March.",
        [("ann starts at Siemens in March", "Starts at: Siemens (from 2027-03)")],
    ),
    (
        "I'll be starting at Siemens on the 1st of December.",
        [
            (
                "ann will be starting at Siemens on the 1st of December",
                "Starts at: Siemens (from 2026-12-01)",
            )
        ],
    ),
    ("I accepted the job offer from Nokia.", [("ann accepted the job offer from Nokia", "Starts at: Nokia")]),
    ("I accepted the offer from Nokia.", [("ann accepted the offer from Nokia", "Starts at: Nokia")]),
    ("I accepted the offer from Audi in 2010.", [("ann accepted the offer from Audi in 2010", None)]),
    (
        "I accepted the offer from Carvana for my car.",
        [("ann accepted the offer from Carvana for their car", None)],
    ),
    (
        "I joined Siemens as a test engineer.",
        [("ann joined Siemens as a test engineer", "Works at: Siemens")],
    ),
    (
        "I joined Siemens as an engineer in 1998.",
        [("ann joined Siemens as an engineer in 1998", None)],
    ),
    ("I joined Facebook.", [("ann joined Facebook", None)]),
    ("I might start at Siemens in May.", []),
    ("I don't start at Siemens in May.", [("ann does not start at Siemens in May", None)]),
    ("I was hired by Lufthansa.", [("ann was hired by Lufthansa", "Works at: Lufthansa")]),
    ("My new job is at Bosch.", [("ann's new job is at Bosch", "Works at: Bosch")]),
    (
        "I got a job as a barista at Blue Bottle.",
        [("ann got a job as a barista at Blue Bottle", "Works as: barista at Blue Bottle")],
    ),
    ("I didn't get the job at Spotify.", [("ann did not get the job at Spotify", None)]),
    ("I got a job at Google in 2010.", [("ann got a job at Google in 2010", None)]),
    (
        "I got my first job at Tesco when I was 16.",
        [("ann got their first job at Tesco when they were 16", None)],
    ),
    ("I start at 9 on Sundays.", [("ann starts at 9 on Sundays", None)]),
    ("I start at Leiden University in March.", [("ann starts at Leiden University in March", None)]),
    (
        "I was hired at Shell and fired a month later.",
        [("ann was hired at Shell and fired a month later", None)],
    ),
    ("I'm a former nurse.", [("ann is a former nurse", None)]),
    # Said for another.
    (
        "I'm writing on behalf of my dad: I'm 80 and I live in Kent.",
        [("ann is writing on behalf of their dad", None)],
    ),
    # Put right in the same breath.
    ("I live in Bern, no wait, Basel.", [("ann lives in Basel", "Lives in: Basel")]),
    ("I live in Bern. No wait, Basel.", [("ann lives in Basel", "Lives in: Basel")]),
    ("I'm 34, sorry, 35.", [("ann is 35", "Age: 35")]),
    ("I live in Bern. Sorry Ann.", [("ann lives in Bern", "Lives in: Bern")]),
    ("I meant to say I'm a doctor at Kaiser.", [("ann is a doctor at Kaiser", "Works as: doctor at Kaiser")]),
    # What else is said in the same clause.
    (
        "i live in berlin and work at siemens",
        [
            ("ann lives in berlin and works at siemens", "Lives in: berlin"),
            ("ann works at siemens", "Works at: siemens"),
        ],
    ),
    (
        "I don't eat bread because I'm celiac.",
        [
            ("ann does not eat bread because they're celiac", "Does not eat: bread"),
            ("ann is celiac", "Health: celiac"),
        ],
    ),
    (
        "I want to live in Rome and work at Fiat.",
        [("ann wants to live in Rome and work at Fiat", None)],
    ),
    (
        "I got married and changed my name to Ann Weber.",
        [
            ("ann got married and changed their name to Ann Weber", None),
            ("ann changed their name to Ann Weber", "Name: Ann Weber"),
        ],
    ),
    # What is so since it happened.
    ("I went vegan in January.", [("ann went vegan in January", "Diet: vegan")]),
    ("I went vegan for a month.", [("ann went vegan for a month", None)]),
    ("I was diagnosed with asthma.", [("ann was diagnosed with asthma", "Health: asthma")]),
    ("I bought a new Tesla.", [("ann bought a new Tesla", "Vehicle: Tesla")]),
    ("I bought a new Honda for my son.", [("ann bought a new Honda for their son", None)]),
    ("My doctor says I have asthma.", [("ann has asthma", "Health: asthma")]),
    ("I love first-person shooters.", [("ann loves first-person shooters", "Likes: first-person shooters")]),
    ("My dogs name is bella", [("ann's dogs name is bella", "Pet: bella (dog)")]),
    ("My time zone is CET.", [("ann's time zone is CET", "Time zone: CET")]),
    ("Hola, soy Carmen, encantada.", [('ann said: "Hola, soy Carmen, encantada"', "Name: Carmen")]),
    # Said in passing, or with more than the value.
    (
        "My favourite band is actually Radiohead.",
        [("ann's favourite band is actually Radiohead", "Favourite band: Radiohead")],
    ),
    (
        "I speak both Polish and English fluently.",
        [("ann speaks both Polish and English fluently", "Speaks: Polish and English")],
    ),
    ("Staying with my cousin Ken this week.", [("Ken is ann's cousin", "Cousin: Ken")]),
    ("Visiting my ex-wife Ana tomorrow.", []),
    ("School run with my kids Tim and Ana today.", []),
    ("Rest in peace, my cat Mia, RIP.", []),
    (
        "I take metformin for type 2 diabetes.",
        [("ann takes metformin for type 2 diabetes", "Health: type 2 diabetes")],
    ),
    ("I take pills for my mom's asthma.", [("ann takes pills for their mom's asthma", None)]),
    ("I take it for granted.", []),
    # Listed below a heading.
    (
        "About me:\n- 34 years old\n- from Wales\n- software developer\n- two cats, Miso and Nori\n- Berlin",
        [
            ("ann is 34 years old", "Age: 34"),
            ("ann is from Wales", "From: Wales"),
            ("ann is a software developer", "Works as: software developer"),
            ("ann has two cats, Miso and Nori", "Pet: Miso and Nori (cats)"),
        ],
    ),
    ("About my sister:\n- 34 years old\n- from Wales", []),
    ("Write a bio about me:\n- 34 years old\n- from Wales", []),
    ("Shopping list:\n- two cats\n- nurse shoes", []),
]
