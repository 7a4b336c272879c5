# SPDX-License-Identifier: BSD-2-Clause
"""Plans as tables and charts."""
from __future__ import annotations

from typing import Any

from .objects import Object
from .table import Table

MIB = 2 ** 20
PLANS = {'seconds': 'plan', 'uniform': 'same grid everywhere', 'batch': 'batch only', 'model': 'output channels only',
         'domain': 'space only'}


class Planned(Object):
    """The tables and charts of plans, which the generated calls do not contain."""
    __slots__ = ()

    def table(self: Any) -> Table:
        """Returns the planned layers: the labels of each, its numbers of parts of batch, channels
        and space, the predicted memory of a process in MiB, the best other parallelization, and by
        how many milliseconds it would prolong the plan. For a plan that was searched, loaded or set
        up. Not collective.

        TenonPlanGetText(), TenonPlanGetNumber()
        """
        rows, whole = [], self.number(None, 'seconds')
        for index in range(round(self.number(None, 'layers'))):
            name = self.layer_name(index)
            parts = [round(self.number(name, f'{what}_parts')) for what in ('batch', 'channel', 'space')]
            other = self.text(name, 'runner_up')
            longer = 1e3 * (self.number(name, 'runner_up') - whole) if other else 0.0
            rows.append([name, self.text(name, 'labels'), *parts, self.number(name, 'bytes') / MIB, other, longer])
        title = f'plan: {1e3 * whole:.4g} ms, {self.number(None, "bytes") / MIB:.4g} MiB per process'
        return Table(title, ['layer', 'labels', 'batch', 'channels', 'space', 'MiB', 'next_best', 'longer_ms'], rows)

    def alternatives(self: Any) -> Table:
        """Compares the predicted time of the plan in milliseconds with those of simpler plans;
        plans that do not exist are omitted. Not collective.

        TenonPlanGetNumber()
        """
        from .calls import ErrorCode
        from .errors import Error
        rows: list[list[Any]] = []
        for name, shown in PLANS.items():
            try:
                seconds = self.number(None, name)
            except Error as error:
                if rows and error.code == ErrorCode.ERR_STATE:  # the plan does not exist, for
                                                                # example with more processes than
                                                                # samples
                    continue
                raise
            rows.append([shown, 1e3 * seconds, 1e3 * seconds / rows[0][1] if rows else 1.0])
        return Table('predicted time', ['plan', 'ms', 'ratio'], rows)

    def chart(self: Any) -> Any:
        """Draws the predicted times of the plan and of simpler ones, and the memory of each
        layer with its labels. Needs matplotlib, and returns its axes. Not collective."""
        from .charts import axes, bars
        times, layers = self.alternatives(), self.table()
        for row in layers.rows:
            row[0] = f'{row[0]}  {row[1]}'
        left, right = axes(6, 1.2 + 0.3 * max(len(times), len(layers)), 2)
        bars(times, 'ms', 'plan', len(times), left)
        bars(layers, 'MiB', 'layer', len(layers), right)
        return left, right
