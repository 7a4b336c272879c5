# SPDX-License-Identifier: BSD-2-Clause
"""A module of torch as one layer of Tenon, with the names and shapes of the original's parameters
and buffers.

The modules inside the original become parts: they have its parameters, so network.encoder.conv1.weight
and state_dict() are those of the original, and are evaluated with the whole only."""
from __future__ import annotations

import weakref
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch
from torch.utils import _pytree

from ..calls import Layer, Layout
from ..models import computed
from .complexes import ComplexMap
from .copies import on_all, synchronize
from .functions import repartition
from .layers import Module, refuse_assignment
from .ports import Held, take_blocks, tensor_on


def local_shape(slot, shape):
    """Returns the extents of this rank's block in the form that the parameter has in torch, which
    can differ from Tenon's by extents of 1, and by any reshape if the block is the whole."""
    extents = [high - low for low, high in zip(*slot.box())]
    whole = slot.layout().shape()
    if list(shape) == whole or extents == whole:
        return extents if list(shape) == whole else list(shape)
    if [n for n in shape if n != 1] != [n for n in whole if n != 1]:
        raise ValueError(f'the parameter "{slot.name()}" of the shape {list(shape)} is split in another shape, {whole}: use a layout that '
                         'does not split it')
    split = iter([extent for extent, n in zip(extents, whole) if n != 1])
    return [1 if n == 1 else next(split) for n in shape]


class Members:
    """What Tenon keeps of one module of the original: the whole, for as long as it exists, the tensors
    that are Tenon's, the buffers that were computed into the network, and how torch shows the module."""

    def __init__(self, like: torch.nn.Module, whole: Any) -> None:
        self.whole_of, self.kind, self.details = weakref.ref(whole), like._get_name(), like.extra_repr()
        self.named: dict[str, Held] = {}
        self.fixed: set[str] = set()

    @property
    def whole(self) -> Any:
        found = self.whole_of()
        if found is None:
            raise RuntimeError(f'the distributed module of which this {self.kind} is a part no longer exists')
        return found


class Named(torch.nn.Module):
    """A module with the name of the original's class, also in errors of load_state_dict()."""

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        try:
            return super().load_state_dict(state_dict, strict, assign)
        except RuntimeError as reason:
            begin = 'Error(s) in loading state_dict for '
            given = f'{begin}{type(self).__name__}:'
            if not str(reason).startswith(given):
                raise
            raise RuntimeError(f'{begin}{self._get_name()}:{str(reason)[len(given):]}') from None


