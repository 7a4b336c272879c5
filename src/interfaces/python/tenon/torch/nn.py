# SPDX-License-Identifier: BSD-2-Clause
"""Layers with the names and arguments of torch.nn, and the layout of their input: Conv2d(1, 6,
5, padding=2, layout=layout).

The layout of a module's output is its output_layout, which is passed to the next module.
`signature` and `storage` are those of Tenon's layers: the dimension that each axis of the
process grid splits, and the layout in which parameters are stored. `dtype` defaults to torch's
default element type, and the `device` is the CPU. Parameters have the initial values that the
modules of torch.nn would draw from the torch generator of the first rank; with `initializer`
("glorot_uniform") or `seed` they have Tenon's, and biases are 0. Module.scatter() sets them. An
argument of torch.nn that Tenon does not support is a ValueError with its name."""
from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Sequence, TypeVar

import torch

from ..calls import Layout
from .gradients import LINEAR, PIECEWISE
from .single import IN_PLACE, Common, Single, Size, refuse, tuple_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

Base = TypeVar('Base', bound=Single)


MODES = {'zeros': 'zero', 'circular': 'periodic', 'reflect': 'reflect', 'replicate': 'replicate'}


def family(base: type[Base], name: str, **members: Any) -> tuple[type[Base], type[Base], type[Base]]:
    """Returns the classes for 1 to 3 dimensions: Conv1d, Conv2d, Conv3d."""
    one, two, three = (derived(f'{name}{n}d', base, dimensions=n, **members) for n in (1, 2, 3))
    return one, two, three


def of_torch(name: str, dimensions: int) -> type[torch.nn.Module]:
    made: type[torch.nn.Module] = getattr(torch.nn, f'{name}{dimensions}d')
    return made


def derived(name: str, base: type[Base], **members: Any) -> type[Base]:
    return type(name, (base,), {'__module__': __name__, '__doc__': f'torch.nn.{name} on a layout.', **members})


class Conv(Single):
    dimensions, draws = 2, True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0,
                 dilation: Size = 1, groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', *, layout: Layout,
                 **common: Unpack[Common]) -> None:
        n = self.dimensions
        refuse('padding_mode', padding_mode, *MODES)
        windows, steps = tuple_of(kernel_size, n), tuple_of(dilation, n)
        settings: dict[str, Any] = {'in_channels': in_channels, 'out_channels': out_channels, 'kernel': windows, 'groups': groups,
                                    'stride': tuple_of(stride, n), 'dilation': steps, 'bias': bias}
        if padding == 'same':  # an odd sum is larger at the high side
            both = [step * (window - 1) for step, window in zip(steps, windows)]
            padding = [width // 2 for width in both]
            settings['padding_high'] = [width - width // 2 for width in both]
        settings['padding'] = tuple_of(0 if padding == 'valid' else padding, n)
        if padding_mode != 'zeros':
            settings['boundary'] = MODES[padding_mode]
        super().__init__('conv', layout, settings, like=partial(
            of_torch('Conv', n), in_channels, out_channels, windows, groups=groups, bias=bias), **common)


class ConvTranspose(Single):
    dimensions, draws = 2, True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0,
                 output_padding: Size = 0, groups: int = 1, bias: bool = True, dilation: Size = 1, padding_mode: str = 'zeros', *,
                 layout: Layout, **common: Unpack[Common]) -> None:
        n = self.dimensions
        refuse('padding_mode', padding_mode, 'zeros')
        super().__init__('transposedconv', layout, {
            'in_channels': in_channels, 'out_channels': out_channels, 'kernel': tuple_of(kernel_size, n), 'groups': groups,
            'stride': tuple_of(stride, n), 'padding': tuple_of(padding, n), 'output_padding': tuple_of(output_padding, n),
            'dilation': tuple_of(dilation, n), 'bias': bias}, like=partial(
                of_torch('ConvTranspose', n), in_channels, out_channels, tuple_of(kernel_size, n), groups=groups, bias=bias), **common)


class Linear(Single):
    """torch.nn.Linear on a layout."""
    draws = True

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, layout: Layout, **common: Unpack[Common]) -> None:
        super().__init__('affine', layout, {'inputs': in_features, 'outputs': out_features, 'bias': bias},
                         like=partial(torch.nn.Linear, in_features, out_features, bias), **common)


