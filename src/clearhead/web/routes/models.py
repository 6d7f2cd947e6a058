"""Which models there are, what they are made of, and the legend."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.axes import legend
from clearhead.config import Family, StackConfig
from clearhead.figures import shade
from clearhead.model import Model
from clearhead.tasks.language_pairs import languages

_SHADES = 64
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
    return [Route("/models", _models), Route("/models/{name:path}", _model), Route("/legend", _legend)]


async def _models(request: Request) -> JSONResponse:
    return JSONResponse({"models": request.app.state.shelf.names})


async def _legend(_: Request) -> JSONResponse:
    return JSONResponse({"axes": legend(), "ramp": [shade(step / (_SHADES - 1)) for step in range(_SHADES)]})


async def _model(request: Request) -> JSONResponse:
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
