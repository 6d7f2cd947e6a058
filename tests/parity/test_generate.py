"""Greedy decoding and beams against the reference's own `generate`, for every family that writes."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from clearhead.decoding import DecodingSettings, EarlyStopping, Row, TextStream, beam_search, decode
from clearhead.engine import Engine, Request
from clearhead.testing.reference import load_reference
from clearhead.weights import load_checkpoint

from .configurations import CASES
from .specimen import Specimen
from .test_real import TEXTS, tokenizer_of

WRITING = {
    "gpt2-plain",
    "llama-plain",
    "llama-grouped-wide-heads-biased",
    "mistral-windowed-grouped",
    "qwen2-grouped",
    "t5-relu-tied",
    "t5-gated-gelu-untied",
    "marian-shared-swish-scaled",
    "marian-separate-relu",
}
CHOSEN = [case for case in CASES if str(case) in WRITING]
ONE_OF_EACH = [case for case in CASES if str(case) in ("gpt2-plain", "marian-shared-swish-scaled")]
PROMPTS = [(5, 40, 8, 12, 30), (7,), (50, 2, 33)]
N_NEW = 7

# What we call them, and what the reference calls them.
NAMES: dict[str, str] = {
    "max_new_tokens": "max_new_tokens",
    "min_new_tokens": "min_new_tokens",
    "beams": "num_beams",
    "n_best": "num_return_sequences",
    "length_penalty": "length_penalty",
    "early_stopping": "early_stopping",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram": "no_repeat_ngram_size",
    "bad_words": "bad_words_ids",
    "forced_end": "forced_eos_token_id",
    "forced_start": "forced_bos_token_id",
    "end_ids": "eos_token_id",
}
EARLY = {EarlyStopping.ALWAYS: True, EarlyStopping.HEURISTIC: False, EarlyStopping.NEVER: "never"}
BAD_WORDS = (*((index,) for index in range(20, 40)), (5, 6), (9, 10, 11))
FEW_BAD_WORDS = tuple((index,) for index in range(3, 66, 5))  # few enough to be left out of a ranking
BEAMS: dict[str, Any] = {"beams": 4, "n_best": 3}
ASKED: dict[str, dict[str, Any]] = {
    "greedy": {},
    "greedy-no-repetition": {"repetition_penalty": 1.3, "no_repeat_ngram": 2},
    "greedy-long-enough-and-a-last-word": {"min_new_tokens": 5, "forced_end": 9},
    "greedy-no-bad-words": {"bad_words": BAD_WORDS},
    "greedy-few-bad-words": {"bad_words": FEW_BAD_WORDS},
    "beams": BEAMS,
    "beams-few-bad-words": BEAMS | {"bad_words": FEW_BAD_WORDS},
    "beams-longer": BEAMS | {"length_penalty": 2.0},
    "beams-a-little-shorter": BEAMS | {"length_penalty": 0.6},
    "beams-shorter": BEAMS | {"length_penalty": -1.0},
    "beams-textbook": BEAMS | {"length_penalty": 0.0, "early_stopping": EarlyStopping.NEVER},
    "beams-soon": BEAMS | {"early_stopping": EarlyStopping.ALWAYS},
    "beams-soon-shorter": BEAMS | {"early_stopping": EarlyStopping.ALWAYS, "length_penalty": -1.0},
    "beams-never-soon": BEAMS | {"early_stopping": EarlyStopping.NEVER},
    "beams-never-soon-longer": BEAMS | {"early_stopping": EarlyStopping.NEVER, "length_penalty": 2.0},
    "beams-no-repetition": BEAMS | {"repetition_penalty": 1.3},
    "beams-no-run-twice": BEAMS | {"no_repeat_ngram": 2},
    "beams-no-bad-words": BEAMS | {"bad_words": BAD_WORDS},
    "beams-long-enough": BEAMS | {"min_new_tokens": 5},
    "beams-a-last-word": BEAMS | {"forced_end": 9},
    "beams-all-at-once": BEAMS
    | {"repetition_penalty": 1.2, "no_repeat_ngram": 3, "bad_words": BAD_WORDS, "min_new_tokens": 2, "forced_end": 9},
    "two-beams": {"beams": 2},
    "more-beams-than-a-row-has-candidates": {"beams": 40, "n_best": 5},
}

Found = list[tuple[tuple[int, ...], float | None]]
ENDS: dict[Path, tuple[int, ...]] = {}


class ReferenceStepper:
    """The reference as a step function: whole texts anew at every step, so that nothing is left to go stale."""

    def __init__(self, *, reference: nn.Module, prompt: tuple[int, ...]) -> None:
        self.reference = reference
        self.writes_apart = reference.config.is_encoder_decoder
        self.source = prompt
        self.rows = [[reference.config.decoder_start_token_id] if self.writes_apart else list(prompt)]

    @property
    def prompt(self) -> tuple[int, ...]:
        return tuple(self.rows[0])

    @torch.no_grad()
    def start(self) -> Tensor:
        ids = torch.tensor(self.rows)
        if not self.writes_apart:
            return self.reference(input_ids=ids).logits[:, -1]
        sources = torch.tensor([self.source] * len(self.rows))
        return self.reference(input_ids=sources, decoder_input_ids=ids).logits[:, -1]

    def step(self, ids_B: Tensor) -> Tensor:
        self.rows = [[*row, int(index)] for row, index in zip(self.rows, ids_B, strict=True)]
        return self.start()

    def select(self, rows_B: Tensor) -> None:
        self.rows = [self.rows[int(row)] for row in rows_B]


def padded(prompts: list[tuple[int, ...]], *, left: bool) -> tuple[Tensor, Tensor]:
    longest = max(map(len, prompts))
    fill = [(0,) * (longest - len(prompt)) for prompt in prompts]
    real = [(1,) * len(prompt) for prompt in prompts]
    sides = [(f + p, f + m) if left else (p + f, m + f) for f, p, m in zip(fill, prompts, real, strict=True)]
    return torch.tensor([ids for ids, _ in sides]), torch.tensor([mask for _, mask in sides])


def in_their_words(asked: dict[str, Any], config: Any) -> Any:
    from transformers import GenerationConfig  # noqa: PLC0415  (seconds, which collecting tests need not wait for)

    said = {NAMES[name]: value for name, value in asked.items()}
    for name in ("eos_token_id", "bad_words_ids"):
        if name in said:
            said[name] = [list(one) if isinstance(one, tuple) else one for one in said[name]]
    if "early_stopping" in said:
        said["early_stopping"] = EARLY[said["early_stopping"]]
    if "forced_bos_token_id" in said:
        said["forced_bos_token_id"] = said["forced_bos_token_id"][0]
    if config.is_encoder_decoder:
        said["decoder_start_token_id"] = config.decoder_start_token_id
    return GenerationConfig(do_sample=False, pad_token_id=0, return_dict_in_generate=True, output_scores=True, **said)


def theirs(reference: nn.Module, prompts: list[tuple[int, ...]], asked: dict[str, Any]) -> Found:
    """The new ids of every result of every prompt, up to and with an end id, and its score."""
    from transformers import GenerationConfig  # noqa: PLC0415

    reference.generation_config = GenerationConfig()  # what a folder says about decoding would be mixed in
    writes_apart = reference.config.is_encoder_decoder
    ids, mask = padded(prompts, left=not writes_apart)
    found = reference.generate(ids, attention_mask=mask, generation_config=in_their_words(asked, reference.config))
    new = found.sequences[:, 1 if writes_apart else ids.shape[1] :].tolist()
    ends = [next((n + 1 for n, one in enumerate(row) if one in asked["end_ids"]), len(row)) for row in new]
    scores = found.get("sequences_scores")
    cut = [tuple(row[:end]) for row, end in zip(new, ends, strict=True)]
    return list(zip(cut, [None] * len(cut) if scores is None else scores.tolist(), strict=True))


def engines(engine: Engine, prompts: list[tuple[int, ...]], settings: DecodingSettings) -> Found:
    replies = engine.generate([Request(ids=prompt, settings=settings) for prompt in prompts])
    return [(answer.ids, answer.score) for reply in replies for answer in reply.answers]


def decodings(reference: nn.Module, prompt: tuple[int, ...], settings: DecodingSettings) -> Found:
    """What our decoding makes of the reference's own logits."""
    stepper = ReferenceStepper(reference=reference, prompt=prompt)
    if settings.beams > 1:
        found = beam_search(stepper, [stepper.prompt], settings=settings)
        return [(beam.ids, beam.score) for beam in found[0].beams]
    row = Row(name=0, prompt=stepper.prompt, settings=settings)
    return [(tuple(event.id for step in decode(stepper, [row]) for event in step), None)]


