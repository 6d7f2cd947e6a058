"""The course: worked examples, computed when they are asked for."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.errors import ServerError
from clearhead.lessons import EXAMPLES, WorkedExample, reworked
from clearhead.lessons.course import CHAPTERS, QUESTIONS, Question
from clearhead.web.asked import AnswerAsked, ExampleAsked, read


def course_routes() -> list[Route]:
    """The routes."""
    return [
        Route("/course", _course),
        Route("/course/{key}/answer", _answer, methods=["POST"]),
        Route("/examples", _examples),
        Route("/examples/{key}", _example),
        Route("/examples/{key}", _example_again, methods=["POST"]),
    ]


async def _course(_: Request) -> JSONResponse:
    return JSONResponse({"chapters": await run_in_threadpool(_chapters)})


def _chapters() -> list[dict[str, Any]]:
    return [
        {
            "key": chapter.key,
            "title": chapter.title,
            "text": chapter.text,
            "examples": chapter.examples,
            "live": [{"view": one.view, "says": one.says, "settings": dict(one.settings)} for one in chapter.live],
            "questions": [
                {
                    "key": one.key,
                    "text": one.text,
                    "several": one.several,
                    "choices": [choice.text for choice in one.choices],
                }
                for one in chapter.questions
            ],
        }
        for chapter in CHAPTERS
    ]


async def _answer(request: Request) -> JSONResponse:
    """Whether an answer is right, and what the engine shows."""
    key = request.path_params["key"]
    if key not in QUESTIONS:
        raise ServerError("no such question", got=key[:40])
    asked = await read(request, AnswerAsked)
    return JSONResponse(await run_in_threadpool(_judged, QUESTIONS[key], asked.chosen))


def _judged(question: Question, chosen: list[int]) -> dict[str, Any]:
    return {
        "right": question.judge(frozenset(chosen)),
        "choices": [{"right": one.right, "because": one.because} for one in question.choices],
        "shown": question.show(),
    }


async def _examples(_: Request) -> JSONResponse:
    return JSONResponse({"examples": list(EXAMPLES)})


async def _example(request: Request) -> JSONResponse:
    key = request.path_params["key"]
    if key not in EXAMPLES:
        raise ServerError("no such example", got=key[:20], expected=", ".join(EXAMPLES))
    return JSONResponse(await run_in_threadpool(lambda: _told(EXAMPLES[key]())))


async def _example_again(request: Request) -> JSONResponse:
    """The example with numbers of one's own."""
    key = request.path_params["key"]
    if key not in EXAMPLES:
        raise ServerError("no such example", got=key[:20], expected=", ".join(EXAMPLES))
    asked = await read(request, ExampleAsked)
    return JSONResponse(await run_in_threadpool(lambda: _told(reworked(key, asked.given))))


def _told(example: WorkedExample) -> dict[str, Any]:
    return {
        "key": example.key,
        "title": example.title,
        "shows": example.shows,
        "results": [
            {
                "name": one.name,
                "computed": one.computed,
                "printed": one.printed,
                "agrees": one.agrees,
                "remark": one.remark,
                "rows": one.rows,
                "columns": one.columns,
                "digits": one.digits,
            }
            for one in example.results
        ],
        "inputs": [vars(one) for one in example.inputs],
        "figures": {name: figure.svg for name, figure in example.figures.items()},
    }
