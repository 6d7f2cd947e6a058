"""A chapter of the course: a little text, the thing itself, and questions that the engine answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One answer to choose.

    Attributes:
        text: What it says.
        right: Whether it is right.
        because: Why, in a sentence.
    """

    text: str
    right: bool = False
    because: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question whose answer is computed, not looked up.

    Attributes:
        key: Its name in the course.
        text: What is asked.
        choices: Several; more than one may be right.
        show: Runs the engine and says what came out.
    """

    key: str
    text: str
    choices: tuple[Choice, ...]
    show: Callable[[], str] = field(repr=False)

    @property
    def several(self) -> bool:
        """Whether more than one answer is right."""
        return sum(choice.right for choice in self.choices) > 1

    def judge(self, chosen: frozenset[int]) -> bool:
        """Whether exactly the right answers were chosen."""
        return chosen == frozenset(place for place, choice in enumerate(self.choices) if choice.right)


@dataclass(frozen=True, kw_only=True)
class Live:
    """The thing itself, beside the text.

    Attributes:
        view: A view of the page.
        settings: What it opens on: model, text, to.
        says: What to look for.
    """

    view: str
    says: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A chapter.

    Attributes:
        key: Its name, such as B3.
        title: What it is about.
        text: A few short paragraphs.
        examples: Worked examples that belong to it.
        live: What to look at while reading.
        questions: What to ask oneself.
    """

    key: str
    title: str
    text: tuple[str, ...]
    examples: tuple[str, ...] = ()
    live: tuple[Live, ...] = ()
    questions: tuple[Question, ...] = ()


def right(text: str, because: str = "") -> Choice:
    """A right answer."""
    return Choice(text=text, right=True, because=because)


def wrong(text: str, because: str = "") -> Choice:
    """A wrong one, with why."""
    return Choice(text=text, because=because)
