# SPDX-License-Identifier: BSD-2-Clause
"""Layers with the names and arguments of torch.nn, and the layout of their input: Conv2d(1, 6, 5, padding=2, layout=layout).

The layout of a module's output is its output_layout, with which the next one begins. `signature` and `storage` are those of
Tenon's layers: what each axis of the process grid splits, and where parameters are stored. `dtype` is torch's default type of
elements unless it is given. Parameters begin with Tenon's initial values (`initializer`); Module.scatter() sets them."""
from __future__ import annotations

from typing import Any, Sequence

import torch
from mpi4py import MPI

from ..calls import Layer, Layout
from .functions import Module, data_type_of


def tuple_of(value, dimensions):
    return list(value) if isinstance(value, (tuple, list)) else [value] * dimensions


class Single(Module):
    """One layer of a type, whose parameters have its names: weight, bias."""

    def __init__(self, type: str, layout: Layout | Sequence[Layout], settings: dict[str, Any], dtype: torch.dtype | None = None,
                 signature: str | None = None, storage: str | None = None, depth: int = 1, is_repeatable: bool = True,
                 comm: MPI.Comm | None = None) -> None:
        first = layout if isinstance(layout, Layout) else layout[0]
        layer = Layer(comm if comm is not None else first.comm(), type)
        given = dict(settings, signature=signature, storage=storage)
        layer.set_data_type(data_type_of(dtype))
        layer.set(**{name: value for name, value in given.items() if value is not None})
        super().__init__(layer, layout, depth, is_repeatable)

    @staticmethod
    def parameter_name(name):
        return name.rpartition('.')[2]


MODES = {'zeros': 'zero', 'circular': 'periodic', 'reflect': 'reflect', 'replicate': 'replicate'}


class Conv(Single):
    dimensions, kind = 2, 'conv'

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode='zeros', *, layout, **common):
        n = self.dimensions
        settings = {'in_channels': in_channels, 'out_channels': out_channels, 'kernel': tuple_of(kernel_size, n),
                    'stride': tuple_of(stride, n), 'dilation': tuple_of(dilation, n), 'groups': groups, 'bias': bias}
        if padding == 'same':
            padding = [(d * (k - 1)) // 2 for d, k in zip(settings['dilation'], settings['kernel'])]
        settings['padding'] = tuple_of(0 if padding == 'valid' else padding, n)
        if padding_mode != 'zeros':
            settings['boundary'] = MODES[padding_mode]
        super().__init__(self.kind, layout, settings, **common)


class Conv1d(Conv):
    dimensions = 1


class Conv2d(Conv):
    dimensions = 2


class Conv3d(Conv):
    dimensions = 3


class Linear(Single):
    def __init__(self, in_features, out_features, bias=True, *, layout, **common):
        super().__init__('affine', layout, {'inputs': in_features, 'outputs': out_features, 'bias': bias}, **common)


class Pool(Single):
    dimensions, kind = 2, 'maxpooling'

    def __init__(self, kernel_size, stride=None, padding=0, *, layout, **common):
        n = self.dimensions
        settings = {'kernel': tuple_of(kernel_size, n), 'stride': tuple_of(kernel_size if stride is None else stride, n),
                    'padding': tuple_of(padding, n)}
        super().__init__(self.kind, layout, settings, **common)


def pool(name, dimensions, type):
    return type_of(name, Pool, dimensions=dimensions, kind=type)


def type_of(name, base, **members):
    return type(name, (base,), {'__module__': __name__, '__doc__': f'torch.nn.{name} on a layout.', **members})


MaxPool1d, MaxPool2d, MaxPool3d = (pool(f'MaxPool{n}d', n, 'maxpooling') for n in (1, 2, 3))
AvgPool1d, AvgPool2d, AvgPool3d = (pool(f'AvgPool{n}d', n, 'averagepooling') for n in (1, 2, 3))


class Pointwise(Single):
    kind = 'identity'

    def __init__(self, *, layout, **common):
        super().__init__(self.kind, layout, {}, **common)


ReLU, Tanh, Sigmoid, GELU, SiLU, Softplus, Flatten = (type_of(name, Pointwise, kind=name.lower()) for name in (
    'ReLU', 'Tanh', 'Sigmoid', 'GELU', 'SiLU', 'Softplus', 'Flatten'))
