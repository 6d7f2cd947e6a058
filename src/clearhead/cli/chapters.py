"""Chapters of the course in the terminal: the text, then the questions, one after another.

Takes: the key of a chapter.
Gives: its text; where somebody sits at the keyboard its questions with feedback, otherwise with their answers.
Uses:  lessons.course; typer.
Never: an answer that the engine did not show.
"""

import json
import re
import shutil
import sys
import textwrap

import typer

from clearhead.lessons.course import CHAPTERS, Chapter, Question

__all__ = ["show_chapter", "show_contents"]

_MOST_WIDE = 90


def show_contents() -> None:
    """The chapters by name."""
    for chapter in CHAPTERS:
        count = f"{len(chapter.questions)} question{'' if len(chapter.questions) == 1 else 's'}"
        typer.echo(f"{chapter.key:<4} {chapter.title}  ({count})")
    typer.echo("\nclearhead learn B4 opens one; clearhead explain has them beside the running model")


def show_chapter(key: str, *, as_json: bool) -> None:
    """One chapter."""
    chapter = next((one for one in CHAPTERS if one.key == key), None)
    if chapter is None:
        known = ", ".join(one.key for one in CHAPTERS)
        raise typer.BadParameter(f"no chapter {key}; there are {known}", param_hint="LESSON")
    if as_json:
        typer.echo(json.dumps(_plain(chapter), ensure_ascii=False))
        return
    typer.echo(f"{chapter.key}. {chapter.title}\n")
    for paragraph in chapter.text:
        typer.echo(_wrapped(paragraph) + "\n")
    for live in chapter.live:
        typer.echo(_wrapped(f"In the page (clearhead explain, {live.view}): {live.says}") + "\n")
    if chapter.examples:
        typer.echo("Worked examples: " + ", ".join(f"clearhead learn {one}" for one in chapter.examples) + "\n")
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    for question in chapter.questions:
        _ask(question) if asks else _tell(question)


def _plain(chapter: Chapter) -> dict[str, object]:
    questions = [
        {
            "key": one.key,
            "text": one.text,
            "choices": [
                {"text": choice.text, "right": choice.right, "because": choice.because} for choice in one.choices
            ],
            "shown": one.show(),
        }
        for one in chapter.questions
    ]
    return {"key": chapter.key, "title": chapter.title, "text": chapter.text, "questions": questions}


def _tell(question: Question) -> None:
    typer.echo(_wrapped(f"? {question.text}"))
    for choice in question.choices:
        because = f" ({choice.because})" if choice.because else ""
        typer.echo(_wrapped(f"  {'*' if choice.right else '-'} {choice.text}{because}"))
    typer.echo(_wrapped(f"  The engine says: {question.show()}") + "\n")


def _ask(question: Question) -> None:
    typer.echo(_wrapped(f"? {question.text}"))
    for place, choice in enumerate(question.choices, start=1):
        typer.echo(f"  {place}  {choice.text}")
    given = typer.prompt("several numbers" if question.several else "a number", default="", show_default=False)
    chosen = frozenset(int(one) - 1 for one in re.findall("[0-9]+", given))
    typer.secho("Right." if question.judge(chosen) else "Not quite.", bold=True)
    for place, choice in enumerate(question.choices):
        if choice.right or place in chosen:
            because = f": {choice.because}" if choice.because else ""
            typer.echo(_wrapped(f"  {'right' if choice.right else 'wrong'}  {choice.text}{because}"))
    typer.echo(_wrapped(f"  The engine says: {question.show()}") + "\n")


def _wrapped(text: str) -> str:
    width = min(shutil.get_terminal_size((80, 24)).columns, _MOST_WIDE)
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.fill(text, width=width, subsequent_indent=indent if text[:1] in " ?" else "")
