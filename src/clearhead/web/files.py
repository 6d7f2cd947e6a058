"""The page's own files, straight from memory: a first view asks for many of them at once.

Only what lay in the folder when the server began can be asked for, by its name there; a path is never put together
from a request. A browser asks each time whether a file changed, and is told in a few bytes.
"""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Files:
    """The files of a folder, each read when it is first asked for, and again where it has changed.

    Args:
        folder: Where they are.
    """

    def __init__(self, *, folder: Path) -> None:
        self._paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        self._kept: dict[str, tuple[str, bytes]] = {}

    def route(self, at: str) -> Route:
        """The route under which all of them are.

        Args:
            at: Where, as /static.
        """

        async def give(request: Request) -> Response:
            return self.answer(request.path_params["name"], request)

        return Route(f"{at}/{{name:path}}", give)

    def answer(self, name: str, request: Request) -> Response:
        """A file, or that it is still the one that the browser has.

        Args:
            name: Of a file of the folder.
            request: Who asks.

        Raises:
            HTTPException: There is no such file.
        """
        path = self._paths.get(name)
        if path is None:
            raise HTTPException(404)
        facts = path.stat()
        tag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if self._kept.get(name, ("",))[0] != tag:
            self._kept[name] = (tag, path.read_bytes())
        return Response(self._kept[name][1], media_type=_TYPES.get(path.suffix), headers=headers)
