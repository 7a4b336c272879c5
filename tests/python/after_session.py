# SPDX-License-Identifier: BSD-2-Clause
"""Arrays that Tenon has lent, and parameters of modules in PyTorch, exist as long as a program refers to them, even if their
tensor was destroyed or has another array, or the session has ended. The test fails by a crash, or by a message at the end of the
session."""
import gc
import sys

import numpy
from mpi4py import MPI

import tenon

SHAPE = [2000, 1000]  # large enough that freed memory is given back at once
said = []
kept = []
with tenon.Session():
    layout = tenon.Layout.sharded(tenon.Partition(None, [MPI.COMM_WORLD.size]), SHAPE, 'B')
    for array in (None, numpy.full(SHAPE, 3.0)):
        x = tenon.DTensor(layout, 'float64')
        if array is not None:
            x.place(array)
        x.fill(3)
        with x.array() as lent:
            kept.append(lent)
        x.place(numpy.zeros(SHAPE))
        with x.read() as lent:
            kept.append(lent)
        del array, lent
        x.destroy()
    try:
        import torch
        import tenon.torch as tt
        linear = tt.nn.Linear(1000, 2000, layout=tenon.Layout.sharded(tenon.Partition(None, [MPI.COMM_WORLD.size]), [4, 1000], 'B'),
                              dtype=torch.float64)
        before = [p.detach().clone() for p in linear.parameters()]
    except ImportError:
        linear = None
    stderr, sys.stderr = sys.stderr, type('', (), {'write': said.append, 'flush': lambda: None})
sys.stderr = stderr
gc.collect()
assert [array.mean() for array in kept] == [3, 0, 3, 0], kept
if linear is not None:
    parameters = list(linear.parameters())
    del linear
    gc.collect()
    assert all(torch.equal(p.detach(), q) for p, q in zip(parameters, before))
assert not said, said
