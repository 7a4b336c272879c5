# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks as modules of torch, beside the network from which they come."""
from __future__ import annotations

import os
from typing import Any, Callable, Sequence

import torch
from mpi4py import MPI

from ..calls import Layout
from ..models import layer_of_model
from .functions import Module, block, data_type_of


def load(path: str | os.PathLike[str], layout: Layout | Sequence[Layout], dtype: torch.dtype | None = None, **settings: Any) -> Module:
    """A module from a file of torch.export (.pt2) or ONNX, for the layout of its input, or a list of one layout for each input.
    Collective on the layouts."""
    layer, layouts = layer_of_model(path, layout, data_type=data_type_of(dtype), **settings)
    return Module(layer, layouts)


def difference(module: Module, reference: Callable[..., Any], *inputs: torch.Tensor) -> float:
    """The largest difference between the outputs of a module and of a network on one process, for whole inputs, the same on all
    ranks. Collective."""
    with torch.no_grad():
        own = module(*[block(layout, x).contiguous() for layout, x in zip(module.input_layouts, inputs)])
        wanted = reference(*inputs)
        pairs = zip(own, wanted) if isinstance(own, tuple) else [(own, wanted)]
        apart = [(y - block(layout, whole)).abs() for layout, (y, whole) in zip(module.output_layouts, pairs)]
    return module.layer.comm().allreduce(max(float(each.max()) if each.numel() else 0.0 for each in apart), MPI.MAX)
