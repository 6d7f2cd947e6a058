"""What a trained network makes of inputs of every length."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearhead.decoding import DecodingSettings
from clearhead.engine import Engine, Request
from clearhead.models import EncoderDecoder, Recurrent
from clearhead.text import Tokenizer
from clearhead.training import Job
from clearhead.training.assessment import by_length, pair_losses
from clearhead.training.assessment.likelihood import TextLoss
from clearhead.training.assessment.results import LengthRow
from clearhead.training.assessment.translation import text_measures
from clearhead.training.scores import translation_scores
from clearhead.training.train import Finished
from lengths.material import STEP, Pair


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What became of one network."""

    architecture: str
    optimiser: str
    lr: float
    parameters: int
    steps: int
    seconds: float
    bleu: float
    signature: str
    rows: tuple[LengthRow, ...]


def measure(name: str, job: Job, finished: Finished, pairs: Sequence[Pair], *, beams: int) -> Measured:
    """BLEU, chrF and the perplexity of the references, by length."""
    network, tokenizer = finished.network.eval(), finished.materials.tokenizer
    assert isinstance(network, EncoderDecoder | Recurrent) and tokenizer.special.pad is not None
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    outputs = translations(finished, sources, beams=beams)
    losses = pair_losses(
        network,
        [framed(tokenizer, source) for source in sources],
        [framed(tokenizer.target, target) for target in references],
        start_id=tokenizer.special.pad,
        pad_id=tokenizer.special.pad,
    )

    def measures(group: list[int]) -> dict[str, float | None]:
        scored = text_measures([outputs[place] for place in group], [references[place] for place in group])
        return {**scored, "perplexity": sum((losses[place] for place in group), TextLoss()).perplexity}

    lengths = [len(source.split()) for source in sources]
    overall = translation_scores(outputs, references)
    return Measured(
        architecture=name,
        optimiser=str(job.train.optimiser.kind),
        lr=job.train.lr,
        parameters=network.n_parameters,
        steps=finished.outcome.step,
        seconds=finished.outcome.elapsed,
        bleu=overall.bleu,
        signature=overall.bleu_signature,
        rows=by_length(lengths, measures, edges=range(STEP, -(-max(lengths) // STEP) * STEP + 1, STEP)),
    )


def translations(finished: Finished, sources: Sequence[str], *, beams: int) -> list[str]:
    """What a network writes for inputs that are read whole, however many sentences they have."""
    network, tokenizer = finished.network, finished.materials.tokenizer
    assert isinstance(network, EncoderDecoder | Recurrent)
    pad, end = tokenizer.special.pad, tokenizer.target.special.end
    assert pad is not None and end is not None
    engine = Engine(network=network, to_text=tokenizer.target.decode, start_id=pad)
    ids = [framed(tokenizer, source) for source in sources]
    requests = [
        Request(
            ids=one,
            settings=DecodingSettings(
                beams=beams, max_new_tokens=2 * most + STEP, end_ids=(end,), bad_words=((pad,),) if pad != end else ()
            ),
        )
        for one, most in zip(ids, longest_of_group(ids), strict=True)
    ]
    return [reply.best.text for reply in engine.generate(requests)]


def longest_of_group(ids: Sequence[Sequence[int]]) -> list[int]:
    """A length for each input that like inputs share, because inputs with like settings run together."""
    return [-(-len(one) // (4 * STEP)) * 4 * STEP for one in ids]


def framed(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """The ids of a text with its end, as in training."""
    end = tokenizer.special.end
    assert end is not None
    return (*tokenizer.encode(text, add_special=False, literal=True).ids, end)
