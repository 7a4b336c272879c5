# SPDX-License-Identifier: BSD-2-Clause
"""Common code of charts, which needs matplotlib. No other module of the package imports it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from .table import Table


def axes(width: float, height: float, count: int = 1) -> Any:
    """New axes of matplotlib."""
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError('charts are drawn by matplotlib, which is not installed (python3 -m pip install matplotlib); tables and '
                          'arrays do not need it') from missing
    return pyplot.subplots(1, count, figsize=(width * count, height), layout='constrained')[1]


def image(values: numpy.ndarray, component: int, title: str) -> Any:
    """An array of up to two dimensions, or a component of one of more: [batch, channels, (z,) y, x]."""
    if values.ndim > 3:
        values = values[0]  # the first sample
    if values.ndim > 2:
        values = values[component]
    while values.ndim > 2:
        values = values[len(values) // 2]
    on = axes(6, 4)
    if values.ndim < 2:
        on.plot(values)
    else:
        on.figure.colorbar(on.imshow(values, origin='lower'))
    on.set_title(title)
    return on


def bars(table: Table, column: str, label: str, count: int, on: Any = None) -> Any:
    """Horizontal bars of the first rows, the first one on top."""
    rows = table.rows[:count]
    at, name = table.columns.index(column), table.columns.index(label)
    on = axes(7, 1 + 0.3 * len(rows)) if on is None else on
    on.barh(range(len(rows)), [row[at] for row in rows], color='#0072b2')
    on.set_yticks(range(len(rows)), [str(row[name]) for row in rows])
    on.invert_yaxis()
    on.set_xlabel(column.replace('_', ' '))
    on.set_title(table.title)
    return on
