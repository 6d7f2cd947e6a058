"""A model as tasks need it."""

import json
from pathlib import Path

import pytest

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, TextError, WeightsError
from clearhead.tasks import Loaded

from .conftest import Make


def test_a_wrong_task_is_told_the_right_ones(writer: Make, reader: Make) -> None:
    for loaded, family in (
        (writer("gpt2"), "a decoder"),
        (writer("t5"), "an encoder-decoder"),
        (reader(HeadKind.MASKED_LANGUAGE_MODEL), "an encoder"),
    ):
        with pytest.raises(ConfigError, match=f"this is {family}: it can {', '.join(loaded.verbs)}"):
            loaded.require("juggle")
        for verb in loaded.verbs:
            loaded.require(verb)


def test_a_network_reads_or_writes(writer: Make, reader: Make) -> None:
    with pytest.raises(ConfigError, match="cannot write"):
        _ = reader(HeadKind.NONE).engine
    with pytest.raises(ConfigError, match="cannot read"):
        _ = writer("gpt2").reader


def test_a_model_without_a_tokenizer_says_so(writer: Make) -> None:
    bare = Loaded(checkpoint=writer("gpt2").checkpoint)
    assert bare.own_tokenizer is None
    with pytest.raises(TextError, match="no tokenizer"):
        _ = bare.tokenizer


def test_unknown_formats_are_refused(writer: Make) -> None:
    with pytest.raises(ConfigError, match="int8"):
        writer("gpt2", weights="int3")


def test_how_much_a_model_reads(writer: Make, reader: Make) -> None:
    assert reader(HeadKind.NONE).source_limit == 48
    assert writer("t5").source_limit == 512
    assert writer("t5", foreign={"n_positions": 100}).source_limit == 100
    assert writer("t5", foreign={"n_positions": "all"}).source_limit == 512


def test_a_side_file_that_is_no_json_is_an_error_and_none_is_nothing(writer: Make, tmp_path: Path) -> None:
    loaded = writer("marian", folder=tmp_path)
    assert loaded.side_file("tokenizer_config.json") == {}
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"a": 1}))
    assert loaded.side_file(path.name) == {"a": 1}
    path.write_text("{")
    with pytest.raises(WeightsError):
        loaded.side_file(path.name)


def test_the_newer_file_alone_says_how_to_decode_where_there_is_one(writer: Make) -> None:
    loaded = writer("marian", foreign={"num_beams": 2, "max_length": 9}, generation={"num_beams": 3})
    assert loaded.defaults == {"num_beams": 3}
    older = writer("marian", foreign={"num_beams": 2, "max_length": 9})
    assert older.defaults == {"num_beams": 2, "max_length": 9}


def test_tags_are_read_off_the_vocabulary(polyglot: Loaded, writer: Make) -> None:
    assert polyglot.tags == {"de": 2, "fr": 3}
    assert writer("marian").tags == {}
