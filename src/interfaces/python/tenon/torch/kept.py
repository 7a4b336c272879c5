# SPDX-License-Identifier: BSD-2-Clause
"""Modules inside a distributed one that stay torch's: while torch.export follows the whole, each
evaluation of a kept module is one operator, tenon::kept, whose code is not part of the graph.

What is evaluated later is the module itself, with its hooks and its mode."""
from __future__ import annotations

import contextlib
import copy
import dataclasses
import difflib
import functools
from typing import Any, Iterator, Sequence

import torch
from torch._subclasses import FakeTensor
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

HOOKS = ('_forward_pre_hooks', '_forward_hooks', '_backward_hooks', '_backward_pre_hooks')


@dataclasses.dataclass
class Call:
    """One evaluation of a kept module in forward() of the whole. Tensors are represented by
    torch.Tensor."""
    name: str                    # of the module
    arguments: Any               # positional ones and those by name
    result: Any = None
    shares: bool = False         # whether the result has memory of the arguments


def names_of_kept(module: torch.nn.Module, keep: str | Sequence[str]) -> list[str]:
    """Checks the names of modules that stay torch's."""
    names = [keep] if isinstance(keep, str) else list(keep)
    known = dict(module.named_modules(remove_duplicate=False))
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f'keep has {name!r}, and names of modules inside the {type(module).__name__} are expected, as "encoder.norm"')
        if name not in known:
            near = difflib.get_close_matches(name, [each for each in known if each], 3)
            raise ValueError(f'the {type(module).__name__} has no module "{name}" to keep' + (f': did you mean {" or ".join(near)}?' if near else
                             f': it has {", ".join([each for each in known if each][:8])}'))
    for name in names:
        outer = next((each for each in names if name.startswith(f'{each}.')), None)
        if outer:
            raise ValueError(f'"{name}" is inside of "{outer}", and both are to be kept: leave the inner one out')
        twin = next((each for each in names if each != name and known[each] is known[name]), None)
        if twin or names.count(name) > 1:
            raise ValueError(f'"{name}" and "{twin or name}" are the same module: keep one of them')
    return names


@functools.cache
def defined() -> torch.library.Library:
    """Defines the operator, of which torch.export needs the shapes of the results only."""
    library = torch.library.Library('tenon', 'FRAGMENT')
    library.define('kept(Tensor[] inputs, int number) -> Tensor[]')
    torch.library.register_fake('tenon::kept', lambda inputs, number: current[-1].evaluated(number, inputs), lib=library)
    return library


class Followed:
    """The evaluations of kept modules, in their order, while torch.export follows the whole."""

    def __init__(self, module: torch.nn.Module, names: Sequence[str]) -> None:
        self.modules = {name: module_at(module, name) for name in names}
        self.copies: dict[str, torch.nn.Module] = {}
        self.calls: list[Call] = []

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        self.calls.clear()
        defined()
        self.copies = {name: without_parameters(module) for name, module in self.modules.items()}
        current.append(self)
        with contextlib.ExitStack() as replaced:
            for name, module in self.modules.items():
                replaced.enter_context(as_operator(self, name, module))
            try:
                yield
            finally:
                current.pop()

    def check(self):
        unused = [name for name in self.modules if all(call.name != name for call in self.calls)]
        if unused:
            raise ValueError(f'forward() does not evaluate the module to keep, {", ".join(unused)}: parts that stay torch\'s are called')

    def call(self, name, arguments):
        """Stands for forward() of a kept module."""
        leaves = _pytree.tree_leaves(arguments)
        if any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves):
            raise ValueError(f'the kept module {name} is given an extent that depends on the batch')
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not tensors:
            raise ValueError(f'the kept module {name} is given no tensor')
        self.calls.append(Call(name, marked(arguments)))
        number = len(self.calls) - 1
        made = iter(torch.ops.tenon.kept(tensors, number))
        return filled(self.calls[number].result, made)

    def evaluated(self, number, inputs):
        """Returns tensors like the results of a call, for tensors without memory."""
        call = self.calls[number]
        args, named = filled(call.arguments, iter(inputs))
        with Watch(inputs) as watch:
            result = self.copies[call.name](*args, **named)
        leaves = _pytree.tree_leaves(result)
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if watch.is_written:
            raise ValueError(f'the kept module {call.name} writes into its input, which others can read: let it make a tensor of its own')
        if not tensors or any(isinstance(leaf, (torch.SymInt, torch.SymFloat, torch.SymBool)) for leaf in leaves):
            raise ValueError(f'the kept module {call.name} returns {"no tensor" if not tensors else "an extent that depends on the batch"}')
        call.result = marked(result)
        call.shares = any(torch._C._is_alias_of(a, b) for a in inputs for b in tensors)
        return [torch.empty_like(tensor) for tensor in tensors]


