"""The course: chapters from text to whole systems, with questions that the engine answers.

Takes: nothing.
Gives: CHAPTERS in order; QUESTIONS by key.
Uses:  lessons.chapter and the rooms that each chapter is about.
Never: an answer that is only asserted: each is shown by a computation.
"""

from collections.abc import Mapping
from types import MappingProxyType

from clearhead.lessons.course import a_vectors, b_attention, b_heads, b_movement, c_block, d_systems
from clearhead.lessons.course.chapter import Chapter, Choice, Live, Question

_ALL = (a_vectors, b_attention, b_heads, b_movement, c_block, d_systems)
CHAPTERS: tuple[Chapter, ...] = tuple(
    sorted((chapter for part in _ALL for chapter in part.CHAPTERS), key=lambda chapter: chapter.key)
)
QUESTIONS: Mapping[str, Question] = MappingProxyType(
    {question.key: question for chapter in CHAPTERS for question in chapter.questions}
)

__all__ = ["CHAPTERS", "QUESTIONS", "Chapter", "Choice", "Live", "Question"]
