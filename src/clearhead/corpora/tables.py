"""Parquet in and out, by Apache Arrow, a few rows at a time.

A Parquet file has no meaning until its last byte is written, so that results gather as a stream of Arrow record
batches, each whole in itself, and become Parquet in the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from clearhead.errors import ConfigError, TextError, nearest

_ROWS_A_READ = 1024

Columns = Mapping[str, str]
"""The names of columns and what they hold: a string, a float32, or a list of either."""


def arrow(module: str) -> Any:
    """A module of pyarrow.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        advice = "pip install 'clearhead[ray]'"
        raise ConfigError("Parquet needs pyarrow", got="it is not installed", advice=advice) from None


def count_rows(path: Path) -> int:
    """How many rows a Parquet file has."""
    with _opened(path) as file:
        return int(file.metadata.num_rows)


def read_column(path: Path, column: str) -> Iterator[str]:
    """The texts of a column, one at a time; a row without one has an empty text.

    Raises:
        TextError: A file that is no Parquet, or a column that is not there or holds no text.
    """
    pa = arrow("pyarrow")
    with _opened(path) as file:
        schema = file.schema_arrow
        if column not in schema.names:
            known = ", ".join(schema.names)
            advice = nearest(column, schema.names) or "--column NAME"
            raise TextError("a table without that column", got=f"{path}: {column}", expected=known, advice=advice)
        kind = schema.field(column).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not (pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)):
            raise TextError("a column that holds no text", got=f"{path}: {column} is {kind}", expected="strings")
        for batch in file.iter_batches(batch_size=_ROWS_A_READ, columns=[column]):
            yield from ("" if text is None else text for text in batch.column(0).to_pylist())


def schema_bytes(columns: Columns) -> bytes:
    """How a stream of record batches begins."""
    return bytes(_schema(columns).serialize())


def batch_bytes(columns: Columns, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as one record batch of a stream."""
    pa = arrow("pyarrow")
    batch = pa.RecordBatch.from_pylist([dict(row) for row in rows], schema=_schema(columns))
    return bytes(batch.serialize())


def write_parquet(stream: Path, place: Path) -> None:
    """Makes a Parquet file of a stream, one batch after another."""
    pa, ipc, parquet = (arrow(name) for name in ("pyarrow", "pyarrow.ipc", "pyarrow.parquet"))
    with (
        pa.OSFile(str(stream)) as source,
        ipc.open_stream(source) as batches,
        parquet.ParquetWriter(str(place), batches.schema) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def _schema(columns: Columns) -> Any:
    pa = arrow("pyarrow")
    kinds: dict[str, Any] = {
        "string": pa.string(),
        "float32": pa.float32(),
        "list<string>": pa.list_(pa.string()),
        "list<float32>": pa.list_(pa.float32()),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in columns.items()])


def _opened(path: Path) -> Any:
    pa, parquet = arrow("pyarrow"), arrow("pyarrow.parquet")
    try:
        return parquet.ParquetFile(path)
    except FileNotFoundError:
        raise TextError("a file that does not exist", got=path, advice="check the spelling of the path") from None
    except (pa.ArrowException, OSError) as error:
        raise TextError("a Parquet file that cannot be read", got=f"{path}: {error}") from None
