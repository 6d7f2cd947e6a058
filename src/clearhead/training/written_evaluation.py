"""What a network writes or says, beside what it should have: samples, BLEU and chrF, on the way."""

from collections.abc import Callable, Mapping
from typing import Any

from clearhead.data import Prepared, Task
from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Network, Recurrent
from clearhead.text import Tokenizer
from clearhead.training.assessment.lengths import by_length, n_words
from clearhead.training.assessment.results import LengthRow
from clearhead.training.evaluate import Evaluate
from clearhead.training.job import Job
from clearhead.training.read_samples import Sample, filled, labelled
from clearhead.training.scores import translation_scores

_PROMPT_TOKENS = 8
_SAMPLE_TOKENS = 60
_LONGER = 2
_FEW = 10


class WrittenEvaluation:
    """Adds what a network writes to what another evaluation measures.

    Args:
        loss: The other evaluation.
        job: What is trained.
        prepared: Its data.
        tokenizer: What reads and writes it.
        keep: Takes the samples of every evaluation.
    """

    def __init__(
        self,
        *,
        loss: Evaluate,
        job: Job,
        prepared: Prepared,
        tokenizer: Tokenizer,
        keep: Callable[[list[Sample]], None],
    ) -> None:
        self._loss = loss
        self._job = job
        self._prepared = prepared
        self._tokenizer = tokenizer
        self._keep = keep

    def __call__(self, network: Network[Any]) -> Mapping[str, float]:
        """The loss and, for translators, BLEU and chrF."""
        metrics = dict(self._loss(network))
        match network:
            case EncoderDecoder() | Recurrent():
                return metrics | self._translated(network)
            case DecoderOnly():
                self._completed(network)
                return metrics
            case EncoderOnly():
                self._keep(self._read(network, n=self._job.evaluation.samples))
                return metrics
            case _:
                return metrics

    def by_length(self, network: Network[Any]) -> tuple[LengthRow, ...]:
        """BLEU and chrF, or the share of right labels, by the length of the text; nothing for other tasks."""
        found: list[Sample] = []
        if isinstance(network, EncoderDecoder | Recurrent):
            found = self._translations(network)
        elif isinstance(network, EncoderOnly) and self._job.task is Task.CLASSIFY:
            found = self._read(network, n=self._job.evaluation.sentences)
        if not found:
            return ()

        def measure(places: list[int]) -> dict[str, float | None]:
            if self._job.task is Task.CLASSIFY:
                return {"accuracy": sum(found[place].output == found[place].expected for place in places) / len(places)}
            scores = _scored([found[place] for place in places])
            return {"bleu": scores["bleu"], "chrf": scores["chrf"]}

        return by_length([n_words(sample.source) for sample in found], measure)

    def _read(self, network: EncoderOnly, *, n: int) -> list[Sample]:
        match self._job.task:
            case Task.CLASSIFY:
                return labelled(network, self._prepared, self._tokenizer, n=n)
            case Task.MASKED_LANGUAGE_MODEL:
                return filled(network, self._prepared, self._tokenizer, n=n)
            case _:
                return []

    def _translated(self, network: EncoderDecoder | Recurrent) -> dict[str, float]:
        found = self._translations(network)
        if not found:
            return {}
        self._keep(found[: self._job.evaluation.samples])
        return _scored(found)

    def _translations(self, network: EncoderDecoder | Recurrent) -> list[Sample]:
        store, settings = self._prepared.validation, self._job.evaluation
        n = min(len(store), settings.sentences)
        if n == 0:
            return []
        tokenizer, target = self._tokenizer, self._tokenizer.target
        pad, end = tokenizer.special.pad, target.special.end
        assert pad is not None and end is not None
        engine = Engine(network=network, to_text=target.decode, start_id=pad)
        sources = [tuple(map(int, store.ids("source", row))) for row in range(n)]
        longest = _LONGER * max(map(len, sources)) + _FEW
        context = None if isinstance(network, Recurrent) else network.config.output_stack.position.max_length
        ways = DecodingSettings(
            beams=settings.beams,
            max_new_tokens=longest if context is None else min(longest, context - 1),
            end_ids=(end,),
            bad_words=((pad,),) if pad != end else (),
        )
        replies = engine.generate([Request(ids=ids, settings=ways) for ids in sources])
        return [
            Sample(
                source=tokenizer.decode(sources[row]),
                output=replies[row].best.text,
                expected=target.decode(map(int, store.ids("target", row))),
            )
            for row in range(n)
        ]

    def _completed(self, network: DecoderOnly) -> None:
        assert self._job.task is Task.LANGUAGE_MODEL
        store, tokenizer = self._prepared.validation, self._tokenizer
        n = min(len(store), self._job.evaluation.samples)
        engine = Engine(network=network, to_text=tokenizer.decode, start_id=tokenizer.special.end)
        stack = network.config.output_stack
        room = (stack.position.max_length or _SAMPLE_TOKENS + _PROMPT_TOKENS) - _PROMPT_TOKENS
        prompts = [tuple(map(int, store.ids("text", row)[:_PROMPT_TOKENS])) for row in range(n)]
        ways = DecodingSettings(
            sample=True,
            temperature=0.8,
            seed=0,
            max_new_tokens=max(1, min(_SAMPLE_TOKENS, room)),
            end_ids=network.config.tokens.end,
        )
        replies = engine.generate([Request(ids=prompt, settings=ways) for prompt in prompts if prompt])
        self._keep(
            [
                Sample(source=tokenizer.decode(prompt), output=reply.best.text)
                for prompt, reply in zip((prompt for prompt in prompts if prompt), replies, strict=True)
            ]
        )


def _scored(found: list[Sample]) -> dict[str, float]:
    scores = translation_scores([sample.output for sample in found], [sample.expected or "" for sample in found])
    return {"bleu": scores.bleu, "chrf": scores.chrf}
