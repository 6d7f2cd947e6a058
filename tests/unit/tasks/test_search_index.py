"""A corpus that is found by meaning."""

from pathlib import Path

import pytest

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, TextError, WeightsError
from clearhead.tasks import SearchIndex

from .conftest import Make

LINES = ["the cat sat on the mat .", "", "paris is in france .", "who played ?"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_a_passage_finds_itself_with_its_line(reader: Make, corpus: Path, tmp_path: Path) -> None:
    loaded = reader(HeadKind.SENTENCE)
    told: list[int] = []
    built = SearchIndex.build(tmp_path / "index", corpus, loaded, told.append)
    assert sum(told) == len(built) == 3
    for index in (built, SearchIndex.load(tmp_path / "index", loaded), SearchIndex.build(None, corpus, loaded)):
        best = index.search(LINES[2], 2)
        assert (best[0].passage, best[0].line, best[0].path) == (LINES[2], 3, str(corpus))
        assert best[0].score == pytest.approx(1, abs=1e-5)
        assert best[0].score > best[1].score


def test_what_is_added_is_found(reader: Make, corpus: Path, tmp_path: Path) -> None:
    loaded = reader(HeadKind.SENTENCE)
    index = SearchIndex.build(tmp_path / "index", corpus, loaded)
    more = tmp_path / "more.txt"
    more.write_text("a b c\n")
    assert index.add(more) == 1
    assert SearchIndex.load(tmp_path / "index", loaded).search("a b c", 1)[0].path == str(more)


def test_a_line_that_is_longer_than_the_context_is_divided(reader: Make, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("cat sat . " * 40)
    index = SearchIndex.build(None, path, reader(HeadKind.SENTENCE))
    assert len(index) > 1
    assert {hit.line for hit in index.search("cat", 5)} == {1}


def test_what_is_passed_over_is_counted(reader: Make, corpus: Path) -> None:
    (corpus.parent / "image.png").write_bytes(b"\x89PNG")
    index = SearchIndex.build(None, corpus.parent, reader(HeadKind.SENTENCE))
    assert sum(index.skipped.values()) == 1


def test_another_model_is_refused(reader: Make, corpus: Path, tmp_path: Path) -> None:
    loaded = reader(HeadKind.SENTENCE)
    SearchIndex.build(tmp_path / "index", corpus, loaded)
    other = reader(HeadKind.SENTENCE)
    with pytest.raises(TextError):
        SearchIndex.load(tmp_path / "index", other).search("cat " * 60)
    next(other.checkpoint.model.parameters()).data[0, 0] += 1
    with pytest.raises(WeightsError, match="another model"):
        SearchIndex.load(tmp_path / "index", other)


def test_a_model_that_does_not_embed_is_refused(writer: Make, corpus: Path) -> None:
    with pytest.raises(ConfigError, match="it can complete"):
        SearchIndex.build(None, corpus, writer("gpt2"))
