"""Activation patching over a whole model: which layer and position carries the difference between two texts."""

from dataclasses import dataclass

import numpy as np

from clearhead.errors import TraceError
from clearhead.explain.edits import patch
from clearhead.explain.numbers import softmax
from clearhead.explain.outputs import output_index
from clearhead.figures import Figure, heatmap
from clearhead.probe import listen
from clearhead.tasks import Loaded
from clearhead.trace import Trace, record_reading


@dataclass(frozen=True, kw_only=True)
class PatchMap:
    """What each layer and position brings over from one text to another.

    Attributes:
        site: The last part of the sites that were patched.
        output: The output whose log-probability was measured.
        clean: Its log-probability with the first text.
        other: With the second.
        effect: By layer and position: 0 where patching changes nothing, 1 where it brings back the first text's.
        positions: The tokens of the second text.
    """

    site: str
    output: str
    clean: float
    other: float
    effect: np.ndarray
    positions: tuple[str, ...]

    def figure(self) -> Figure:
        """A picture of it."""
        return heatmap(
            self.effect,
            rows=[str(layer) for layer in range(len(self.effect))],
            columns=self.positions,
            title=f"patching {self.site}: how much of log p({self.output!r}) comes back",
            axes="LT",
            scale=(min(0.0, float(self.effect.min())), max(1.0, float(self.effect.max()))),
        )


def patch_map(
    loaded: Loaded, clean: str, other: str, *, output: str, site: str = "resid_post", place: int = -1
) -> PatchMap:
    """Runs the second text once for each layer and position, with one value of the first text's run in its place.

    Args:
        loaded: A model that reads one text.
        clean: The text whose values are brought over.
        other: The text that they are brought to; it must have as many tokens.
        output: The piece or label whose log-probability is measured.
        site: What to bring over: `resid_pre`, `resid_mid`, `resid_post`, `self.output` or `ffn.output`.
        place: The position whose logits are read, where each has some.

    Raises:
        TraceError: Texts of different lengths, or an output that makes no difference between them.
    """
    stack = "encoder" if loaded.config.decoder is None else "decoder"
    source = record_reading(loaded, clean, sites=("logits", f"{stack}.*.{site}"))
    target = record_reading(loaded, other, sites=("logits",))
    tokens = target.source or target.target
    if len(source.source or source.target) != len(tokens):
        raise TraceError(
            "the two texts have different lengths",
            got=f"{len(source.source or source.target)} and {len(tokens)} tokens",
            expected="as many tokens in both",
            advice="words of as many tokens",
        )
    index = output_index(output, labels=loaded.config.head.labels, tokenizer=loaded.own_tokenizer)
    first, second = _log_p(source, index, place), _log_p(target, index, place)
    if abs(first - second) < 1e-6:
        raise TraceError("this output is as likely with both texts", got=f"{output!r}: log p {first:.4f}")
    layers = loaded.config.output_stack.n_layers
    effect = np.zeros((layers, len(tokens)))
    for layer in range(layers):
        for position in range(len(tokens)):
            with listen(patch(source, f"{stack}.{layer}.{site}", position=position)):
                changed = _log_p(record_reading(loaded, other, sites=("logits",)), index, place)
            effect[layer, position] = (changed - second) / (first - second)
    return PatchMap(
        site=site,
        output=output,
        clean=first,
        other=second,
        effect=effect,
        positions=tuple(token.shown for token in tokens),
    )


def _log_p(trace: Trace, index: int, place: int) -> float:
    logits = trace["logits"][0]
    return float(np.log(softmax(logits if logits.ndim == 1 else logits[place])[index]))
