"""Pipelines: the names, the forms of input and the keys that programs are written against."""

from typing import Any

import pytest

from clearhead.config import HeadKind
from clearhead.errors import ConfigError, DecodingError, TextError, WeightsError
from clearhead.tasks import Loaded, pipeline
from clearhead.tasks.pipelines import _RUNS, _VERBS
from clearhead.weights import embedded_models

from .conftest import Make

QUICK = {"max_new_tokens": 3, "num_beams": 1}


def test_every_task_has_a_verb() -> None:
    assert _RUNS.keys() == _VERBS.keys()


def test_translation(writer: Make, polyglot: Loaded) -> None:
    one = pipeline("translation_en_to_fr", polyglot, **QUICK)
    (record,) = one("the cat")
    assert record.keys() == {"translation_text"}
    assert one(["the cat", "a mat", " "])[0] == record
    assert one([" ", "  "]) == [{"translation_text": " "}, {"translation_text": "  "}]
    assert pipeline("translation", polyglot, tgt_lang="fr", **QUICK)("the cat") == [record]
    several = one("the cat", num_beams=4, num_return_sequences=2, early_stopping=True)
    assert [row.keys() for row in several] == [{"translation_text"}] * 2
    with pytest.raises(TextError, match="German"):
        pipeline("translation_en_to_hi", polyglot)("x")
    assert pipeline("translation", writer("marian"), max_length=4)("the cat")[0]["translation_text"] is not None


def test_summarization_and_text_to_text(writer: Make) -> None:
    loaded = writer("t5")
    assert pipeline("summarization", loaded, **QUICK)(["a cat", "b"])[1].keys() == {"summary_text"}
    assert pipeline("summarization", loaded)("a cat", min_length=3, max_length=6)[0].keys() == {"summary_text"}
    assert pipeline("text2text-generation", loaded, **QUICK)("a cat")[0].keys() == {"generated_text"}


def test_text_generation(writer: Make) -> None:
    run = pipeline("text-generation", writer("gpt2"), do_sample=False, max_new_tokens=3)
    (record,) = run("the cat")
    (rest,) = run("the cat", return_full_text=False)
    assert record["generated_text"] == "the cat" + rest["generated_text"]
    assert run(["the cat", "a"])[0] == [record]
    assert len(run("the cat", num_return_sequences=3, num_beams=3)) == 3
    talk = [{"role": "user", "content": "Hi"}]
    (answered,) = run(talk)
    assert answered["generated_text"][:-1] == talk
    assert answered["generated_text"][-1]["role"] == "assistant"
    with pytest.raises(DecodingError, match="min_new_tokens"):
        run("a", min_length=3)


def test_question_answering(reader: Make) -> None:
    run = pipeline("question-answering", reader(HeadKind.QUESTION_ANSWERING))
    question, context = "where is the cat ?", "the cat sat on the mat . paris is in france ."
    record = run(question=question, context=context)
    assert record.keys() == {"answer", "score", "start", "end"}
    assert context[record["start"] : record["end"]] == record["answer"]
    assert run({"question": question, "context": context}) == record
    assert run(question, context) == record
    assert run([{"question": question, "context": context}] * 2) == [record, record]
    assert run(question=[question, question], context=context) == [record, record]
    assert len(run(question=question, context=context, top_k=3)) == 3
    for wrong in ({"question": question}, {"question": "", "context": context}, 3):
        with pytest.raises(TextError):
            run(wrong)


def test_classification(reader: Make) -> None:
    loaded = reader(HeadKind.SEQUENCE_CLASSIFICATION, labels=("bad", "good"))
    for task in ("text-classification", "sentiment-analysis"):
        run = pipeline(task, loaded)
        (best,) = run("the cat")
        assert best.keys() == {"label", "score"}
        assert run(["the cat", "a"])[0] == {"label": best["label"], "score": pytest.approx(best["score"])}
        assert run("the cat", top_k=None)[0] == best
        assert len(run("the cat", top_k=None)) == 2
        assert run(["the cat"], top_k=1) == [[best]]
    with pytest.raises(TextError, match="truncate"):
        run("cat " * 90)
    assert run("cat " * 90, truncation=True)


