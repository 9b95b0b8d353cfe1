"""What people say, and what follows from it about 'ann'. Said on Sunday, 15 November 2026."""

SAID_AT = 1_794_744_000_000
"""2026-11-15T12:00:00Z, a Sunday."""

# What was said, the facts that follow from it, and the card's line of each, in order.
TELLING = [
    # Who they are.
    ("My name is Ann.", [("ann's name is Ann", "Name: Ann")]),
    ("my name's Ann Marie Silva", [("ann's name is Ann Marie Silva", "Name: Ann Marie Silva")]),
    ("Hi, I'm Ann!", [("ann is Ann", "Name: Ann")]),
    ("Hey there! I'm Ann, nice to meet you.", [("ann is Ann", "Name: Ann")]),
    ("Hi! I'm Ann!", [("ann is Ann", "Name: Ann")]),
    ("I'm Ann.", [("ann is Ann", "Name: Ann")]),
    ("I am 32 years old.", [("ann is 32 years old", "Age: 32")]),
    ("I'm 32", [("ann is 32", "Age: 32")]),
    ("I just turned 40!", [("ann just turned 40", "Age: 40")]),
    ("My birthday is March 3rd", [("ann's birthday is March 3rd", "Birthday: March 3rd")]),
    (
        "My birthday is on the 5th of May.",
        [("ann's birthday is on the 5th of May", "Birthday: the 5th of May")],
    ),
    ("I was born on 5 May 1990.", [("ann was born on 5 May 1990", "Birthday: 5 May 1990")]),
    ("I was born in 1990", [("ann was born in 1990", "Born: 1990")]),
    ("It's my birthday today!", [('ann said: "It\'s my birthday today (2026-11-15)"', "Birthday: 11-15")]),
    ("My pronouns are they/them", [("ann's pronouns are they/them", "Pronouns: they/them")]),
    ("I use she/her pronouns.", [("ann uses she/her pronouns", "Pronouns: she/her")]),
    ("I go by he/him.", [("ann goes by he/him", "Pronouns: he/him")]),
    ("I go by Jo", [("ann goes by Jo", "Goes by: Jo")]),
    ("I'm married.", [("ann is married", "Relationship: married")]),
    ("I'm single and I live alone.", [("ann is single", "Relationship: single"), ("ann lives alone", None)]),
    ("I am Portuguese.", [("ann is Portuguese", "Nationality: Portuguese")]),
    ("I'm left-handed", [("ann is left-handed", None)]),
    ("I'm an introvert.", [("ann is an introvert", None)]),
    ("I'm not a morning person.", [("ann is not a morning person", None)]),
    (
        "My email is ann.silva@example.org",
        [("ann's email is ann.silva@example.org", "Email: ann.silva@example.org")],
    ),
    # Where they live and come from.
    ("I live in Lisbon.", [("ann lives in Lisbon", "Lives in: Lisbon")]),
    ("i live in lisbon", [("ann lives in lisbon", "Lives in: lisbon")]),
    ("I live in Lisbon, Portugal", [("ann lives in Lisbon, Portugal", "Lives in: Lisbon, Portugal")]),
    (
        "I live in the Netherlands with my husband.",
        [("ann lives in the Netherlands with their husband", "Lives in: the Netherlands")],
    ),
    (
        "I live in a small town near Porto.",
        [("ann lives in a small town near Porto", "Lives in: a small town near Porto")],
    ),
    ("I don't live in Lisbon anymore.", [("ann does not live in Lisbon anymore", None)]),
    ("I no longer live in Lisbon.", [("ann no longer lives in Lisbon", None)]),
    ("I'm no longer vegan.", [("ann is no longer vegan", None)]),
    ("I used to live in Paris.", [("ann used to live in Paris", None)]),
    ("I moved to Berlin last month.", [("ann moved to Berlin last month (2026-10)", "Lives in: Berlin")]),
    ("I've been living in Oslo since 2019", [("ann has been living in Oslo since 2019", "Lives in: Oslo")]),
    (
        "I've lived in New York for five years.",
        [("ann has lived in New York for five years", "Lives in: New York")],
    ),
    ("I'm based in London", [("ann is based in London", "Lives in: London")]),
    ("I'm from Brazil.", [("ann is from Brazil", "From: Brazil")]),
    ("I'm originally from São Paulo", [("ann is originally from São Paulo", "From: São Paulo")]),
    ("I come from a family of bakers.", [("ann comes from a family of bakers", None)]),
    ("I grew up in Texas.", [("ann grew up in Texas", "From: Texas")]),
    ("I was born and raised in Kyoto", [("ann was born and raised in Kyoto", "From: Kyoto")]),
    ("My hometown is Salzburg.", [("ann's hometown is Salzburg", "From: Salzburg")]),
    # What only nearly was, or was meant to be, puts nothing on a card.
    ("I moved to Berlin in May.", [("ann moved to Berlin in May", "Lives in: Berlin")]),
    ("I nearly moved to Berlin.", [("ann nearly moved to Berlin", None)]),
    ("I almost moved to Oslo.", [("ann almost moved to Oslo", None)]),
    ("I was going to move to Berlin but I stayed.", [("ann was going to move to Berlin", None)]),
    ("I was moving to Berlin when the war began.", [("ann was moving to Berlin when the war began", None)]),
    ("I didn't move to Berlin.", [("ann did not move to Berlin", None)]),
    ("I'm nearly vegan.", [("ann is nearly vegan", None)]),
    ("I'm almost 40.", [("ann is almost 40", None)]),
    ("I don't go by Jo.", [("ann does not go by Jo", None)]),
    ("I don't come from Brazil.", [("ann does not come from Brazil", None)]),
    # What is so, and what is not.
    (
        "Turns out I'm not allergic to peanuts after all.",
        [("ann is not allergic to peanuts after all", None)],
    ),
    (
        "Correction: my dog's name is Pippin, not Pepper.",
        [("ann's dog's name is Pippin", "Pet: Pippin (dog)"), ("ann's dog's name is not Pepper", None)],
    ),
    (
        "My dog is called Pippin, not Pepper.",
        [("ann's dog is called Pippin", "Pet: Pippin (dog)"), ("ann's dog is not called Pepper", None)],
    ),
    (
        "I live in Oslo, not Bergen.",
        [("ann lives in Oslo", "Lives in: Oslo"), ("ann does not live in Bergen", None)],
    ),
    (
        "I live in Oslo, not far from the sea.",
        [("ann lives in Oslo, not far from the sea", "Lives in: Oslo")],
    ),
    ("I have three cats now.", [("ann has three cats now", "Pet: three cats")]),
    ("Tom and I broke up.", [("ann and Tom broke up", None)]),
    ("My boyfriend and I split up.", [("ann and their boyfriend split up", None)]),
    ("My husband Tom passed away.", [("ann's husband Tom passed away", None)]),
    ("My dog Rex died.", [("ann's dog Rex died", None)]),
    # No jest, and nobody else's words.
    ("I'm not kidding, I live in Oslo.", [("ann lives in Oslo", "Lives in: Oslo")]),
    ("As I said, I live in Oslo.", [("ann lives in Oslo", "Lives in: Oslo")]),
    ("I live in Oslo, my sister says it's pretty here.", [("ann lives in Oslo", "Lives in: Oslo")]),
    (
        "In the film industry, I work as an editor.",
        [("in the film industry, ann works as an editor", "Works as: editor")],
    ),
    # Work and studies.
    ("I work as a nurse.", [("ann works as a nurse", "Works as: nurse")]),
    ("I work at Acme Corp", [("ann works at Acme Corp", "Works at: Acme Corp")]),
    ("I work for the city council.", [("ann works for the city council", "Works at: the city council")]),
    ("I currently work at NASA.", [("ann currently works at NASA", "Works at: NASA")]),
    (
        "I've been working at NovaTech for about 4 years now.",
        [("ann has been working at NovaTech for about 4 years now", "Works at: NovaTech")],
    ),
    (
        "I'm a senior software engineer at Google",
        [("ann is a senior software engineer at Google", "Works as: senior software engineer at Google")],
    ),
    (
        "I'm a teacher, and I love my job.",
        [("ann is a teacher", "Works as: teacher"), ("ann loves their job", "Likes: their job")],
    ),
    ("My job is plumbing.", [("ann's job is plumbing", "Works as: plumbing")]),
    ("I work in publishing", [("ann works in publishing", "Works in: publishing")]),
    ("I work from home on Fridays.", [("ann works from home on Fridays", None)]),
    (
        "I'm studying biology at Utrecht.",
        [("ann is studying biology at Utrecht", "Studies: biology at Utrecht")],
    ),
    ("I graduated from UCLA in 2020", [("ann graduated from UCLA in 2020", None)]),
    ("I'm retired.", [("ann is retired", None)]),
    ("I quit my job yesterday.", [("ann quit their job yesterday (2026-11-14)", None)]),
    ("I got promoted last week!", [("ann got promoted last week (week of 2026-11-02)", None)]),
    # Family, friends, pets.
    ("My sister Ana lives in Porto.", [("ann's sister Ana lives in Porto", "Sister: Ana")]),
    ("My sister's name is Ana", [("ann's sister's name is Ana", "Sister: Ana")]),
    (
        "My son Leo is 4 and my daughter Ida is 7.",
        [("ann's son Leo is 4", "Son: Leo"), ("ann's daughter Ida is 7", "Daughter: Ida")],
    ),
    ("My son is called Leo.", [("ann's son is called Leo", "Son: Leo")]),
    ("My name is June.", [("ann's name is June", "Name: June")]),
    ("My wife is called Bea.", [("ann's wife is called Bea", "Wife: Bea")]),
    ("my brother is a pilot", [("ann's brother is a pilot", None)]),
    ("I have two kids.", [("ann has two kids", "Children: two kids")]),
    ("I have a daughter named Mia.", [("ann has a daughter named Mia", "Daughter: Mia")]),
    ("I have a dog named Rex", [("ann has a dog named Rex", "Pet: Rex (dog)")]),
    ("I've got a cat called Tom.", [("ann has got a cat called Tom", "Pet: Tom (cat)")]),
    (
        "I have two cats, Luna and Oliver.",
        [("ann has two cats, Luna and Oliver", "Pet: Luna and Oliver (cats)")],
    ),
    ("My dog's name is Rex.", [("ann's dog's name is Rex", "Pet: Rex (dog)")]),
    (
        "I have a dog. His name is Rex.",
        [("ann has a dog", "Pet: a dog"), ('ann said: "I have a dog. His name is Rex"', "Pet: Rex (dog)")],
    ),
    ("My friend's dog is called Rex.", [("ann's friend's dog is called Rex", None)]),
    ("My friend's dog's name is Rex.", [("ann's friend's dog's name is Rex", None)]),
    ("My parents' dog is called Rex.", [("ann's parents' dog is called Rex", None)]),
    ("My boss's sister Eva lives in Rome.", [("ann's boss's sister Eva lives in Rome", None)]),
    ("My wife's mother is Eva.", [("ann's wife's mother is Eva", None)]),
    ("My wife and I live in Porto", [("ann and their wife live in Porto", "Lives in: Porto")]),
    ("I'm married to Tom.", [("ann is married to Tom", "Partner: Tom")]),
    (
        "My best friend Kim is getting married.",
        [("ann's best friend Kim is getting married", "Best friend: Kim")],
    ),
    ("We have two kids.", [('ann said: "We have two kids"', "Children: two kids")]),
    ("My grandmother passed away last year.", [("ann's grandmother passed away last year (2025)", None)]),
    ("My parents live in Porto.", [("ann's parents live in Porto", None)]),
    (
        "Last week my sister and I went to Rome",
        [("last week (week of 2026-11-02) ann and their sister went to Rome", None)],
    ),
    ("In my free time I paint and I sing.", [("in their free time ann paints", None), ("ann sings", None)]),
    ("I miss my family.", [("ann misses their family", None)]),
    (
        "I took my kids to the zoo yesterday and we saw lions",
        [("ann took their kids to the zoo yesterday (2026-11-14)", None)],
    ),
    # Likes, dislikes, food.
    ("I love hiking.", [("ann loves hiking", "Likes: hiking")]),
    ("I really like sushi", [("ann really likes sushi", "Likes: sushi")]),
    (
        "I enjoy baking bread on weekends.",
        [("ann enjoys baking bread on weekends", "Likes: baking bread on weekends")],
    ),
    (
        "I enjoy reading, watching movies, and hiking.",
        [("ann enjoys reading, watching movies, and hiking", "Likes: reading, watching movies, and hiking")],
    ),
    ("I hate mushrooms.", [("ann hates mushrooms", "Dislikes: mushrooms")]),
    ("I don't like horror movies", [("ann does not like horror movies", "Dislikes: horror movies")]),
    ("I can't stand cilantro.", [("ann cannot stand cilantro", "Dislikes: cilantro")]),
    ("I prefer tea over coffee.", [("ann prefers tea over coffee", "Prefers: tea over coffee")]),
    ("I'm a huge fan of jazz", [("ann is a huge fan of jazz", "Likes: jazz")]),
    ("I'm really into pottery.", [("ann is really into pottery", "Likes: pottery")]),
    ("My favorite color is blue.", [("ann's favorite color is blue", "Favorite color: blue")]),
    ("my favourite band is Radiohead", [("ann's favourite band is Radiohead", "Favourite band: Radiohead")]),
    ("I'm allergic to peanuts.", [("ann is allergic to peanuts", "Allergy: peanuts")]),
    ("I have a peanut allergy", [("ann has a peanut allergy", "Allergy: peanut")]),
    ("I have an allergy to cats", [("ann has an allergy to cats", "Allergy: cats")]),
    ("I have no allergy to nuts", [("ann has no allergy to nuts", None)]),
    ("I have no nut allergy", [("ann has no nut allergy", None)]),
    ("I'm lactose intolerant.", [("ann is lactose intolerant", "Allergy: lactose intolerant")]),
    ("I'm vegan.", [("ann is vegan", "Diet: vegan")]),
    (
        "I've been a vegetarian for ten years.",
        [("ann has been a vegetarian for ten years", "Diet: vegetarian")],
    ),
    ("I don't eat meat.", [("ann does not eat meat", "Does not eat: meat")]),
    ("I never eat breakfast", [("ann never eats breakfast", "Does not eat: breakfast")]),
    ("I don't drink alcohol.", [("ann does not drink alcohol", "Does not drink: alcohol")]),
    ("I can't eat gluten.", [("ann cannot eat gluten", "Does not eat: gluten")]),
    ("I'm afraid of spiders.", [("ann is afraid of spiders", None)]),
    ("I don't smoke.", [("ann does not smoke", None)]),
    # Languages, possessions, habits.
    ("I speak French and German.", [("ann speaks French and German", "Speaks: French and German")]),
    ("I can speak Japanese", [("ann can speak Japanese", "Speaks: Japanese")]),
    ("My native language is Dutch.", [("ann's native language is Dutch", "Speaks: Dutch")]),
    ("I'm learning Korean.", [("ann is learning Korean", None)]),
    ("I drive a 2015 Toyota Corolla.", [("ann drives a 2015 Toyota Corolla", "Vehicle: Toyota Corolla")]),
    ("I own a small bakery", [("ann owns a small bakery", "Works as: owns a small bakery")]),
    ("I have a motorbike.", [("ann has a motorbike", None)]),
    (
        "I have 25 rare coins that I need to store safely.",
        [("ann has 25 rare coins that they need to store safely", None)],
    ),
    ("I go to the gym every morning.", [("ann goes to the gym every morning", None)]),
    ("I usually wake up at 6.", [("ann usually wakes up at 6", None)]),
    ("In my free time I paint.", [("in their free time ann paints", None)]),
    ("On weekends, I hike with my dog.", [("on weekends, ann hikes with their dog", None)]),
    ("I play the piano", [("ann plays the piano", None)]),
    ("I meditate every day and practise yoga.", [("ann meditates every day and practises yoga", None)]),
    ("I watch Formula 1 every Sunday", [("ann watches Formula 1 every Sunday", None)]),
    (
        "I study at night because I work during the day.",
        [("ann studies at night because they work during the day", None)],
    ),
    ("I carry my passport everywhere.", [("ann carries their passport everywhere", None)]),
    ("I volunteer at the food bank.", [("ann volunteers at the food bank", None)]),
    # Plans and events.
    ("I'm flying to Bologna on Saturday.", [("ann is flying to Bologna on Saturday (2026-11-21)", None)]),
    ("I flew to Bologna on Saturday.", [("ann flew to Bologna on Saturday (2026-11-14)", None)]),
    ("I'm going to Rome next week", [("ann is going to Rome next week (week of 2026-11-16)", None)]),
    (
        "I'm going to visit my aunt tomorrow.",
        [("ann is going to visit their aunt tomorrow (2026-11-16)", None)],
    ),
    ("I'll be in Madrid in three days.", [("ann will be in Madrid in three days (2026-11-18)", None)]),
    ("I will start my new job on Monday", [("ann will start their new job on Monday (2026-11-16)", None)]),
    (
        "Last Friday I had a card night with my friends.",
        [("last Friday (2026-11-13) ann had a card night with their friends", None)],
    ),
    ("I went to a support group yesterday.", [("ann went to a support group yesterday (2026-11-14)", None)]),
    ("I ran a marathon two days ago", [("ann ran a marathon two days ago (2026-11-13)", None)]),
    ("I adopted a cat three weeks ago.", [("ann adopted a cat three weeks ago (about 2026-10-25)", None)]),
    (
        "I have a dentist appointment tomorrow.",
        [("ann has a dentist appointment tomorrow (2026-11-16)", None)],
    ),
    ("My flight leaves on Friday.", [("ann's flight leaves on Friday (2026-11-20)", None)]),
    ("I'm getting married in June!", [("ann is getting married in June", None)]),
    ("Just got back from Rome.", [("ann just got back from Rome", None)]),
    ("Moved to Madrid in 2021.", [("ann moved to Madrid in 2021", "Lives in: Madrid")]),
    ("I broke my leg last night", [("ann broke their leg last night (2026-11-14)", None)]),
    ("I need to finish my thesis by Friday.", [("ann needs to finish their thesis by Friday", None)]),
    ("When I was a kid, I played chess.", [("when they were a kid, ann played chess", None)]),
    ("I've never been to Japan.", [("ann has never been to Japan", None)]),
    ("I recently had a bad case of bronchitis", [("ann recently had a bad case of bronchitis", None)]),
    # Goals.
    ("I want to learn Spanish.", [("ann wants to learn Spanish", None)]),
    ("My goal is to run a marathon.", [("ann's goal is to run a marathon", "Goal: run a marathon")]),
    ("I'm saving for a house.", [("ann is saving for a house", None)]),
    ("I plan to open a bakery.", [("ann plans to open a bakery", None)]),
    ("I'd love to visit Iceland", [("ann would love to visit Iceland", None)]),
    ("I'm thinking of adopting a second cat.", [("ann is thinking of adopting a second cat", None)]),
    ("I'm training for the Berlin marathon", [("ann is training for the Berlin marathon", None)]),
    ("I dream of becoming an astronaut.", [("ann dreams of becoming an astronaut", None)]),
    # What they ask of the agent for good.
    ("Call me Jo.", [('ann said: "Call me Jo"', "Goes by: Jo")]),
    ("Please call me Dr. Silva", [('ann said: "call me Dr. Silva"', "Goes by: Dr. Silva")]),
    ("My friends call me Annie.", [('ann said: "My friends call me Annie"', "Goes by: Annie")]),
    (
        "Always answer in French.",
        [('ann said: "Always answer in French"', "Instruction: Always answer in French")],
    ),
    ("Please never use emojis!", [('ann said: "never use emojis"', "Instruction: never use emojis")]),
    (
        "From now on, keep your answers under 100 words.",
        [
            (
                'ann said: "From now on, keep your answers under 100 words"',
                "Instruction: From now on, keep your answers under 100 words",
            )
        ],
    ),
    (
        "Don't use bullet points.",
        [('ann said: "Don\'t use bullet points"', "Instruction: Don't use bullet points")],
    ),
    ("Please reply in German.", [('ann said: "reply in German"', "Instruction: reply in German")]),
    (
        "Keep your answers short.",
        [('ann said: "Keep your answers short"', "Instruction: Keep your answers short")],
    ),
    # Several things at once.
    (
        "I live in Lisbon and I work as a nurse.",
        [("ann lives in Lisbon", "Lives in: Lisbon"), ("ann works as a nurse", "Works as: nurse")],
    ),
    (
        "I love dogs but I hate cats",
        [("ann loves dogs", "Likes: dogs"), ("ann hates cats", "Dislikes: cats")],
    ),
    (
        "I'm 32 and have two kids.",
        [("ann is 32 and has two kids", "Age: 32"), ("ann has two kids", "Children: two kids")],
    ),
    (
        "I'm a nurse and live in Porto.",
        [("ann is a nurse and lives in Porto", "Works as: nurse"), ("ann lives in Porto", "Lives in: Porto")],
    ),
    (
        "I work at Acme; my brother works at Apple.",
        [("ann works at Acme", "Works at: Acme"), ("ann's brother works at Apple", None)],
    ),
    (
        "hi my name is ann and i live in lisbon and i work as a nurse",
        [
            ("ann's name is ann", "Name: ann"),
            ("ann lives in lisbon", "Lives in: lisbon"),
            ("ann works as a nurse", "Works as: nurse"),
        ],
    ),
    ("I'm vegan, what can I cook tonight?", [("ann is vegan", "Diet: vegan")]),
    (
        "I'm planning a trip to Japan in May, can you recommend some places?",
        [("ann is planning a trip to Japan in May", None)],
    ),
    ("By the way, I just adopted a puppy!", [("ann just adopted a puppy", "Pet: a puppy")]),
    (
        "Since I live in Oslo, I'm used to snow.",
        [("ann lives in Oslo", "Lives in: Oslo"), ("ann is used to snow", None)],
    ),
    (
        "- I live in Lisbon\n- I'm vegan\n- my dog is called Rex",
        [
            ("ann lives in Lisbon", "Lives in: Lisbon"),
            ("ann is vegan", "Diet: vegan"),
            ("ann's dog is called Rex", "Pet: Rex (dog)"),
        ],
    ),
    (
        "I live in Lisbon 😊 I love pizza 🍕",
        [("ann lives in Lisbon", "Lives in: Lisbon"), ("ann loves pizza", "Likes: pizza")],
    ),
    ("I\u200b live in Lis\u200bbon.", [("ann lives in Lisbon", "Lives in: Lisbon")]),
    (
        "I’m from Spain and I don’t eat fish",
        [("ann is from Spain", "From: Spain"), ("ann does not eat fish", "Does not eat: fish")],
    ),
    (
        'I loved "Becoming Nicole" by Amy Ellis Nutt.',
        [('ann loved "Becoming Nicole" by Amy Ellis Nutt', None)],
    ),
    (
        "I saw Dr. Patel at 3 p.m. on Monday about my back.",
        [("ann saw Dr. Patel at 3 p.m. on Monday (2026-11-09) about their back", None)],
    ),
    ("Remember that I'm allergic to bees.", [("ann is allergic to bees", "Allergy: bees")]),
    ("I moved to the US in 2010.", [("ann moved to the US in 2010", "Lives in: the US")]),
    # Feelings about something, and what is done together.
    (
        "I'm nervous about my driving test on Friday.",
        [("ann is nervous about their driving test on Friday (2026-11-20)", None)],
    ),
    ("I can't wait for my trip to Oslo!", [("ann cannot wait for their trip to Oslo", None)]),
    ("I couldn't walk for a month.", [("ann could not walk for a month", None)]),
    ("We roasted chestnuts around the fire.", [('ann said: "We roasted chestnuts around the fire"', None)]),
    ("We're thinking about moving to Porto.", [('ann said: "We\'re thinking about moving to Porto"', None)]),
    (
        "Yesterday, me and my neighbour ran a class for the village.",
        [("yesterday (2026-11-14), ann and their neighbour ran a class for the village", None)],
    ),
    ("I met a sculptor last Fri.", [("ann met a sculptor last Fri (2026-11-13)", None)]),
    # The subject left out.
    ("Never been to Japan.", [("ann has never been to Japan", None)]),
    (
        "Nope, haven't seen the glaciers of Norway yet.",
        [("ann has not seen the glaciers of Norway yet", None)],
    ),
    ("Been repairing my old boat.", [("ann has been repairing their old boat", None)]),
    ("Gonna visit my uncle tomorrow.", [("ann is going to visit their uncle tomorrow (2026-11-16)", None)]),
    ("Super excited for my trip to Oslo.", [("ann is super excited for their trip to Oslo", None)]),
    # The author is not the subject.
    ("Pottery calms me down.", [("Pottery calms ann down", None)]),
    ("The village gave my brother a medal.", [("The village gave ann's brother a medal", None)]),
    ("Tomato soup is one of my favorites.", [("Tomato soup is one of ann's favorites", None)]),
    ("The ferry took us four hours.", [('ann said: "The ferry took us four hours"', None)]),
    # By the way.
    ("Look at the bike that I bought in May!", [("ann bought the bike in May", None)]),
    ("This is hard since I moved from my home country.", [("ann moved from their home country", None)]),
    ("Meet Toby, my puppy.", [("Toby is ann's puppy", "Pet: Toby (puppy)")]),
    (
        "I'm going to keep learning Danish, maybe even move there.",
        [("ann is going to keep learning Danish", None)],
    ),
    # Other languages, in a few fixed forms.
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
    # What looks like a word on the time, a sight or a mood, and is none.
    (
        "Been a nurse for ten years.",
        [("ann has been a nurse for ten years", "Works as: nurse")],
    ),
    ("Been repairing boats for three years.", [("ann has been repairing boats for three years", None)]),
    ("I love the smell of coffee.", [("ann loves the smell of coffee", "Likes: the smell of coffee")]),
    ("I love the sea.", [("ann loves the sea", "Likes: the sea")]),
    ("I have a photo of my grandmother.", [("ann has a photo of their grandmother", None)]),
    ("I'm proud of my sister Ana.", [("ann is proud of their sister Ana", "Sister: Ana")]),
    ("When I was ten, I broke my arm.", [("when they were ten, ann broke their arm", None)]),
    (
        "Habits like swimming and rowing help me sleep well.",
        [("Habits like swimming and rowing help ann sleep well", None)],
    ),
    (
        "Been quite a ride - had an interview yesterday for a job at the zoo.",
        [("ann had an interview yesterday (2026-11-14) for a job at the zoo", None)],
    ),
    (
        "Yesterday took my niece to the zoo.",
        [("yesterday (2026-11-14) ann took their niece to the zoo", None)],
    ),
    ("Since I was ill, I sold my boat.", [("ann sold their boat", None)]),
    # What 'it' is stands in the sentence before.
    (
        "I carry a carved spoon around. A friend made it for me last year.",
        [
            ("ann carries a carved spoon around", None),
            (
                'ann said: "I carry a carved spoon around. A friend made it for me last year (2025)"',
                None,
            ),
        ],
    ),
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
    # In other languages.
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
