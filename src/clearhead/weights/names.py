"""Name tables: how a published checkpoint spells our parameters, and how it lays them out.

A table is a list of rules, read in both directions; there is no second list for the way back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.errors import MissingTensor, ShapeMismatch, nearest


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One foreign tensor and the parameters of ours that it holds.

    Attributes:
        native: Our names: one, or several where the foreign tensor holds them side by side.
        foreign: The foreign name.
        transposed: Whether the foreign layout has the inputs first.
        row: Whether the foreign tensor has one more axis, of length 1, in front.
    """

    native: tuple[str, ...]
    foreign: str
    transposed: bool = False
    row: bool = False

    def split(self, foreign: Tensor, shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
        """Our parameters out of the foreign tensor."""
        plain = foreign.squeeze(0) if self.row else foreign.T if self.transposed else foreign
        parts = torch.split(plain, [shapes[name][0] for name in self.native])
        return dict(zip(self.native, parts, strict=True))

    def join(self, native: Mapping[str, Tensor]) -> Tensor:
        """The foreign tensor out of our parameters."""
        parts = [native[name] for name in self.native]
        plain = torch.cat(parts) if len(parts) > 1 else parts[0]
        return plain.unsqueeze(0) if self.row else plain.T if self.transposed else plain

    def foreign_shape(self, shapes: Mapping[str, torch.Size]) -> tuple[int, ...]:
        """The shape that the foreign tensor must have."""
        first, *rest = shapes[self.native[0]]
        shape = (first + sum(shapes[name][0] for name in self.native[1:]), *rest)
        return (1, *shape) if self.row else tuple(reversed(shape)) if self.transposed else shape


def rule(native: str, foreign: str, *, transposed: bool = False, row: bool = False) -> Rule:
    """A rule for one parameter."""
    return Rule(native=(native,), foreign=foreign, transposed=transposed, row=row)


def both(native: str, foreign: str, *, bias: bool = True) -> list[Rule]:
    """The rules for the weight and, where there is one, the bias of a linear map or norm."""
    kinds = ("weight", "bias") if bias else ("weight",)
    return [rule(f"{native}.{kind}", f"{foreign}.{kind}") for kind in kinds]


def to_native(
    rules: Iterable[Rule], foreign: Mapping[str, Tensor], shapes: Mapping[str, torch.Size]
) -> dict[str, Tensor]:
    """Our parameters out of a checkpoint's tensors.

    Raises:
        MissingTensor: A foreign tensor that is not there.
        ShapeMismatch: One of another shape than the configuration says.
    """
    native: dict[str, Tensor] = {}
    for line in rules:
        if line.foreign not in foreign:
            raise MissingTensor(
                "the checkpoint lacks a tensor",
                got=f"no {line.foreign}",
                expected=f"{line.foreign} of shape {line.foreign_shape(shapes)}",
                advice=nearest(line.foreign, foreign),
            )
        tensor = foreign[line.foreign]
        if tuple(tensor.shape) != line.foreign_shape(shapes):
            raise ShapeMismatch(
                f"{line.foreign} does not fit the configuration",
                got=tuple(tensor.shape),
                expected=line.foreign_shape(shapes),
                advice="the config.json that belongs to these weights",
            )
        native |= line.split(tensor, shapes)
    return native


def to_foreign(rules: Iterable[Rule], native: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A checkpoint's tensors out of our parameters.

    A parameter that the layout has twice is copied: what shares memory would be written once.
    """
    tensors: dict[str, Tensor] = {}
    told: set[str] = set()
    for line in rules:
        joined = line.join(native).contiguous()
        tensors[line.foreign] = joined.clone() if told.issuperset(line.native) else joined
        told.update(line.native)
    return tensors
