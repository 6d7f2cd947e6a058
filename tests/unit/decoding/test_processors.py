"""What settings ask of logits before an id is chosen."""

import pytest

from clearhead.decoding import DecodingSettings
from clearhead.decoding.processors import forbidden


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        (DecodingSettings(), ()),
        (DecodingSettings(bad_words=((7,), (3,), (7,)), end_ids=(0,)), (3, 7)),
        (DecodingSettings(bad_words=((7,), (0,)), end_ids=(0,)), (7,)),  # an end id alone may occur
        (DecodingSettings(bad_words=((7,), (3, 4))), None),
        (DecodingSettings(bad_words=tuple((index,) for index in range(17))), None),
        (DecodingSettings(bad_words=((7,),), repetition_penalty=1.1), None),
        (DecodingSettings(bad_words=((7,),), min_new_tokens=2), None),
        (DecodingSettings(forced_end=1), None),
    ],
)
def test_few_ids_are_left_out_of_rankings_where_nothing_else_is_asked(
    settings: DecodingSettings, left_out: tuple[int, ...] | None
) -> None:
    assert forbidden(settings) == left_out