def assert_same(found: Found, expected: Found) -> None:
    assert [ids for ids, _ in found] == [ids for ids, _ in expected]
    for (_, ours), (_, score) in zip(found, expected, strict=True):
        assert score is None or ours == pytest.approx(score, abs=1e-4, rel=1e-4)


def engine_of(specimen: Specimen) -> Engine:
    return Engine(network=specimen.checkpoint.model, start_id=specimen.checkpoint.config.tokens.decoder_start)


def ends_of(specimen: Specimen) -> tuple[int, ...]:
    """Ids that a model writes early where nothing ends a text, so that texts do end before their length runs out."""
    if specimen.folder not in ENDS:
        free = DecodingSettings(beams=4, n_best=2, max_new_tokens=4)
        found = [decodings(specimen.reference, prompt, free) for prompt in PROMPTS]
        ENDS[specimen.folder] = tuple(sorted({ids[2] for beams in found for ids, _ in beams}))
    return ENDS[specimen.folder]


@pytest.mark.parametrize("specimen", CHOSEN, indirect=True, ids=str)
@pytest.mark.parametrize("name", ["greedy", "beams"])
def test_a_batch_is_the_references_batch_and_its_loop(specimen: Specimen, name: str) -> None:
    asked = ASKED[name] | {"max_new_tokens": N_NEW, "end_ids": ends_of(specimen)}
    found = engines(engine_of(specimen), PROMPTS, DecodingSettings(**asked))
    assert_same(found, theirs(specimen.reference, PROMPTS, asked))
    assert_same(found, [one for prompt in PROMPTS for one in theirs(specimen.reference, [prompt], asked)])


