# SPDX-License-Identifier: BSD-2-Clause
"""The common part of the layers of nn.py: arguments of torch.nn, and those that all layers have."""
from __future__ import annotations

from typing import Any, Callable, Sequence, TypedDict, Union

import torch
from mpi4py import MPI

from ..calls import Layer, Layout
from .functions import data_type_of
from .layers import Module
from .models import from_first

Size = Union[int, Sequence[int]]


class Common(TypedDict, total=False):
    """Arguments that all layers have beside those of torch and the layout."""
    dtype: torch.dtype | None
    signature: str | None
    storage: str | None
    depth: int
    is_repeatable: bool | None
    comm: MPI.Comm | None
    seed: int | None
    initializer: str | None
    device: torch.device | str | None


def tuple_of(value: Any, dimensions: int) -> list[int]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * dimensions


def refuse(name: str, value: Any, *allowed: Any, why: str = '') -> None:
    """Raises an error if an argument has none of the allowed values."""
    if not any(value is each or value == each for each in allowed):
        raise ValueError(f'{name}={value!r} is not supported, {" or ".join(map(repr, allowed))} is' + (f': {why}' if why else ''))


IN_PLACE = 'layers of Tenon have an output of their own'
IN_SPACE = 'the memory of a layer is that of its setting space, as in Module(tenon.Layer(comm, type, space="device", ...), layout)'


def drawn_seed(comm: MPI.Comm) -> int:
    """Returns a seed of the torch generator on the first rank. All ranks draw, so equal
    generators remain equal."""
    return comm.bcast(int(torch.randint(2**63 - 1, ())))


class Single(Module):
    """One layer of a type, whose parameters have its names: weight, bias."""
    draws = False  # whether it depends on a seed

    def __init__(self, type: str, layout: Layout | Sequence[Layout], settings: dict[str, Any], dtype: torch.dtype | None = None,
                 signature: str | None = None, storage: str | None = None, depth: int = 1, is_repeatable: bool | None = None,
                 comm: MPI.Comm | None = None, seed: int | None = None, initializer: str | None = None,
                 device: torch.device | str | None = None, like: Callable[..., torch.nn.Module] | None = None) -> None:
        """`like` makes the module of torch whose initial values these are, if neither `seed` nor
        `initializer` is given."""
        refuse('device', device if device is None else str(device), None, 'cpu', why=IN_SPACE)
        first = layout if isinstance(layout, Layout) else layout[0]
        layer = Layer(comm if comm is not None else first.comm(), type)
        is_like = like is not None and seed is None and initializer is None
        if seed is None and self.draws:
            seed = 0 if is_like else drawn_seed(layer.comm())
        given = dict(settings, signature=signature, storage=storage, seed=seed, initializer=initializer)
        layer.set_data_type(data_type_of(dtype))
        layer.set(**{name: value for name, value in given.items() if value is not None})
        super().__init__(layer, layout, depth, is_repeatable)
        if like is not None and is_like:  # all ranks draw, so equal generators remain equal
            drawn = like(dtype=self.inputs[0].value.dtype, device='cpu')
            self.scatter({name: from_first(value.detach(), self.comm) for name, value in drawn.named_parameters()})
        self.made_by: dict[str, Any] = {
            'type': type, 'layout': layout, 'settings': settings, 'dtype': dtype, 'signature': signature, 'storage': storage,
            'depth': depth, 'is_repeatable': is_repeatable, 'comm': layer.comm(), 'seed': seed, 'initializer': initializer}

    def remade(self) -> Module:
        other = self.__class__.__new__(self.__class__)
        Single.__init__(other, **self.made_by)
        other.take_settings(self)
        return other

    def shown_settings(self) -> str:
        made = self.made_by
        given = {**made['settings'], **{name: made[name] for name in ('dtype', 'signature', 'storage', 'initializer')},
                 'depth': made['depth'] if made['depth'] != 1 else None}
        return ', '.join(f'{name}={value}' for name, value in given.items() if value is not None)

    def take_settings(self, other: Single) -> None:
        """Takes over what the classes derived from this one have set beside the layer."""
        self.function = other.function

    @staticmethod
    def parameter_name(name):
        return name.rpartition('.')[2]
