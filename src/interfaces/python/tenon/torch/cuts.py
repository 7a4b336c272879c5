# SPDX-License-Identifier: BSD-2-Clause
"""An exported graph cut at its kept modules: what lies between two evaluations of them, in the order
of the graph, is a piece, and a graph of its own.

Values cross from a piece to another one, or to a kept module, by their names in the whole graph.
Parameters belong to one piece. What is computed of parameters or extents alone is computed in each
piece that needs it."""
from __future__ import annotations

import dataclasses
import os
from typing import Any, Union

import torch
from torch.export.graph_signature import (ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument)
from torch.utils import _pytree

from .kept import Call, Followed, is_stored
from .modes import DROPOUTS, described, name_of


@dataclasses.dataclass
class Piece:
    """A graph that Tenon imports."""
    path: str
    inputs: list[str]
    outputs: list[str]
    names: set[str]  # of the parameters and buffers that it reads


@dataclasses.dataclass
class Kept:
    """An evaluation of a kept module."""
    call: Call
    inputs: list[str]
    outputs: list[str]


@dataclasses.dataclass
class Cut:
    """The steps of a module with kept ones, in their order, and the names of the values of the whole."""
    steps: list[Union[Piece, Kept]]
    inputs: list[str]
    outputs: list[str]
    ranks: dict[str, int]  # the number of dimensions of each value that crosses
    extents: list[list[int | None]]  # of the inputs, None where any can follow


def addresses(module: torch.nn.Module) -> set[int]:
    """Returns where the values of a module are in memory, also those of its attributes."""
    leaves = [leaf for part in module.modules() for leaf in _pytree.tree_leaves(vars(part))]
    return {address(leaf) for leaf in leaves if is_stored(leaf) and leaf.numel()}


def address(tensor):
    return tensor.untyped_storage().data_ptr()


def is_tensor(node: torch.fx.Node) -> bool:
    return any(isinstance(value, torch.Tensor) for value in _pytree.tree_leaves(node.meta.get('val')))


def is_extent(node: torch.fx.Node) -> bool:
    return node.op == 'call_function' and not is_tensor(node)


def is_kept(node: Any) -> bool:
    return isinstance(node, torch.fx.Node) and node.op == 'call_function' and node.target is torch.ops.tenon.kept.default


def shared_by(node):
    """Yields the arguments whose memory a result can have, and whether it is written."""
    schema = getattr(node.target, '_schema', None)
    if schema is None or name_of(node) in DROPOUTS:  # a part of a list; dropout in eval()
        yield node.args[0], name_of(node).endswith('_')
        return
    named = [argument.name for argument in schema.arguments]
    given = {**dict(zip(named, node.args)), **node.kwargs}
    for argument in schema.arguments:
        if argument.alias_info is not None:
            for each in _pytree.tree_leaves(given.get(argument.name)):
                if isinstance(each, torch.fx.Node):
                    yield each, argument.alias_info.is_write


class Memory:
    """Nodes that can have the same memory, and those that write it."""

    def __init__(self, nodes, calls):
        self.parent, self.writers = {}, []
        for node in nodes:
            if node.op != 'call_function':
                continue
            if is_kept(node):
                continue
            if node.args and is_kept(node.args[0]):
                call = node.args[0]
                self.join(node, call.args[0] if calls[call.args[1]].shares else [])
                continue
            for argument, is_written in shared_by(node):
                self.join(node, [argument])
                if is_written:
                    self.writers.append((node, argument))
        self.written = {self.root(argument) for _, argument in self.writers}

    def root(self, node):
        while node in self.parent:
            node = self.parent[node]
        return node

    def join(self, node, others):
        for other in others:
            a, b = self.root(node), self.root(other)
            if a is not b:
                self.parent[a] = b


