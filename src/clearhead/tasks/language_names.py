"""Languages by code and by English name."""

from collections.abc import Collection, Iterable

from clearhead.errors import TextError, nearest

# Two letters, three letters, the English name.
_TABLE = """
af afr Afrikaans; sq sqi Albanian; am amh Amharic; ar ara Arabic; hy hye Armenian; az aze Azerbaijani; eu eus Basque;
be bel Belarusian; bn ben Bengali; bs bos Bosnian; bg bul Bulgarian; my mya Burmese; ca cat Catalan; zh zho Chinese;
hr hrv Croatian; cs ces Czech; da dan Danish; nl nld Dutch; en eng English; eo epo Esperanto; et est Estonian;
fi fin Finnish; fr fra French; gl glg Galician; ka kat Georgian; de deu German; el ell Greek; gu guj Gujarati;
ht hat Haitian Creole; ha hau Hausa; he heb Hebrew; hi hin Hindi; hu hun Hungarian; is isl Icelandic; ig ibo Igbo;
id ind Indonesian; ga gle Irish; it ita Italian; ja jpn Japanese; jv jav Javanese; kn kan Kannada; kk kaz Kazakh;
km khm Khmer; ko kor Korean; ku kur Kurdish; ky kir Kyrgyz; lo lao Lao; la lat Latin; lv lav Latvian;
lt lit Lithuanian; lb ltz Luxembourgish; mk mkd Macedonian; mg mlg Malagasy; ms msa Malay; ml mal Malayalam;
mt mlt Maltese; mr mar Marathi; mn mon Mongolian; ne nep Nepali; no nor Norwegian; or ori Odia; ps pus Pashto;
fa fas Persian; pl pol Polish; pt por Portuguese; pa pan Punjabi; ro ron Romanian; ru rus Russian; sa san Sanskrit;
gd gla Scottish Gaelic; sr srp Serbian; sd snd Sindhi; si sin Sinhala; sk slk Slovak; sl slv Slovenian; so som Somali;
es spa Spanish; su sun Sundanese; sw swa Swahili; sv swe Swedish; tl tgl Tagalog; tg tgk Tajik; ta tam Tamil;
tt tat Tatar; te tel Telugu; th tha Thai; tr tur Turkish; tk tuk Turkmen; uk ukr Ukrainian; ur urd Urdu; ug uig Uyghur;
uz uzb Uzbek; vi vie Vietnamese; cy cym Welsh; xh xho Xhosa; yi yid Yiddish; yo yor Yoruba; zu zul Zulu
"""
# Codes that books on languages, older lists and published models also use.
_OTHERS = {
    "cmn": "zh", "chi": "zh", "fre": "fr", "ger": "de", "dut": "nl", "gre": "el", "cze": "cs", "slo": "sk",
    "rum": "ro", "per": "fa", "alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "geo": "ka", "ice": "is",
    "mac": "mk", "may": "ms", "wel": "cy", "nb": "no", "nob": "no", "nn": "no", "nno": "no", "iw": "he", "in": "id",
    "zsm": "ms", "arb": "ar", "pes": "fa", "lvs": "lv", "ekk": "et", "fil": "tl", "hbs": "sr",
    "mandarin": "zh", "farsi": "fa", "filipino": "tl", "moldovan": "ro", "flemish": "nl", "castilian": "es",
}  # fmt: skip

NAMES = {line.split()[0]: " ".join(line.split()[2:]) for line in _TABLE.split(";")}
"""The English name of each language, by its code of two letters."""

_CODES = (
    {line.split()[1]: line.split()[0] for line in _TABLE.split(";")}
    | {name.lower(): code for code, name in NAMES.items()}
    | {code: code for code in NAMES}
    | _OTHERS
)


def code_of(language: str) -> str:
    """The code of two letters for any spelling of a language; what is unknown stays as it is, in small letters."""
    plain = language.strip().lower()
    return _CODES.get(plain) or _CODES.get(plain.replace("_", "-").split("-")[0], plain)


def choose_language(language: str, known: Collection[str], *, what: str) -> str:
    """The one of the known languages that is meant.

    Args:
        language: A code of two or three letters, or an English name.
        known: The codes that a model knows, as it spells them.
        what: What the language is for, for the message.

    Raises:
        TextError: None of them is; the message lists those that are known.
    """
    plain = language.strip().lower().replace("_", "-")
    spelled = {code.lower().replace("_", "-"): code for code in known}
    if plain in spelled:
        return spelled[plain]
    # Of fr and fr_BE, somebody who says "French" means the first.
    alike = sorted((code for code in known if code_of(code) == code_of(language)), key=lambda code: (len(code), code))
    if alike and plain.split("-")[0] == plain:
        return alike[0]
    raise TextError(
        f"a {what} language that this model does not know",
        got=repr(language[:60]),
        expected=listed(known),
        advice=nearest(language, [*known, *(NAMES.get(code_of(code), code) for code in known)]),
    )


def listed(codes: Iterable[str]) -> str:
    """Codes with their names, for a message."""
    return ", ".join(f"{code} ({NAMES[code_of(code)]})" if code_of(code) in NAMES else code for code in sorted(codes))
