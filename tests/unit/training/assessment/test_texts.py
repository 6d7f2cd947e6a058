"""Translations, language models and masked language models: numbers beside a direct use of the libraries."""

import math
from pathlib import Path

import pytest
import sacrebleu
import torch
from torch.nn import functional

from clearhead import tasks
from clearhead.config import Cell, RecurrentAttention, RecurrentConfig
from clearhead.data import Source, Task
from clearhead.engine import Request
from clearhead.errors import ConfigError, TextError
from clearhead.models import build
from clearhead.tasks.loaded import Loaded
from clearhead.tasks.options import settings_of
from clearhead.text import Tokenizer
from clearhead.training.assessment import Assessment, AssessmentSettings, assess, pair_losses
from clearhead.training.assessment.language import overlapping
from clearhead.training.assessment.results import LanguageMeasures, MaskedMeasures, TranslationMeasures

from .specimens import MASK, START, filler, loaded, translator, writer

PAIRS = [
    ("the dog runs in the garden.", "der Hund rennt im Garten."),
    ("the cat sleeps at night. Then a man sings at night.", "die Katze schläft nachts. ein Mann singt."),
    ("a man sings in the garden.", "im Garten singt ein kleiner Mann."),
    ("", ""),
    ("a child runs.", "das Kind läuft weg"),
]
KEPT = {place: pair for place, pair in enumerate(PAIRS, start=1) if pair[0]}
ENGLISH = [english for english, _ in KEPT.values()]
GERMAN = [german for _, german in KEPT.values()]
SETTINGS = AssessmentSettings(beams=2, batch=2, worst=2)


def source(folder: Path, name: str, text: str, task: Task) -> list[Source]:
    (folder / name).write_text(text, encoding="utf-8")
    return [Source(paths=(folder / name,), task=task)]


def translated(trained: Loaded, folder: Path, settings: AssessmentSettings = SETTINGS) -> Assessment:
    rows = "".join(f"{english}\t{german}\n" if english else "\n" for english, german in PAIRS)
    return assess(trained, source(folder, "test.tsv", rows, Task.TRANSLATE), settings=settings)


def framed(tokenizer: Tokenizer, text: str) -> list[int]:
    assert tokenizer.special.end is not None
    return [*tokenizer.encode(text, add_special=False).ids, tokenizer.special.end]


def direct_loss(trained: Loaded, english: str, german: str) -> float:
    tokenizer, start = trained.tokenizer, trained.config.tokens.decoder_start
    ids = torch.tensor([framed(tokenizer, german)])
    shifted = torch.cat([torch.tensor([[start]]), ids[:, :-1]], 1)
    with torch.no_grad():
        logits = trained.checkpoint.model(torch.tensor([framed(tokenizer, english)]), shifted).logits_BTV
    return float(functional.cross_entropy(logits[0], ids[0], reduction="sum"))


def test_translations_are_scored_as_sacrebleu_scores_them(trained: Loaded, tmp_path: Path) -> None:
    found = translated(trained, tmp_path)
    outputs = [one.text for one in tasks.translate(trained, ENGLISH, beams=2)]
    measures = found.findings.measures
    assert isinstance(measures, TranslationMeasures)
    assert measures.scores.bleu == sacrebleu.corpus_bleu(outputs, [GERMAN]).score
    assert measures.scores.chrf == sacrebleu.corpus_chrf(outputs, [GERMAN]).score
    assert 10 < measures.scores.bleu < 90
    assert measures.scores.bleu_lowercase == sacrebleu.corpus_bleu(outputs, [GERMAN], lowercase=True).score
    assert "case:mixed" in measures.scores.bleu_signature
    assert "case:lc" in measures.scores.lowercase_signature
    assert (found.n, found.n_blank, measures.n_divided, measures.n_unread) == (4, 1, 1, 0)


def test_scores_by_length_are_those_of_the_sentences_of_that_length(trained: Loaded, tmp_path: Path) -> None:
    rows = translated(trained, tmp_path).findings.by_length
    outputs = [one.text for one in tasks.translate(trained, ENGLISH, beams=2)]
    lengths = [len(english.split()) for english in ENGLISH]
    assert sum(row.n for row in rows) == len(ENGLISH)
    for row in rows:
        group = [place for place, n in enumerate(lengths) if row.least <= n <= (row.most or n)]
        assert row.n == len(group)
        scored = [outputs[place] for place in group], [[GERMAN[place] for place in group]]
        assert row.measures["bleu"] == sacrebleu.corpus_bleu(*scored).score
        assert row.measures["chrf"] == sacrebleu.corpus_chrf(*scored).score


