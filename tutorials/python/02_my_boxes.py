# SPDX-License-Identifier: BSD-2-Clause
"""02 My boxes: use the decomposition and the arrays that a solver already has.

What you learn: how to create a layout from the boxes that the processes own, in any order and of any sizes; how a tensor uses
the solver's array in place, with ghost cells and in column-major order; how an error is caught; how to convert a tensor to
another layout.

  mpiexec -n 4 python3 02_my_boxes.py
"""
import numpy
from mpi4py import MPI
from numpy.typing import NDArray

import tenon

X, Y, GHOST = 12, 7, 1
comm = MPI.COMM_WORLD
Field = NDArray[numpy.float64]


def solver() -> tuple[list[int], list[int], Field]:
    """A solver's box in the global grid, and its array with ghost cells in Fortran order. Ranks are numbered along x first, as in
    many Fortran codes, and the first column is narrower."""
    px = 2 if comm.size % 2 == 0 else 1
    py = comm.size // px
    low = [0 if px == 1 or comm.rank % px == 0 else 5, Y * (comm.rank // px) // py]
    high = [X if px == 1 or comm.rank % px == 1 else 5, Y * (comm.rank // px + 1) // py]
    array = numpy.zeros([h - l + 2 * GHOST for l, h in zip(low, high)], order='F')
    i, j = numpy.meshgrid(numpy.arange(low[0], high[0]), numpy.arange(low[1], high[1]), indexing='ij')
    array[GHOST:-GHOST, GHOST:-GHOST] = i + 100 * j
    return low, high, array


def ask_too_much(layout: tenon.Layout, array: Field) -> None:
    """A halo that is wider than the solver's ghost cells: the error is caught and printed."""
    wide = layout.like().set_halo(0, 2, 2, 'zero', 'zero')
    wide.set_up()
    try:
        tenon.DTensor(wide, 'float64').place(array, ghosts=[GHOST, GHOST])
    except tenon.Error as error:
        if comm.rank == 0:
            print(f'error, as expected: {error.message}')


def move_to_rows(layout: tenon.Layout, x: tenon.DTensor) -> None:
    """Redistributes the tensor into whole rows of x, as an FFT along x needs them. The adjoint of the operator, which is its inverse
    here, moves the values back."""
    line = tenon.Partition(comm, [comm.size])
    rows = tenon.Layout.sharded(line, [X, Y], 'S1')
    y = tenon.DTensor(rows, 'float64')
    tenon.LinearOp.conversion(layout, rows, 'float64').apply(x, y)
    before, after = x.norm(), y.norm()
    if comm.rank == 0:
        print(f'norm in my boxes {before:.6f}, in whole rows {after:.6f}')


with tenon.Session(comm):
    low, high, array = solver()
    layout = tenon.Layout.from_boxes(comm, [X, Y], low, high)
    layout.view()

    # No copy: the tensor is the solver's array from now on.
    x = tenon.DTensor(layout, 'float64').place(array, ghosts=[GHOST, GHOST])
    largest = x.max_abs()
    if comm.rank == 0:
        print(f'largest value {largest:.0f}, expected {X - 1 + 100 * (Y - 1)}')
    ask_too_much(layout, array)
    move_to_rows(layout, x)
