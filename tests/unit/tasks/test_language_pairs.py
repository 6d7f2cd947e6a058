"""Which languages a model knows, and how it is told."""

import json
from pathlib import Path

import pytest

from clearhead.errors import ConfigError, TextError
from clearhead.tasks import Loaded, languages
from clearhead.tasks.language_names import NAMES, choose_language, code_of
from clearhead.tasks.language_pairs import instruction

from .conftest import Make


def test_a_single_pair_is_read_off_the_name(writer: Make) -> None:
    for name in ("Helsinki-NLP/opus-mt-en-fr", "opus-mt-tc-big-en-fr", "models/opus-mt-en-fr/"):
        assert languages(writer("marian", name=name)) == (("en",), ("fr",))
    assert languages(writer("marian", name="something")) == ((), ())


def test_a_single_pair_is_read_off_the_tokenizers_settings(writer: Make, tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"source_lang": "de", "target_lang": "it"}))
    assert languages(writer("marian", folder=tmp_path)) == (("de",), ("it",))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"source_lang": 3, "target_lang": None}))
    assert languages(writer("marian", folder=tmp_path)) == ((), ())


def test_several_targets_are_read_off_the_vocabulary(polyglot: Loaded) -> None:
    assert languages(polyglot) == ((), ("de", "fr"))
    for spelled in ("fr", "FR", "French", "fra", "fre"):
        assert instruction(polyglot, to=spelled, source=None).tag == polyglot.tokenizer.id_of(">>fr<<")


def test_an_unknown_target_is_told_the_known_ones(polyglot: Loaded) -> None:
    with pytest.raises(TextError, match=r"de \(German\), fr \(French\)"):
        instruction(polyglot, to="Hindi", source=None)
    with pytest.raises(TextError, match=r"de \(German\), fr \(French\)"):
        instruction(polyglot, to=None, source=None)


def test_a_single_pair_wants_no_other(writer: Make) -> None:
    loaded = writer("marian", name="opus-mt-en-fr")
    assert instruction(loaded, to=None, source=None) == instruction(loaded, to="French", source="english")
    with pytest.raises(TextError, match="target language"):
        instruction(loaded, to="de", source=None)
    with pytest.raises(TextError, match="source language"):
        instruction(loaded, to="fr", source="de")


def test_the_original_t5_knows_four_languages_and_flan_many(writer: Make) -> None:
    assert languages(writer("t5")) == (("en",), ("de", "fr", "ro"))
    assert instruction(writer("t5"), to="de", source=None).prefix == "translate English to German: "
    with pytest.raises(TextError):
        instruction(writer("t5"), to="hi", source=None)
    flan = instruction(writer("flan-t5"), to="Hindi", source="fr")
    assert flan.prefix == "translate French to Hindi: "
    with pytest.raises(TextError, match="one language"):
        instruction(writer("flan-t5"), to="en", source=None)


def test_a_prefix_that_the_folder_says_is_used(writer: Make) -> None:
    params = {"translation_en_to_de": {"prefix": "auf Deutsch: "}, "translation_en_to_fr": {"prefix": 3}}
    loaded = writer("t5", foreign={"task_specific_params": params})
    assert instruction(loaded, to="de", source=None).prefix == "auf Deutsch: "
    assert instruction(loaded, to="fr", source=None).prefix == "translate English to French: "


def test_a_model_that_does_not_write_has_no_languages(writer: Make) -> None:
    with pytest.raises(ConfigError, match="it can complete"):
        languages(writer("gpt2"))


def test_names_and_codes_lead_to_one_language() -> None:
    assert all(code_of(name) == code_of(name.upper()) == code for code, name in NAMES.items())
    assert [code_of(code) for code in ("deu", "ger", "cmn_Hans", "pt-BR", "nob", "xx")] == [
        *("de", "de", "zh", "pt", "no", "xx")
    ]


def test_a_plain_language_is_chosen_before_its_variants() -> None:
    assert choose_language("French", ["fr_BE", "fr", "fr_CA"], what="target") == "fr"
    assert choose_language("fr-be", ["fr_BE", "fr"], what="target") == "fr_BE"
    assert choose_language("Chinese", ["cmn_Hans", "cmn_Hant"], what="target") == "cmn_Hans"
    with pytest.raises(TextError):
        choose_language("fr-CH", ["fr_BE"], what="target")


def test_a_family_of_languages_is_no_language(writer: Make) -> None:
    for name in ("opus-mt-ROMANCE-en", "opus-mt-roa-en"):
        loaded = writer("marian", name=name)
        assert languages(loaded) == ((), ("en",))
        assert instruction(loaded, to="en", source="es") == instruction(loaded, to=None, source=None)
