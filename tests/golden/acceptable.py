"""Translations that count as right, written down before the embedded translator was trained.

Each is a pattern over a translation as `plain` leaves it: lower case, straight apostrophes, single spaces, and without
the marks at its end. French puts a space before some of them, Hindi ends with a danda; neither is held against it.
"""

# ruff: noqa: E501  (a pattern is easier to read in one piece)
import re
import unicodedata

SENTENCES = (
    "How are you?",
    "Thank you.",
    "Congratulations!",
    "We are friends.",
    "I am good.",
    "I like eating ice cream.",
    "The cat sat on the mat.",
    "She deposited money in the bank.",
    "They walked along the bank of the river.",
)

_GEHEN = "(gingen|spazierten|liefen|wanderten|schlenderten)"
_UFER = "(am ufer des flusses|am flussufer|das ufer des flusses|das flussufer|am flußufer|am ufer vom fluss)"
_MARCHER = "(ont marché|marchèrent|marchaient|se sont promenée?s|se promenaient|se promenèrent)"
_RIVE = "((le long de la|sur la) (rive|berge)|(le long du|au|sur le) bord|(le long des|sur les) (rives|berges|bords))"

ACCEPTABLE: dict[str, dict[str, str]] = {
    "fr": {
        "How are you?": r"comment (allez-vous|vas-tu|ça va|te portes-tu|vous portez-vous|est-ce que tu vas)|ça va",
        "Thank you.": r"merci( bien| à (toi|vous))?|je (te|vous) remercie",
        "Congratulations!": r"((toutes )?mes )?félicitations|bravo",
        "We are friends.": r"(nous sommes|on est) (des )?(amis|amies|copains|copines)",
        "I am good.": r"je vais bien|je suis (bon|bonne|bien|doué|douée|gentil|gentille)|ça va( bien)?",
        "I like eating ice cream.": r"j'(aime|aime bien|adore) manger (de la glace|des glaces|une glace|de la crème glacée|les glaces)",
        "The cat sat on the mat.": r"(le chat|la chatte) (s'est assise?|était assise?|s'assit|s'asseyait|est assise?) sur (le tapis|le paillasson|la natte|la carpette)",
        "She deposited money in the bank.": r"elle (a déposé|déposa|déposait|a mis|mit|a versé|a placé) (de )?l'argent (à la|dans la|en) banque",
        "They walked along the bank of the river.": rf"(ils|elles) ({_MARCHER} {_RIVE}|ont longé (la (rive|berge)|le bord)) (de la rivière|du fleuve)",
    },
    "de": {
        "How are you?": r"wie geht('s| es|s)( dir| ihnen| euch)?",
        "Thank you.": r"danke( schön| dir| ihnen| sehr)?|dankeschön|ich danke (dir|ihnen|euch)|vielen dank",
        "Congratulations!": r"((herzlichen|meinen) )?glückwunsch|((herzliche|meine) )?glückwünsche|(ich )?gratuliere|gratulation(en)?",
        "We are friends.": r"wir sind (freunde|freundinnen|befreundet)",
        "I am good.": r"(mir geht('s| es)|es geht mir) gut|ich bin (gut|brav|lieb)",
        "I like eating ice cream.": r"ich (esse gerne?|mag) (eis|eiscreme|speiseeis)( essen)?|ich mag es, eis zu essen|eis esse ich gerne?",
        "The cat sat on the mat.": r"(die katze|der kater) (saß auf der (matte|fußmatte)|setzte sich auf die (matte|fußmatte)|hat auf der (matte|fußmatte) gesessen)",
        "She deposited money in the bank.": r"sie (hat (das )?geld (auf|bei|in) der bank (eingezahlt|deponiert|angelegt)|(zahlte|legte) (das )?geld (auf|bei|in) der bank (ein|an)|deponierte (das )?geld (auf|bei|in) der bank|(hat (das )?geld (auf die|zur|in die) bank gebracht)|brachte (das )?geld (auf die|zur|in die) bank)",
        "They walked along the bank of the river.": rf"sie {_GEHEN} {_UFER}( entlang)?|sie sind {_UFER} (entlang ?(gegangen|gelaufen|spaziert)|spazieren gegangen)",
    },
    "hi": {
        "How are you?": r"आप (कैसे|कैसी) (हैं|हो)|तुम (कैसे|कैसी) हो|तू (कैसा|कैसी) है|((तुम्हारा|आपका) )?क्या हाल (है|हैं)",
        "Thank you.": r"((आपका|तुम्हारा|आप का) )?(बहुत )?(धन्यवाद|शुक्रिया)",
        "Congratulations!": r"बधाई( हो)?|मुबारक हो|बधाइयाँ|बधाइयां",
    },
}
"""By language and sentence. Of Hindi the first three count; the card shows the others as they come."""


def plain(translation: str) -> str:
    """A translation without what does not matter."""
    text = unicodedata.normalize("NFKC", translation).replace("’", "'").lower()
    return re.sub(r"[\s.!?।…]+$", "", re.sub(r"\s+", " ", text)).strip()


def is_acceptable(translation: str, *, of: str, to: str) -> bool:
    """Whether a translation of one of the sentences is among the right ones."""
    return re.fullmatch(unicodedata.normalize("NFKC", ACCEPTABLE[to][of]), plain(translation)) is not None