current: list[Followed] = []


class Watch(TorchDispatchMode):
    """Sees whether operators write into tensors."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        super().__init__()
        self.tensors, self.is_written = tensors, False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        arguments = func._schema.arguments
        given = {**dict(zip([argument.name for argument in arguments], args)), **(kwargs or {})}
        for argument in arguments:
            if argument.alias_info is not None and argument.alias_info.is_write:
                written = [leaf for leaf in _pytree.tree_leaves(given.get(argument.name)) if isinstance(leaf, torch.Tensor)]
                self.is_written |= any(torch._C._is_alias_of(leaf, tensor) for leaf in written for tensor in self.tensors)
        return func(*args, **(kwargs or {}))


def module_at(module: torch.nn.Module, path: str) -> Any:
    """Returns the module with this name inside of another one, whose attributes can have the same name."""
    return functools.reduce(lambda outer, name: outer._modules[name], path.split('.'), module)


def marked(tree: Any) -> Any:
    return _pytree.tree_map(lambda leaf: torch.Tensor if isinstance(leaf, torch.Tensor) else leaf, tree)


def filled(tree: Any, tensors: Iterator[torch.Tensor]) -> Any:
    return _pytree.tree_map(lambda leaf: next(tensors) if leaf is torch.Tensor else leaf, tree)


def is_stored(tensor: Any) -> bool:
    """Whether it is a tensor with values, which all ranks can have."""
    return (isinstance(tensor, torch.Tensor) and not isinstance(tensor, FakeTensor) and tensor.layout is torch.strided
            and not tensor.is_meta)


def without_parameters(module: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy with the same parameters, for evaluations without values: its counts and buffers are its own."""
    return copy.deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})


@contextlib.contextmanager
def seeded(seed: int, tensors: Sequence[torch.Tensor], name: str) -> Iterator[None]:
    """Gives torch's generators, of the CPU and of the tensors' devices, a seed, and restores them afterwards: what an evaluation
    draws is the same on all ranks. It depends on the number of the evaluation, and is not repeated in a backward pass."""
    devices = sorted({tensor.device.index for tensor in tensors if tensor.device.type == 'cuda'})
    with torch.random.fork_rng(devices):
        generators = [torch.default_generator, *[torch.cuda.default_generators[index] for index in devices]]
        for generator in generators:
            generator.manual_seed(seed)
        is_again = torch._C._current_graph_task_id() != -1  # in a backward pass
        states = [generator.get_state() for generator in generators if is_again]
        yield
        if any(not torch.equal(state, generator.get_state()) for state, generator in zip(states, generators)):
            raise RuntimeError(f'the kept module {name} draws numbers in an evaluation within a backward pass, as of '
                               'torch.utils.checkpoint, which would differ from those before: leave it out of the checkpoint')


@contextlib.contextmanager
def as_operator(followed, name, module):
    """Replaces forward() of a module; its hooks belong to what is kept."""
    own = {key: module.__dict__[key] for key in ('forward', *HOOKS) if key in module.__dict__}
    module.__dict__.update({key: type(value)() for key, value in own.items() if key != 'forward'},
                           forward=lambda *args, **named: followed.call(name, (args, named)))
    try:
        yield
    finally:
        del module.__dict__['forward']
        module.__dict__.update(own)
