"""English words by the part they play, and the few inflections that rewriting needs."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


_IRREGULAR = """
arise:arose:arisen awake:awoke:awoken be:was,were:been bear:bore:born,borne beat:beat:beaten
become:became:become begin:began:begun bend:bent:bent bite:bit:bitten bleed:bled:bled blow:blew:blown
break:broke:broken bring:brought:brought build:built:built burn:burnt:burnt buy:bought:bought
catch:caught:caught choose:chose:chosen come:came:come cost:cost:cost cut:cut:cut deal:dealt:dealt
dig:dug:dug do:did:done draw:drew:drawn dream:dreamt:dreamt drink:drank:drunk drive:drove:driven
eat:ate:eaten fall:fell:fallen feed:fed:fed feel:felt:felt fight:fought:fought find:found:found
fly:flew:flown forget:forgot:forgotten forgive:forgave:forgiven freeze:froze:frozen get:got:got,gotten
give:gave:given go:went:gone grow:grew:grown hang:hung:hung have:had:had hear:heard:heard hide:hid:hidden
hit:hit:hit hold:held:held hurt:hurt:hurt keep:kept:kept know:knew:known lay:laid:laid lead:led:led
learn:learnt:learnt leave:left:left lend:lent:lent let:let:let lose:lost:lost make:made:made
mean:meant:meant meet:met:met pay:paid:paid put:put:put quit:quit:quit read:read:read
rewrite:rewrote:rewritten ride:rode:ridden ring:rang:rung rise:rose:risen run:ran:run say:said:said
see:saw:seen sell:sold:sold send:sent:sent set:set:set sew:sewed:sewn shake:shook:shaken shoot:shot:shot
show:showed:shown shut:shut:shut sing:sang:sung sink:sank:sunk sit:sat:sat sleep:slept:slept
speak:spoke:spoken spend:spent:spent stand:stood:stood steal:stole:stolen stick:stuck:stuck
strike:struck:struck swear:swore:sworn swim:swam:swum take:took:taken teach:taught:taught tear:tore:torn
tell:told:told think:thought:thought throw:threw:thrown understand:understood:understood wake:woke:woken
wear:wore:worn win:won:won wind:wound:wound write:wrote:written
"""

_PAST: dict[str, str] = {}
_PARTICIPLE: dict[str, str] = {}
for _entry in _IRREGULAR.split():
    _base, _pasts, _participles = _entry.split(":")
    for _form in _pasts.split(","):
        _PAST[_form] = _base
    for _form in _participles.split(","):
        _PARTICIPLE[_form] = _base

IRREGULAR = frozenset(_PAST.values())
_PAST_OF = {_base: _form for _form, _base in reversed(_PAST.items())}

_SAME_IN_THE_PAST = word_set("beat cost cut hit hurt let put quit set shut")
"""Said by 'I', these are nearly always past."""

TOLD = word_set("read")
"""Present or past: only what else is said can tell."""

VERBS = word_set(
    """
    abandon accept ache achieve act adapt add admire adopt adore advise afford agree aim allow analyze
    answer appear apply appreciate argue arrange arrive ask assist assume attend avoid babysit bake
    balance bathe battle be become begin believe belong bike blog board boil book borrow box breathe
    breed brew bring build burn buy call camp can care carry catch celebrate change charge chase chat
    check choose clean climb close coach code collect come commute compete complete compose compost
    connect consider consult contact continue contribute control cook cope cost count cover craft crave
    create crochet cross cry cultivate cut cycle dance date deal debate decide decorate defend deliver
    demand depend describe design despise detest develop dine direct discover discuss dislike dive
    divide do donate doubt draw dread dream dress drink drive drop earn eat edit educate employ
    encourage end enjoy enrol enroll enter exercise exhibit exist expect experience experiment explore
    face fail fall farm fast fear feed feel fence figure film find finish fish fit fix fly focus follow
    forage force forget foster freelance game garden gather get give go golf graduate grill grow guard
    guess guide handle hang happen hate have head hear help hike hire hold homeschool hope host hunt
    identify imagine import improve include injure insist inspire instruct intend interview invest
    invite jog join journal judge juggle jump kayak keep knit know lack lead lean learn leave lecture
    lend let lift like listen live loathe look lose love maintain make manage market marry mean meditate
    meet mentor mind miss mix model move mow need notice observe offer open operate order organise
    organize outsource oversee owe own paint park participate party pass pay perform photograph pick
    plan plant play post pour practice practise pray prefer prepare present print produce program
    promise promote protect provide publish pull purchase push put quilt quit race raise read realise
    realize receive recommend record recover recycle refuse regret rehearse relax relocate rely remain
    remember remind renovate rent repair repeat replace report represent require rescue research resell
    respond rest restore retire return review ride roast rock row run sail save say scrapbook scuba
    sculpt search see seem sell send serve set settle sew shadow share ship shoot shop show sign sing
    sit skate skateboard sketch ski sleep smoke snack snorkel snowboard solve speak specialise
    specialize spell spend sponsor stand start stay steal stick stop store stream stress stretch
    struggle study stutter subscribe suffer suggest supervise support suppose surf survive suspect sweat
    swim take talk teach tell tend test thank think throw train translate travel treat trust try tutor
    type understand update upgrade use visit volunteer vote wait wake walk want wash watch wear weigh
    weightlift win wish wonder work worry write yearn accomplish advance announce assemble attempt
    attract blossom bond boost bother breathe browse bump calm cheer clear collaborate combine comfort
    communicate concentrate conduct conquer convince crash cuddle damage dedicate deserve destress
    devote disappear distract document doze draft earn embark embrace empower enable engage enhance
    ensure establish evolve examine expand explain express fascinate figure fill flourish frame fulfill
    function fund gift greet groom hang headline heal honor hug immerse impact impress incorporate
    influence inform install integrate introduce jam kick land last launch lift light log manage master
    matter mesmerize motivate name navigate network nurture obtain overcome pack pet polish portray
    possess pursue rank reach reassure recharge recall reconnect record reduce reflect refresh refurbish
    register relate release relieve remove represent resist resonate respect restock reveal reward roast
    save score seek shape shine showcase sign-up skip soothe sort spark stain stay strengthen strive
    struggle succeed surprise switch symbolize tackle taste thrive tie tinker tour track transform
    transition treasure trek trigger turn undergo unwind value venture view wander warm welcome whip
    wrap
    """
)

_BARE_NOUNS_TOO = word_set(
    """
    act aim answer appear balance bathe battle bike blog board boil book box brew call camp can care
    catch change charge chat check close coach code compost contact control cook cost count cover craft
    cross cry cut cycle dance date deal debate demand design dive divide doubt draw dread dream dress
    drink drive drop end exercise face fail fall farm fast fear feed fence figure film fish fit fix fly
    focus force game garden golf guard guess guide hang hate head help hike hire hold hope host hunt
    interview jog journal judge jump kayak lack lead lean lift like look love market mean mind miss mix
    model move need notice offer open order own paint park party pass pay photograph pick plan plant
    play post present print produce program promise pull purchase push quilt race raise read record rent
    repair repeat report research rest return review ride roast rock row run sail say scuba search set
    shadow share ship shop show sign sit skate sketch ski sleep smoke snack sponsor stand start stay
    stick stop store stream stress stretch struggle study supervise support surf swim talk taste test
    travel treat trust try tutor type update upgrade use visit volunteer vote wait wake walk want wash
    watch weigh win wish wonder work worry
    """
)
"""Verbs that are as often nouns: after 'and' they can't be told apart."""

