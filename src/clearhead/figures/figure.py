"""A figure: one picture, in whichever form it is asked for."""

import os
import secrets
from dataclasses import dataclass
from html import escape
from pathlib import Path

import resvg_py

from clearhead.errors import ConfigError
from clearhead.figures.inks import STYLE
from clearhead.figures.panels import Panels
from clearhead.figures.series import Curves
from clearhead.figures.sketch import Sketch, cut
from clearhead.figures.sparkline import curve_lines
from clearhead.figures.terminal import lines
from clearhead.figures.words import visible

__all__ = ["Figure"]

_KINDS = (".svg", ".png", ".html")
_PNG_ZOOM = 2.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Figure:
    """A picture, and the numbers that it shows.

    Attributes:
        title: What it is called.
        svg: The picture itself.
        panels: The numbers and labels in it.
    """

    title: str
    svg: str
    panels: Panels | Curves | Sketch

    def save(self, path: Path | str) -> Path:
        """Writes the picture as the name's ending says: .svg, .png or .html.

        The file is written whole or not at all.

        Raises:
            ConfigError: Another ending, or a place that cannot be written.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in _KINDS:
            raise ConfigError(
                "a kind of picture that cannot be written",
                got=path.name,
                expected="a name that ends in " + ", ".join(_KINDS),
            )
        content = self.png if kind == ".png" else (self.html if kind == ".html" else self.svg).encode()
        try:
            _replace(path, content)
        except OSError as error:
            raise ConfigError("a picture that cannot be saved", got=f"{path}: {error.strerror or error}") from None
        return path

    @property
    def png(self) -> bytes:
        """The picture as pixels, at twice its size; every script that an installed font has is shaped."""
        return resvg_py.svg_to_bytes(svg_string=self.svg, zoom=_PNG_ZOOM)

    @property
    def html(self) -> str:
        """The picture as a page of its own that loads nothing."""
        themed = not isinstance(self.panels, Panels)
        title = escape(visible(self.title or ("picture" if themed else "heatmap")))
        dark = f":root {{ color-scheme: light dark; }}\n{STYLE}" if themed else ""
        return (
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n'
            f"<style>body {{ margin: 2rem; }} svg {{ max-width: 100%; height: auto; }}\n{dark}</style>\n"
            f"{self.svg}</html>\n"
        )

    def terminal(self, *, width: int = 80, colour: bool | None = None) -> str:
        """The picture as lines of text.

        Args:
            width: Columns of the terminal.
            colour: Whether to shade with the terminal's colours; by default where output is a terminal that
                wants them.
        """
        if isinstance(self.panels, Sketch):
            return "\n".join(cut(line, width) for line in (visible(self.title), *self.panels.lines) if line)
        if isinstance(self.panels, Curves):
            return "\n".join(curve_lines(self.panels, title=self.title, width=width))
        return "\n".join(lines(self.panels, title=self.title, width=width, colour=colour))

    def _repr_html_(self) -> str:
        return self.svg


def _replace(path: Path, content: bytes) -> None:
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with fresh.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
