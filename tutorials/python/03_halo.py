# SPDX-License-Identifier: BSD-2-Clause
"""03 Halo: a halo exchange, its adjoint, and a gradient through both.

What you learn: a halo exchange H is a linear operator from a layout to one with a halo. Its adjoint H* adds the contributions in
the halos to the cells of which they are copies; it is needed for the gradient of a function that contains the exchange. The
program computes the energy of a periodic field u,

  E(u) = 1/2 sum over i (u[i+1] - u[i])^2 = 1/2 |D H u|^2,

and its gradient with respect to u, H* D* D H u, whose elements are -u[i-1] + 2 u[i] - u[i+1].

  mpiexec -n 4 python3 03_halo.py
"""
import sys

import numpy
from mpi4py import MPI
from numpy.typing import NDArray

import tenon

comm = MPI.COMM_WORLD
cells = int(sys.argv[1]) if len(sys.argv) > 1 else 50


def value_at(i: NDArray[numpy.int64]) -> NDArray[numpy.float64]:
    return numpy.asarray(numpy.sin(2 * numpy.pi * i / cells))


with tenon.Session(comm):
    plain = tenon.Layout.sharded(tenon.Partition(comm, [comm.size]), [cells], 'S0')
    wide = plain.like().set_halo(0, 0, 1, 'periodic', 'periodic')
    wide.set_up()
    halo = tenon.LinearOp.halo(plain, wide, 'float64')

    (low,), (high,) = plain.box()
    index = numpy.arange(low, high)
    u, gradient = value_at(index), numpy.zeros(high - low)
    # A cotangent (gradient) has the dual layout: its halo holds contributions, not copies.
    v, w = tenon.DTensor(wide, 'float64'), tenon.DTensor(wide.dual(), 'float64')
    halo.apply(tenon.DTensor(plain, 'float64').place(u), v)
    difference = numpy.diff(v.numpy())
    w.assign(numpy.concatenate([[0], difference]) - numpy.concatenate([difference, [0]]))  # D* D v
    placed = tenon.DTensor(plain, 'float64').place(gradient)
    halo.apply_adjoint(w, placed)

    energy = comm.allreduce((difference ** 2).sum() / 2)
    error = comm.allreduce(abs(gradient - (2 * u - value_at(index - 1) - value_at(index + 1))).max(initial=0), MPI.MAX)
    norm = placed.norm()
    # With integers the two sides of <H x, y> = <x, H* y> are exactly equal.
    relative = halo.test_adjoint(1, integers=True)
    if comm.rank == 0:
        print(f'energy {energy:.10f}, norm of its gradient {norm:.10f}')
        print(f'the gradient agrees with the formula: {"yes" if error < 1e-14 else "no"}')
        print(f'<H x, y> and <x, H* y> are equal: {"yes" if relative == 0 else "no"}')