DULL = word_set(
    """
    admit advise agree answer apologise apologize appreciate argue ask assume be believe bet call check
    click concur confess consider copy disagree doubt expect feel figure forget forgive gather guess
    happen have hear help hope imagine insist know let look mean mention mind need notice offer owe
    paste promise provide realise realize reckon recommend regret remember remind repeat reply respond
    say scroll see seem send sound stand stick suggest suppose suspect swear talk tell thank think trust
    try type understand wait want welcome wish wonder worry
    """
)
"""What these say is of the moment or of the talk itself; some have their own rules."""

LASTING = word_set(
    """
    admire adore attend babysit belong bike breed care coach collect commute compete cook crave crochet
    cultivate cycle dance date despise detest dislike dread drink drive eat employ enjoy exercise farm
    fast fear fence follow forage foster freelance garden golf graduate grow hate hike homeschool jog
    journal kayak knit lead like live loathe love manage marry meditate mentor miss mow oversee own
    paint play practice practise pray prefer quilt raise rely rent run sail scrapbook sculpt serve sew
    sing skate skateboard sketch ski sleep smoke snowboard speak specialise specialize struggle study
    stutter subscribe suffer supervise support surf swim teach train travel tutor use volunteer vote
    walk wear weigh weightlift work write yearn
    """
)
"""Said in the present tense, these tell of a person and not of a moment."""

