"""Runs that are recorded as they happen: one pass over a text, or everything that writing a text takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from clearhead.config import Family, HeadKind, ModelConfig, RecurrentConfig, to_dict
from clearhead.engine import Answer, Engine, Overflow, Request
from clearhead.errors import TextError, TraceError, nearest
from clearhead.models import DecoderOnly, EncoderDecoder, EncoderOnly, Recurrent
from clearhead.probe import listen
from clearhead.tasks import Loaded
from clearhead.tasks.masks import has_gap, mask_texts
from clearhead.tasks.single import single_request, text_ids
from clearhead.tasks.sources import whole_texts
from clearhead.text import Encoding, Tokenizer
from clearhead.text.words import check_text
from clearhead.trace.anatomy import RECURRENT, Anatomy, Made
from clearhead.trace.assemble import Assembly, Later, Wholes, assembled
from clearhead.trace.file import load_trace, write_trace
from clearhead.trace.fingerprint import fingerprint
from clearhead.trace.lineage import path_of
from clearhead.trace.tape import Tape
from clearhead.trace.tokens import Pieces, named
from clearhead.trace.trace import SiteRecord, Trace

Networks = EncoderOnly | DecoderOnly | EncoderDecoder | Recurrent
EVERYTHING = ("*",)


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A text that was written, with the run that wrote it.

    Attributes:
        text: The text; the best, where there are several.
        answers: All of them, the best first.
        trace: What was recorded on the way to the best.
    """

    text: str
    answers: tuple[Answer, ...]
    trace: Trace


def record_pass(
    network: Networks,
    *,
    ids: Sequence[int],
    target_ids: Sequence[int] | None = None,
    segments: Sequence[int] | None = None,
    tape: Tape,
) -> None:
    """Runs a network once over ids, and lets a tape hear it.

    Args:
        network: The model.
        ids: The text, or the source.
        target_ids: What the decoder reads, where there is an encoder before it.
        segments: Which segment each id is in, for models that have segments.
        tape: What hears.
    """
    given = torch.tensor([list(ids)])
    with torch.no_grad(), listen(tape):
        if isinstance(network, EncoderOnly):
            kinds = None if segments is None or not network.n_segments else torch.tensor([list(segments)])
            network(given, segment_ids_BS=kinds)
        elif isinstance(network, DecoderOnly):
            network(given)
        else:
            assert target_ids is not None, "an encoder-decoder needs a target"
            network(given, torch.tensor([list(target_ids)]))


def record_reading(
    loaded: Loaded,
    text: str,
    second: str | None = None,
    *,
    to: str | None = None,
    sites: Sequence[str] = EVERYTHING,
    out: Path | None = None,
) -> Trace:
    """The trace of one pass over a text, or over a pair: nothing is written.

    Args:
        loaded: The model.
        text: The text; the source, where the model is an encoder-decoder.
        second: The target of an encoder-decoder, or the second text of an encoder.
        to: The target's language, where the model knows several.
        sites: Site names or globs.
        out: A file for the trace; values then go through the disk, so that memory stays small.

    Raises:
        TraceError: No site of that name.
        TextError: A pair for a model that reads one text, or the reverse.
    """
    tape, config = Tape(sites=sites, out=out), loaded.config
    tokenizer = loaded.tokenizer
    source: Sequence[int] = ()
    target: Sequence[int] = ()
    if config.family is Family.ENCODER_ONLY:
        encoding = _encoded(loaded, check_text(text), second)
        source = encoding.ids
        record_pass(loaded.reader, ids=source, segments=encoding.segments, tape=tape)
    elif config.family is Family.DECODER_ONLY:
        if second is not None:
            raise TextError("this model reads one text", got="a pair", expected="one text")
        target = text_ids(loaded, text, to=to) or _start(loaded)
        record_pass(loaded.engine.network, ids=target, tape=tape)
    else:
        if second is None:
            raise TextError("an encoder-decoder reads a pair", got="one text", advice="a target, or a run that writes")
        source = text_ids(loaded, text, to=to)
        target = (*_start(loaded), *tokenizer.target.encode(check_text(second), add_special=False, literal=True).ids)
        record_pass(loaded.engine.network, ids=source, target_ids=target, tape=tape)
    return finished(
        tape,
        config=config,
        name=loaded.name,
        weights=_weights_of(loaded, out),
        source=named(source, tokenizer),
        target=named(target, tokenizer.target),
    )


def record_generation(
    loaded: Loaded,
    text: str,
    *,
    to: str | None = None,
    sites: Sequence[str] = EVERYTHING,
    out: Path | None = None,
    **options: Any,
) -> Generated:
    """Writes what `translate` or `complete` would write for one sentence, and records it.

    Args:
        loaded: The model.
        text: The text to go on with, or the source.
        to: The language to write, where the model translates.
        sites: Site names or globs.
        out: A file for the trace; values then go through the disk, so that memory stays small.
        **options: How to decode, by the names of DecodingSettings.

    Raises:
        TraceError: No site of that name.
    """
    if loaded.overflow is Overflow.SLIDE:
        raise TraceError("a text that forgets its start cannot be recorded", got="overflow='slide'", expected="'error'")
    request = single_request(loaded, text, to=to, **options)
    tokenizer = loaded.tokenizer
    return record_request(
        loaded.engine,
        request,
        tape=Tape(sites=sites, out=out),
        config=loaded.config,
        name=loaded.name,
        weights=_weights_of(loaded, out),
        pieces=(tokenizer, tokenizer.target),
    )


