"""Where a text divides into words, said once for every part of this room.

Takes: a text.
Gives: its words, and its punctuation marks one by one.
Uses:  errors; tokenizers (its regular expressions know the vowel signs of Hindi, Python's do not).
Never: changes a letter.
"""

from tokenizers import Regex, pre_tokenizers

from clearhead.errors import TextError

__all__ = ["check_text", "split_words", "word_splitter"]

# A word may hold joiners (Indic and Persian scripts) and, between letters, an apostrophe or a hyphen:
# "don't" and "ice-cream" are one word each. Any other mark stands alone.
_LETTERS = r"[\w\u200c\u200d]+"
_WORD = rf"{_LETTERS}(?:['’\-]{_LETTERS})*"
_MARK = r"[^\w\s\u200c\u200d]"


def word_splitter() -> pre_tokenizers.PreTokenizer:
    """The rule as a part of a tokenizer: words and marks stay, what is between them goes."""
    return pre_tokenizers.Split(Regex(f"{_WORD}|{_MARK}"), "removed", invert=True)


_SPLITTER = word_splitter()
_SPLITTER_WITHOUT_MARKS = pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)


def split_words(text: str, *, marks: bool = True) -> list[str]:
    """The words of a text in order.

    Args:
        text: Any text.
        marks: Whether punctuation marks are given too, each by itself.
    """
    check_text(text)
    splitter = _SPLITTER if marks else _SPLITTER_WITHOUT_MARKS
    return [word for word, _ in splitter.pre_tokenize_str(text)]


def check_text(text: object) -> str:
    """The same text, or a TextError where it is no text or holds half a surrogate pair."""
    if not isinstance(text, str):
        raise TextError("something that is not text", got=f"{type(text).__name__} {text!r:.60}", expected="a str")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            "half a surrogate pair, which is no character",
            got=f"U+{ord(text[error.start]):04X} at character {error.start}",
            expected="text that UTF-8 can hold",
            advice="decode the bytes that it came from again, as UTF-8",
        ) from None
    return text
