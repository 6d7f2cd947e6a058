"""`/trace`, `/attention`, `/why` and `/edit`: what happens inside, as JSON or as a file of numbers."""

import tempfile
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import Response

from clearhead.config import Family
from clearhead.errors import TraceError
from clearhead.explain import Comparison, Run, as_data, compare, parse_edit
from clearhead.model import Model
from clearhead.trace import Token
from clearhead.web.api.bounds import MOST_CELLS, MOST_NODES, MOST_TRACE_BYTES
from clearhead.web.api.endpoint import SAFETENSORS, Call, Endpoint
from clearhead.web.api.errand import Errand
from clearhead.web.api.looking_shapes import (
    AttentionAsked,
    AttentionGiven,
    EditAsked,
    EditGiven,
    MovedOutput,
    Number,
    Pattern,
    RunAsked,
    TraceAsked,
    TraceGiven,
    TraceSite,
    TraceToken,
    WhyAsked,
    WhyGiven,
)

_FLOAT_BYTES = 4
_EVERY_STEP = "logits"


def looking_endpoints() -> list[Endpoint]:
    """The endpoints."""
    return [
        Endpoint(
            path=path, summary=summary, answer=answer, asked=asked, gives=gives, safetensors=True
        )
        for path, summary, answer, asked, gives in (
            ("/trace", "Records a run.", _trace, TraceAsked, TraceGiven),
            ("/attention", "Says who looks at whom.", _attention, AttentionAsked, AttentionGiven),
            ("/why", "Opens the arithmetic of one number.", _why, WhyAsked, WhyGiven),
            ("/edit", "Changes something inside, and says what comes of it.", _edit, EditAsked, EditGiven),
        )
    ]  # fmt: skip


class Budget:
    """A listener that counts the numbers that a run records, and ends it where they are too many or nobody waits."""

    only_copies = True

    def __init__(self, *, sites: tuple[str, ...], errand: Errand) -> None:
        self._sites = sites
        self._errand = errand
        self._left = MOST_TRACE_BYTES

    def wants(self, site: str) -> bool:
        """Whether the site counts; logits are heard in any case, since every step has them."""
        return site == _EVERY_STEP or self._counts(site)

    def hear(self, site: str, value: Any) -> Any:
        """Counts a value."""
        self._errand.check()
        if self._counts(site) and hasattr(value, "numel"):
            self._left -= value.numel() * _FLOAT_BYTES
        if self._left < 0:
            raise TraceError(
                "more numbers than one request may record",
                got=f"at {site}",
                expected=f"at most {MOST_TRACE_BYTES} bytes",
                advice="fewer sites, a shorter text, or fewer new tokens",
            )
        return value

    def _counts(self, site: str) -> bool:
        return "@" not in site and any(fnmatchcase(site, pattern) for pattern in self._sites)


async def _looked(
    call: Call, asked: RunAsked | EditAsked, sites: tuple[str, ...], tell: Callable[[Model, Run], Any]
) -> Any:
    """Runs a model once, and tells of it; the file is written where numbers are wanted."""

    def look() -> tuple[str, Any]:
        model = _model(call, asked)
        edits = [parse_edit(text) for text in asked.edits]
        call.errand.check()

        def run() -> Any:
            with model.edit(Budget(sites=sites, errand=call.errand), *edits):
                recorded = _recorded(model, asked, sites)
            return _file(recorded) if call.wants_safetensors else tell(model, recorded)

        return model.name, call.desk.alone(run, call.errand)

    name, result = await call.look(look)
    call.note(model=name, **({"text": asked.text} if call.desk.settings.log_text else {}))
    return Response(result, media_type=SAFETENSORS) if isinstance(result, bytes) else result


def _model(call: Call, asked: RunAsked | EditAsked) -> Model:
    """The model that was named; otherwise one that translates, fills gaps, or goes on, as the text wants."""
    if asked.to is not None:
        return call.desk.model_for(asked.model, "translate")
    return call.desk.model_for(asked.model, *(("fill",) if "[MASK]" in asked.text else ("complete", "fill")))


def _recorded(model: Model, asked: RunAsked | EditAsked, sites: tuple[str, ...]) -> Run:
    """The run; chance has no part in it unless it is asked for."""
    second, write = (asked.second, asked.write) if isinstance(asked, RunAsked) else (None, True)
    options = asked.decoding.options()
    writes = second is None and (model.family is Family.ENCODER_DECODER or write or bool(options))
    if not writes or model.family is Family.ENCODER_ONLY:
        return model.trace(asked.text, second, to=asked.to, sites=sites)
    if model.family is Family.DECODER_ONLY and not options.keys() & {"beams", "temperature", "seed"}:
        options["temperature"] = 0.0
    return model.generate(asked.text, to=asked.to, trace=sites, **options)


