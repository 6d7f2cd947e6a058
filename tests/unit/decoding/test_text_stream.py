from collections.abc import Sequence
from itertools import pairwise

import pytest

from clearhead.decoding import DecodingSettings, Finish, Row, TextStream
from clearhead.testing import ByteTokenizer

BYTES = ByteTokenizer()


def letters(ids: Sequence[int]) -> str:
    return "".join(map(chr, ids))


def pieces(ids: Sequence[int], stream: TextStream) -> list[str]:
    return [*(stream.push(index) for index in ids), stream.close()]


def written(text: str, *stop: str) -> tuple[str, list[str], bool]:
    """A text that comes letter by letter: what is shown in all, as it is shown, and whether it was stopped."""
    stream = TextStream(decode=letters, stop=stop)
    shown: list[str] = []
    for letter in text:
        shown.append(stream.push(ord(letter)))
        if stream.stopped:
            break
    shown.append(stream.close())
    return "".join(shown), shown, stream.stopped


def test_a_character_comes_whole_with_its_last_byte() -> None:
    ids = BYTES.encode("a€😀b", add_special=False).ids
    shown = pieces(ids, TextStream(decode=BYTES.decode))
    assert shown == ["a", "", "", "€", "", "", "", "😀", "b", ""]


def test_half_a_character_is_shown_only_when_nothing_can_follow() -> None:
    ids = BYTES.encode("a😀", add_special=False).ids[:-1]
    shown = pieces(ids, TextStream(decode=BYTES.decode))
    assert shown[:-1] == ["a", "", "", ""]
    assert shown[-1] == BYTES.decode(ids)[1:]


def test_broken_bytes_do_not_hold_up_what_follows() -> None:
    good = BYTES.encode("ok", add_special=False).ids
    broken = BYTES.encode("€", add_special=False).ids[:2]
    shown = pieces([*good, *broken, *good], TextStream(decode=BYTES.decode))
    assert "".join(shown) == BYTES.decode([*good, *broken, *good])
    assert shown[-1] == ""


def test_what_follows_a_text_knows_whether_it_needs_a_space() -> None:
    def words(ids: Sequence[int]) -> str:
        return " ".join(letters([index]) for index in ids)

    assert "".join(pieces([98, 99], TextStream(decode=words))) == "b c"
    assert "".join(pieces([98, 99], TextStream(decode=words, after=[97]))) == " b c"


def by_fallback(ids: Sequence[int]) -> str:
    """As tokenizers decode whose spare pieces are bytes: a run of them is text as a whole, or no text at all."""
    text, run = "", bytearray()
    for index in [*ids, 1000]:
        if index < 256:
            run.append(index)
            continue
        try:
            text += run.decode()
        except UnicodeDecodeError:
            text += "\ufffd" * len(run)
        run.clear()
        text += chr(index - 900 + 65) if index != 1000 else ""
    return text


def test_a_byte_that_spoils_its_run_takes_nothing_back_and_holds_nothing_up() -> None:
    euro = list("€".encode())
    assert "".join(pieces([*euro, *euro], TextStream(decode=by_fallback))) == "€€"
    shown = pieces([*euro, 0xFF, 900, 901, *euro, 902], TextStream(decode=by_fallback))
    assert "".join(shown) == "€\ufffdAB€C"
    assert "".join(pieces([*euro, 0xE2], TextStream(decode=by_fallback))) == "€\ufffd"


@pytest.mark.parametrize(
    ("text", "stop", "shown"),
    [
        ("one. two", (".",), "one"),
        ("one\n\ntwo", ("\n\n",), "one"),
        ("one\ntwo", ("\n\n",), "one\ntwo"),
        ("aaab", ("aab",), "a"),
        ("ababac", ("abac",), "ab"),
        ("xxSTOPyy", ("STOP", "TOP"), "xx"),
        ("xxTOPyy", ("STOP", "TOP"), "xx"),
        ("abcd", ("abcd", "bc"), "a"),
        ("STO", ("STOP",), "STO"),
        ("STOP", ("STOP",), ""),
        ("say STO and STOP", ("STOP",), "say STO and "),
    ],
)
def test_a_stop_string_ends_the_text_and_is_left_out(text: str, stop: tuple[str, ...], shown: str) -> None:
    assert written(text, *stop)[0] == shown


@pytest.mark.parametrize("text", ["ab ENDING", "abEND", "abc", "abENabEND", "xEaENDb", "eEENDD", "ENEND"])
@pytest.mark.parametrize("stop", [("END",), ("END", "ab"), ("EN", "END"), ("D", "ENDI"), ("b", "a", "E")], ids=str)
def test_how_a_text_is_cut_into_pieces_changes_nothing(text: str, stop: tuple[str, ...]) -> None:
    expected, _, stopped = written(text, *stop)
    for cuts in range(2 ** (len(text) - 1)):
        places = [0, *(n + 1 for n in range(len(text) - 1) if cuts >> n & 1), len(text)]
        parts = [text[start:end] for start, end in pairwise(places)]
        stream = TextStream(decode=lambda ids, parts=parts: "".join(parts[n] for n in ids), stop=stop)
        shown = ""
        for n in range(len(parts)):
            shown += stream.push(n)
            # Nothing is shown that would be taken back.
            assert (expected if stopped else text).startswith(shown)
            if stream.stopped:
                break
        assert shown + stream.close() == expected
        assert stream.stopped == stopped


def test_only_what_may_become_a_stop_string_is_held_back() -> None:
    _, shown, _ = written("a b\nc\n\nd", "\n\n")
    assert shown == ["a", " ", "b", "", "\nc", "", "", ""]


def test_after_a_stop_nothing_is_shown() -> None:
    stream = TextStream(decode=letters, stop=("b",))
    assert [stream.push(ord(letter)) for letter in "abc"] == ["a", "", ""]
    assert stream.close() == ""


def test_closing_twice_shows_nothing_twice() -> None:
    stream = TextStream(decode=letters, stop=("ab",))
    stream.push(ord("a"))
    assert [stream.close(), stream.close()] == ["a", ""]


def test_a_row_says_that_it_was_stopped_and_shows_the_rest_at_its_end() -> None:
    def row(**asked: object) -> Row:
        settings = DecodingSettings(stop=("xyz",), max_new_tokens=4, end_ids=(0,), **asked)
        return Row(name=3, prompt=(1,), settings=settings, text=TextStream(decode=letters, stop=settings.stop))

    one = row()
    events = [one.accept(ord(letter), None) for letter in "axyz"]
    assert [event.text for event in events] == ["a", "", "", ""]
    assert events[-1].finish is Finish.STOP
    one = row()
    events = [one.accept(index, None) for index in (ord("x"), ord("y"), 0)]
    assert [(event.text, event.finish) for event in events] == [("", None), ("", None), ("xy", Finish.END)]
    one = row()
    assert [one.accept(ord(letter), None).text for letter in "abxy"] == ["a", "b", "", "xy"]
    assert one.finish is Finish.LENGTH