def test_zero_shot(reader: Make) -> None:
    run = pipeline("zero-shot-classification", reader(HeadKind.SENTENCE))
    record = run("the cat", candidate_labels=["mat", "paris"])
    assert record.keys() == {"sequence", "labels", "scores"}
    assert sum(record["scores"]) == pytest.approx(1)
    assert record["scores"] == sorted(record["scores"], reverse=True)
    assert run("the cat", "mat, paris") == record
    assert run(["the cat"], ["mat", "paris"]) == [record]
    with pytest.raises(TextError, match="labels"):
        run("the cat")


def test_fill_mask(reader: Make) -> None:
    run = pipeline("fill-mask", reader(HeadKind.MASKED_LANGUAGE_MODEL))
    found = run("the [MASK] sat")
    assert len(found) == 5
    assert found[0].keys() == {"score", "token", "token_str", "sequence"}
    assert len(run("the [MASK] sat", top_k=2)) == 2
    both = run(["the [MASK] sat", "[MASK]"])
    assert [len(one) for one in both] == [5, 5]
    assert [one["token"] for one in both[0]] == [one["token"] for one in found]
    first, second = run("[MASK] cat [MASK]", top_k=2)
    assert "[MASK]" in first[0]["sequence"]
    assert len(second) == 2


def test_feature_extraction(reader: Make) -> None:
    run = pipeline("feature-extraction", reader(HeadKind.SENTENCE))
    found = run("the cat")
    assert (len(found), len(found[0]), len(found[0][0])) == (1, 4, 16)
    assert [len(text[0]) for text in run(["the cat", "a"])] == [4, 3]


def test_token_classification(reader: Make) -> None:
    loaded = reader(HeadKind.TOKEN_CLASSIFICATION, labels=("O", "B-PER", "I-PER"))
    text = "the cat played in paris"
    run: Any = pipeline("token-classification", loaded, ignore_labels=[])
    found = run(text)
    assert [one["word"] for one in found] == ["the", "cat", "play", "##ed", "in", "paris"]
    assert found[0].keys() == {"entity", "score", "index", "word", "start", "end"}
    groups = pipeline("ner", loaded, aggregation_strategy="simple")(text)
    assert all(one.keys() == {"entity_group", "score", "word", "start", "end"} for one in groups)
    with pytest.raises(TextError, match="simple"):
        run(text, aggregation_strategy="most")


def test_a_task_and_a_model_must_fit(writer: Make) -> None:
    with pytest.raises(ConfigError, match="did you mean text-generation"):
        pipeline("text-generatio", writer("gpt2"))
    with pytest.raises(ConfigError, match="this is a decoder"):
        pipeline("fill-mask", writer("gpt2"))
    with pytest.raises(ConfigError, match="cpu"):
        pipeline("text-generation", writer("gpt2"), device="cuda:0")
    with pytest.raises(DecodingError, match="not an option"):
        pipeline("text-generation", writer("gpt2"))("a", beam_count=3)


def test_an_option_that_a_reader_does_not_have_is_refused(reader: Make) -> None:
    with pytest.raises(ConfigError, match="top_k"):
        pipeline("fill-mask", reader(HeadKind.MASKED_LANGUAGE_MODEL))("___", targets=["a"])


def test_without_a_model_the_error_says_what_to_pass() -> None:
    assert "token-classification" not in embedded_models()
    with pytest.raises(WeightsError, match="pipeline\\('token-classification', model="):
        pipeline("token-classification")


def test_an_encoder_summarises_whatever_length_is_asked_for(reader: Make) -> None:
    text = "The cat sat on the mat. Paris is in France. Who played?"
    run = pipeline("summarization", reader(HeadKind.SENTENCE))
    (plain,) = run(text)
    assert run(text, max_length=60, min_length=5, do_sample=False) == [plain]
    assert run(text, sentences=3) == [{"summary_text": text}]
