# SPDX-License-Identifier: BSD-2-Clause
"""Tenon: distributed neural-network layers on the decomposition that a solver already has.

Every call of the C API is a member of its class. Arrays of numpy, torch and other packages are placed without a copy;
communicators are those of mpi4py.

    import numpy, tenon
    from mpi4py import MPI

    with tenon.Session():
        grid = tenon.Partition(MPI.COMM_WORLD, [MPI.COMM_WORLD.size])
        layout = tenon.Layout.sharded(grid, [1, 8, 64, 64], "S2")
        x = tenon.DTensor(layout, "float64").place(field)
        conv = tenon.Layer(MPI.COMM_WORLD, "conv", kernel=[3, 3], in_channels=8, out_channels=8, data_type="float64")
        conv.set_up(layout)
        y = conv.create_output()
        conv.apply(x, y)
"""
import importlib
from typing import TYPE_CHECKING

# Under these names for type checkers too, which take others as the package's own.
from .errors import Error as Error
from .calls import *  # noqa: F403
from .session import Session as Session, finalize as finalize, initialize as initialize
from .files import CheckpointFile as CheckpointFile, FieldFiles as FieldFiles
from .logs import log as log
from .models import load as load, to_torch as to_torch, weights as weights
from .table import Table as Table
from . import calls as _calls

if not TYPE_CHECKING:
    def __getattr__(name):
        if name == 'torch':  # imported at its first use, since PyTorch need not be installed
            return importlib.import_module('.torch', __name__)
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')

__version__ = '.'.join(str(part) for part in _calls.version())
