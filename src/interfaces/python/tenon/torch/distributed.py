# SPDX-License-Identifier: BSD-2-Clause
"""What distribute() returns. It has the modules, parameters and buffers of the original under their
names, whatever these are: Tenon's own attributes are on another object behind it."""
from __future__ import annotations

import copy
from typing import Any, Iterable, Iterator, Sequence

import torch

from ..calls import Layout
from .divided import Divided
from .layers import Module, refuse_pickle
from .parts import Fixed, Listed, Undivided

# What torch keeps in a module that the one behind has too: its hooks run where the tensors are loaded.
SHARED = ('_parameters', '_buffers', '_modules', '_non_persistent_buffers_set', '_load_state_dict_pre_hooks')
# Attributes of Tenon that do nothing if they are set, and what has their effect.
SET_OTHERWISE = {'depth': 'distribute(..., depth=...)',
                 **{f'{end}_layout{more}': 'set_layout()' for end in ('input', 'output') for more in ('', 's')}}


class Distributed(Fixed):
    """A module of torch on layouts of Tenon: see distribute(). `layer`, `input_layouts`, `output_layouts` and the other
    attributes of Module are here too, except those whose name the original gives to a module, parameter or buffer."""

    def __init__(self, inner: Undivided | Divided) -> None:
        super().__init__()
        self.__dict__.update({name: inner.__dict__[name] for name in SHARED}, _tenon=inner)

    @property
    def training(self) -> bool:  # type: ignore[override]
        return self._tenon.training

    @training.setter
    def training(self, mode: bool) -> None:
        if '_tenon' in self.__dict__:
            self._tenon.training = mode

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            inner = self.__dict__.get('_tenon')
            if inner is None or not hasattr(inner, name):
                raise
            return getattr(inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if '_tenon' not in self.__dict__ or any(name in self.__dict__[members] for members in SHARED[:3]):
            super().__setattr__(name, value)
        elif name in SET_OTHERWISE:
            raise AttributeError(f'{name} of a distributed {self._get_name()} is not set: {SET_OTHERWISE[name]} has its '
                                 'effect')
        elif name == 'is_repeatable':
            self._tenon.is_repeatable = value
        else:
            super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *dir(self._tenon)})

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Returns what the original returns, of this rank's blocks; inputs can be given by the names of its arguments."""
        return self._tenon.forward(*inputs, **named)

    def train(self, mode: bool = True) -> Distributed:
        self._tenon.train(mode)
        return self

    def set_layout(self, layout: Layout | Sequence[Layout]) -> Distributed:
        self._tenon.set_layout(layout)
        return self

    def _apply(self, fn: Any, *arguments: Any, **settings: Any) -> Distributed:
        self._tenon._apply(fn, *arguments, **settings)
        return self

    def _load_from_state_dict(self, *arguments: Any) -> None:
        self._tenon._load_from_state_dict(*arguments)

    def __deepcopy__(self, memo: Any) -> Distributed:
        made = memo[id(self)] = type(self)(copy.deepcopy(self._tenon, memo))
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        refuse_pickle(self)

    def _get_name(self) -> str:
        return self._tenon._get_name()

    def extra_repr(self) -> str:
        return self._tenon.extra_repr()


class DistributedList(Listed, Distributed):
    """A distributed Sequential."""


def of_tenon(module: torch.nn.Module) -> Any:
    """Returns the module with Tenon's attributes."""
    return module._tenon if isinstance(module, Distributed) else module


def modules_of(network: torch.nn.Module) -> Iterator[tuple[str, Module]]:
    """Yields the modules of Tenon in a network, with the prefixes of their parameters' names; a
    module in several places occurs for each."""
    for name, module in network.named_modules(remove_duplicate=False):
        inner = of_tenon(module)
        if isinstance(inner, Module):
            yield f'{name}.' if name else '', inner
