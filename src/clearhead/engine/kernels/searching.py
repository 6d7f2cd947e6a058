# pyright: basic, reportPrivateImportUsage=false
"""One step of all beam searches of a batch: the likeliest of every row, ranked, some ended and some run on.

The rules are those of `BeamSearch.follow`, and a test compares what both find.
"""

from typing import no_type_check

import numpy as np
from numba import float32, float64, int64

from clearhead.engine.kernels import fields as at
from clearhead.engine.kernels.leading import largest, logarithm_of_sum
from clearhead.engine.kernels.rows import entry, floats, kernel, share
from clearhead.engine.kernels.step import meet


@kernel
@no_type_check
def _is_one_of(index, ids):
    """Whether an id is among some."""
    found = False
    for each in ids:
        found |= index == each
    return found


@kernel
@no_type_check
def _rank(plan, search, totals, forbidden, own, values, ids, best, where, alone):
    """The likeliest candidates of one search in falling order, of equals the first; how many, or -1 for no number.

    The log-probability of the first by itself is left in `alone`.
    """
    n, count, n_found = plan[at.N_LOGITS], len(best), 0
    for i in range(search[at.N_BEAMS]):
        row = search[at.FIRST_ROW] + i
        logits = plan[at.LOGITS] + row * plan[at.LOGITS_ROW]
        total = logarithm_of_sum(logits, n, own)
        if np.isnan(total):
            return -1
        largest(floats(logits, n), own, values, ids)
        for j in range(len(values)):
            sum_of_all = (values[j] - total) + totals[row]
            if np.isnan(sum_of_all):
                return -1
            if sum_of_all == float32(-np.inf) or (n_found == count and sum_of_all <= best[count - 1]):
                break  # those that follow in this row are no likelier
            if _is_one_of(ids[j], forbidden):
                continue
            place = min(n_found, count - 1)
            n_found = min(n_found + 1, count)
            while place > 0 and sum_of_all > best[place - 1]:
                best[place], where[place, 0], where[place, 1] = (
                    best[place - 1],
                    where[place - 1, 0],
                    where[place - 1, 1],
                )
                place -= 1
            best[place], where[place, 0], where[place, 1] = sum_of_all, row, ids[j]
            if place == 0:
                alone[0] = float64(values[j] - total)
    return n_found


@kernel
@no_type_check
def _keep(finished, n_finished, score):
    """Takes a score among the best that ended, of equals after the others; how many there are now."""
    n_most = len(finished)
    if n_finished == n_most and score <= finished[n_most - 1]:
        return n_finished
    place = min(n_finished, n_most - 1)
    while place > 0 and score > finished[place - 1]:
        finished[place] = finished[place - 1]
        place -= 1
    finished[place] = score
    return min(n_finished + 1, n_most)


@kernel
@no_type_check
def _follow(plan, divisor, search, hope, end_ids, n_found, best, where, finished, running, ended, scores):
    """Takes one search further; gives what becomes of it. The second row of `scores` is that of ended beams."""
    n_beams, n_running, n_ended = plan[at.BEAMS], 0, 0
    is_last = plan[at.LENGTH] >= search[at.MOST_IDS]
    for place in range(n_found):
        if place >= n_beams and n_running == n_beams:
            break
        if is_last or _is_one_of(where[place, 1], end_ids):
            if place < n_beams:  # only candidates as good as a running beam may finish
                ended[n_ended, 0], ended[n_ended, 1] = where[place, 0], where[place, 1]
                scores[1, n_ended] = float64(best[place]) / divisor
                n_ended += 1
        elif n_running < n_beams:
            running[n_running, 0], running[n_running, 1] = where[place, 0], where[place, 1]
            scores[0, n_running] = float64(best[place])
            n_running += 1
    if n_found == 0 and search[at.N_FINISHED] == 0:
        return at.NOTHING_LEFT
    for i in range(n_ended):
        search[at.N_FINISHED] = _keep(finished, search[at.N_FINISHED], scores[1, i])
    search[at.N_RUNNING], search[at.N_ENDED] = n_running, n_ended
    full = search[at.N_FINISHED] == n_beams
    enough = full and (plan[at.FIRST_ENDED_WINS] or scores[0, 0] / hope <= finished[n_beams - 1])
    return at.DONE if enough or n_running == 0 else at.RUNS


@kernel
@no_type_check
def search_some(
    first, end, plan, divisor, searches, hopes, end_ids, forbidden, totals, finished, running, ended, scores,
    live, ranked, rankers,
):  # fmt: skip
    """Takes some searches one step further; keeps their candidates, each search at the place that `live` has for it."""
    n_each, n_kept = plan[at.N_EACH], plan[at.N_KEPT]
    own = np.empty((plan[at.N_LOGITS] + at.CHUNK - 1) // at.CHUNK, dtype=np.float32)
    values, ids = np.empty(n_each, dtype=np.float32), np.empty(n_each, dtype=np.int64)
    best, where = np.empty(n_kept, dtype=np.float32), np.empty((n_kept, 2), dtype=np.int64)
    for i in range(first, end):
        search = searches[i]
        n_found = _rank(plan, search, totals, forbidden, own, values, ids, best, where, scores[i, 2])
        if n_found < 0:
            search[at.STATE] = int64(at.NOTHING_LEFT)
            continue
        search[at.STATE] = _follow(
            plan, divisor, search, hopes[i], end_ids, n_found, best, where, finished[i], running[i], ended[i], scores[i]
        )
        if len(ranked):
            for j in range(n_found):
                ranked[live[i], j] = best[j]
                rankers[live[i], j, 0], rankers[live[i], j, 1] = where[j, 0] - search[at.FIRST_ROW], where[j, 1]


@entry(
    "void(int64, int64, int64, int64[::1], float64, int64[:, ::1], float64[::1], int64[::1], int64[::1], "
    "float32[::1], float64[:, ::1], int64[:, :, ::1], int64[:, :, ::1], float64[:, :, ::1], int64[::1], "
    "float32[:, ::1], int64[:, :, ::1])"
)
@no_type_check
def search_on(
    place, size, barrier, plan, divisor, searches, hopes, end_ids, forbidden, totals, finished, running, ended, scores,
    live, ranked, rankers,
):  # fmt: skip
    """Every thread takes its share of the searches one step further.

    `forbidden` are ids that may not be chosen; there are `N_EACH` likeliest of a row, these counted.
    `divisor` is what sums are divided by where they end now, `hopes` where they might end; `running` and `ended` get
    the row that each goes on with and its id, `scores` the sums of the running, the scores of the ended, and what the
    likeliest candidate adds. `ranked` gets the sums of all candidates, and `rankers` their beams and ids, if anything.
    """
    first, end = share(len(searches), place, size)
    search_some(
        first, end, plan, divisor, searches, hopes, end_ids, forbidden, totals, finished, running, ended, scores,
        live, ranked, rankers,
    )  # fmt: skip
    meet(barrier, size, 1)
