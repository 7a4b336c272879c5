# SPDX-License-Identifier: BSD-2-Clause
"""A solver that does not use Tenon: heat in a plate of ROWS x COLUMNS cells, cold outside,

  du/dt = k Laplacian(u) + f(t) - c s^4,

with f a hot spot that moves on an ellipse, and c s^4 the radiation of the rough surface, where s is the mean of u over 3 x 3
cells. Explicit Euler, five-point stencil. Fields are distributed over a process grid, with one ghost cell on each side."""
import math
from typing import Callable

import numpy
from mpi4py import MPI
from numpy.typing import NDArray

ROWS, COLUMNS, STEP, LATER = 32, 48, 0.2, 40
CONDUCTIVITY, EMISSION = 0.5, 0.05
INNER = numpy.s_[1:-1, 1:-1]
Field = NDArray[numpy.float64]


class Heat:
    def __init__(self) -> None:
        dims = MPI.Compute_dims(MPI.COMM_WORLD.size, 2)
        self.comm = MPI.COMM_WORLD.Create_cart(dims)
        place = self.comm.Get_coords(self.comm.rank)
        self.low = [n * p // d for n, p, d in zip((ROWS, COLUMNS), place, dims)]
        self.high = [n * (p + 1) // d for n, p, d in zip((ROWS, COLUMNS), place, dims)]
        self.below, self.above = self.comm.Shift(0, 1)
        self.left, self.right = self.comm.Shift(1, 1)
        self.i, self.j = numpy.meshgrid(*[numpy.arange(l, h) for l, h in zip(self.low, self.high)], indexing='ij')

    def field(self) -> Field:
        return numpy.zeros([h - l + 2 for l, h in zip(self.low, self.high)])

    def send(self, source: Field, to: int, into: Field, of: int) -> None:
        received = numpy.empty_like(source)
        self.comm.Sendrecv(numpy.ascontiguousarray(source), to, 0, received, of)
        if of != MPI.PROC_NULL:
            into[...] = received

    def exchange(self, u: Field) -> None:
        """Columns first; the rows then include the corners."""
        self.send(u[1:-1, -2], self.right, u[1:-1, 0], self.left)
        self.send(u[1:-1, 1], self.left, u[1:-1, -1], self.right)
        self.send(u[-2], self.above, u[0], self.below)
        self.send(u[1], self.below, u[-1], self.above)

    def conduction(self, u: Field, time: float) -> Field:
        angle = 0.11 * time
        y = self.i - ROWS * (0.5 + 0.25 * numpy.sin(angle))
        x = self.j - COLUMNS * (0.5 + 0.25 * numpy.cos(angle))
        laplacian = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[INNER]
        return numpy.asarray(CONDUCTIVITY * laplacian + 0.25 * numpy.exp(-(x * x + y * y) / 18))

    def radiation(self, u: Field) -> Field:
        n, m = u.shape
        mean = sum(u[a:n - 2 + a, b:m - 2 + b] for a in range(3) for b in range(3)) / 9
        return numpy.asarray(-EMISSION * mean ** 4)

    def distance(self, u: Field, v: Field) -> float:
        return math.sqrt(self.comm.allreduce(((u - v)[INNER] ** 2).sum()) / (ROWS * COLUMNS))

    def step(self, u: Field, time: float, missing: Callable[[Field], Field] | None = None) -> None:
        """One step of conduction, and of what the function `missing` gives for u."""
        self.exchange(u)
        tendency = STEP * self.conduction(u, time)
        u[INNER] += tendency if missing is None else tendency + STEP * missing(u)


def say(text: str) -> None:
    if MPI.COMM_WORLD.rank == 0:
        print(text)
