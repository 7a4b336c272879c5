# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks as modules of torch, and their comparison with the original network."""
from __future__ import annotations

import os
from typing import Any, Callable, Sequence

import torch
from mpi4py import MPI

from ..calls import Layout
from ..models import layer_of_model
from . import copies
from .distributed import of_tenon
from .functions import block, data_type_of
from .layers import Module


def load(path: str | os.PathLike[str], layout: Layout | Sequence[Layout], dtype: torch.dtype | None = None, **settings: Any) -> Module:
    """Creates a module from a file of torch.export (.pt2) or ONNX, for the layout of its input,
    or a list of one layout for each input. Collective on the layouts."""
    return Loaded(path, layout, data_type_of(dtype), settings)


class Loaded(Module):
    """A network from a file."""

    def __init__(self, path: Any, layout: Any, type: Any, settings: dict[str, Any]) -> None:
        layer, layouts = layer_of_model(path, layout, data_type=type, **settings)
        super().__init__(layer, layouts)
        self.made_by = path, layouts, type, settings

    def remade(self) -> Module:
        return Loaded(*self.made_by)

    def shown_settings(self) -> str:
        path, _, _, settings = self.made_by
        return ', '.join([os.path.basename(os.fspath(path)), *(f'{name}={value}' for name, value in settings.items())])


def difference(module: Module, reference: Callable[..., Any], *inputs: torch.Tensor) -> float:
    """Returns the largest difference between the outputs of a module and of a network on one
    process, for whole inputs, on all ranks. Inputs and the outputs of the network are those of
    the first rank; differences on other ranks are ignored. Parameters of the module whose copies
    differ between ranks are an error. Collective."""
    module = of_tenon(module)
    comm = module.comm
    copies.check_copies(list(module.entries()), comm)
    with torch.no_grad():
        wholes = [from_first(x, comm) for x in inputs]
        own = module(*[block(layout, x).contiguous() for layout, x in zip(module.input_layouts, wholes)])
        wanted = reference(*wholes)
        pairs = list(zip(own, wanted) if isinstance(own, tuple) else [(own, wanted)])
        differences = [(y - block(layout, from_first(whole, comm))).abs() for layout, (y, whole) in zip(module.output_layouts, pairs)]
    return comm.allreduce(max(float(each.max()) if each.numel() else 0.0 for each in differences), MPI.MAX)


def from_first(whole: torch.Tensor, comm: MPI.Comm) -> torch.Tensor:
    """Returns the tensor of the first rank, on all ranks; other ranks pass a tensor of the same
    size."""
    made = whole.detach().clone()
    copies.synchronize([('', None, made)], comm)
    return made
