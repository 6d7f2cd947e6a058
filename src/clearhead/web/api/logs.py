"""Logs as lines of JSON, without what users wrote."""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

LOGGER = logging.getLogger("clearhead.serve")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; what a record's `facts` hold stands beside the rest."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        facts: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        facts.update(getattr(record, "facts", {}))
        return json.dumps(facts, ensure_ascii=True, default=str)


def log_to_stderr() -> None:
    """Sends our own logs and uvicorn's there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("clearhead.serve", logging.INFO), ("uvicorn", logging.WARNING), ("asyncio", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False


def report(event: str, **facts: object) -> None:
    """Writes a line."""
    LOGGER.info(event, extra={"facts": facts})


def report_mistake(error: BaseException) -> None:
    """Writes where a mistake of ours happened: lines of code, and not the values in them."""
    places = [f"{place.filename}:{place.lineno} {place.name}" for place in traceback.extract_tb(error.__traceback__)]
    LOGGER.error("mistake", extra={"facts": {"kind": type(error).__name__, "places": places[-12:]}})