EVENTS = word_set(
    """
    achieve adopt apply attend become begin book break build bury buy camp celebrate complete cook
    create discover divorce donate enrol enroll enter finish fly foster found get go graduate grow hike
    host inherit injure interview invest join launch learn leave lose make marry meet move organise
    organize paint participate pass perform plant publish purchase quit receive recover relocate
    renovate rent replace rescue retire return run sell settle sign spend start study switch take teach
    tour train travel upgrade visit volunteer win write
    """
)
"""Said in the past tense, these tell of something that happened in a life."""

STEADY_ADJECTIVES = word_set(
    """
    agnostic asexual asthmatic atheist autistic bald bilingual bipolar bisexual blind buddhist catholic
    celiac christian coeliac colorblind colourblind deaf diabetic disabled divorced dyslexic engaged
    epileptic extroverted gay gluten-free hindu homeless introverted jewish keto kosher
    lactose-intolerant left-handed lesbian married multilingual muslim nearsighted non-binary nonbinary
    orthodox pansexual pescatarian pregnant protestant queer religious retired right-handed
    self-employed separated shortsighted shy single sober straight teetotal trans transgender trilingual
    unemployed unmarried vegan vegetarian widowed
    """
)

NATIONALITIES = word_set(
    """
    afghan african albanian algerian american arab argentine argentinian armenian asian australian
    austrian belgian bolivian bosnian brazilian british bulgarian cambodian canadian catalan chilean
    chinese colombian croatian cuban czech danish dutch egyptian english estonian ethiopian european
    filipino finnish french georgian german ghanaian greek hungarian icelandic indian indonesian iranian
    iraqi irish israeli italian jamaican japanese jordanian kenyan korean latvian lebanese lithuanian
    malaysian mexican moroccan nepalese nepali nigerian norwegian pakistani palestinian peruvian polish
    portuguese puerto romanian russian scottish serbian singaporean slovak slovenian somali spanish
    swedish swiss syrian taiwanese thai tunisian turkish ukrainian uruguayan venezuelan vietnamese welsh
    """
)

LANGUAGES = word_set(
    """
    afrikaans albanian amharic arabic armenian asl basque bengali bosnian bulgarian cantonese catalan
    chinese croatian czech danish dutch english esperanto estonian farsi filipino finnish french
    galician georgian german greek gujarati hebrew hindi hungarian icelandic indonesian irish italian
    japanese kannada kazakh khmer korean kurdish latin latvian lithuanian malay malayalam maltese
    mandarin marathi mongolian nepali norwegian pashto persian polish portuguese punjabi romanian
    russian serbian slovak slovenian somali spanish swahili swedish tagalog tamil telugu thai turkish
    ukrainian urdu uzbek vietnamese welsh yoruba zulu
    """
)

RELATIVES = word_set(
    """
    aunt bestie boyfriend brother brother-in-law cousin dad daughter daughter-in-law father
    father-in-law fiance fiancee fiancé fiancée flatmate girlfriend goddaughter godfather godmother
    godson grandad granddad granddaughter grandfather grandma grandmother grandpa grandson granny
    housemate husband mom mother mother-in-law mum nephew niece partner roommate sister sister-in-law
    son son-in-law spouse stepbrother stepdad stepdaughter stepfather stepmom stepmother stepsister
    stepson twin uncle wife
    """
)

ACQUAINTANCES = word_set(
    "boss coach colleague coworker dentist doctor friend landlord manager mentor neighbor neighbour"
    " teacher therapist"
)

