# SPDX-License-Identifier: BSD-2-Clause
"""09 Import: a network from PyTorch inside a solver.

What you learn: how a network that was trained in PyTorch (../09_import/train.py) comes into the solver of tutorial 05 in one call,
distributed as the solver is; that it proves at set-up that it is the same network; and what a program sees of a file that is
damaged.

The plate conducts heat and radiates it (heat.py). From a cold plate the program runs the full model, conduction alone, and
conduction with the network in place of the radiation, and prints the errors of the last two. PyTorch is not needed.

  mpiexec -n 4 python3 09_import.py
  mpiexec -n 4 python3 09_import.py closure.pt2 200     file of the network, time steps
"""
import sys
import tempfile
from pathlib import Path

import tenon
from heat import COLUMNS, INNER, LATER, ROWS, STEP, Field, Heat, say

REPORTS = 4
path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / '09_import/closure.pt2'
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200


class Closure:
    """The graph and the weights, for the solver's boxes. load() also runs the test in the file: inputs, outputs and gradients as
    PyTorch has computed them."""

    def __init__(self, heat: Heat, path: Path) -> None:
        self.layout = tenon.Layout.from_boxes(heat.comm, [1, 1, ROWS, COLUMNS], [0, 0, *heat.low], [1, 1, *heat.high])
        self.network = tenon.load(path, self.layout, data_type='float64').set_training(False)
        self.u, self.tendency = tenon.DTensor(self.layout, 'float64'), self.network.create_output()
        self.answer = heat.field()

    def __call__(self, u: Field) -> Field:
        """network(u), from and into the solver's arrays, ghost cells included, without a copy."""
        for tensor, field in ((self.u, u), (self.tendency, self.answer)):
            tensor.place(field[None, None], ghosts=[0, 0, 1, 1])
        self.network.apply(self.u, self.tendency)
        return self.answer[INNER]


def use(heat: Heat, closure: Closure) -> None:
    """All three models from a cold plate."""
    truth, bare, closed = heat.field(), heat.field(), heat.field()
    for step in range(1, steps + 1):
        time = LATER + STEP * step
        heat.step(truth, time, heat.radiation)
        heat.step(bare, time)
        heat.step(closed, time, closure)
        if step * REPORTS % steps < REPORTS:
            errors = heat.distance(truth, bare), heat.distance(truth, closed)
            say(f'use, step {step:4d}: error without network {errors[0]:.1e}, with network {errors[1]:.1e}')


def use_damaged(heat: Heat, path: Path) -> None:
    """What a program sees of a damaged file: an error on all ranks, and nothing is left behind."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(heat.comm.bcast(folder)) / 'damaged.pt2'
        if heat.comm.rank == 0:
            content = bytearray(path.read_bytes())
            content[128] ^= 1  # the first byte of the weights
            copy.write_bytes(content)
        heat.comm.Barrier()
        try:
            Closure(heat, copy)
        except tenon.Error as error:
            say(f'a file with one wrong bit: {tenon.error_name(error.code)}')
        heat.comm.Barrier()


with tenon.Session():
    plate = Heat()
    network = Closure(plate, path)
    say('the network gives the results that PyTorch computed')
    use(plate, network)
    use_damaged(plate, path)
