"""A verdict on a model's numbers, written: a table for people, fields for programs.

Takes: a verdict.
Gives: lines, or plain data.
Uses:  testing.
Never: a site left out that is too far away.
"""

import textwrap

from clearhead.testing.parity import Deviation
from clearhead.testing.verify import Verdict

__all__ = ["plain", "written"]

_SHOWN = ("resid_post", "self.pattern", "cross.pattern", "final_norm", "transform", "pooled", "vector", "logits")
_WIDTH = 80


def written(name: str, verdict: Verdict, *, every: bool) -> list[str]:
    """A table for people: the main sites, or every one, and the verdict.

    Args:
        name: What the model was asked for by.
        verdict: What came out.
        every: Whether to show every site.
    """
    n_texts, n_tokens = len(verdict.n_tokens), sum(verdict.n_tokens)
    millions = f"{verdict.n_parameters / 1e6:.1f} million parameters"
    about = f"{verdict.family} ({verdict.kind}), {millions}, against transformers {verdict.version}"
    given = f"{n_texts} {'text' if n_texts == 1 else 'texts'}, {n_tokens} tokens; {verdict.ids_from}"
    rows = [_row(site) for site in verdict.sites if every or _is_shown(site)]
    return [
        name,
        *(line for said in (about, given) for line in textwrap.wrap(said, _WIDTH)),
        "",
        f"{'site':<34}{'max |Δ|':>10}{'allowed':>10}",
        *rows,
        "",
        *_conclusion(verdict),
    ]


def _is_shown(deviation: Deviation) -> bool:
    """Whether a site is one of the main ones, or one that must not be overlooked."""
    site = deviation.site
    return "embed." in site or site.endswith(_SHOWN) or not deviation.passes


def _row(deviation: Deviation) -> str:
    mark = "" if deviation.passes else "  too far"
    worst = f"{deviation.worst:.1e}" if deviation.worst else "0"
    return f"{deviation.site:<34}{worst:>10}{deviation.allowed:>10.1e}{mark}"


def _conclusion(verdict: Verdict) -> list[str]:
    n_sites, worst, wrong = len(verdict.sites), verdict.worst, verdict.wrong
    nearest = f"nearest to its limit is {worst.site}, at {worst.worst / worst.allowed:.2%} of it"
    lines = textwrap.wrap(f"{n_sites} sites compared: {nearest if worst.worst else 'equal bit for bit'}", _WIDTH)
    if verdict.agree is not None:
        lines.append(f"largest logit the same at {verdict.agree} of {verdict.n_choices} positions")
    if verdict.passes:
        return [*lines, "PASS"]
    return [*lines, f"FAIL: {len(wrong)} of {n_sites} sites are too far away, the first is {wrong[0].site}"]


def plain(name: str, verdict: Verdict) -> dict[str, object]:
    """The same for programs, every site included."""
    return {
        "model": name,
        "family": verdict.family,
        "class": verdict.kind,
        "transformers": verdict.version,
        "parameters": verdict.n_parameters,
        "tokens": list(verdict.n_tokens),
        "ids_from": verdict.ids_from,
        "sites": [
            {"site": site.site, "deviation": site.worst, "allowed": site.allowed, "passes": site.passes}
            for site in verdict.sites
        ],
        "same_choice": verdict.agree,
        "choices": verdict.n_choices,
        "passes": verdict.passes,
    }
