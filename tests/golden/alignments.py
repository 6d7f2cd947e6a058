"""Which words of short English–French pairs belong together, by hand.

Each line: English, French, sure links, possible links; a link is the place of an English word and that of a French
one, counted from 0, full stops included. Sure: one says the other. Possible: one belongs to what the other says.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A pair and its links."""

    source: str
    target: str
    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


_TABLE = """
The cat is black. | Le chat est noir. | 0-0 1-1 2-2 3-3 4-4 |
She drinks red wine. | Elle boit du vin rouge. | 0-0 1-1 2-4 3-3 4-5 | 3-2
He bought a new car. | Il a acheté une nouvelle voiture. | 0-0 1-2 2-3 3-4 4-5 5-6 | 1-1
Tom loves his dog. | Tom aime son chien. | 0-0 1-1 2-2 3-3 4-4 |
We live in a big house. | Nous vivons dans une grande maison. | 0-0 1-1 2-2 3-3 4-4 5-5 6-6 |
The children play in the garden. | Les enfants jouent dans le jardin. | 0-0 1-1 2-2 3-3 4-4 5-5 6-6 |
My brother works here. | Mon frère travaille ici. | 0-0 1-1 2-2 3-3 4-4 |
This book is very interesting. | Ce livre est très intéressant. | 0-0 1-1 2-2 3-3 4-4 5-5 |
You speak French well. | Tu parles bien français. | 0-0 1-1 2-3 3-2 4-4 |
I read the newspaper every day. | Je lis le journal tous les jours. | 0-0 1-1 2-2 3-3 4-4 5-6 6-7 | 4-5 5-5
The white horse runs fast. | Le cheval blanc court vite. | 0-0 1-2 2-1 3-3 4-4 5-5 |
They sell old books. | Ils vendent de vieux livres. | 0-0 1-1 2-3 3-4 4-5 | 3-2 2-2
My mother makes good coffee. | Ma mère fait du bon café. | 0-0 1-1 2-2 3-4 4-5 5-6 | 4-3
The train leaves at eight. | Le train part à huit heures. | 0-0 1-1 2-2 3-3 4-4 5-6 | 4-5
She closed the blue door. | Elle ferma la porte bleue. | 0-0 1-1 2-2 3-4 4-3 5-5 |
He never eats meat. | Il ne mange jamais de viande. | 0-0 1-3 2-2 3-5 4-6 | 1-1 3-4
"""


def _links(text: str) -> frozenset[tuple[int, int]]:
    return frozenset((int(a), int(b)) for a, b in (link.split("-") for link in text.split()))


PAIRS = [
    Pair(source=source, target=target, sure=_links(sure), possible=_links(sure) | _links(possible))
    for source, target, sure, possible in (
        [field.strip() for field in line.split("|")] for line in _TABLE.strip().splitlines()
    )
]
