"""Parity: our numbers against another implementation's, site by site."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.errors import TraceError

TOLERANCE: Mapping[torch.dtype, float] = {
    torch.float64: 1e-10,
    torch.float32: 1e-4,
    torch.bfloat16: 5e-2,
    torch.float16: 1e-2,
}
"""How far two implementations may be apart, by precision: |Δ| <= tolerance × max(1, max |reference|)."""


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """How far one site is from the reference."""

    site: str
    worst: float
    allowed: float

    @property
    def passes(self) -> bool:
        """Whether the site is near enough; a NaN never is."""
        return self.worst <= self.allowed

    def __str__(self) -> str:
        return (
            f"{self.site:<32} max |Δ| {self.worst:.2e}  allowed {self.allowed:.2e}  {'ok' if self.passes else 'FAIL'}"
        )


def deviation(site: str, ours: Tensor, reference: Tensor, *, tolerance: float | None = None) -> Deviation:
    """How far our value of a site is from the reference's.

    Raises:
        TraceError: The two have different shapes.
    """
    if ours.shape != reference.shape:
        raise TraceError(
            f"{site} has another shape than the reference", got=tuple(ours.shape), expected=tuple(reference.shape)
        )
    reference = reference.detach().to(ours.dtype)
    share = TOLERANCE[ours.dtype] if tolerance is None else tolerance
    if not ours.numel():
        return Deviation(site=site, worst=0.0, allowed=share)
    worst = (ours.detach() - reference).abs().max().item()
    return Deviation(site=site, worst=worst, allowed=share * max(1.0, reference.abs().max().item()))


def assert_parity(
    ours: Mapping[str, Tensor], reference: Mapping[str, Tensor], *, tolerance: float | None = None
) -> list[Deviation]:
    """Asserts that every site of the reference is near enough in ours; gives all deviations.

    The message names the first site that is not, in the order of the reference, which is the order of the
    computation: that is the layer to look at.
    """
    missing = [site for site in reference if site not in ours]
    assert not missing, f"sites that were not recorded: {', '.join(missing)}"
    assert reference, "a reference without sites proves nothing"
    found = [deviation(site, ours[site], reference[site], tolerance=tolerance) for site in reference]
    wrong = [item for item in found if not item.passes]
    assert not wrong, "\n".join(["first site that differs:", str(wrong[0]), "all that differ:", *map(str, wrong)])
    return found
