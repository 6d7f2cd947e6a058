"""Which sites a glob means."""

import pytest

from clearhead.globs import Globs

SITES = ("embed.token", "decoder.0.self.pattern", "decoder.1.self.pattern", "decoder.@mask", "@ids", "logits")


@pytest.mark.parametrize(
    ("globs", "meant"),
    [
        (("*",), ("embed.token", "decoder.0.self.pattern", "decoder.1.self.pattern", "logits")),
        (("*.pattern", "logits"), ("decoder.0.self.pattern", "decoder.1.self.pattern", "logits")),
        (("decoder.@*",), ("decoder.@mask",)),
        ((), ()),
    ],
)
def test_all_at_once_are_meant_as_one_by_one(globs: tuple[str, ...], meant: tuple[str, ...]) -> None:
    together, alone = Globs(patterns=globs), Globs(patterns=globs)
    found = together.match_all(SITES)
    assert tuple(site for site, fits in zip(SITES, found, strict=True) if fits) == meant
    assert found == tuple(alone.match(site) for site in SITES)
    assert together.seen == alone.seen
    assert list(together.seen) == list(SITES)


def test_a_question_in_passing_leaves_no_note() -> None:
    globs = Globs(patterns=("logits",))
    assert globs.fits("logits") and not globs.fits("embed.token")
    assert not globs.seen