class Pool(Single):
    dimensions, kind = 2, 'maxpooling'

    def __init__(self, kernel_size: Size, stride: Size | None, padding: Size, *, layout: Layout,
                 common: Common, **settings: Any) -> None:
        n = self.dimensions
        windows = {'kernel': tuple_of(kernel_size, n), 'stride': tuple_of(kernel_size if stride is None else stride, n),
                   'padding': tuple_of(padding, n)}
        super().__init__(self.kind, layout, dict(windows, **settings), **common)


class MaxPool(Pool):
    kind = 'maxpooling'

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, dilation: Size = 1,
                 return_indices: bool = False, ceil_mode: bool = False, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('return_indices', return_indices, False)
        super().__init__(kernel_size, stride, padding, layout=layout, common=common, ceil=ceil_mode,
                         dilation=tuple_of(dilation, self.dimensions))


class AvgPool(Pool):
    kind = 'averagepooling'

    def __init__(self, kernel_size: Size, stride: Size | None = None, padding: Size = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('divisor_override', divisor_override, None)
        super().__init__(kernel_size, stride, padding, layout=layout, common=common, ceil=ceil_mode,
                         include_padding=count_include_pad)


class AdaptiveAvgPool(Single):
    dimensions = 2

    def __init__(self, output_size: Any, *, layout: Layout, **common: Unpack[Common]) -> None:
        size = [extent if extent is not None else layout.shape()[2 + d]
                for d, extent in enumerate(tuple_of(output_size, self.dimensions))]
        super().__init__('adaptiveaveragepooling', layout, {'size': size}, **common)


class Upsample(Single):
    """torch.nn.Upsample on a layout."""

    def __init__(self, size: Size | None = None, scale_factor: Size | None = None, mode: str = 'nearest',
                 align_corners: bool | None = None, recompute_scale_factor: bool | None = None, *, layout: Layout,
                 **common: Unpack[Common]) -> None:
        n = layout.dimensions() - 2
        refuse('mode', mode, 'nearest', ('linear', 'bilinear', 'trilinear')[n - 1])
        factors = None if scale_factor is None else tuple_of(scale_factor, n)
        if factors and any(factor != int(factor) for factor in factors):
            raise ValueError(f'scale_factor={scale_factor!r} is not supported: give whole numbers, or size')
        super().__init__('resample', layout, {
            'size': None if size is None else tuple_of(size, n), 'scale_factor': factors and [int(factor) for factor in factors],
            'method': 'nearest' if mode == 'nearest' else 'linear', 'align_corners': align_corners}, **common)


class Pad(Single):
    dimensions, mode = 2, 'zeros'

    def __init__(self, padding: Size, *, layout: Layout, **common: Unpack[Common]) -> None:
        widths = tuple_of(padding, 2 * self.dimensions)  # from the last dimension to the first: low, high
        low, high = widths[-2::-2], widths[::-2]
        super().__init__('pad', layout, {'padding': low, 'padding_high': high, 'boundary': MODES[self.mode]}, **common)


class PixelShuffle(Single):
    """torch.nn.PixelShuffle on a layout."""

    def __init__(self, upscale_factor: int, *, layout: Layout, **common: Unpack[Common]) -> None:
        super().__init__('pixelshuffle', layout, {'upscale': upscale_factor}, **common)


class ChannelNorm(Single):
    dimensions = 2

    def check(self, layout: Layout) -> None:
        wanted = (2, 3) if self.dimensions == 1 else (self.dimensions + 2,)
        if layout.dimensions() not in wanted:
            raise ValueError(f'{type(self).__name__} needs an input of {" or ".join(map(str, wanted))} dimensions, and its layout has '
                             f'{layout.dimensions()}')


class BatchNorm(ChannelNorm):
    num_batches_tracked: torch.Tensor

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, *, layout: Layout, **common: Unpack[Common]) -> None:
        self.check(layout)
        if momentum is None:
            raise ValueError('momentum=None, the average of all batches, is not supported: give the share of the last batch')
        super().__init__('batchnorm', layout, {'channels': num_features, 'epsilon': float(eps), 'momentum': float(momentum),
                                               'affine': affine}, **common)
        self.add_statistics(track_running_stats)

    def add_statistics(self, are_tracked: bool) -> None:
        self.track_running_stats = are_tracked
        if are_tracked:
            self.register_buffer('num_batches_tracked', torch.tensor(0, dtype=torch.long))
        else:  # only the statistics of batches are used, also in eval()
            self._buffers.clear()
            self.states.clear()
            self.held = list(self.trained)

    def take_settings(self, other: Any) -> None:
        super().take_settings(other)
        self.add_statistics(other.track_running_stats)

    def train(self, mode: bool = True) -> BatchNorm:
        super().train(mode)
        self.layer.set_training(mode or not self.track_running_stats)
        return self

    def forward(self, *inputs: torch.Tensor) -> Any:
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
        return super().forward(*inputs)