class Family(Named):
    """The parameters and buffers of one module of the original, which can have any names."""
    _members: Members

    def take_members(self, like, whole):
        """Takes over the parameters, buffers and modules of the original."""
        self.__dict__['_members'] = Members(like, whole)
        named = like._members.named if isinstance(like, Family) else {}
        for is_parameter, members in ((True, like._parameters), (False, like._buffers)):
            for name, tensor in members.items():
                shape = named[name].shape if name in named else getattr(tensor, 'shape', ())
                self.take_tensor(name, tensor, shape, is_parameter, name not in like._non_persistent_buffers_set)
        for name, child in like._modules.items():
            self._modules[name] = None if child is None else whole.part_of(child)

    def part_of(self, like: torch.nn.Module) -> torch.nn.Module:
        """Returns the part for a module of the original, of the whole."""
        if id(like) not in self.made:
            self.made[id(like)] = (Parts if is_list(like) else Part)(like, self)
        return self.made[id(like)]

    def take_tensor(self, name, tensor, shape, is_parameter, is_persistent):
        """Takes over one, whose whole has this shape."""
        whole, named, where = self._members.whole, self._members.named, self._parameters if is_parameter else self._buffers
        if tensor is None:
            where[name] = None
        elif id(tensor) in whole.known:  # one tensor with several names
            named[name] = held = whole.known[id(tensor)]
            where[name] = held.tensor
        elif id(tensor) in whole.slot_of:
            index, slot = whole.slot_of[id(tensor)]
            block = tensor_on(slot).view(local_shape(slot, shape))
            held = Held(self, name, slot, index, block, is_parameter, shape)
            held.tensor.requires_grad_(is_parameter and tensor.requires_grad)
            whole.known[id(tensor)] = named[name] = held
            whole.held.append(held)
        elif id(tensor) in whole.merged:
            pass
        elif id(tensor) in whole.copied:  # of a kept part
            where[name] = whole.copied[id(tensor)]
        elif is_parameter:
            where[name] = torch.nn.Parameter(tensor.detach().clone(), tensor.requires_grad)
        else:
            where[name] = tensor.detach().clone()
            if not is_persistent:
                self._non_persistent_buffers_set.add(name)
            if id(tensor) in whole.used:
                self._members.fixed.add(name)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        if refuse_assignment(local_metadata, error_msgs):
            return
        if self._members.whole.takes_wholes:
            state_dict = dict(state_dict)
            take_blocks(self._members.named.items(), state_dict, prefix, error_msgs)
        for name in self._members.fixed:
            given = state_dict.get(prefix + name)
            if given is not None and not torch.equal(given.cpu(), self._buffers[name]):
                error_msgs.append(f'the buffer {prefix + name} has other values than in the module that was distributed, into whose '
                                  'network it was computed: distribute a module with these values.')
        torch.nn.Module._load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class Whole(Family):
    """What is behind a distributed module. Its own attributes are apart from the modules, parameters and
    buffers of the original, whose names can be the same."""
    __setattr__ = object.__setattr__  # type: ignore[assignment]
    __delattr__ = object.__delattr__  # type: ignore[assignment]

    def refuse_memory(self):
        raise RuntimeError(f'the parameters of a distributed {self._get_name()} are in the memory of Tenon and stay there: write them by '
                           'copy_() or tenon.torch.scatter_state_dict(), and call double() or float() of the module of torch '
                           'before distribute()')

    def note_fixed(self):
        """Takes note of the buffers that were computed into the network."""
        self.noted = {f'{path}.{name}' if path else name: (module._buffers, name, module._buffers[name].clone())
                      for path, module in self.named_modules() if isinstance(module, Family) for name in module._members.fixed}
        self.versions = {path: (buffers[name], buffers[name]._version) for path, (buffers, name, _) in self.noted.items()}

    def check_fixed(self):
        for path, (buffers, name, values) in self.noted.items():
            buffer, (known, version) = buffers[name], self.versions[path]
            if buffer is known and buffer._version == version:
                continue
            if not torch.equal(buffer, values):
                raise RuntimeError(f'the buffer {path} was changed, and its values were computed into the network: distribute a module with '
                                   'the new ones')
            self.versions[path] = buffer, buffer._version


def paths_in(whole):
    """Returns what Tenon has of a network, by its names in the state_dict()."""
    return {f'{path}.{name}' if path else name: held for path, module in whole.named_modules(remove_duplicate=False)
            if isinstance(module, Family) for name, held in module._members.named.items()}