def record_request(
    engine: Engine,
    request: Request,
    *,
    tape: Tape,
    config: ModelConfig | RecurrentConfig,
    pieces: tuple[Tokenizer | Pieces, Tokenizer | Pieces],
    name: str = "",
    weights: str = "",
) -> Generated:
    """Answers one request and records it; of several beams, the steps of the best.

    Args:
        engine: The model, ready to write.
        request: What to answer.
        tape: What hears.
        config: What the network is.
        pieces: The tokenizers of source and target, or what turns an id of each into its piece.
        name: The name of the model.
        weights: The fingerprint of its weights.
    """
    with listen(tape):
        reply = engine.generate([request], scored=True, record=True)[0]
    best = reply.best
    n_steps = tape.step + 1
    rows, scores = ([0] * n_steps, best.log_probabilities)
    if reply.steps:
        path, scores = path_of(reply, best.ids)
        rows = [0] * (n_steps - len(reply.steps)) + path
    before, written = named(engine.prompt(request), pieces[1]), named(best.ids, pieces[1])
    reads = not isinstance(engine.network, DecoderOnly)
    trace = finished(
        tape,
        config=config,
        name=name,
        weights=weights,
        rows=rows,
        source=named(request.ids, pieces[0]) if reads else (),
        target=(*before, *written[: max(0, len(written) - 1)]),
        written=written,
        n_prompt=len(before),
        scores=tuple(scores),
        beams=reply.steps,
        score=best.score,
        length_penalty=request.settings.length_penalty,
    )
    return Generated(text=best.text, answers=reply.answers, trace=trace)


def finished(
    tape: Tape,
    *,
    config: ModelConfig | RecurrentConfig,
    name: str = "",
    rows: Sequence[int] | None = None,
    **facts: Any,
) -> Trace:
    """The trace of what a tape has heard.

    Args:
        tape: The tape.
        config: What the network is.
        name: The name of the model.
        rows: The row of the batch that the text had at each of its steps.
        **facts: The other attributes of the Trace.

    Raises:
        TraceError: The tape kept nothing: no site has such a name.
    """
    unheard = [asked for asked in tape.asked if not any(fnmatchcase(site, asked) for site in tape.kept)]
    passed = tape.passed if unheard else ()
    for asked in unheard if passed else ():
        if not any(fnmatchcase(site, asked) for site in passed):
            raise TraceError(
                "no site of this name in this run",
                got=asked,
                expected=", ".join(passed[:6]) + " …",
                advice=nearest(asked, passed),
            )
    if not tape.kept:
        raise TraceError("nothing ran, so that nothing was recorded", expected="at least one token to write")
    family = config.family if isinstance(config, ModelConfig) else Family.ENCODER_DECODER
    assemblies = Later(make=lambda: assembled(tape, family=family, rows=rows))
    sites = Later(make=lambda: _site_records(assemblies, tape, config))
    facts |= {"model": name, "family": family, "config": described(config), "sites": sites}
    if tape.out is None:
        return Trace(values=Later(make=lambda: Wholes(assemblies=assemblies)), **facts)
    return load_trace(write_trace(Trace(**facts), tape.out, values=lambda s: assemblies[s].put_together(tape.value)[s]))


@lru_cache(maxsize=16)
def described(config: ModelConfig | RecurrentConfig) -> Mapping[str, Any]:
    """A configuration as data, made once: every run of a model says the same."""
    return to_dict(config)


def _site_records(
    assemblies: Mapping[str, Assembly], tape: Tape, config: ModelConfig | RecurrentConfig
) -> dict[str, SiteRecord]:
    how = Anatomy(config=config).made if isinstance(config, ModelConfig) else RECURRENT.get
    found: dict[str, SiteRecord] = {}
    for site, one in assemblies.items():
        made = how(site) or Made(operation="")
        found[site] = SiteRecord(
            axes=one.axes,
            shape=one.shape,
            operation=made.operation,
            inputs=made.inputs,
            parameters=made.parameters,
            line=tape.lines[site],
            edited=site in tape.edited,
        )
    return found


def _encoded(loaded: Loaded, text: str, second: str | None) -> Encoding:
    """A text as an encoder reads it: with its gaps, where the model fills gaps and there are some."""
    if second is not None:
        return loaded.tokenizer.encode_pair(text, check_text(second), literal=True)
    if loaded.config.head.kind is HeadKind.MASKED_LANGUAGE_MODEL and has_gap(loaded, text):
        return mask_texts(loaded, [text])[0].encoding
    return whole_texts(loaded, [text], truncate=False)[0]


def _weights_of(loaded: Loaded, out: Path | None) -> str:
    """The fingerprint that a file needs; in memory a trace stays beside the network that made it."""
    return "" if out is None else fingerprint(loaded.checkpoint.model)


def _start(loaded: Loaded) -> tuple[int, ...]:
    return loaded.engine.prompt(Request(ids=()))
