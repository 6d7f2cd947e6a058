"""The start: all that the first view needs, in one answer; its run is made before anybody asks."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from clearhead.axes import legend
from clearhead.config import Family
from clearhead.errors import ClearheadError
from clearhead.figures import shade
from clearhead.web.asked import Decoding, RunAsked
from clearhead.web.routes.models import described
from clearhead.web.routes.runs import made
from clearhead.web.shelf import Shelf

_SHADES = 64
FIRST = "translator"
"""The embedded model that the page opens on."""


class Opening:
    """The model that the page opens on, and its run on its first example.

    Args:
        shelf: The models.
    """

    def __init__(self, *, shelf: Shelf) -> None:
        self._shelf = shelf
        self._ready: dict[str, Any] | None = None

    @property
    def first(self) -> str | None:
        """The model that the page opens on where its address names none."""
        names = self._shelf.names
        return FIRST if FIRST in names else next(iter(names), None)

    def prepare(self) -> None:
        """Loads the model and runs it, so that the first view need not wait; what cannot run says so when asked."""
        if self.first is None:
            return
        try:
            model = described(self.first, self._shelf.model(self.first))
            asked = RunAsked(
                model=self.first,
                text=model["examples"][0],
                to=model["usual"]["to"],
                write=model["family"] != Family.ENCODER_ONLY.value,
                decoding=Decoding(**model["usual"]["decoding"]),
            )
            self._ready = {"model": model, "run": made(self._shelf, asked, None)}
        except ClearheadError:
            self._ready = None

    @property
    def ready(self) -> dict[str, Any] | None:
        """The model and its run, where they are there by now."""
        found = self._ready
        if found is None:
            return None
        try:
            self._shelf.run(found["run"]["run"])
        except ClearheadError:  # forgotten for newer ones
            self._ready = None
            return None
        return found


def start_routes() -> list[Route]:
    """The route."""
    return [Route("/start", _start)]


async def _start(request: Request) -> JSONResponse:
    opening: Opening = request.app.state.opening
    return JSONResponse(
        {
            "models": [*request.app.state.shelf.names, *request.app.state.lab.students],
            "axes": legend(),
            "ramp": [shade(step / (_SHADES - 1)) for step in range(_SHADES)],
            "first": opening.first,
            "ready": opening.ready,
        }
    )
