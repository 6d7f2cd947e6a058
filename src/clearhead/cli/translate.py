"""`clearhead translate`: text in one language, text in another.

Takes: texts, a file or standard input; a model that translates; the language to translate into.
Gives: one translation a line, with scores and pieces where --json asks for them.
Uses:  cli.errand, cli.options, cli.output; tasks.
Never: a line more or less than it read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from clearhead.cli.errand import Errand
from clearhead.cli.options import Given, shared_options
from clearhead.cli.output import Outcome

__all__ = ["Translating", "app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@dataclass(frozen=True, kw_only=True)
class Translating(Errand):
    """Each text in another language."""

    to: str | None
    source: str | None

    verb = "translate"
    label = "translating"

    @property
    def columns(self) -> Mapping[str, str]:
        """The best translation; all where several are asked for."""
        several = {"alternatives": "list<string>"} if "n_best" in self.given.decoding else {}
        return {"translation": "string", **several}

    def outcomes(self, loaded: Any, texts: Sequence[str]) -> Iterator[Outcome]:
        """Translations, with scores and pieces for programs."""
        from clearhead import tasks

        found = tasks.translate(loaded, texts, to=self.to, source=self.source, **self.given.decoding)
        for text, translation in zip(texts, found, strict=True):
            yield Outcome(
                lines=[one.text for one in translation.alternatives] or [translation.text],
                fields={
                    "text": text,
                    "translation": translation.text,
                    "alternatives": _plain(translation.alternatives),
                    "sentences": _plain(translation.sentences),
                },
            )

    def row(self, outcome: Outcome) -> Mapping[str, Any]:
        """The translation, and the others by their text alone."""
        fields = outcome.fields
        row = {"translation": fields["translation"], "alternatives": [one["text"] for one in fields["alternatives"]]}
        return {name: row[name] for name in self.columns}


@app.command(help="Translate text.")
@shared_options(decoding=True, corpora=True)
def translate(
    given: Given,
    to: Annotated[str | None, typer.Option("--to", metavar="LANG", help="The language to write: fr, German.")] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="LANG", help="The language of the text.")] = None,
) -> None:
    """Translate each line by itself."""
    Translating(given=given, to=to, source=source).run()


def _plain(written: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"text": one.text, "score": one.score, "tokens": one.tokens} for one in written]
