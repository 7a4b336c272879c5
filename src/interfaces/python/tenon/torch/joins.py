# SPDX-License-Identifier: BSD-2-Clause
"""Modules of torch beside those of Tenon, and networks whose modules hand their layouts on."""
from __future__ import annotations

import copy
import weakref
from typing import Any, Callable, Sequence, TypeVar

import torch
from mpi4py import MPI

from ..calls import Layout
from . import copies
from .distributed import modules_of, of_tenon
from .divided import Divided
from .functions import comm_of
from .layers import Module
from .networks import entries_of
from .nn import Cat

Network = TypeVar('Network', bound=torch.nn.Module)

# Modules whose results at one element depend on others, and so on other ranks' blocks.
COUPLED = ('BatchNorm', 'InstanceNorm', 'GroupNorm', 'SyncBatchNorm', 'MaxPool', 'AvgPool', 'LPPool', 'AdaptiveAvgPool', 'AdaptiveMaxPool',
           'Fold', 'Unfold', 'RNN', 'GRU', 'LSTM', 'MultiheadAttention', 'Transformer')


class SumOverRanks:
    """A hook of a parameter: the sum of its gradient over the ranks."""

    def __init__(self, comm):
        self.comm = comm

    def __call__(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.comm.size == 1:
            return gradient
        wide = gradient.dtype in (torch.float64, torch.complex128)
        parts = torch.view_as_real(gradient) if gradient.is_complex() else gradient
        total = parts.detach().to('cpu', torch.float64 if wide else torch.float32, copy=True).contiguous()
        self.comm.Allreduce(MPI.IN_PLACE, total.numpy())
        total = total.to(parts)
        return torch.view_as_complex(total) if gradient.is_complex() else total


class CopyOfSummed:
    """copy.deepcopy() of a parameter whose gradient is summed: that of torch makes one without hooks."""

    def __init__(self, parameter, comm):
        self.parameter, self.comm = weakref.ref(parameter), comm

    def __call__(self, memo: Any) -> torch.nn.Parameter:
        parameter = self.parameter()
        made = type(parameter).__deepcopy__(parameter, memo)
        add_sum(made.requires_grad_(), self.comm)
        return made.requires_grad_(parameter.requires_grad)

    def __reduce__(self) -> Any:
        return type(None), ()  # files have no hooks


def add_sum(parameter, comm):
    """Lets the gradient of a parameter be summed over the ranks in backward passes, and those of its
    copies."""
    parameter.register_hook(SumOverRanks(comm))
    parameter.tenon_is_summed = True
    parameter.__deepcopy__ = CopyOfSummed(parameter, comm)


def replicated(module: Network, comm: MPI.Comm | Layout | None = None) -> Network:
    """Makes a module of torch one that all ranks have: its values become those of the first rank, and
    the gradients of its parameters are summed over the ranks in each backward pass, as those of
    Tenon's are. For modules that work on each element of a block by itself, such as an embedding of a
    time, a gain of each channel, or a convolution with a window of 1. Modules that look at other
    elements, which can be on other ranks, are an error with their name; tenon.torch.nn has them.
    Returns the module. A term of the loss that is not of a block, such as the size of a parameter, is
    divided by the number of ranks. Collective."""
    over = comm_of(comm)
    kept = {id(inner) for _, part in modules_of(module) if isinstance(part, Divided) for each in part.kept.values() for inner in each.modules()}
    for name, part in module.named_modules():
        if isinstance(of_tenon(part), Module) or id(part) in kept:  # which have whole tensors
            continue
        kernel = getattr(part, 'kernel_size', 1)
        is_window = isinstance(part, torch.nn.modules.conv._ConvNd) and any(extent != 1 for extent in kernel)  # type: ignore[union-attr]
        if is_window or type(part).__module__.startswith('torch.nn') and type(part).__name__.rstrip('123d').startswith(COUPLED):
            kind = type(part).__name__
            raise ValueError(f'{name or "the module"} is a torch.nn.{kind}, whose results depend on elements of other ranks: use '
                             f'tenon.torch.nn.{kind} or tenon.torch.distribute()')
    blocks = {id(held.tensor) for _, part in modules_of(module) for held in part.held}
    copies.synchronize([entry for entry in entries_of(module) if id(entry[2]) not in blocks], over)
    for parameter in module.parameters():
        if parameter.requires_grad and not hasattr(parameter, 'tenon_copies') and not hasattr(parameter, 'tenon_is_summed'):
            add_sum(parameter, over)
    return module


class Sequential(torch.nn.Sequential):
    """torch.nn.Sequential on a layout, which is handed from each module to the next:
    Sequential(layout, partial(Conv2d, 2, 4, 3, padding=1), Tanh, ...). Each argument is called with
    layout=..., or is a module: one of Tenon, or one of torch that works on each element."""

    def __init__(self, layout: Layout, *makers: Callable[..., torch.nn.Module] | torch.nn.Module) -> None:
        made, current = [], layout
        for make in makers:
            module = make if isinstance(make, torch.nn.Module) else make(layout=current)
            given = getattr(module, 'input_layout', None)
            if given is not None and not given.is_equal(current):
                raise ValueError(f'module {len(made)}, {type(module).__name__}, is for {given!r}, and its input is in {current!r}')
            current = getattr(module, 'output_layout', current)
            made.append(module)
        super().__init__(*made)
        self.input_layout, self.output_layout = layout, current

    def __deepcopy__(self, memo: Any) -> Sequential:
        return Sequential(self.input_layout, *[copy.deepcopy(module, memo) for module in self]).train(self.training)


class MadeCat:
    """A module of cat(). It has references of its own to the layouts, and thus ends with those that
    cat() was called with."""

    def __init__(self, dtype, layouts, dim):
        self.dtype, self.dim = dtype, dim
        self.layouts = [weakref.ref(layout) for layout in layouts]
        self.module = Cat(dim, layout=[layout.share() for layout in layouts], dtype=dtype)

    def has_ended(self):
        return any(layout() is None for layout in self.layouts)

    def is_for(self, dtype, layouts, dim):
        return (self.dtype, self.dim) == (dtype, dim) and len(self.layouts) == len(layouts) and all(
            mine() is layout for mine, layout in zip(self.layouts, layouts))


# Those of which the first layout exists. Whether one is found depends on the caller's layouts alone, and so is the same on all
# ranks, whenever their collectors run: making one is collective.
made_cats: weakref.WeakKeyDictionary[Layout, list[MadeCat]] = weakref.WeakKeyDictionary()


def cat(tensors: Sequence[torch.Tensor], layouts: Sequence[Layout], dim: int = 0) -> torch.Tensor:
    """torch.cat() of blocks in different layouts, along any dimension, split or not: the others are
    brought to the blocks of the first. The result is in cat_layout(layouts, dim). What it prepares lasts as
    long as the objects of `layouts`: give the same ones each time. Collective."""
    return cat_of(tensors[0].dtype, layouts, dim)(*tensors)


def cat_layout(layouts: Sequence[Layout], dim: int = 0) -> Layout:
    """The layout of the result of cat(). Collective at the first call for these layouts."""
    return cat_of(torch.get_default_dtype(), layouts, dim).output_layout


def cat_of(dtype, layouts, dim):
    dim %= layouts[0].dimensions()
    known = made_cats.setdefault(layouts[0], [])
    known[:] = [each for each in known if not each.has_ended()]
    found = next((each for each in known if each.is_for(dtype, layouts, dim)), None)
    if found is None:
        found = MadeCat(dtype, layouts, dim)
        known.append(found)
    return found.module
