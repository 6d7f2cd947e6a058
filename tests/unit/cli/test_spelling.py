"""Advice for Python becomes advice for the command line."""

import pytest

from clearhead.cli.options import FLAGS
from clearhead.cli.spelling import spelled


@pytest.mark.parametrize(
    ("python", "command_line"),
    [
        ("max_new_tokens=46, or a shorter text", "--max-new-tokens 46, or a shorter text"),
        ("or overflow='slide', which forgets", "or --overflow slide, which forgets"),
        ("shorter pieces, or truncate=True, which cuts", "shorter pieces, or --truncate, which cuts"),
        ('labels=["sport", "politics"]', "--label sport --label politics"),
        ("n_best=3, beams=2", "--nbest 3, --beams 2"),
        ("top_p=0.5.", "--top-p 0.5."),
        ("weights=int8 and my_beams=3", "weights=int8 and my_beams=3"),
    ],
)
def test_keyword_arguments_become_options(python: str, command_line: str) -> None:
    assert spelled(python) == command_line


def test_every_option_of_decoding_is_known_by_its_flag() -> None:
    assert FLAGS["n_best"] == "--nbest"
    assert all(flag.startswith("--") for flag in FLAGS.values())
