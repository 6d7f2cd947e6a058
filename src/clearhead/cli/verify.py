"""`clearhead verify`: our numbers beside the reference's, site by site, on a model of yours.

Takes: a model, and texts or none.
Gives: a table of deviations and a verdict; exit 1 where a number is too far away.
Uses:  testing, weights; transformers, through testing.
Never: a download that was not announced.
"""

import json
import textwrap
from typing import Annotated

import typer

from clearhead.testing.parity import Deviation
from clearhead.testing.verify import Verdict
from clearhead.testing.verify import verify as put_to_the_proof
from clearhead.weights.locate import resolve

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_SHOWN = ("resid_post", "self.pattern", "cross.pattern", "final_norm", "transform", "pooled", "vector", "logits")
_WIDTH = 80


@app.command(help="Compare every number of a model with the reference's: transformers, on the same text.")
def verify(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, an embedded model's name or a hub id.")],
    text: Annotated[
        list[str] | None,
        typer.Option("--text", metavar="TEXT", help="What both read; given several times, several texts."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every site, not only the main ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with every site.")] = False,
) -> None:
    """Run both sides, print the table, and leave with 1 where they differ."""
    verdict = put_to_the_proof(resolve(model), text or ())
    if as_json:
        typer.echo(json.dumps(_plain(model, verdict), ensure_ascii=False))
    else:
        typer.echo("\n".join(_written(model, verdict, every=every)))
    if not verdict.passes:
        raise typer.Exit(1)


def _written(name: str, verdict: Verdict, *, every: bool) -> list[str]:
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
    lines = [f"{n_sites} sites compared: {nearest if worst.worst else 'equal bit for bit'}"]
    if verdict.agree is not None:
        lines.append(f"largest logit the same at {verdict.agree} of {verdict.n_choices} positions")
    if verdict.passes:
        return [*lines, "PASS"]
    return [*lines, f"FAIL: {len(wrong)} of {n_sites} sites are too far away, the first is {wrong[0].site}"]


def _plain(name: str, verdict: Verdict) -> dict[str, object]:
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