def test_the_worst_have_the_lowest_chrf_and_their_place_in_the_file(trained: Loaded, tmp_path: Path) -> None:
    worst = translated(trained, tmp_path).findings.worst
    outputs = tasks.translate(trained, ENGLISH, beams=2)
    scores = {
        place: sacrebleu.sentence_chrf(output.text, [KEPT[place][1]]).score
        for place, output in zip(KEPT, outputs, strict=True)
    }
    assert len(set(scores.values())) == len(scores)
    assert [(one.place, one.score) for one in worst] == sorted(scores.items(), key=lambda item: item[1])[:2]
    assert [(one.texts[0], one.expected) for one in worst] == [KEPT[one.place] for one in worst]


def test_the_perplexity_of_references_is_that_of_teacher_forcing(trained: Loaded, tmp_path: Path) -> None:
    found = translated(trained, tmp_path)
    nats = [direct_loss(trained, *pair) for pair in KEPT.values()]
    measures = found.findings.measures
    assert isinstance(measures, TranslationMeasures) and measures.references is not None
    n_tokens = sum(len(framed(trained.tokenizer, german)) for german in GERMAN)
    n_bytes = sum(len(german.encode()) for german in GERMAN)
    assert measures.references.n_tokens == n_tokens
    assert measures.references.perplexity == pytest.approx(math.exp(sum(nats) / n_tokens), rel=1e-4)
    assert measures.references.bits_per_byte == pytest.approx(sum(nats) / math.log(2) / n_bytes, rel=1e-4)
    assert measures.references.n_words == sum(len(german.split()) for german in GERMAN)
    shortest = found.findings.by_length[0]
    n_shortest = len(framed(trained.tokenizer, GERMAN[-1]))
    assert (shortest.n, shortest.words) == (1, "1–3")
    assert shortest.measures["perplexity"] == pytest.approx(math.exp(nats[-1] / n_shortest), rel=1e-4)


def test_a_segment_can_be_read_whole(trained: Loaded, tmp_path: Path) -> None:
    found = translated(trained, tmp_path, AssessmentSettings(beams=2, whole=True))
    assert isinstance(found.findings.measures, TranslationMeasures)
    assert found.findings.measures.n_divided == 0
    ways = settings_of(trained, usual={}, asked={"beams": 2})
    whole = Request(ids=tuple(framed(trained.tokenizer, PAIRS[1][0])), settings=ways)
    output = next(one.output for one in found.findings.worst if one.place == 2)
    assert output == trained.engine.generate([whole])[0].best.text
    assert output != tasks.translate(trained, [PAIRS[1][0]], beams=2)[0].text


def test_a_reference_beyond_the_context_is_counted_and_not_read(tmp_path: Path) -> None:
    rows = f"a\t{'b' * 100}\nc\td\n"
    settings = AssessmentSettings(beams=1)
    found = assess(translator(), source(tmp_path, "test.tsv", rows, Task.TRANSLATE), settings=settings)
    measures = found.findings.measures
    assert isinstance(measures, TranslationMeasures) and measures.references is not None
    assert (measures.n_unread, measures.references.n_tokens) == (1, 2)


def test_a_language_that_the_model_does_not_know(tmp_path: Path) -> None:
    german = loaded("marian", name="opus-mt-en-de")
    with pytest.raises(TextError, match="does not know") as caught:
        assess(
            german,
            source(tmp_path, "test.tsv", "a\tb\n", Task.TRANSLATE),
            settings=AssessmentSettings(to="fr"),
        )
    assert "de (German)" in str(caught.value)


def test_a_recurrent_network_is_read_in_memory() -> None:
    config = RecurrentConfig(vocab_size=20, width=16, n_layers=1, cell=Cell.GRU, attention=RecurrentAttention.ADDITIVE)
    network = build(config, seed=0)
    sources, targets = [[5, 6, 7, 2], [8, 2]], [[9, 2], [10, 11, 12, 2]]
    losses = pair_losses(network, sources, targets, start_id=0, pad_id=0)
    for ids, target, loss in zip(sources, targets, losses, strict=True):
        with torch.no_grad():
            logits = network(torch.tensor([ids]), torch.tensor([[0, *target[:-1]]])).logits_BTV[0]
        assert loss.nats == pytest.approx(
            float(functional.cross_entropy(logits, torch.tensor(target), reduction="sum")), rel=1e-5
        )
        assert loss.n_correct == int((logits.argmax(-1) == torch.tensor(target)).sum())


