"""What people say in other languages than English, and what only looks like it, as in `utterances`."""

TELLING_ABROAD = [
    ("Me llamo Carlos.", [('ann said: "Me llamo Carlos"', "Name: Carlos")]),
    (
        "Ich heiße Jürgen und wohne in Köln.",
        [('ann said: "Ich heiße Jürgen"', "Name: Jürgen"), ('ann said: "wohne in Köln"', "Lives in: Köln")],
    ),
    ("Ich wohne in Berlin.", [('ann said: "Ich wohne in Berlin"', "Lives in: Berlin")]),
    ("Je m'appelle Zoé", [('ann said: "Je m\'appelle Zoé"', "Name: Zoé")]),
    ("J'habite à Lyon.", [('ann said: "J\'habite à Lyon"', "Lives in: Lyon")]),
    ("Vivo en Madrid", [('ann said: "Vivo en Madrid"', "Lives in: Madrid")]),
    ("Moro em Lisboa.", [('ann said: "Moro em Lisboa"', "Lives in: Lisboa")]),
    ("Tengo 30 años", [('ann said: "Tengo 30 años"', "Age: 30")]),
    ("Ich bin Lehrerin in Köln.", [('ann said: "Ich bin Lehrerin in Köln"', "Works as: Lehrerin")]),
    ("Soy enfermera.", [('ann said: "Soy enfermera"', "Works as: enfermera")]),
    ("Je suis infirmière à Lyon.", [('ann said: "Je suis infirmière à Lyon"', "Works as: infirmière")]),
    ("Ik ben kapper.", [('ann said: "Ik ben kapper"', "Works as: kapper")]),
    ("Eu sou professora.", [('ann said: "Eu sou professora"', "Works as: professora")]),
    ("Mia moglie si chiama Giulia.", [('ann said: "Mia moglie si chiama Giulia"', "Wife: Giulia")]),
    ("Ich bin kein Lehrer.", []),
    ("Ich bin Lehrer gewesen.", []),
    ("Mein Mann ist Bäcker.", []),
    ("Si yo soy abogado, gano.", []),
    (
        "Name's Tunde, I'm a nurse.",
        [("ann's name is Tunde", "Name: Tunde"), ("ann is a nurse", "Works as: nurse")],
    ),
    ("hii i'm ann, second year biology", [("ann is ann, second year biology", "Name: ann")]),
    (
        "Home is Halifax, the Nova Scotia one.",
        [("ann's home is Halifax, the Nova Scotia one", "Lives in: Halifax")],
    ),
    (
        "kids are Saoirse who's 9 and Fionn who's 6",
        [("ann's kids are Saoirse who's 9 and Fionn who's 6", "Children: Saoirse and Fionn")],
    ),
    (
        "We've got two kids, Noah who's eleven and Elsie, seven.",
        [
            (
                "ann said: \"We've got two kids, Noah who's eleven and Elsie, seven\"",
                "Children: two kids, Noah and Elsie",
            )
        ],
    ),
    ("My partner's called Suresh.", [("ann's partner is called Suresh", "Partner: Suresh")]),
    ("I got married in June, to Kirsten.", [("ann got married in June, to Kirsten", "Partner: Kirsten")]),
    ("Retired machinist here, 71.", [("ann is a retired machinist, 71", "Works as: retired machinist")]),
    (
        "I'm Priya, product manager at a bank.",
        [
            ("ann is Priya, product manager at a bank", "Name: Priya"),
            ("ann works as product manager at a bank", "Works as: product manager at a bank"),
        ],
    ),
    (
        "I run a small bakery in Galway.",
        [("ann runs a small bakery in Galway", "Works as: runs a small bakery in Galway")],
    ),
    (
        "I teach Year 4 at a primary school.",
        [("ann teaches Year 4 at a primary school", "Works as: teaches Year 4 at a primary school")],
    ),
    ("I do accounts for a living.", [("ann does accounts for a living", "Works as: does accounts")]),
    ("I run the school newsletter.", [("ann runs the school newsletter", None)]),
    (
        "We moved over to Walkley last month.",
        [('ann said: "We moved over to Walkley last month (2026-10)"', "Lives in: Walkley")],
    ),
    (
        "I moved in with my cousin in Coburg.",
        [("ann moved in with their cousin in Coburg", "Lives in: Coburg")],
    ),
    ("We moved over to Slack.", [('ann said: "We moved over to Slack"', None)]),
    (
        "I live in a share house in Brunswick.",
        [("ann lives in a share house in Brunswick", "Lives in: Brunswick")],
    ),
    ("Penicillin gives me hives.", [('ann said: "Penicillin gives me hives"', "Allergy: Penicillin")]),
    (
        "bee stings could kill me, I'm seriously allergic",
        [('ann said: "bee stings could kill me, I\'m seriously allergic"', "Allergy: bee stings")],
    ),
    (
        "Can't do cats at all, my eyes puff up.",
        [('ann said: "Can\'t do cats at all, my eyes puff up"', "Allergy: cats")],
    ),
    ("Public speaking brings me out in hives.", [("Public speaking brings ann out in hives", None)]),
    (
        "Noah's got a nut allergy, cashews mainly.",
        [('ann said: "Noah\'s got a nut allergy, cashews mainly"', None)],
    ),
    ("We lost our dog Pepper.", [('ann said: "We lost our dog Pepper"', None)]),
    (
        "I can't stand musicals. Except Cats.",
        [("ann cannot stand musicals except Cats", "Dislikes: musicals except Cats")],
    ),
    (
        "Her parents are from Bari, we're visiting at Christmas.",
        [('ann said: "Her parents are from Bari, we\'re visiting at Christmas"', None)],
    ),
    (
        "Hallo, ich bin Anneliese und arbeite als Hebamme.",
        [
            ('ann said: "Hallo, ich bin Anneliese"', "Name: Anneliese"),
            ('ann said: "arbeite als Hebamme"', "Works as: Hebamme"),
        ],
    ),
    (
        "Wir sind jetzt nach Gundelfingen gezogen!",
        [('ann said: "Wir sind jetzt nach Gundelfingen gezogen"', "Lives in: Gundelfingen")],
    ),
    ("On a déménagé à Rezé.", [('ann said: "On a déménagé à Rezé"', "Lives in: Rezé")]),
    (
        "Ich vertrage keine Haselnüsse.",
        [('ann said: "Ich vertrage keine Haselnüsse"', "Allergy: Haselnüsse")],
    ),
    (
        "Tengo dos hijos, Mateo y Lucas.",
        [('ann said: "Tengo dos hijos, Mateo y Lucas"', "Children: Mateo y Lucas")],
    ),
    (
        "Je suis infirmière libérale à Nantes.",
        [('ann said: "Je suis infirmière libérale à Nantes"', "Works as: infirmière libérale")],
    ),
    ("はじめまして。ハルトです。", [('ann said: "はじめまして。ハルトです"', "Name: ハルト")]),
    (
        "犬を飼っています。名前はポチです。",
        [('ann said: "犬を飼っています。名前はポチです"', "Pet: ポチ (dog)")],
    ),
    ("My son met Ben in May.", [("ann's son met Ben in May", None)]),
    ("I moved to Playa del Carmen.", [("ann moved to Playa del Carmen", "Lives in: Playa del Carmen")]),
]