class Cutter:
    """Cuts a graph of torch.export. `dtype` is the type that values which cross have."""

    def __init__(self, program, followed, dtype, title):
        self.program, self.calls, self.dtype, self.title = program, followed.calls, dtype, title
        self.own = {name: addresses(module) for name, module in followed.modules.items()}
        self.nodes = list(program.graph.nodes)
        self.number = {node: number for number, node in enumerate(self.nodes)}
        specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        self.spec_of = {node: specs[node.name] for node in self.nodes if node.op == 'placeholder'}
        self.fields = [node for node, spec in self.spec_of.items() if spec.kind == InputKind.USER_INPUT]
        self.memory = Memory(self.nodes, self.calls)
        self.kept = [node for node in self.nodes if is_kept(node)]
        self.results = {node for kept in self.kept for node in kept.users}
        self.output = self.nodes[-1]
        self.free, self.home = set(), {}
        self.place()
        self.check_writers()

    def place(self):
        """Decides to which piece each node belongs, by its position between the kept modules."""
        segment, direct = 0, set(self.output.all_input_nodes)
        for node in self.nodes:
            if is_kept(node):
                segment += 1
            elif node.op == 'call_function' and node not in self.results and is_tensor(node):
                reads = [each for each in node.all_input_nodes if not is_extent(each)]
                is_random = torch.Tag.nondeterministic_seeded in getattr(node.target, 'tags', ())
                if (all(each in self.free or self.is_stored(each) for each in reads) and node not in direct and not is_random
                        and self.memory.root(node) not in self.memory.written):
                    self.free.add(node)
                else:
                    self.home[node] = segment

    def is_stored(self, node):
        """Whether a node is a parameter, a buffer or a constant."""
        return node.op == 'get_attr' or node.op == 'placeholder' and node not in self.fields

    def is_value(self, node):
        """Whether a node can cross: a field, a result of a kept module or of a piece."""
        return node in self.fields or node in self.results or node in self.home

    def check_writers(self):
        """Refuses operators that write into memory which is read elsewhere."""
        for node, argument in self.memory.writers:
            root, piece = self.memory.root(argument), self.home.get(node)
            before = [each for each in self.nodes[:self.number[node]] if self.memory.root(each) is root and each.op != 'output']
            for user in {user for each in before for user in each.users if self.number[user] > self.number[node]}:
                if self.home.get(user) != piece and is_tensor(user) or user is self.output or is_kept(user):
                    raise ValueError(f'{self.title} writes into a tensor that is read on the other side of a kept module: {described(node)}. '
                                     'Let it make a new tensor there')

    def steps(self, folder):
        """Writes the pieces, and returns the cut."""
        pieces = [PieceOf(self, segment) for segment in range(len(self.kept) + 1)]
        for piece in pieces:
            piece.collect()
            self.check_stored(piece)
        wanted = {each for piece in pieces for each in piece.given} | set(self.output.all_input_nodes)
        wanted |= {each for kept in self.kept for each in kept.args[0]}
        steps = []
        for segment, piece in enumerate(pieces):
            if piece.body:
                steps.append(piece.written(wanted, os.path.join(folder, f'{self.title}-{segment}.pt2')))
            if segment < len(self.kept):
                steps.append(self.step_of(self.kept[segment], wanted))
        outputs = [node.name for node in self.output.args[0]]
        for node in wanted:
            self.check_value(node)
        self.check_owners(steps)
        extents = [[n.node.maybe_as_int() if isinstance(n, torch.SymInt) else n for n in node.meta['val'].shape] for node in self.fields]
        return Cut(steps, [node.name for node in self.fields], outputs,
                   {node.name: node.meta['val'].dim() for node in wanted | set(self.fields)}, extents)

    def step_of(self, node, wanted):
        call = self.calls[node.args[1]]
        results = {user.args[1]: user.name for user in node.users if user in wanted}
        count = sum(leaf is torch.Tensor for leaf in _pytree.tree_leaves(call.result))
        return Kept(call, [each.name for each in node.args[0]], [results.get(number, '') for number in range(count)])

    def check_value(self, node):
        if not self.is_value(node):
            raise ValueError(f'{self.title} gives {node.name}, which is no field but a parameter or computed of parameters, to a kept module '
                             'or as a result: keep the module that has it too')
        value = node.meta.get('val')
        if not isinstance(value, torch.Tensor) or value.dtype != self.dtype:
            found = value.dtype if isinstance(value, torch.Tensor) else 'a list'
            raise ValueError(f'{self.title} passes {found} from a part to another one, and {self.dtype} is expected: '
                             f'{described(node)}. Keep a module that contains both')

    def check_stored(self, piece):
        """Refuses buffers of kept modules, which can change them, in pieces, which have them as constants."""
        tensors = {**self.program.constants, **self.program.state_dict}
        for name in (self.spec_of[node].target for node in piece.stored):
            value = tensors.get(name)
            if not is_stored(value) or isinstance(value, torch.nn.Parameter) or not value.numel():
                continue
            owner = next((each for each, places in self.own.items() if address(value) in places), None)
            if owner is not None:
                raise ValueError(f'{self.title} reads {name}, a buffer of the kept module {owner}, outside of it, where it would remain '
                                 'as it is now: let the kept module return it, or keep the module that reads it')

    def check_owners(self, steps):
        """Refuses parameters that are read in several parts, and complex ones."""
        tensors, owners = {**self.program.state_dict}, {}
        for step in steps:
            if isinstance(step, Kept):
                names = {name for name in tensors if name.startswith(f'{step.call.name}.')}
                title = step.call.name
            else:
                names = {name for name in step.names if isinstance(tensors.get(name), torch.nn.Parameter)
                         or name.rpartition('.')[2] in ('running_mean', 'running_var')}
                title = step.path
                for name in names:
                    if tensors[name].is_complex():
                        raise ValueError(f'the parameter {name} is complex, which is not supported beside kept modules: keep its module too')
            for name in names:
                owner = owners.setdefault(tensors[name].data_ptr() if tensors[name].numel() else name, title)
                if owner != title:
                    raise ValueError(f'the parameter {name} is read on several sides of kept modules, between which Tenon has a layer each: '
                                     'keep the modules that read it')


