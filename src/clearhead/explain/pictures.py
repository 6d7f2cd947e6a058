"""Pictures of several sites at once."""

from fnmatch import fnmatchcase

import numpy as np

from clearhead.errors import TraceError, nearest
from clearhead.explain.run import Run, known_head
from clearhead.figures import Figure, heatmap


def matching(run: Run, glob: str) -> list[str]:
    """The recorded sites that a name or glob means.

    Raises:
        TraceError: None.
    """
    found = [site for site in run if fnmatchcase(site, glob)]
    if not found:
        raise TraceError("this site was not recorded", got=glob, advice=nearest(glob, run))
    return found


def draw_sites(run: Run, glob: str, *, head: int | None = None, title: str = "") -> Figure:
    """A picture of all sites that a glob means: a panel for each head of each.

    Args:
        run: The run.
        glob: A site name or glob; several sites must have the same axes.
        head: The only head to draw.
        title: What the picture is called.

    Raises:
        TraceError: No such site, or sites that do not go together.
    """
    sites = matching(run, glob)
    if len(sites) == 1:
        return run.heatmap(sites[0], head=head, title=title or None)
    records = [run.trace.record(site) for site in sites]
    first = records[0]
    alike = all((one.axes, one.shape) == (first.axes, first.shape) for one in records)
    # Sites of one shape may still stand for other tokens: an encoder's and a decoder's of equal length.
    labels = [[run.trace.labels(site, letter) for letter in first.axes[-2:]] for site in sites] if alike else []
    if not alike or any(one != labels[0] for one in labels):
        shapes = ", ".join(f"{site} {one.axes} {one.shape}" for site, one in zip(sites, records, strict=True))
        raise TraceError("sites that do not fit one picture", got=shapes[:300], advice="a glob that means like sites")
    panels: list[np.ndarray] = []
    titles: list[str] = []
    for site in sites:
        values = run[site][0]
        heads = [None] if values.ndim == 2 else range(len(values))
        if head is not None and values.ndim > 2:
            heads = [known_head(site, head, len(values))]
        for one in heads:
            panels.append(values if one is None else values[one])
            titles.append(site if one is None else f"{site.rsplit('.', 1)[0]} head {one}")
    rows, columns = first.axes[-2:]
    return heatmap(
        np.stack(panels),
        rows=run.trace.labels(sites[0], rows),
        columns=run.trace.labels(sites[0], columns),
        titles=titles,
        title=title or glob,
        axes=rows + columns,
        holes=True,
    )
