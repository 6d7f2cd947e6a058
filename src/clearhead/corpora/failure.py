"""An error as plain text, which travels between processes where the error itself would not."""

import json
from dataclasses import asdict, dataclass

from clearhead import errors
from clearhead.errors import ClearheadError


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What a ClearheadError says, and which kind it is."""

    kind: str
    problem: str
    got: str | None = None
    expected: str | None = None
    advice: str | None = None

    @classmethod
    def of(cls, error: ClearheadError) -> "Failure":
        """What an error says."""
        got, expected = (None if value is None else str(value) for value in (error.got, error.expected))
        return cls(kind=type(error).__name__, problem=error.problem, got=got, expected=expected, advice=error.advice)

    @classmethod
    def read(cls, text: str) -> "Failure":
        """The failure that `written` wrote."""
        return cls(**json.loads(text))

    @property
    def written(self) -> str:
        """The failure as one line of JSON."""
        return json.dumps(asdict(self))

    def error(self) -> ClearheadError:
        """The error again; one whose kind needs more than words comes back as the root of the tree."""
        known: dict[str, type[ClearheadError]] = {
            name: kind
            for name, kind in vars(errors).items()
            if isinstance(kind, type) and issubclass(kind, ClearheadError) and "__init__" not in vars(kind)
        }
        return known.get(self.kind, ClearheadError)(
            self.problem, got=self.got, expected=self.expected, advice=self.advice
        )
