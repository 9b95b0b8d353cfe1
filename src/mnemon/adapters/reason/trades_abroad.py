"""Trades in the words of a few other languages, as people say them of themselves: 'Ich bin Lehrerin'."""

from __future__ import annotations

_GERMAN = """
anwältin anwalt apotheker(?:in)? architekt(?:in)? ärztin arzt bauer bäuerin beamter beamtin bäcker(?:in)?
buchhalter(?:in)? dachdecker(?:in)? elektriker(?:in)? entwickler(?:in)? erzieher(?:in)? friseur(?:in)?
gärtner(?:in)? grafiker(?:in)? hebamme informatiker(?:in)? ingenieur(?:in)? journalist(?:in)?
kassierer(?:in)? kellner(?:in)? koch köchin krankenpfleger(?:in)? krankenschwester künstler(?:in)?
lehrer(?:in)? maler(?:in)? maurer(?:in)? mechaniker(?:in)? musiker(?:in)? pfleger(?:in)? polizist(?:in)?
programmierer(?:in)? schauspieler(?:in)? schreiner(?:in)? softwareentwickler(?:in)? steuerberater(?:in)?
student(?:in)? tierarzt tierärztin tischler(?:in)? übersetzer(?:in)? verkäufer(?:in)? zahnarzt zahnärztin
"""
_SPANISH = """
abogad[oa] albañil arquitect[oa] bombero camarer[oa] camioner[oa] carpinter[oa] cociner[oa] conductora?
contable contadora? dentista diseñadora? economista electricista enfermer[oa] estudiante farmacéutic[oa]
fontaner[oa] fotógraf[oa] ingenier[oa] jardiner[oa] maestr[oa] mecánic[oa] médic[oa] meser[oa] músic[oa]
panader[oa] peluquer[oa] periodista pintora? policía profesora? programadora? psicólog[oa] secretari[oa]
traductora? veterinari[oa]
"""
_FRENCH = """
agricult(?:eur|rice) architecte artiste avocate? boulang(?:er|ère) caiss(?:ier|ière) charpentier
coiffeu(?:r|se) comptable cuisini(?:er|ère) dentiste développeu(?:r|se) électricien(?:ne)? étudiante?
graphiste infirmi(?:er|ère) informaticien(?:ne)? ingénieure? institut(?:eur|rice) journaliste kiné maçon
kinésithérapeute mécanicien(?:ne)? médecin menuisi(?:er|ère) musicien(?:ne)? pharmacien(?:ne)?
plombi(?:er|ère) polici(?:er|ère) professeure? prof psychologue sage-femme secrétaire serveu(?:r|se)
traduct(?:eur|rice) vétérinaire vendeu(?:r|se)
"""
_ITALIAN = """
architett[oa] avvocat[oa] barista camerier[ea] commess[oa] commercialista cuoc[oa] dentista elettricista
falegname farmacista fotograf[oa] giardiniere giornalista grafic[oa] idraulico impiegat[oa] infermier[ea]
ingegnere insegnante maestr[oa] meccanico medico muratore musicista operai[oa] ostetrica parrucchier[ea]
pittore programmat(?:ore|rice) psicolog[oa] segretari[oa] studente studentessa sviluppat(?:ore|rice)
traduttrice veterinari[oa]
"""
_PORTUGUESE = """
advogad[oa] arquitet[oa] cabeleireir[oa] contadora? cozinheir[oa] dentista desenvolvedora? eletricista
enfermeir[oa] engenheir[oa] estudante farmacêutic[oa] garçom garçonete jardineir[oa] jornalista
marceneir[oa] mecânic[oa] médic[oa] motorista músic[oa] padeir[oa] pedreir[oa] pintora? professora?
programadora? psicólog[oa] veterinári[oa]
"""
_DUTCH = """
accountant advocaat arts bakker boekhouder bouwvakker docent elektricien fotograaf fysiotherapeut ingenieur
journalist kapper kapster kok kunstenaar leraar lerares loodgieter metselaar monteur muzikant ontwikkelaar
onderwijzer politieagent programmeur psycholoog schilder schrijver student tandarts timmerman verloskundige
verpleegkundige verpleegster vertaler vrachtwagenchauffeur
"""


def _either(words: str) -> str:
    return "|".join(words.split())


_OWN_NAME = r"(?:(?-i:[A-ZÀ-Þ])[\w'’-]+(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)?, )?"
"""'Soy Rodrigo, profesor': who says what they are may say their name first."""
_OF_WHAT = r"(?: (?:de |d')?(?!(?:pero|mais|desde|depuis|chez|dans|avec|pour|porque)\b)[\w-]{4,20})?"
"""'Profesor de historia', 'infirmière libérale'."""
GERMAN_TRADES = _either(_GERMAN)
TRADES_ABROAD = (
    rf"(?i:ich bin {_OWN_NAME}(?:von beruf )?(?:eine? )?)(?P<german>(?i:{GERMAN_TRADES}))"
    rf"|(?i:(?:yo )?soy {_OWN_NAME}(?:una? )?)(?P<spanish>(?i:{_either(_SPANISH)}){_OF_WHAT})"
    rf"|(?i:(?:je suis|moi c'est|je m'appelle) {_OWN_NAME}(?:une? )?)"
    rf"(?P<french>(?i:{_either(_FRENCH)}){_OF_WHAT})"
    rf"|(?i:(?:io )?(?:sono (?:una? |un')?|faccio (?:il |la |l')))(?P<italian>(?i:{_either(_ITALIAN)}))"
    rf"|(?i:(?:eu )?sou (?:uma? )?)(?P<portuguese>(?i:{_either(_PORTUGUESE)}))"
    rf"|(?i:ik ben (?:een )?)(?P<dutch>(?i:{_either(_DUTCH)}))"
)
"""What somebody is, the trade itself in the last group that matches."""