class Fixed(Named):
    """A module whose parts are not replaced, since the network would go on with the former ones."""

    def __setattr__(self, name: str, value: Any) -> None:
        if value is not self.__dict__.get('_modules', {}).get(name, value):
            self.refuse_other(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._modules:
            self.refuse_other(name)
        super().__delattr__(name)

    def add_module(self, name: str, module: torch.nn.Module | None) -> None:
        """Of torch, also by the name of register_module()."""
        if module is not self._modules.get(name, module):
            self.refuse_other(name)
        super().add_module(name, module)

    def refuse_other(self, name):
        raise RuntimeError(f'"{name}" is a part of a distributed {self._get_name()}, whose network would go on with it: replace it in the '
                           'module of torch, and distribute that one')


class Part(Fixed, Family):
    """A module inside a distributed one."""

    def __init__(self, like, whole):
        super().__init__()
        self.training = whole.training
        self.take_members(like, whole)

    def _get_name(self) -> str:
        return self._members.kind

    def extra_repr(self) -> str:
        return self._members.details

    def forward(self, *inputs: Any) -> Any:
        raise RuntimeError(f'this {self._get_name()} is a part of a distributed {self._members.whole._get_name()}, which is evaluated as a whole; '
                           'tenon.torch.distribute() the part itself to evaluate it alone')

    def refuse_hook(self, *arguments: Any, **settings: Any) -> Any:
        raise RuntimeError(f'a hook of this {self._get_name()} would not be called: it is a part of a distributed '
                           f'{self._members.whole._get_name()}, which is evaluated as a whole. Give the hook to the whole, or to the module '
                           'before distribute(), or let the part stay torch\'s, distribute(..., keep=[...])')

    register_forward_hook = register_forward_pre_hook = refuse_hook
    register_backward_hook = register_full_backward_hook = register_full_backward_pre_hook = refuse_hook

    def train(self, mode: bool = True) -> Part:
        whole = self._members.whole
        if mode != whole.training:
            raise RuntimeError(f'train() and eval() are those of the whole {whole._get_name()}, not of the part {self._get_name()}: a part with a '
                               'mode of its own can stay torch\'s, distribute(..., keep=[...])')
        return super().train(mode)

    def _apply(self, fn, *arguments, **settings):
        self._members.whole._apply(fn, *arguments, **settings)
        return self


class Listed(Fixed):
    """What a Sequential or a list of modules has in addition."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: int | slice) -> Any:
        return list(self._modules.values())[index]

    def __setitem__(self, index: int, module: torch.nn.Module) -> None:
        self.refuse_other(list(self._modules)[index])

    def __delitem__(self, index: int) -> None:
        self.refuse_other(list(self._modules)[index])


class Parts(Listed, Part):
    """A list of modules inside a distributed one."""


def is_list(module: torch.nn.Module) -> bool:
    return isinstance(module, (torch.nn.Sequential, torch.nn.ModuleList, Listed))


class Summed(Module):
    """A network whose outputs that are partial sums (P), such as means over space, are given to all
    ranks."""

    def add_sums(self):
        self.ports.sums = [None if 'P' not in port.layout.properties() else repartition(
            port.layout, port.layout.like().set_properties(port.layout.properties().replace('P', 'B')).set_up(), port.value.dtype)
            for port in self.ports.outputs]

    def set_layout(self, layout: Layout | Sequence[Layout]) -> Summed:
        Module.set_layout(self, layout)
        if not hasattr(self.ports, 'sums'):
            self.add_sums()
        return self

    def leaves(self, inputs):
        """Returns the list of outputs."""
        made = Module.forward(self, *inputs)
        leaves = list(made) if isinstance(made, tuple) else [made]
        return [y if added is None else added(y) for y, added in zip(leaves, self.ports.sums)]

    @property
    def output_layout(self) -> Layout:
        return self.output_layouts[0]

    @property
    def output_layouts(self) -> list[Layout]:
        return [port.layout if added is None else added.output_layout for port, added in zip(self.ports.outputs, self.ports.sums)]


class Undivided(Whole, Summed):
    """A module of torch as one network of Tenon."""

    def __init__(self, make: Callable[[], Layer], layouts: Sequence[Layout], like: torch.nn.Module, graph: Any, depth: int,
                 settings: dict[str, Any]) -> None:
        self.like, self.graph, self.settings, self.make = like, graph, settings, make
        Module.__init__(self, make(), layouts, depth)
        self.own_complex = like.own_complex if isinstance(like, Undivided) else self.complex_of(like)
        del self.like, self.known, self.slot_of, self.merged, self.used, self.made, self.copied
        self.add_sums()
        synchronize([entry for entry in self.entries() if entry[1] is None], self.comm)  # what Tenon does not have
        self.counts = [buffer for name, buffer in self.named_buffers() if name in graph.counts]
        self.note_fixed()

    def complex_of(self, like):
        """Returns the first rank's values of the complex parameters; others keep none. The network may not read all of their
        elements, and Tenon has only those that it reads."""
        tensors = {**dict(like.named_parameters(remove_duplicate=False)), **dict(like.named_buffers(remove_duplicate=False))}
        return {name: tensors[name].detach().cpu().clone() for name in self.graph.complexes} if self.comm.rank == 0 else {}

    def adopt(self, names: Sequence[str]) -> None:
        with on_all(self.comm, 'the module was not distributed'):
            self.take_over(names)

    def take_over(self, names):
        """Makes the parameters and states of Tenon, which have these names, those of the modules."""
        like = self.like
        tensors = {**dict(like.named_parameters(remove_duplicate=False)), **dict(like.named_buffers(remove_duplicate=False))}
        slots = (*self.slots, *self.states)
        left_out = computed(self.layer)
        self.names, self.known, self.made, self.copied = {}, {}, {}, {}
        # Tenon's real parameter can have the name of the complex one, which is another tensor.
        shared = {name for name in names if name in tensors and not tensors[name].is_complex()}
        self.slot_of = {id(tensors[name]): (number, slot) for number, (name, slot) in enumerate(zip(names, slots)) if name in shared}
        self.used = {id(tensors[name]) for name in self.graph.used if name in tensors}
        # Parameters that Tenon has in another form, as one with others.
        self.merged = {id(parameter) for parameter in like.parameters() if id(parameter) in self.used and id(parameter) not in self.slot_of}
        self.take_members(like, self)
        for number, (name, slot) in enumerate(zip(names, slots)):
            if name not in shared and slot._handle not in left_out:
                held = Held(self, name.replace('.', '_').replace('/', '_'), slot, number, tensor_on(slot), number < len(self.slots))
                self._members.named[held.name] = held
                self.held.append(held)
        self.paths = paths_in(self)

    def complex_map(self):
        """Returns where Tenon has the complex parameters of the original. Collective."""
        if 'places_of_complex' not in self.__dict__:
            layers = [self.make(path).set_up_many(self.input_layouts) for path in self.graph.numbered]
            real = [held.index for held in self.held if held.is_parameter and held.name in self._members.named
                    and (held.name in self.graph.complexes or held.name not in self.graph.names)]
            self.places_of_complex = ComplexMap(self.graph.complexes, layers, real)
        return self.places_of_complex

    def names_of_real(self, mapped):
        return {held.index: name for name, held in self.paths.items() if held.index in mapped.places}

    def wholes(self):
        """Complex parameters are those of the original, in place of Tenon's real ones."""
        found = super().wholes()
        if not self.graph.complexes:
            return found
        mapped = self.complex_map()
        own = self.names_of_real(mapped)
        found.update(mapped.to_complex({index: found.pop(name).numpy() for index, name in own.items()}, self.own_complex, self.comm))
        return {name: found[name] for name in sorted(found, key=(self.graph.names + list(found)).index)}

    def in_own_form(self, state, prefix=''):
        """Replaces complex parameters of the original by Tenon's real ones, and leaves out what is no
        tensor. Collective."""
        state = {key: value for key, value in state.items() if not key.startswith(prefix) or key[len(prefix):] not in self.graph.others}
        named = {prefix + name: name for name in self.graph.complexes if prefix + name in state}
        fit = all(isinstance(state[key], torch.Tensor) and tuple(state[key].shape) == self.graph.complexes[name] for key, name in named.items())
        if not named or len(named) < len(self.graph.complexes) or not fit:
            return state  # load_state_dict() reports what is missing or does not fit
        mapped = self.complex_map()
        own = self.names_of_real(mapped)
        given = {name: state[key].detach().cpu() for key, name in named.items()}
        if self.comm.rank == 0:
            self.own_complex = {name: value.clone() for name, value in given.items()}
        made = mapped.to_real(given)
        return {**{key: value for key, value in state.items() if key not in named},
                **{prefix + own[index]: value for index, value in made.items()}}

    def remade(self) -> Undivided:
        return Undivided(self.make, self.input_layouts, self, self.graph, self.depth, self.settings)

    def held_in(self, prefix=''):
        return ((prefix + name, held) for name, held in self.paths.items())

    def _get_name(self) -> str:
        return self.graph.name

    def shown_settings(self) -> str:
        return ', '.join([*(f'{name}={value!r}' for name, value in self.settings.items()), *[f'depth={self.depth}'] * (self.depth != 1)])

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Returns what the original returns, of this rank's blocks."""
        given = self.graph.inputs.tensors_in(inputs, named)
        self.check_fixed()
        if self.training:
            for count in self.counts:
                count.add_(1)
        leaves = [y.reshape(()) if rank == 0 else y for y, rank in zip(self.leaves(given), self.graph.ranks)]
        return _pytree.tree_unflatten(leaves, self.graph.form)