def _file(run: Run) -> bytes:
    """The trace as the file that `clearhead trace --out` writes."""
    with tempfile.TemporaryDirectory(prefix="clearhead-serve-") as folder:
        return run.save(Path(folder) / "run.safetensors").read_bytes()


async def _trace(call: Call, asked: TraceAsked) -> Any:
    def tell(model: Model, run: Run) -> TraceGiven:
        if asked.values:
            _check_cells(run, list(run))
        return TraceGiven(
            model=model.name,
            family=run.trace.family.value,
            text=run.text,
            source=_tokens(run.trace.source),
            target=_tokens(run.trace.target),
            written=_tokens(run.trace.written),
            sites={
                site: TraceSite(
                    axes=record.axes,
                    shape=list(record.shape),
                    operation=record.operation,
                    inputs=list(record.inputs),
                    parameters=list(record.parameters),
                    line=str(record.line or ""),
                    values=_numbers(run[site]) if asked.values else None,
                )
                for site, record in run.trace.sites.items()
            },
        )

    return await _looked(call, asked, tuple(asked.sites), tell)


async def _attention(call: Call, asked: AttentionAsked) -> Any:
    def tell(model: Model, run: Run) -> AttentionGiven:
        sites = [site for site in run if run.trace.sites[site].axes == "BHQK"]
        if not sites:
            raise TraceError("no pattern among these sites", got=", ".join(asked.sites)[:100], expected="*.pattern")
        _check_cells(run, sites)
        return AttentionGiven(
            model=model.name,
            text=run.text,
            source=_tokens(run.trace.source),
            target=_tokens(run.trace.target),
            patterns=[
                Pattern(
                    site=site,
                    rows=run.trace.labels(site, "Q"),
                    columns=run.trace.labels(site, "K"),
                    heads=_numbers(run[site][0]),
                )
                for site in sites
            ],
        )

    return await _looked(call, asked, tuple(asked.sites), tell)


async def _why(call: Call, asked: WhyAsked) -> Any:
    if asked.most**asked.depth > MOST_NODES:
        raise TraceError(
            "more numbers than one question may open",
            got=f"{asked.most} terms, {asked.depth} levels deep",
            expected=f"at most {MOST_NODES} together",
        )

    def tell(model: Model, run: Run) -> WhyGiven:
        node = run.why(asked.site, by=asked.by, **asked.index)
        number = Number(**as_data(node, depth=asked.depth, most=asked.most))
        return WhyGiven(model=model.name, text=run.text, number=number)

    return await _looked(call, asked, ("*",), tell)


async def _edit(call: Call, asked: EditAsked) -> Any:
    if call.wants_safetensors:
        return await _looked(call, asked, ("*",), lambda _, run: run)

    def edit() -> tuple[str, EditGiven]:
        model = _model(call, asked)
        edits = [parse_edit(text) for text in asked.edits]

        def run() -> Comparison:
            with model.edit(
                Budget(sites=(), errand=call.errand)
            ):  # nothing is recorded, but it ends where nobody waits
                return compare(
                    model.loaded, asked.text, edits, to=asked.to, most=asked.most, **asked.decoding.options()
                )

        found = call.desk.alone(run, call.errand)
        shifts = [MovedOutput(**vars(one)) for one in found.shifts]
        given = EditGiven(
            model=model.name, before=found.before, after=found.after, changed=found.changed, shifts=shifts
        )
        return model.name, given

    name, given = await call.look(edit)
    call.note(model=name, **({"text": asked.text} if call.desk.settings.log_text else {}))
    return given


def _check_cells(run: Run, sites: list[str]) -> None:
    n_cells = sum(int(np.prod(run.trace.sites[site].shape)) for site in sites)
    if n_cells > MOST_CELLS:
        raise TraceError(
            "more numbers than JSON should hold",
            got=n_cells,
            expected=f"at most {MOST_CELLS}",
            advice=f"fewer sites, or the header Accept: {SAFETENSORS}",
        )


def _numbers(values: np.ndarray) -> list[Any]:
    """Numbers as nested lists; None where there is none, which JSON has no number for."""
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()


def _tokens(tokens: tuple[Token, ...]) -> list[TraceToken]:
    return [TraceToken(id=token.id, piece=token.piece, shown=token.shown) for token in tokens]
