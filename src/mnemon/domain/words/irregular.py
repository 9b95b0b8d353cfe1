"""English words whose forms follow no rule, second spellings and short forms, each with what it stands for.

Forms that are better known as a name or as another word ('rose', 'drew', 'ground') are left alone.
"""

from __future__ import annotations

_FORMS = """
become became
begin began begun
bend bent
bite bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
cling clung
come came
creep crept
deal dealt
dig dug
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go goes going went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
leave left
lend lent
light lit
lose lost losing
make made
mean meant
meet met
overcome overcame
pay paid
ride rode ridden
ring rang rung
rise risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spend spent
spill spilt
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
string strung
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children
foot feet
goose geese
half halves
knife knives
man men
mouse mice
person people
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
ski skis
agree agreed
bus buses
die died dying
gas gases
guarantee guaranteed
lie lied lying
quiz quizzes
tie tied tying
january jan
center centre
cozy cosy
fiber fibre
gray grey
jewelry jewellery
kilometer kilometre
liter litre
meter metre
mom mum mommy mummy
pajamas pyjamas
program programme
theater theatre
tire tyre
bike bicycle
fridge refrigerator
phone telephone
photo photograph pic pics
tv television
vet veterinarian
february feb
april apr
june jun
july jul
august aug
september sep sept
october oct
november nov
december dec
monday mon
tuesday tue tues
thursday thu thur thurs
friday fri
2 two
3 three
4 four
5 five
6 six
7 seven
8 eight
9 nine
10 ten
11 eleven
12 twelve
"""

BASES = {form: base for base, *forms in map(str.split, _FORMS.strip().splitlines()) for form in forms}
"""What each form stands for; what that comes to is for the rules."""