@pytest.mark.parametrize("n_ids", range(1, 40))
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_windows_ask_for_every_id_but_the_first_once(n_ids: int, length: int) -> None:
    ids = list(range(n_ids))
    asked = [index for window, first in overlapping(ids, length=length) for index in window[first:]]
    assert asked == ids[1:]
    assert all(len(window) <= length + 1 for window, _ in overlapping(ids, length=length))
    later = list(overlapping(ids, length=length))[1:]
    assert all(first >= length // 2 for _, first in later)


def test_a_language_model_is_measured_as_its_forward_pass_says(tmp_path: Path) -> None:
    texts = ["A dog runs.", "Der Bär schläft und schläft."]
    found = assess(writer(), source(tmp_path, "test.txt", "\n".join(texts), Task.LANGUAGE_MODEL))
    nats, n_correct, n_tokens = 0.0, 0, 0
    for text in texts:
        ids = torch.tensor([START, *writer().tokenizer.encode(text, add_special=False).ids])
        with torch.no_grad():
            logits = writer().checkpoint.model(ids[None, :-1]).logits_BTV[0]
        nats += float(functional.cross_entropy(logits, ids[1:], reduction="sum"))
        n_correct, n_tokens = n_correct + int((logits.argmax(-1) == ids[1:]).sum()), n_tokens + len(ids) - 1
    assert isinstance(found.findings.measures, LanguageMeasures)
    measures = found.findings.measures.likelihood
    assert (measures.n_tokens, measures.n_words, measures.n_characters) == (n_tokens, 8, sum(map(len, texts)))
    assert measures.n_bytes == n_tokens
    assert measures.perplexity == pytest.approx(math.exp(nats / n_tokens), rel=1e-5)
    assert measures.per_word == pytest.approx(math.exp(nats / 8), rel=1e-4)
    assert measures.accuracy == n_correct / n_tokens


def test_a_text_beyond_the_context_is_read_in_windows(tmp_path: Path) -> None:
    text = "und schlaf " * 15
    found = assess(writer(), source(tmp_path, "test.txt", text, Task.LANGUAGE_MODEL))
    assert isinstance(found.findings.measures, LanguageMeasures)
    assert found.findings.measures.window == 64
    assert found.findings.measures.likelihood.n_tokens == len(text)


def masked(folder: Path, settings: AssessmentSettings) -> MaskedMeasures:
    lines = "A dog runs over the road.\nred\n" + "schlaf " * 20
    found = assess(
        filler(), source(folder, "test.txt", lines, Task.MASKED_LANGUAGE_MODEL), settings=settings
    ).findings.measures
    assert isinstance(found, MaskedMeasures)
    return found


def test_what_is_hidden_depends_on_the_seed_and_not_on_batches(tmp_path: Path) -> None:
    first = masked(tmp_path, AssessmentSettings(seed=1, batch=1))
    again = masked(tmp_path, AssessmentSettings(seed=1, batch=100))
    other = masked(tmp_path, AssessmentSettings(seed=2))
    assert again.pseudo_perplexity == pytest.approx(first.pseudo_perplexity, rel=1e-6)
    assert other.pseudo_perplexity != pytest.approx(first.pseudo_perplexity, rel=1e-3)
    assert first.n_tokens == 25 + 3 + 140
    assert 0.1 < first.n_hidden / first.n_tokens < 0.2


def test_one_hidden_token_is_asked_as_by_hand(tmp_path: Path) -> None:
    found = assess(filler(), source(tmp_path, "test.txt", "red", Task.MASKED_LANGUAGE_MODEL)).findings.measures
    assert isinstance(found, MaskedMeasures) and found.n_hidden == 1
    ids = filler().tokenizer.encode("red", add_special=False).ids
    perplexities = []
    for place in range(3):
        hidden = torch.tensor([[MASK if place == other else index for other, index in enumerate(ids)]])
        with torch.no_grad():
            logits = filler().checkpoint.model(hidden).logits
        perplexities.append(1 / float(logits[0, place].softmax(-1)[ids[place]]))
    assert any(found.pseudo_perplexity == pytest.approx(each, rel=1e-4) for each in perplexities)


@pytest.mark.parametrize("task", [Task.TRANSLATE, Task.MASKED_LANGUAGE_MODEL, Task.CLASSIFY, Task.SIMILARITY])
def test_a_model_of_another_family_is_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"be measured by the task {task}") as caught:
        assess(writer(), source(tmp_path, "test.tsv", "a\tb\n", task))
    assert "a decoder" in str(caught.value)


def test_a_file_of_blank_lines_has_no_examples(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="without any examples"):
        assess(writer(), source(tmp_path, "test.txt", "  \n\n", Task.LANGUAGE_MODEL))
