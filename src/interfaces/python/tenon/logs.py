# SPDX-License-Identifier: BSD-2-Clause
"""The log of events as a table."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import calls
from .table import Table

if TYPE_CHECKING:
    from mpi4py import MPI

COLUMNS = ['event', 'stage', 'count', 'time', 'self_time', 'flops', 'messages', 'bytes']
LARGEST, SUMS = ('count', 'time', 'self_time'), ('flops', 'messages', 'bytes')


def log(comm: MPI.Comm | None = None) -> Table:
    """The events logged since log_enable(True), or with -tenon_log_view, as a table with a row for
    each event in each stage; times are in seconds. Without a communicator the events of this rank,
    not collective. With a communicator of mpi4py those of all its ranks, as in -tenon_log_view:
    counts and times of the rank with the largest, the ratio of the longest to the shortest time (0
    if it is infinite), and sums of the other columns.

    TenonLogGetRecords()
    """
    records = json.loads(calls.log_records())
    if comm is None:
        return Table('log of this rank', COLUMNS, [[record[c] for c in COLUMNS] for record in records])
    return combined(comm.allgather(records))


def combined(ranks: list[list[dict[str, Any]]]) -> Table:
    """Combines the records of all ranks; an event that a rank does not have took no time there."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for records in ranks:
        for record in records:
            found.setdefault((record['event'], record['stage']), []).append(record)
    rows = []
    for key, each in found.items():
        largest = [max(record[c] for record in each) for c in LARGEST]
        least = min(record['time'] for record in each) if len(each) == len(ranks) else 0.0
        # Of the longest to the shortest time. Infinite if some ranks took no time, which is
        # shown as 0; 1 if no rank took any.
        ratio = largest[1] / least if least > 0 else 0.0 if largest[1] > 0 else 1.0
        rows.append([*key, *largest, ratio, *[sum(record[c] for record in each) for c in SUMS]])
    return Table(f'log of {len(ranks)} ranks', ['event', 'stage', *LARGEST, 'ratio', *SUMS], rows)
