"""What a foreign model computes on its way: a look at every module and every attention of it.

Takes: a model of the reference implementation and the arguments of its forward pass.
Gives: what entered and left each module, and the steps of each attention.
Uses:  errors; torch.
Never: our names for sites; the tables have those.
"""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from clearhead.errors import TraceError

_EAGER = "eager_attention_forward"
"""What the reference calls its plain attention, in the module of every family."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The steps of one attention, as the reference computed them."""

    query_BHQC: Tensor
    key_BGKC: Tensor
    value_BGKC: Tensor
    score_BHQK: Tensor
    pattern_BHQK: Tensor
    mixed_BHQC: Tensor


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What one pass showed, by the paths of modules.

    Attributes:
        entered: What each module was given first.
        left: What each module gave, or gave first.
        looks: The steps of each attention.
        output: What the whole model gave.
    """

    entered: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    left: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    looks: dict[str, Look] = field(default_factory=dict[str, Look])
    output: dict[str, Any] = field(default_factory=dict[str, Any])


@torch.no_grad()
def observe(model: nn.Module, arguments: Mapping[str, Any]) -> Observed:
    """Runs a foreign model once and keeps what passes.

    Raises:
        TraceError: The model's family has no plain attention function to listen at.
    """
    seen = Observed()
    paths: dict[nn.Module, str] = {module: path for path, module in cast("Any", model).named_modules()}
    handles = [module.register_forward_hook(_keeper(seen, path), with_kwargs=True) for module, path in paths.items()]
    try:
        with _attention_overheard(sys.modules[type(model).__module__], paths, seen):
            seen.output.update(model(**arguments))
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _keeper(seen: Observed, path: str) -> Callable[[nn.Module, Any, dict[str, Any], Any], None]:
    """A hook that keeps what enters and what leaves one module."""

    def keep(_: nn.Module, inputs: Any, named: dict[str, Any], output: Any) -> None:
        entered: Any = inputs[0] if inputs else named.get("hidden_states")
        left = cast("Any", output)[0] if isinstance(output, tuple) else output
        if isinstance(entered, Tensor):
            seen.entered[path] = entered
        if isinstance(left, Tensor):
            seen.left[path] = left

    return keep


@contextmanager
def _attention_overheard(home: ModuleType, paths: Mapping[nn.Module, str], seen: Observed) -> Generator[None]:
    """Puts a listener around the plain attention function of a family while a pass runs."""
    plain: Any = getattr(home, _EAGER, None)
    if plain is None:
        raise TraceError(
            "this version of the reference hides its attention",
            got=f"{home.__name__} without {_EAGER}",
            advice="pip install -U 'clearhead[verify]'",
        )

    def overheard(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Any, **rest: Any) -> Any:
        given = plain(module, query, key, value, mask, **rest)
        seen.looks[paths[module]] = Look(
            query_BHQC=query,
            key_BGKC=key,
            value_BGKC=value,
            score_BHQK=_score(partial(plain, module, query, key, value, None, **rest)),
            pattern_BHQK=given[1],
            mixed_BHQC=given[0].transpose(1, 2),
        )
        return given

    setattr(home, _EAGER, overheard)
    try:
        yield
    finally:
        setattr(home, _EAGER, plain)


def _score(attend: Callable[[], Any]) -> Tensor:
    """The score before the mask.

    The reference adds the mask to it at once and exposes neither. Its own function, run once more without a
    mask, hands the score to its softmax, and there it is caught.
    """
    with _BeforeSoftmax() as caught:
        attend()
    assert caught.score is not None, "an attention without a softmax"
    return caught.score


class _BeforeSoftmax(TorchFunctionMode):
    """Keeps what the first softmax inside a block is given."""

    score: Tensor | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if getattr(func, "__name__", "") == "softmax" and self.score is None:
            self.score = args[0]
        return func(*args, **(kwargs or {}))
