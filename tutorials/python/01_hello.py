# SPDX-License-Identifier: BSD-2-Clause
"""01 Hello: initialise, create a distributed tensor, compute its norm, finalise.

What you learn: how a program begins and ends, how objects are created, and how errors arrive (as exceptions); that a tensor's
values do not depend on the number of processes. Options of Tenon come from the environment variable TENON_OPTIONS.

  mpiexec -n 4 python3 01_hello.py
  mpiexec -n 4 python3 01_hello.py 1000
  TENON_OPTIONS=-tenon_log_view mpiexec -n 4 python3 01_hello.py     where time was spent
"""
import sys

from mpi4py import MPI

import tenon

comm = MPI.COMM_WORLD
length = int(sys.argv[1]) if len(sys.argv) > 1 else 100

with tenon.Session(comm):
    # A partition is a process grid, and a layout distributes a tensor over it. "S0": dimension 0 of the tensor is split over the
    # only axis of the grid.
    partition = tenon.Partition(comm, [comm.size])
    layout = tenon.Layout.sharded(partition, [length], 'S0')
    x = tenon.DTensor(layout, 'float64')

    # A random number depends only on seed, stream and global index: the tensor is the same on any number of processes.
    x.fill_uniform(1, 0, -1, 1)
    norm = x.norm()
    (low,), (high,) = x.box()
    if comm.rank == 0:
        print(f'a tensor of {length} elements on {comm.size} process{"es" if comm.size > 1 else ""}, norm {norm:.10f}')
        print(f'process 0 holds elements {low} to {high - 1}')
