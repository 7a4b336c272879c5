# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks as modules of torch, beside the network from which they come."""
import torch
from mpi4py import MPI

from ..calls import Layer
from .functions import Module, data_type_of


def load(path, layout, dtype=None, **settings):
    """A module from a file of torch.export (.pt2) or ONNX, for one input of a layout. Collective on the layout."""
    layer = Layer.from_model(layout.comm(), path).set(**settings)
    layer.set_data_type(data_type_of(dtype))
    return Module(layer, layout)


def difference(module, reference, x):
    """The largest difference between the outputs of a module and of a network on one process, for one whole input x, the same on all
    ranks. Collective."""
    def block(layout, whole):
        low, high = layout.box()
        return whole[tuple(slice(l, h) for l, h in zip(low, high))]

    with torch.no_grad():
        own, wanted = module(block(module.input_layout, x).contiguous()), reference(x)
        apart = (own - block(module.output_layout, wanted)).abs()
    return module.layer.comm().allreduce(float(apart.max()) if apart.numel() else 0.0, MPI.MAX)
