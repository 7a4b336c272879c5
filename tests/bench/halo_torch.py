#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: PYTHONPATH=BUILD/python mpiexec -n RANKS python3 tests/bench/halo_torch.py
Times a halo exchange of a PyTorch tensor by the Python module, with and without recording of the gradient, compared with
the C function called by ctypes and with an empty autograd function of PyTorch. Prints the smallest of several means, in
microseconds."""
import time

import torch
from mpi4py import MPI

import tenon
import tenon.torch as tt
from tenon.torch import functions

comm = MPI.COMM_WORLD
CALLS, ROUNDS = 300, 20


def mean(call):
    """The time of a call in microseconds: the smallest of ROUNDS means over CALLS calls, which
    other work on the machine disturbs the least."""
    best = float('inf')
    for _ in range(ROUNDS):
        comm.Barrier()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - begin) / CALLS)
    return 1e6 * best


class Empty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx, dy):
        return dy


torch.set_num_threads(1)
with tenon.Session():
    plain = tenon.Layout.sharded(tenon.Partition(comm, [comm.size]), [2, 5 * comm.size, 3], 'S1')
    wide = plain.like().set_halo(1, 1, 1, 'zero', 'zero').set_up()
    halo = tt.halo_exchange(plain, wide, torch.float32)
    low, high = plain.box()
    x = torch.zeros([h - l for l, h in zip(low, high)])
    halo(x)
    handles = halo.op._handle, halo.x.tensor._handle, halo.y.tensor._handle
    recorded = x.clone().requires_grad_()
    c, torch_, gradient, empty = (mean(call) for call in (
        lambda: functions.apply(*handles), lambda: halo(x), lambda: halo(recorded), lambda: Empty.apply(recorded)))
    if comm.rank == 0:
        print(f'{comm.size} ranks, microseconds: the C call {c:.2f}, a tensor of PyTorch {torch_ - c:.2f} more, with its gradient recorded '
              f'{gradient - c:.2f} more; an empty function of PyTorch {empty:.2f}')
