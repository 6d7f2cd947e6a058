"""Which models there are, and what they are made of."""

from collections.abc import Sequence
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.config import Family, RecurrentConfig, StackConfig
from clearhead.model import Model
from clearhead.tasks.language_pairs import languages
from clearhead.web.students import Student

_MOST_NEW = 24
EXAMPLES = {
    Family.ENCODER_DECODER: [
        "The cat sat on the mat.",
        "She deposited money in the bank.",
        "They walked along the bank of the river.",
        "I like eating ice cream.",
        "How are you?",
    ],
    Family.DECODER_ONLY: [
        "Once upon a time, there was a little",
        "The man saw the astronomer with a telescope",
        "Lily and Tom went to the park. They",
    ],
    Family.ENCODER_ONLY: [
        "The cat drank some [MASK].",
        "She deposited money in the bank.",
        "They walked along the bank of the river.",
        "The fluffy blue creature roamed the verdant forest.",
    ],
}


def model_routes() -> list[Route]:
    """The routes."""
    return [Route("/models", _models), Route("/models/{name:path}", _model)]


async def _models(request: Request) -> JSONResponse:
    """Those that the server began with, and those that were trained on the page."""
    return JSONResponse({"models": [*request.app.state.shelf.names, *request.app.state.lab.students]})


async def _model(request: Request) -> JSONResponse:
    student = request.app.state.lab.students.get(request.path_params["name"])
    if student is not None:
        return JSONResponse(described_student(student))
    model = await run_in_threadpool(request.app.state.shelf.model, request.path_params["name"])
    return JSONResponse(described(request.path_params["name"], model))


def described(name: str, model: Model) -> dict[str, Any]:
    """A model as the page draws it."""
    config = model.config
    targets: tuple[str, ...] = ()
    if "translate" in model.verbs:
        targets = languages(model.loaded)[1]
    stacks = {key: stack for key, stack in (("encoder", config.encoder), ("decoder", config.decoder)) if stack}
    return {
        "name": name,
        "family": config.family.value,
        "layout": model.checkpoint.family,
        "verbs": model.verbs,
        "targets": targets,
        "head": config.head.kind.value,
        "labels": config.head.labels,
        "parameters": model.network.n_parameters,
        "stacks": {key: _stack(stack) for key, stack in stacks.items()},
        "examples": EXAMPLES[config.family],
        "usual": _usual(config.family, targets),
    }


def _usual(family: Family, targets: Sequence[str]) -> dict[str, Any]:
    """What the page asks for unless one asks for something else: the language, and how to decode."""
    decoding: dict[str, Any] = {} if family is Family.ENCODER_ONLY else {"max_new_tokens": _MOST_NEW}
    if family is Family.DECODER_ONLY:
        decoding["temperature"] = 0.0
    return {"to": "fr" if "fr" in targets else next(iter(targets), None), "decoding": decoding}


def described_student(student: Student) -> dict[str, Any]:
    """A network that was trained on the page, as the page draws it."""
    config = student.network.config
    if isinstance(config, RecurrentConfig):
        one = _recurrent(config)
        stacks = {"encoder": one, "decoder": {**one, "vocabulary": config.target_vocab_size or config.vocab_size}}
    else:
        assert config.encoder is not None and config.decoder is not None
        stacks = {"encoder": _stack(config.encoder), "decoder": _stack(config.decoder)}
    return {
        "name": student.name,
        "family": Family.ENCODER_DECODER.value,
        "layout": "trained here",
        "verbs": [],
        "targets": [],
        "head": "language model",
        "labels": [],
        "parameters": student.network.n_parameters,
        "stacks": stacks,
        "examples": student.texts,
        "usual": _usual(Family.ENCODER_DECODER, ()),
        "recurrent": isinstance(config, RecurrentConfig),
        "trained": True,
    }


def _recurrent(config: RecurrentConfig) -> dict[str, Any]:
    """Cells in the words of a stack; what they do not have is nothing."""
    return {
        "layers": config.n_layers,
        "width": config.width,
        "heads": 1,
        "kvHeads": 1,
        "headWidth": config.width,
        "hidden": config.width,
        "vocabulary": config.vocab_size,
        "activation": config.cell.value,
        "gated": False,
        "norm": "none",
        "normBefore": False,
        "finalNorm": False,
        "position": "none",
    }


def _stack(stack: StackConfig) -> dict[str, Any]:
    return {
        "layers": stack.n_layers,
        "width": stack.width,
        "heads": stack.attention.n_heads,
        "kvHeads": stack.attention.kv_heads,
        "headWidth": stack.head_width,
        "hidden": stack.feedforward.width,
        "vocabulary": stack.embedding.vocab_size,
        "activation": stack.feedforward.activation.value,
        "gated": stack.feedforward.gated,
        "norm": stack.norm.kind.value,
        "normBefore": stack.norm.placement.value == "before",
        "finalNorm": stack.norm.final,
        "position": stack.position.kind.value,
    }