PETS = word_set(
    """
    beagle bird bulldog bunny canary cat chameleon chihuahua chinchilla cockatiel corgi dachshund dog
    ferret fish gecko goldfish hamster hedgehog horse husky iguana kitten kitty labrador lizard parakeet
    parrot pet pony poodle pup puppy rabbit rat retriever snake tortoise turtle
    """
)

CHILDREN = word_set(
    "kids children child kid sons daughters son daughter grandchildren grandkids toddler baby toddlers twins"
)

TRADES = word_set(
    """
    accountant actor actress administrator advisor agent analyst apprentice archaeologist architect
    artist assistant astronomer athlete attorney author baker banker barber barista bartender beautician
    biologist blogger bookkeeper botanist builder butcher caregiver carer carpenter cashier casual chef
    chemist chiropractor cleaner clerk coach comedian composer consultant contractor cook copywriter
    counsellor counselor curator dancer dentist dermatologist designer detective dev developer dietitian
    director doctor driver ecologist economist editor electrician engineer entrepreneur farmer firefighter
    florist founder freelancer gardener geologist grocer guard hairdresser historian housewife
    illustrator influencer instructor intern interpreter investor janitor jeweler journalist judge
    lawyer lecturer librarian linguist machinist manager marketer masseuse mathematician mechanic
    microbiologist midwife miner model musician nanny neurologist neuroscientist novelist nurse
    nutritionist officer operator optician paralegal paramedic pastor pediatrician pharmacist
    philosopher photographer physician physicist physiotherapist pianist pilot plumber poet policeman
    policewoman postdoc potter priest principal producer professor programmer psychiatrist psychologist
    realtor receptionist recruiter reporter researcher sailor salesman salesperson saleswoman scientist
    sculptor secretary servant singer smith sociologist soldier specialist statistician student stylist
    superintendent supervisor surgeon surveyor tailor teacher temp technician technologist therapist tiler
    trainee translator tutor vet veterinarian waiter waitress welder writer zoologist
    """
)

COMPUTING = word_set(
    """
    api apis array bug bugs code compiler config csv database dataframe dataset debug docker doubt
    doubts endpoint error errors essay exception exceptions function functions git html integer issue
    issues javascript json kernel lambda laravel linux macro npm output pandas paragraph paragraphs php
    problem problems prompt python query question questions regex repo repository schema script server
    snippet spreadsheet sql traceback trouble typescript url variable variables vue webpack xml yaml
    """
)
"""What a task at hand is made of."""


def third(verb: str) -> str:
    """The verb as he, she or it does it."""
    if verb in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb: str) -> str:
    """The verb as it was done."""
    if (irregular := _PAST_OF.get(verb)) is not None:
        return irregular
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


_THIRD = {third(verb): verb for verb in VERBS}


def base_of_third(form: str) -> str | None:
    """The verb that he, she or it does, e.g. 'live' for 'lives'."""
    return _THIRD.get(form)


def base_of_past(form: str) -> str | None:
    """The verb whose past form this is; None for what isn't one. 'read' is left open."""
    if form in _SAME_IN_THE_PAST:
        return form
    if form in TOLD:
        return None
    return _PAST.get(form) or _base_of_ed(form)


def base_of_participle(form: str) -> str | None:
    return _PARTICIPLE.get(form) or _base_of_ed(form)


def _base_of_ed(form: str) -> str | None:
    if not form.endswith("ed") or len(form) < 4 or form in VERBS:
        return None
    stem = form[:-2]
    for candidate in (stem, stem + "e", stem[:-1]):
        if candidate in VERBS:
            return candidate
    return stem[:-1] + "y" if form.endswith("ied") else stem


def base_of_ing(form: str) -> str | None:
    """The verb that goes on, e.g. 'move' for 'moving'."""
    if not form.endswith("ing") or len(form) < 5:
        return None
    stem = form[:-3]
    for candidate in (stem, stem + "e", stem[:-1]):
        if candidate in VERBS:
            return candidate
    return stem


def noun_too(verb: str) -> bool:
    return verb in _BARE_NOUNS_TOO
