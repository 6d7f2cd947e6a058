"""E2: sinusoidal positions."""

from clearhead.figures import heatmap
from clearhead.lessons.example import Input, Result, Table, WorkedExample, numbers
from clearhead.nn import SinusoidalPosition

__all__ = ["work"]

_WORDS = ("The", "cat", "sat", "on", "the", "mat")

# Word and place: what the notes print. They leave out the second "the".
_PRINTED = {
    ("the", 0): (0.375, 0.951, 0.732, 0.599),
    ("cat", 1): (0.841, 0.540, 0.010, 0.999),
    ("sat", 2): (0.156, 0.058, 0.866, 0.601),
    ("on", 3): (0.708, 0.021, 0.97, 0.832),
    ("mat", 5): (0.212, 0.183, 0.304, 0.525),
}
_WRONG = "Only the row of “cat” comes from the formula; the others are no sines and cosines of their places."


_CHOSEN: Table = ((7, 8),)


def work(*, place: Table = _CHOSEN) -> WorkedExample:
    """Computes the waves of six places and puts the notes' rows beside them.

    Args:
        place: A position and a width of one's own.
    """
    own, wide = (int(one) for one in place[0])
    wide = max(2, wide - wide % 2)  # sines and cosines come in pairs
    table_TD = SinusoidalPosition(width=4).table(len(_WORDS))
    rows = [
        Result(
            name=f"position {at}, “{word}”",
            computed=numbers(table_TD[at]),
            printed=printed,
            remark=_WRONG if at == 0 else "",
        )
        for (word, at), printed in _PRINTED.items()
    ]
    rows.insert(4, Result(name="position 4, “the”", computed=numbers(table_TD[4])))
    six_T6 = SinusoidalPosition(width=6).table(1)
    n_places, width = 50, 128
    waves_TD = SinusoidalPosition(width=width).table(n_places)
    return WorkedExample(
        key="E2",
        title="Where a word stands: sinusoidal positions",
        shows=(
            "Each place in a sentence has its own vector of sines and cosines, computed and never learned. "
            "The first two numbers change fastest, the last two slowest, like the digits of a binary counter, "
            "and all of them stay between −1 and 1 however long the sentence is."
        ),
        results=(
            Result(name="position 1 in full", computed=numbers(table_TD[1]), digits=7),
            *rows,
            Result(name="position 0, six numbers wide", computed=numbers(six_T6[0]), digits=0),
            Result(
                name=f"position {own}, {wide} numbers wide",
                computed=numbers(SinusoidalPosition(width=wide).table(own + 1)[own]),
            ),
        ),
        inputs=(
            Input(
                key="place",
                name="a place of your own",
                value=place,
                columns=("position", "width"),
                least=0,
                most=512,
                whole=True,
            ),
        ),
        figures={
            "waves": heatmap(
                waves_TD.numpy(),
                rows=[str(at) for at in range(n_places)],
                columns=[str(column) for column in range(width)],
                axes="TD",
                title="Sinusoidal positions",
            )
        },
    )
