# SPDX-License-Identifier: BSD-2-Clause
"""Layers with the names and arguments of torch.nn, and the layout of their input: Conv2d(1, 6, 5, padding=2, layout=layout).

The layout of a module's output is its output_layout, with which the next one begins. `signature` and `storage` are those of
Tenon's layers: what each axis of the process grid splits, and where parameters are stored. `dtype` is torch's default type of
elements unless it is given. Parameters begin with Tenon's initial values (`initializer`); Module.scatter() sets them."""
from __future__ import annotations

from typing import Any, Sequence, Union

import torch
from mpi4py import MPI

from ..calls import Layer, Layout
from .functions import Module, data_type_of


Size = Union[int, Sequence[int]]


def tuple_of(value: Any, dimensions: int) -> list[int]:
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


def family(base: type[Single], name: str, **members: Any) -> Any:
    """Classes for 1 to 3 dimensions: Conv1d, Conv2d, Conv3d."""
    return (derived(f'{name}{n}d', base, dimensions=n, **members) for n in (1, 2, 3))


def derived(name: str, base: type[Single], **members: Any) -> Any:
    return type(name, (base,), {'__module__': __name__, '__doc__': f'torch.nn.{name} on a layout.', **members})


class Conv(Single):
    dimensions = 2

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0,
                 dilation: Size = 1, groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', *, layout: Layout,
                 **common: Any) -> None:
        n = self.dimensions
        windows, steps = tuple_of(kernel_size, n), tuple_of(dilation, n)
        settings: dict[str, Any] = {'in_channels': in_channels, 'out_channels': out_channels, 'kernel': windows, 'groups': groups,
                                    'stride': tuple_of(stride, n), 'dilation': steps, 'bias': bias}
        if padding == 'same':  # of an odd sum one more behind
            both = [step * (window - 1) for step, window in zip(steps, windows)]
            padding = [width // 2 for width in both]
            settings['padding_high'] = [width - width // 2 for width in both]
        settings['padding'] = tuple_of(0 if padding == 'valid' else padding, n)
        if padding_mode != 'zeros':
            settings['boundary'] = MODES[padding_mode]
        super().__init__('conv', layout, settings, **common)


class ConvTranspose(Single):
    dimensions = 2

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1, *, layout: Layout,
                 **common: Any) -> None:
        n = self.dimensions
        super().__init__('transposedconv', layout, {
            'in_channels': in_channels, 'out_channels': out_channels, 'kernel': tuple_of(kernel_size, n), 'groups': groups,
            'stride': tuple_of(stride, n), 'padding': tuple_of(padding, n), 'output_padding': tuple_of(output_padding, n),
            'dilation': tuple_of(dilation, n), 'bias': bias}, **common)


class Linear(Single):
    """torch.nn.Linear on a layout."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, layout: Layout, **common: Any) -> None:
        super().__init__('affine', layout, {'inputs': in_features, 'outputs': out_features, 'bias': bias}, **common)


class Pool(Single):
    dimensions, kind = 2, 'maxpooling'

    def __init__(self, kernel_size: Size, stride: Size | None, padding: Size, *, layout: Layout,
                 common: dict[str, Any], **settings: Any) -> None:
        n = self.dimensions
        windows = {'kernel': tuple_of(kernel_size, n), 'stride': tuple_of(kernel_size if stride is None else stride, n),
                   'padding': tuple_of(padding, n)}
        super().__init__(self.kind, layout, dict(windows, **settings), **common)


class MaxPool(Pool):
    kind = 'maxpooling'

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, dilation: Size = 1,
                 ceil_mode: bool = False, *, layout: Layout, **common: Any) -> None:
        super().__init__(kernel_size, stride, padding, layout=layout, common=common, ceil=ceil_mode,
                         dilation=tuple_of(dilation, self.dimensions))


class AvgPool(Pool):
    kind = 'averagepooling'

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, *, layout: Layout, **common: Any) -> None:
        super().__init__(kernel_size, stride, padding, layout=layout, common=common, ceil=ceil_mode,
                         include_padding=count_include_pad)


class GroupNorm(Single):
    """torch.nn.GroupNorm on a layout."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, layout: Layout,
                 **common: Any) -> None:
        super().__init__('groupnorm', layout, {'groups': num_groups, 'channels': num_channels, 'epsilon': float(eps),
                                               'affine': affine}, **common)


class LayerNorm(Single):
    """torch.nn.LayerNorm on a layout."""

    def __init__(self, normalized_shape: Size, eps: float = 1e-5, elementwise_affine: bool = True, *, layout: Layout,
                 **common: Any) -> None:
        super().__init__('layernorm', layout, {'shape': tuple_of(normalized_shape, 1), 'epsilon': float(eps),
                                               'affine': elementwise_affine}, **common)


class Softmax(Single):
    """torch.nn.Softmax on a layout, whose dimension may be split."""

    def __init__(self, dim: int, *, layout: Layout, **common: Any) -> None:
        super().__init__('softmax', layout, {'dim': dim % layout.dimensions()}, **common)


class Pointwise(Single):
    """A function of each element, whose arguments are settings of Tenon by the names in `arguments`, with their defaults."""
    kind = 'identity'
    arguments: tuple[tuple[str, str, float], ...] = ()

    def __init__(self, *values: float, layout: Layout, **given: Any) -> None:
        settings = {}
        for number, (name, setting, default) in enumerate(self.arguments):
            settings[setting] = float(values[number] if number < len(values) else given.pop(name, default))
        if len(values) > len(self.arguments):
            raise TypeError(f'{type(self).__name__} has {len(self.arguments)} arguments beside its layout, and {len(values)} are given')
        super().__init__(self.kind, layout, settings, **given)


Conv1d, Conv2d, Conv3d = family(Conv, 'Conv')
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = family(ConvTranspose, 'ConvTranspose')
MaxPool1d, MaxPool2d, MaxPool3d = family(MaxPool, 'MaxPool')
AvgPool1d, AvgPool2d, AvgPool3d = family(AvgPool, 'AvgPool')
ReLU, Tanh, Sigmoid, GELU, SiLU, Softplus, Softsign, Mish, Hardswish, SELU, Flatten = (
    derived(name, Pointwise, kind=name.lower()) for name in (
        'ReLU', 'Tanh', 'Sigmoid', 'GELU', 'SiLU', 'Softplus', 'Softsign', 'Mish', 'Hardswish', 'SELU', 'Flatten'))
LeakyReLU = derived('LeakyReLU', Pointwise, kind='leakyrelu', arguments=(('negative_slope', 'slope', 0.01),))
ELU, CELU = (derived(name, Pointwise, kind=name.lower(), arguments=(('alpha', 'alpha', 1.0),)) for name in ('ELU', 'CELU'))