class PieceOf:
    """The nodes of one piece, and what they read."""

    def __init__(self, cutter, segment):
        self.cutter, self.segment = cutter, segment
        self.body = [node for node, home in cutter.home.items() if home == segment]
        self.inside = set(self.body)
        self.given, self.stored, self.extra, self.sizes = {}, {}, set(), {}

    def collect(self):
        for node in self.body:
            for each in node.all_input_nodes:
                self.need(each)
        # Extents are those of a tensor that the piece has in any case, if there is one.
        for node in [each for each in self.extra if name_of(each) == 'sym_size']:
            tensor, d = node.args
            if not self.has(tensor):
                extent = str(node.meta['val'])
                found = next(((each, at) for each in self.given for at, n in enumerate(each.meta['val'].shape) if str(n) == extent), None)
                self.sizes[node] = found or (tensor, d)
                if found is None:
                    self.need(tensor)

    def has(self, node):
        return node in self.inside or node in self.given or node in self.stored or node in self.extra

    def need(self, node):
        if self.has(node):
            return
        if self.cutter.is_value(node):
            self.given[node] = None
        elif self.cutter.is_stored(node):
            (self.extra.add if node.op == 'get_attr' else lambda each: self.stored.update({each: None}))(node)
        else:
            self.extra.add(node)
            for each in () if name_of(node) == 'sym_size' else node.all_input_nodes:
                self.need(each)

    def written(self, wanted, path):
        program, cutter = self.cutter.program, self.cutter
        graph, made, specs = torch.fx.Graph(), {}, []
        stored = [node for node in cutter.spec_of if node in self.stored]
        for node in [*stored, *self.given]:
            made[node] = graph.placeholder(node.name)
            made[node].meta = dict(node.meta)
            spec = cutter.spec_of.get(node)
            kind, target, persistent = (spec.kind, spec.target, spec.persistent) if node in self.stored else (InputKind.USER_INPUT, None, None)
            specs.append(InputSpec(kind, TensorArgument(made[node].name), target, persistent))
        for node in cutter.nodes:
            if node in self.inside or node in self.extra:
                self.copy(node, graph, made)
        outputs = [node for node in self.body if node in wanted]
        graph.output(tuple(made[node] for node in outputs)).meta['val'] = tuple(node.meta['val'] for node in outputs)
        signature = ExportGraphSignature(specs, [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(made[node].name), None) for node in outputs])
        targets = {cutter.spec_of[node].target for node in stored}
        forms = _pytree.tree_flatten((tuple(self.given), {}))[1], _pytree.tree_flatten(tuple(outputs))[1]
        whole = torch.export.ModuleCallEntry('', torch.export.ModuleCallSignature([], [], *forms))
        piece = torch.export.ExportedProgram(
            program.graph_module, graph, signature, {name: value for name, value in program.state_dict.items() if name in targets},
            program.range_constraints, [whole], constants={name: value for name, value in program.constants.items() if name in targets},
            verifiers=[program.verifier])
        torch.export.save(piece, path)
        names = {cutter.spec_of[node].target for node in stored if cutter.spec_of[node].kind != InputKind.CONSTANT_TENSOR}
        return Piece(path, [node.name for node in self.given], [node.name for node in outputs], names)

    def copy(self, node, graph, made):
        if node in self.sizes:
            tensor, d = self.sizes[node]
            made[node] = graph.call_function(node.target, (made[tensor], d))
            made[node].meta = dict(node.meta)
        else:
            made[node] = graph.node_copy(node, made.__getitem__)


def cut(program: Any, followed: Followed, dtype: torch.dtype, folder: str, title: str) -> Cut:
    """Cuts the graph at the kept modules, and writes the pieces to a folder."""
    return Cutter(program, followed, dtype, title).steps(folder)