@pytest.mark.parametrize("specimen", CHOSEN, indirect=True, ids=str)
def test_one_text_alone_is_the_references(specimen: Specimen) -> None:
    asked = BEAMS | {"max_new_tokens": N_NEW, "end_ids": ends_of(specimen)}
    found = engines(engine_of(specimen), PROMPTS[:1], DecodingSettings(**asked))
    assert_same(found, theirs(specimen.reference, PROMPTS[:1], asked))


@pytest.mark.parametrize("specimen", ONE_OF_EACH, indirect=True, ids=str)
@pytest.mark.parametrize("name", ASKED)
def test_every_setting_is_the_references(specimen: Specimen, name: str) -> None:
    asked = ASKED[name] | {"max_new_tokens": N_NEW, "end_ids": ends_of(specimen)}
    for prompt in PROMPTS:
        found = decodings(specimen.reference, prompt, DecodingSettings(**asked))
        assert_same(found, theirs(specimen.reference, [prompt], asked))


@pytest.mark.parametrize("specimen", ONE_OF_EACH[1:], indirect=True, ids=str)
@pytest.mark.parametrize("beams", [1, 4])
def test_a_forced_first_id_is_the_references(specimen: Specimen, beams: int) -> None:
    asked = {"max_new_tokens": N_NEW, "end_ids": ends_of(specimen), "forced_start": (21,), "beams": beams}
    for prompt in PROMPTS:
        found = decodings(specimen.reference, prompt, DecodingSettings(**asked))
        assert_same(found, theirs(specimen.reference, [prompt], asked))
        assert found[0][0][0] == 21


@pytest.mark.parametrize("specimen", CHOSEN, indirect=True, ids=str)
def test_texts_do_end_early_in_these_tests(specimen: Specimen) -> None:
    settings = DecodingSettings(**BEAMS, max_new_tokens=N_NEW, end_ids=ends_of(specimen))
    found = [ids for prompt in PROMPTS for ids, _ in decodings(specimen.reference, prompt, settings)]
    assert sum(ids[-1] in settings.end_ids and len(ids) < N_NEW for ids in found) >= 3


def test_the_story_is_the_references_alone_and_in_company(shared: Path) -> None:
    folder = shared / "models/stories15M"
    reference, checkpoint = load_reference(folder), load_checkpoint(folder)
    # "Once upon a time" and "Lily and": as ids, because reading the vocabulary takes seconds.
    prompts = [(1, 9038, 2501, 263, 931), (1, 365, 2354, 322)]
    engine = Engine(network=checkpoint.model)
    for style in ({}, {"beams": 4, "n_best": 2}):
        asked = style | {"max_new_tokens": 12, "end_ids": (2,)}
        found = engines(engine, prompts, DecodingSettings(**asked))
        assert_same(found, theirs(reference, prompts, asked))
        assert_same(engines(engine, prompts[1:], DecodingSettings(**asked)), found[len(found) // 2 :])


def test_a_stream_of_a_real_vocabulary_is_its_text(shared: Path) -> None:
    tokenizer = tokenizer_of(shared / "models/stories15M")
    generator = torch.Generator().manual_seed(0)
    for text in [*TEXTS, "नमस्ते दुनिया", "e\u0301 😀😀 日本語", *[None] * 30]:
        ids = (
            torch.randint(0, 32_000, (20,), generator=generator).tolist()
            if text is None
            else tokenizer.encode(text).ids
        )
        stream = TextStream(decode=tokenizer.decode)
        shown = [stream.push(index) for index in ids]
        assert not any(piece.endswith("\ufffd") for piece in shown)
        assert "".join(shown) + stream.close() == tokenizer.decode(ids)
    prompt = tokenizer.encode("Once upon a").ids
    stream = TextStream(decode=tokenizer.decode, after=prompt)
    new = tokenizer.encode("Once upon a time, 😀").ids[len(prompt) :]
    assert "".join(stream.push(index) for index in new) + stream.close() == " time, 😀"
