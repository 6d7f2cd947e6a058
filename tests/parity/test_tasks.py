"""Tasks against the reference's pipelines where it still has them, and against its models where it has dropped them."""

import gzip
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from jaxtyping import config

from clearhead.tasks import Loaded, answer, complete, embed, pipeline, stream, translate
from clearhead.tasks.sources import source_ids
from clearhead.testing.reference import load_reference
from clearhead.weights.save import write_objects

from .configurations import Case
from .tokenizer_folders import make_bert, make_gpt2, make_marian, make_spm, read_corpus

transformers = pytest.importorskip("transformers")

TEXTS = ["The king is dead, long live the king!", "Hello", "What light through yonder window breaks?"]
SPM_T5 = {"model_type": "unigram", "vocab_size": 600, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
BERT = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
NEAR = {"rel": 1e-3, "abs": 1e-5}


@pytest.fixture(scope="module", autouse=True)
def untyped() -> Iterator[None]:
    """A user's speed; the unit tests check the types."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "jaxtyping_disable", True)
        yield


@pytest.fixture(scope="module")
def corpus(shared: Path) -> list[str]:
    return read_corpus(shared)


def make(folder: Path, family: str, kind: str, **settings: Any) -> None:
    Case(family=family, name="task", kind=kind, settings=settings).build().save_pretrained(folder)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory, corpus: list[str]) -> Path:
    return make_bert(tmp_path_factory.mktemp("vocabulary"), corpus[:2000], lowercase=True)


def bert(folder: Path, vocabulary: Path, kind: str, **settings: Any) -> tuple[Loaded, Any, Any]:
    """A tiny random BERT with a tokenizer: ours, the reference's, and its tokenizer."""
    for path in vocabulary.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    n_pieces = len((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
    make(folder, "bert", kind, vocab_size=n_pieces, max_position_embeddings=64, **BERT, **settings)
    return Loaded.open(folder), load_reference(folder), tokenizer("BertTokenizer", folder)


def tokenizer(kind: str, folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that changes no id
        return getattr(transformers, kind).from_pretrained(folder)


def theirs(task: str, model: Any, pieces: Any, **options: Any) -> Any:
    return transformers.pipeline(task, model=model, tokenizer=pieces, device="cpu", **options)


def same(ours: Any, reference: Any) -> None:
    """Equal keys in equal places, and numbers that are near."""
    if isinstance(reference, dict):
        assert ours.keys() == reference.keys()
        for key, value in reference.items():
            same(ours[key], value)
    elif isinstance(reference, list):
        assert len(ours) == len(reference)
        for one, other in zip(ours, reference, strict=True):
            same(one, other)
    elif isinstance(reference, (float, np.floating)):
        assert ours == pytest.approx(float(reference), **NEAR)
    else:
        assert ours == reference


def test_fill_mask(tmp_path: Path, vocabulary: Path) -> None:
    loaded, model, pieces = bert(tmp_path, vocabulary, "BertForMaskedLM")
    reference, ours = theirs("fill-mask", model, pieces), pipeline("fill-mask", loaded)
    for text in ("the [MASK] is dead", "the [MASK] is [MASK] .", ["the [MASK]", "[MASK] king"]):
        same(ours(text, top_k=4), reference(text, top_k=4))


def test_feature_extraction(tmp_path: Path, vocabulary: Path) -> None:
    loaded, model, pieces = bert(tmp_path, vocabulary, "BertModel")
    reference, ours = theirs("feature-extraction", model, pieces), pipeline("feature-extraction", loaded)
    for text in (TEXTS[0], TEXTS):
        same(ours(text), reference(text))


@pytest.mark.parametrize("problem", [None, "multi_label_classification", "regression"])
def test_text_classification(tmp_path: Path, vocabulary: Path, problem: str | None) -> None:
    labels = {0: "bad", 1: "good", 2: "fair"}
    settings = {"id2label": labels, "problem_type": problem}
    loaded, model, pieces = bert(tmp_path, vocabulary, "BertForSequenceClassification", **settings)
    reference, ours = theirs("text-classification", model, pieces), pipeline("text-classification", loaded)
    for text in (TEXTS[0], TEXTS):
        same(ours(text), reference(text))
        same(ours(text, top_k=None), reference(text, top_k=None))
        same(ours(text, top_k=2), reference(text, top_k=2))


def test_token_classification(tmp_path: Path, vocabulary: Path) -> None:
    labels = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}
    loaded, model, pieces = bert(tmp_path, vocabulary, "BertForTokenClassification", id2label=labels)
    for strategy in ("none", "simple"):
        reference = theirs("token-classification", model, pieces, aggregation_strategy=strategy)
        ours = pipeline("token-classification", loaded, aggregation_strategy=strategy)
        for text in (TEXTS[0], TEXTS):
            same(ours(text), reference(text))


def test_zero_shot_classification(tmp_path: Path, vocabulary: Path) -> None:
    labels = {0: "contradiction", 1: "neutral", 2: "entailment"}
    loaded, model, pieces = bert(
        tmp_path,
        vocabulary,
        "BertForSequenceClassification",
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
    )
    reference = theirs("zero-shot-classification", model, pieces)
    ours = pipeline("zero-shot-classification", loaded)
    for several in (False, True):
        for text in (TEXTS[0], TEXTS):
            asked = {"candidate_labels": ["war", "love", "kings"], "multi_label": several}
            same(ours(text, **asked), reference(text, **asked))


def old_answers(
    model: Any, pieces: Any, question: str, context: str, *, n: int, window: int, stride: int
) -> list[dict[str, Any]]:
    """What the question-answering pipeline computed before it was dropped: version 4's rules, written out plainly."""
    encoded = pieces(
        question, context, truncation="only_second", max_length=window, stride=stride,
        return_overflowing_tokens=True, return_offsets_mapping=True, return_tensors=None,
    )  # fmt: skip
    found: dict[tuple[int, int], float] = {}
    for place in range(len(encoded["input_ids"])):
        ids = torch.tensor([encoded["input_ids"][place]])
        segments = torch.tensor([encoded["token_type_ids"][place]])
        with torch.no_grad():
            output = model(input_ids=ids, token_type_ids=segments)
        owners = encoded.sequence_ids(place)
        inside = np.array([owner == 1 for owner in owners])
        counted = inside.copy()
        counted[0] = True
        chances = []
        for logits in (output.start_logits[0].numpy(), output.end_logits[0].numpy()):
            masked = np.where(counted, logits, -10000.0)
            exp = np.exp(masked - masked.max())
            chance = exp / exp.sum()
            chance[0] = 0.0
            chances.append(chance)
        outer = np.tril(np.triu(np.outer(*chances)), 14)
        for flat in np.argsort(-outer.flatten())[: 8 * n]:
            first, last = np.unravel_index(flat, outer.shape)
            if inside[first] and inside[last]:
                words = encoded.encodings[place]
                start = words.word_to_chars(words.token_to_word(int(first)), 1)[0]
                end = words.word_to_chars(words.token_to_word(int(last)), 1)[1]
                found[start, end] = max(found.get((start, end), 0.0), float(outer[first, last]))
    best = sorted(found.items(), key=lambda item: -item[1])[:n]
    return [{"score": score, "start": start, "end": end, "answer": context[start:end]} for (start, end), score in best]


def test_question_answering(tmp_path: Path, vocabulary: Path, corpus: list[str]) -> None:
    loaded, model, pieces = bert(tmp_path, vocabulary, "BertForQuestionAnswering")
    question = "Who is dead?"
    ours = pipeline("question-answering", loaded)
    for context in (TEXTS[0], " ".join(corpus[:30])):
        # Half of what is left beside the question overlaps where the context is this short.
        room = 64 - len(pieces(question)["input_ids"]) - 1
        reference = old_answers(model, pieces, question, context, n=5, window=64, stride=room // 2)
        same(ours(question=question, context=context, top_k=5), reference)
        same(ours({"question": question, "context": context}), reference[0])
        assert [span.text for span in answer(loaded, question, context, n=5)] == [one["answer"] for one in reference]


def test_text_generation(tmp_path: Path, corpus: list[str]) -> None:
    make_gpt2(tmp_path, corpus)
    end = len(tokenizer("GPT2Tokenizer", tmp_path)) - 1
    make(
        tmp_path, "gpt2", "GPT2LMHeadModel", vocab_size=end + 1, n_embd=24, n_layer=2, n_head=3, n_positions=64,
        eos_token_id=end, bos_token_id=end,
    )  # fmt: skip
    reference = theirs("text-generation", load_reference(tmp_path), tokenizer("GPT2Tokenizer", tmp_path))
    ours = pipeline("text-generation", Loaded.open(tmp_path))
    reference.tokenizer.pad_token_id = end
    asked = {"max_new_tokens": 12, "do_sample": False}
    for more in ({}, {"return_full_text": False}, {"num_beams": 3, "num_return_sequences": 2}):
        for text in (TEXTS[0], TEXTS):
            same(ours(text, **asked, **more), reference(text, **asked, **more))


def test_t5_translates_and_summarises(tmp_path: Path, corpus: list[str]) -> None:
    make_spm(tmp_path / "spiece.model", corpus[:2000], **SPM_T5)
    pieces = tokenizer("T5Tokenizer", tmp_path)
    prefix = "translate English to German: "
    params = {"translation_en_to_de": {"prefix": prefix, "num_beams": 4, "max_length": 12, "early_stopping": True}}
    make(
        tmp_path, "t5", "T5ForConditionalGeneration", vocab_size=len(pieces), d_model=24, d_kv=6, d_ff=40,
        num_layers=2, num_heads=4, decoder_start_token_id=0, task_specific_params=params,
    )  # fmt: skip
    model, loaded = load_reference(tmp_path), Loaded.open(tmp_path)

    def written(text: str, **options: Any) -> str:
        ids = model.generate(**pieces(text, return_tensors="pt"), do_sample=False, **options)
        return pieces.decode(ids[0], skip_special_tokens=True)

    expected = [written(prefix + text, num_beams=4, max_length=12, early_stopping=True) for text in TEXTS]
    assert [one.text for one in translate(loaded, TEXTS, to="German")] == expected
    assert [one["translation_text"] for one in pipeline("translation_en_to_de", loaded)(TEXTS)] == expected
    expected = [written(f"summarize: {text}", num_beams=2, max_length=10, min_length=5) for text in TEXTS]
    short = pipeline("summarization", loaded, num_beams=2, max_length=10, min_length=5, no_repeat_ngram_size=0)
    assert [one["summary_text"] for one in short(TEXTS)] == expected


def test_marian_translates(tmp_path: Path, corpus: list[str]) -> None:
    make_marian(tmp_path, corpus[:2200])
    write_objects(tmp_path, {"tokenizer_config.json": {"source_lang": "en", "target_lang": "fr"}})
    pieces = tokenizer("MarianTokenizer", tmp_path)
    pad = pieces.pad_token_id
    make(
        tmp_path, "marian", "MarianMTModel", vocab_size=len(pieces), d_model=24, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=40, decoder_ffn_dim=40,
        max_position_embeddings=64, pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad,
        forced_eos_token_id=0, bad_words_ids=[[pad]],
    )  # fmt: skip
    model, loaded = load_reference(tmp_path), Loaded.open(tmp_path)
    expected = []
    for text in TEXTS:
        read = pieces(f">>fr<< {text}", return_tensors="pt")
        ids = model.generate(**read, num_beams=3, max_length=14, bad_words_ids=[[pad]], forced_eos_token_id=0)
        expected.append(pieces.decode(ids[0], skip_special_tokens=True))
    ours = translate(loaded, TEXTS, to="fr", beams=3, max_length=14)
    assert [one.text for one in ours] == expected
    # What a text says itself of a language is text.
    french = loaded.tags["fr"]
    (ids,) = source_ids(loaded, [">>fr<< Hello"])
    assert french not in ids
    assert len(ids) > len(source_ids(loaded, ["Hello"])[0])


def test_sentences_have_the_references_vectors(shared: Path) -> None:
    folder = shared / "models/all-MiniLM-L6-v2"
    with gzip.open(shared / "data/stsb/dev.tsv.gz", "rt", encoding="utf-8") as stream_:
        lines = [line.rstrip("\n").split("\t") for line in islice(stream_, 1, 13)]
    texts = [*(text for line in lines for text in line if " " in text), "", "cat " * 300]
    pieces, model = tokenizer("AutoTokenizer", folder), load_reference(folder)
    expected = []
    for text in texts:
        read = pieces(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(**read).last_hidden_state[0].mean(0)
        expected.append((mean / mean.norm()).numpy())
    assert len(texts) > 20
    np.testing.assert_allclose(embed(Loaded.open(folder), texts, truncate=True), np.stack(expected), atol=1e-4)


def test_a_continuation_keeps_its_first_space(shared: Path) -> None:
    loaded = Loaded.open(shared / "models/stories15M")
    for prompt, rest in (("Once upon a time", ", there was"), ("Once upon a", " time,"), ("", "Once upon")):
        n_new = len(loaded.tokenizer.encode("Once upon a time, there was").ids) - len(
            loaded.tokenizer.encode(prompt).ids
        )
        n_new = min(n_new, 3 if prompt.endswith("time") else 2)
        ((found,),) = complete(loaded, [prompt], temperature=0, max_new_tokens=n_new)
        assert found.text == rest
        assert "".join(stream(loaded, prompt, temperature=0, max_new_tokens=n_new)) == rest
