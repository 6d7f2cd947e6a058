"""Small files and stores that tests of this room share."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from clearhead.data import TokenStore, writing

Rows = Sequence[Mapping[str, Sequence[int]]]


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., TokenStore]:
    """Writes a store of given ids."""

    def write(rows: Rows, *, vocab_size: int = 1000, origins: Sequence[int] | None = None) -> TokenStore:
        fields = dict.fromkeys(rows[0], vocab_size)
        with writing(tmp_path / "store", fields=fields, values={"origin": 1}) as writer:
            for number, row in enumerate(rows):
                writer.append(row, origin=origins[number] if origins else 0)
        return TokenStore(folder=tmp_path / "store")

    return write