class InstanceNorm(ChannelNorm):
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, *, layout: Layout, **common: Unpack[Common]) -> None:
        self.check(layout)
        refuse('track_running_stats', track_running_stats, False)
        super().__init__('instancenorm', layout, {'channels': num_features, 'epsilon': float(eps), 'affine': affine}, **common)


class Dropout(Single):
    """torch.nn.Dropout on a layout: the mask depends on the seed (`seed=`, `module.layer.initialize(seed)`) and the global position."""
    draws = True

    def __init__(self, p: float = 0.5, inplace: bool = False, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('inplace', inplace, False, why=IN_PLACE)
        if not 0 <= p < 1:
            raise ValueError(f'p={p!r} is not supported: the probability that an element is dropped is at least 0 and less than 1')
        super().__init__('dropout', layout, {'rate': float(p)}, **common)


class GroupNorm(Single):
    """torch.nn.GroupNorm on a layout."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, layout: Layout,
                 **common: Unpack[Common]) -> None:
        super().__init__('groupnorm', layout, {'groups': num_groups, 'channels': num_channels, 'epsilon': float(eps),
                                               'affine': affine}, **common)


class LayerNorm(Single):
    """torch.nn.LayerNorm on a layout."""

    def __init__(self, normalized_shape: Size, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True, *,
                 layout: Layout, **common: Unpack[Common]) -> None:
        refuse('bias', bias, True)
        super().__init__('layernorm', layout, {'shape': tuple_of(normalized_shape, 1), 'epsilon': float(eps),
                                               'affine': elementwise_affine}, **common)


class Softmax(Single):
    """torch.nn.Softmax on a layout, whose dimension may be split."""

    def __init__(self, dim: int | None = None, *, layout: Layout, **common: Unpack[Common]) -> None:
        if dim is None:
            raise ValueError('dim=None is not supported: give the dimension')
        super().__init__('softmax', layout, {'dim': dim % layout.dimensions()}, **common)


class Pointwise(Single):
    """An elementwise function, whose arguments are settings of Tenon by the names in
    `arguments`, with their defaults."""
    kind, of_torch = 'identity', 'Identity'
    arguments: tuple[tuple[str, str, float], ...] = ()

    def __init__(self, *values: float, layout: Layout, **given: Any) -> None:
        count = len(self.arguments)
        refuse('inplace', values[count] if len(values) == count + 1 else given.pop('inplace', False), False, why=IN_PLACE)
        settings = {}
        for number, (name, setting, default) in enumerate(self.arguments):
            settings[setting] = float(values[number] if number < len(values) else given.pop(name, default))
        if len(values) > count + 1:
            raise TypeError(f'{type(self).__name__} has {count + 1} arguments beside its layout, and {len(values)} are given')
        super().__init__(self.kind, layout, settings, **given)
        if self.kind not in LINEAR | PIECEWISE:
            names = {name: settings[setting] for name, setting, _ in self.arguments}
            self.function = getattr(torch.nn, self.of_torch)(**names).forward


class GELU(Single):
    """torch.nn.GELU on a layout."""

    def __init__(self, approximate: str = 'none', *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('approximate', approximate, 'none', 'tanh')
        super().__init__('gelu' if approximate == 'none' else 'gelutanh', layout, {}, **common)
        self.function = torch.nn.GELU(approximate).forward


class Softplus(Single):
    """torch.nn.Softplus on a layout."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('beta', beta, 1.0)
        refuse('threshold', threshold, 20.0)
        super().__init__('softplus', layout, {}, **common)
        self.function = torch.nn.Softplus().forward


class Flatten(Single):
    """torch.nn.Flatten on a layout."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('start_dim', start_dim, 1)
        refuse('end_dim', end_dim, -1, layout.dimensions() - 1)
        super().__init__('flatten', layout, {}, **common)


class Cat(Single):
    """torch.cat() on a list of layouts: the blocks of the others are brought to those of the first."""

    def __init__(self, dim: int = 0, *, layout: Sequence[Layout], **common: Unpack[Common]) -> None:
        super().__init__('concatenate', layout, {'dim': dim % layout[0].dimensions()}, **common)


class PReLU(Single):
    """torch.nn.PReLU on a layout, with a slope for each channel."""
    weight: torch.Tensor

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, layout: Layout, **common: Unpack[Common]) -> None:
        refuse('num_parameters', num_parameters, layout.shape()[1], why='each channel has a slope')
        super().__init__('prelu', layout, {'channels': num_parameters}, **common)
        with torch.no_grad():
            self.weight.fill_(init)


Conv1d, Conv2d, Conv3d = family(Conv, 'Conv')
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = family(ConvTranspose, 'ConvTranspose')
MaxPool1d, MaxPool2d, MaxPool3d = family(MaxPool, 'MaxPool')
AvgPool1d, AvgPool2d, AvgPool3d = family(AvgPool, 'AvgPool')
BatchNorm1d, BatchNorm2d, BatchNorm3d = family(BatchNorm, 'BatchNorm')
InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = family(InstanceNorm, 'InstanceNorm')
AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d = family(AdaptiveAvgPool, 'AdaptiveAvgPool')
ZeroPad1d, ZeroPad2d, ZeroPad3d = family(Pad, 'ZeroPad')
CircularPad1d, CircularPad2d, CircularPad3d = family(Pad, 'CircularPad', mode='circular')
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = family(Pad, 'ReflectionPad', mode='reflect')
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = family(Pad, 'ReplicationPad', mode='replicate')
ReLU, Tanh, Sigmoid, SiLU, Softsign, Mish, Hardswish, SELU = (
    derived(name, Pointwise, kind=name.lower(), of_torch=name) for name in (
        'ReLU', 'Tanh', 'Sigmoid', 'SiLU', 'Softsign', 'Mish', 'Hardswish', 'SELU'))
LeakyReLU = derived('LeakyReLU', Pointwise, kind='leakyrelu', arguments=(('negative_slope', 'slope', 0.01),))
ReLU6 = derived('ReLU6', Pointwise, kind='clamp', arguments=(('low', 'low', 0.0), ('high', 'high', 6.0)))
Hardtanh = derived('Hardtanh', Pointwise, kind='clamp', arguments=(('min_val', 'low', -1.0), ('max_val', 'high', 1.0)))
Identity = derived('Identity', Pointwise)
ELU, CELU = (derived(name, Pointwise, kind=name.lower(), of_torch=name, arguments=(('alpha', 'alpha', 1.0),)) for name in ('ELU', 'CELU'))


if not TYPE_CHECKING:
    def __getattr__(name):
        why = (': Module(tenon.Layer(comm, type, ...), layout) makes a module of any layer of Tenon, and what works on each element '
               'by itself can be that of torch.nn' if hasattr(torch.nn, name) else '')
        raise AttributeError(f'{__name__} has no {name}{why}')
