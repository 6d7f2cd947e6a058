"""Which axes a site's values have, in letters of the legend."""

from clearhead.config import Family

_OF_ATTENTION = {
    "query": "BHQC",
    "rotated_query": "BHQC",
    "key": "BGKC",
    "rotated_key": "BGKC",
    "value": "BGKC",
    "score": "BHQK",
    "pattern": "BHQK",
    "mixed": "BHQC",
}
_OF_TEXTS = {"pooled": "BD", "vector": "BD"}


def axes_of(site: str, *, family: Family, rank: int) -> str:
    """The letters of a site's axes.

    Args:
        site: The name of the site.
        family: What kind of model it is in.
        rank: How many axes its values have; the logits of a text have fewer than those of its tokens.
    """
    parts = site.split(".")
    leaf = parts[-1]
    if len(parts) > 1 and parts[-2] in ("self", "cross") and leaf in _OF_ATTENTION:
        return _OF_ATTENTION[leaf]
    if leaf in _OF_TEXTS:
        return _OF_TEXTS[leaf]
    place = "S" if reads_source(site, family) else "T"
    if leaf == "logits":
        return "BV" if rank == 2 else f"B{place}V"
    return f"B{place}F" if site.endswith("ffn.hidden") else f"B{place}D"


def reads_source(site: str, family: Family) -> bool:
    """Whether a site's positions are those of a source, and not of what is written."""
    return family is Family.ENCODER_ONLY or site.startswith("encoder.")


def tokens_of(site: str, letter: str, *, family: Family) -> str:
    """Whose tokens stand along an axis: "source", "target", or "" where none do."""
    own = "source" if reads_source(site, family) else "target"
    if letter in "ST":
        return "source" if letter == "S" else "target"
    if letter == "Q":
        return own
    return ("source" if ".cross." in f".{site}" else own) if letter == "K" else ""
