"""Tokenizer files that are broken, or made to break their reader."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clearhead.errors import TextError
from clearhead.text import Tokenizer, TokenizerKind, tokenizer, train_tokenizer

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[TokenizerKind, str]:
    folder = tmp_path_factory.mktemp("sound")
    return {
        kind: train_tokenizer([TEXT] * 3, kind=kind, vocab_size=300).save(folder).read_text(encoding="utf-8")
        for kind in TokenizerKind
    }


def load(folder: Path, content: str | bytes) -> Tokenizer:
    path = folder / "tokenizer.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Tokenizer.load(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"\x80\x04\x95pickle",
        b'{"model": {"type": "BPE"}}',
        b'{"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": -1}, "unk_token": "a"}}',
        b'{"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 99999999999}, "unk_token": "a"}}',
        b'{"version": "1.0", "model": {"type": "Unigram", "unk_id": 5, "vocab": [["a", 0.0]]}}',
        b'{"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}',
        b"[" * 100_000,
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(TextError, match="cannot be read") as caught:
        load(tmp_path, content)
    assert str(tmp_path / "tokenizer.json") in str(caught.value)


def test_a_file_cut_anywhere(tmp_path: Path, sound: dict[TokenizerKind, str]) -> None:
    content = sound[TokenizerKind.WORDPIECE]
    for end in range(0, len(content) - 2, len(content) // 40):
        with pytest.raises(TextError, match=r"tokenizer\.json"):
            load(tmp_path, content[:end])


def _mutations(value: Any, chance: random.Random) -> Any:
    """The same JSON with one leaf or branch replaced by something that does not belong there."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        return {**value, key: _mutations(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        place = chance.randrange(len(value))
        return [*value[:place], _mutations(value[place], chance), *value[place + 1 :]]
    return chance.choice([None, -1, 2**40, "", "\x00", [], {}, True, 1e308])


@pytest.mark.parametrize("kind", TokenizerKind)
def test_a_changed_file_is_refused_or_works(
    tmp_path: Path, sound: dict[TokenizerKind, str], kind: TokenizerKind
) -> None:
    chance = random.Random(0)  # noqa: S311
    outcomes: set[str] = set()
    for _ in range(150):
        changed = json.dumps(_mutations(json.loads(sound[kind]), chance))
        try:
            loaded = load(tmp_path, changed)
            loaded.decode(loaded.encode_batch([TEXT, "", "\x00 😀"])[0].ids)
            outcomes.add("works")
        except TextError:
            outcomes.add("refused")
    assert outcomes == {"works", "refused"}


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "MAX_FILE_BYTES", 10)
    with pytest.raises(TextError, match="at most 10 bytes"):
        load(tmp_path, b" " * 11)


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_folder_without_a_tokenizer(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "tokenizer.json")
    with pytest.raises(TextError, match=r"tokenizer\.json"):
        Tokenizer.load(tmp_path)


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json"])
def test_broken_settings_are_named(tmp_path: Path, sound: dict[TokenizerKind, str], name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TextError, match="settings that are not") as caught:
        load(tmp_path, sound[TokenizerKind.BPE])
    assert name in str(caught.value)


@pytest.mark.parametrize("value", [3, ["<s>"], {"content": 5}, "no such piece", "", None])
def test_odd_settings_give_no_role(tmp_path: Path, sound: dict[TokenizerKind, str], value: object) -> None:
    settings = {"pad_token": "<pad>", "bos_token": value}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    loaded = load(tmp_path, sound[TokenizerKind.BPE])
    assert loaded.special.pad == 0
    assert loaded.special.start is None


def test_a_text_that_a_tokenizer_has_no_piece_for(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, b'{"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "gone"}}'
    )
    assert loaded.encode("a").ids == (0,)
    with pytest.raises(TextError, match="cannot read"):
        loaded.encode("b")
