# SPDX-License-Identifier: BSD-2-Clause
"""Tables: rows with named columns, as text, as HTML in a notebook, and as charts with
matplotlib."""
from __future__ import annotations

import html
from typing import Any, Iterator, Sequence


class Table:
    """Rows with named columns. `print(table)` and notebooks show it; `table["time"]` is a
    column, `table[0]` a row as a dictionary, and `pandas.DataFrame(table)` converts it, since a
    table iterates over its rows."""

    def __init__(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.title, self.columns, self.rows = title, list(columns), [list(row) for row in rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row)) for row in self.rows)

    def __getitem__(self, what: str | int) -> Any:
        if isinstance(what, str):
            if what not in self.columns:
                raise KeyError(f'the table has no column "{what}"; it has {", ".join(self.columns)}')
            return [row[self.columns.index(what)] for row in self.rows]
        return dict(zip(self.columns, self.rows[what]))

    def sorted_by(self, column: str) -> Table:
        """The same rows, those with the largest value first."""
        order = sorted(range(len(self)), key=self[column].__getitem__, reverse=True)
        return Table(self.title, self.columns, [self.rows[i] for i in order])

    def __str__(self) -> str:
        cells = [self.columns] + [[shown(value) for value in row] for row in self.rows]
        widths = [max(len(row[c]) for row in cells) for c in range(len(self.columns))]
        is_number = [all(is_real(row[c]) for row in self.rows) for c in range(len(self.columns))]
        lines = ['  '.join(cell.rjust(width) if right else cell.ljust(width)
                           for cell, width, right in zip(row, widths, is_number)).rstrip() for row in cells]
        return '\n'.join([self.title] * bool(self.title) + lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str) -> str:
            return '<tr>' + ''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells) + '</tr>'

        rows = [line([shown(value) for value in row], 'td') for row in self.rows]
        return f'<table><caption>{html.escape(self.title)}</caption>{line(self.columns, "th")}{"".join(rows)}</table>'

    def chart(self, column: str, label: str | None = None, count: int = 12) -> Any:
        """Draws the largest values of a column as bars, labelled by another column, by default
        the first one. Needs matplotlib, and returns its axes."""
        from .charts import bars
        return bars(self.sorted_by(column), column, label or self.columns[0], count)


def is_real(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: Any) -> str:
    return f'{value:.4g}' if isinstance(value, float) else str(value)
