# SPDX-License-Identifier: BSD-2-Clause
"""A module of torch of which parts stay torch's: the pieces between them are layers of Tenon, on
blocks; the kept parts are evaluated on every rank, on whole tensors.

All ranks compute the same in a kept part. The gradient of a whole tensor there is thus the gradient
itself, on each rank, and no contribution: from blocks (S) to the whole and back the values go by
S -> B, and the gradients by B -> S; gradients of a kept part's parameters are not summed."""
from __future__ import annotations

import copy
import math
import weakref
from types import SimpleNamespace
from typing import Any, Callable, Sequence

import torch
from torch._subclasses import FakeTensorMode
from torch.utils import _pytree

from ..calls import Layer, Layout
from ..models import computed, weights
from .copies import on_all, synchronize
from .cuts import Kept
from .functions import also_direct, call, data_type_of, refuse_vmap, repartition
from .kept import filled, is_stored, module_at, seeded, without_parameters
from .layers import Module
from .parts import Summed, Whole, paths_in
from .ports import Port


@also_direct
class Across(torch.autograd.Function):
    """A conversion to or from the copies of which all ranks compute the same, and that of the
    gradients, which is not its adjoint."""

    @staticmethod
    def forward(x, there, back):
        return there.run(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.there, ctx.back = inputs

    @staticmethod
    def backward(ctx, dy):
        return call(Across, dy, ctx.back, ctx.there), None, None

    @staticmethod
    def jvp(ctx, dx, there, back):
        return call(Across, dx, there, back)

    @staticmethod
    def vmap(info, in_dims, x, there, back):
        refuse_vmap('a kept module inside a distributed one')


class Crossing:
    """The way of one value from blocks to the whole, or back."""

    def __init__(self, layout, dtype, is_entering):
        copies = ','.join('B' for _ in layout.properties().split(','))
        whole = Layout.sharded(layout.partition(), layout.shape(), copies)
        self.there, self.back = (repartition(*each, dtype) for each in (
            [(layout, whole), (whole, layout.dual())] if is_entering else [(whole, layout), (layout.dual(), whole)]))

    def __call__(self, x):
        return call(Across, x.reshape(self.there.x.shape), self.there, self.back)


class Piece(Summed):
    """What Tenon computes between two evaluations of kept parts. Its parameters are those of the whole."""

    def __init__(self, make: Callable[[], Layer], layouts: Sequence[Layout], depth: int) -> None:
        super().__init__(make(), layouts, depth)
        self.add_sums()

    def adopt(self, names: Sequence[str]) -> None:
        self.of_tenon = list(names)


class Route:
    """The layouts of all values that cross, and their conversions, for the layouts of the inputs."""

    def __init__(self, whole, layouts):
        self.whole, self.cut, self.dtype = weakref.proxy(whole), whole.graph.cut, whole.dtype
        self.check_extents(layouts)
        self.layouts = dict(zip(self.cut.inputs, layouts))
        self.ports_of, self.crossings = [], {}
        for number, step in enumerate(self.cut.steps):
            if isinstance(step, Kept):
                self.pass_kept(step)
            else:
                given = [self.leave(name) for name in step.inputs]
                piece = whole.piece(number, given)
                self.ports_of.append(piece.set_layout(given).ports)
                self.layouts.update(zip(step.outputs, piece.output_layouts))
        self.outputs = [SimpleNamespace(layout=self.leave(name)) for name in self.cut.outputs]
        type = data_type_of(self.dtype)
        self.inputs = [Port(layout, type, 'the input' + f' {index}' * (len(layouts) > 1)) for index, layout in enumerate(layouts)]
        self.shapes = [port.value.shape for port in self.inputs]

    def check_extents(self, layouts):
        """Refuses other extents where torch.export fixed them: what kept parts are given can depend on them."""
        for layout, extents in zip(layouts, self.cut.extents):
            if any(n is not None and n != given for n, given in zip(extents, layout.shape())):
                shown = ', '.join('any' if n is None else str(n) for n in extents)
                raise ValueError(f'the {self.whole.graph.name} was exported for inputs of [{shown}], and one of {layout.shape()} is given: its '
                                 'code, or what it gives to kept modules, fixes these extents. Distribute it for the others too, or with '
                                 'an example of other extents')

    def whole_shape(self, name):
        return self.layouts[name].shape() if self.cut.ranks[name] else []

    def pass_kept(self, step):
        """Prepares what a kept part is given, and the layouts of its results."""
        for name in step.inputs:
            if (name, True) not in self.crossings and name not in self.whole.of_kept:
                self.crossings[name, True] = Crossing(self.layouts[name], self.dtype, True)
        sources = [self.layouts[name] for name in step.inputs]
        given = [self.whole_shape(name) for name in step.inputs]
        with on_all(self.whole.comm, f'the layouts of the results of {step.call.name} were not found'):
            shapes = shapes_of(self.whole.kept[step.call.name], step.call, given, self.dtype)
        for name, shape in zip(step.outputs, shapes):
            if name:
                self.layouts[name] = layout_after(shape, sources)

    def leave(self, name):
        """Returns the layout of the blocks of a value, and prepares those of a kept part's result."""
        if name in self.whole.of_kept and (name, False) not in self.crossings:
            self.crossings[name, False] = Crossing(self.layouts[name], self.dtype, False)
        return self.layouts[name]

    def blocks(self, values, wholes, names):
        """Returns this rank's blocks of values."""
        for name in names:
            if name not in values:
                values[name] = self.crossings[name, False](wholes[name])
        return [values[name] for name in names]

    def run(self, given):
        """Returns this rank's blocks of the outputs."""
        values, wholes, ports = dict(zip(self.cut.inputs, given)), {}, iter(self.ports_of)
        for number, step in enumerate(self.cut.steps):
            if isinstance(step, Kept):
                self.run_kept(step, number, values, wholes)
                continue
            piece = self.whole.pieces[number]
            piece.ports = next(ports)
            values.update(zip(step.outputs, piece.leaves(self.blocks(values, wholes, step.inputs))))
        return self.blocks(values, wholes, self.cut.outputs)

    def run_kept(self, step, number, values, wholes):
        for name in step.inputs:
            if name not in wholes:
                wholes[name] = self.crossings[name, True](values[name]).reshape(self.whole_shape(name))
        args, named = filled(step.call.arguments, iter([wholes[name] for name in step.inputs]))
        with seeded((self.whole.seed + 1000003 * self.whole.evaluations + number) % 2**63, list(wholes.values()), step.call.name):
            result = self.whole.kept[step.call.name](*args, **named)
        made = [y for y in _pytree.tree_leaves(result) if isinstance(y, torch.Tensor)]
        for name, y in zip(step.outputs, made):
            if name and (list(y.shape) != self.whole_shape(name) or y.dtype != self.dtype):
                raise ValueError(f'the kept module {step.call.name} returns {list(y.shape)} of {y.dtype}, and returned '
                                 f'{self.whole_shape(name)} of {self.dtype} when its layouts were prepared')
            wholes[name] = y
        if len(made) != len(step.outputs):
            raise ValueError(f'the kept module {step.call.name} returns {len(made)} tensors, and returned {len(step.outputs)} when it was '
                             'exported')


def shapes_of(module, evaluation, shapes, dtype):
    """Returns the shapes of a kept part's results, which is not evaluated for them. Where that is refused in its mode, as
    statistics of one value are in train(), the shapes are those in eval(); an evaluation raises the error."""
    def made(own):
        with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            args, named = filled(evaluation.arguments, iter([torch.empty(shape, dtype=dtype) for shape in shapes]))
            return [list(y.shape) for y in _pytree.tree_leaves(own(*args, **named)) if isinstance(y, torch.Tensor)]
    try:
        return made(without_parameters(module))
    except Exception:
        if not any(part.training for part in module.modules()):
            raise
        return made(without_parameters(module).eval())


def layout_after(shape: list[int], sources: Sequence[Layout]) -> Layout:
    """Returns the layout of a result: that of an argument of this shape, or else as split as one of as
    many dimensions is, or only by samples."""
    extents = shape or [1]
    same = next((layout for layout in sources if layout.shape() == extents), None)
    if same is not None:
        return same
    like = next((layout for layout in sources if layout.dimensions() == len(extents)), None)
    first = like or sources[0]
    letters = first.properties().split(',')
    if like is None:
        letters = ['S0' if letter == 'S0' and shape and shape[0] == first.shape()[0] else 'B' for letter in letters]
    return Layout.sharded(first.partition(), extents, ','.join(letters))


class Divided(Whole, Module):
    """A module of torch on layouts of Tenon, of which parts stay torch's."""

    def __init__(self, make: Callable[..., Layer], layouts: Sequence[Layout], like: torch.nn.Module, graph: Any, depth: int, seed: int,
                 settings: dict[str, Any]) -> None:
        torch.nn.Module.__init__(self)
        self.make, self.graph, self.depth, self.seed, self.settings = make, graph, depth, seed, settings
        self.comm, self.dtype, self.evaluations, self.takes_wholes, self.function = layouts[0].comm(), graph.dtype, 0, False, None
        self.check_ranks(layouts)
        steps = [step for step in graph.cut.steps if isinstance(step, Kept)]
        self.of_kept = {name for step in steps for name in step.outputs if name}
        self.copied: dict[int, Any] = {}  # by the originals' numbers
        names = list(dict.fromkeys(step.call.name for step in steps))
        with on_all(self.comm, 'the module was not distributed'):
            self.kept = {name: copy.deepcopy(module_at(like, name), self.copied) for name in names}
        self.pieces: dict[int, Piece] = {}
        self.set_ups: list[Route] = []
        self.set_layout(layouts)
        with on_all(self.comm, 'the module was not distributed'):
            own = self.take_tree(like)
        for piece, ids in own.items():
            piece.held = [self.known[each] for each in ids]
            piece.follow_held()
        del self.known, self.slot_of, self.merged, self.used, self.made, self.copied
        self.paths = paths_in(self)
        self.counts = [buffer for name, buffer in self.named_buffers() if name in self.graph.counts]
        self.take_modes(like)
        synchronize([entry for entry in self.entries() if entry[1] is None] + self.other_entries(), self.comm)
        self.note_fixed()
        for module in self.kept.values():
            for parameter in module.parameters():
                parameter.tenon_is_summed = True  # type: ignore[attr-defined]

    def check_ranks(self, layouts):
        """All ranks compute in kept parts."""
        for layout in layouts:
            if math.prod(layout.partition().extents()) != self.comm.size:
                raise ValueError(f'the layouts of a module with kept parts are on all ranks: a process grid {layout.partition().extents()} of '
                                 f'{self.comm.size} ranks leaves some out')

    def take_tree(self, like):
        """Takes over the modules and parameters of the original. Returns the numbers of each piece's own."""
        tensors = {**dict(like.named_parameters(remove_duplicate=False)), **dict(like.named_buffers(remove_duplicate=False))}
        self.known, self.merged, self.held = {}, set(), []
        self.made = {id(original): own for name, module in self.kept.items()
                     for original, own in zip(module_at(like, name).modules(), module.modules())}
        self.used = {id(tensors[name]) for name in self.graph.used if name in tensors}
        self.slot_of, own = {}, {}
        for piece in self.pieces.values():
            left_out = computed(piece.layer)
            for number, (name, slot) in enumerate(zip(piece.of_tenon, (*piece.slots, *piece.states))):
                if name in tensors:
                    self.slot_of[id(tensors[name])] = number, slot
                    own.setdefault(piece, []).append(id(tensors[name]))
                elif slot._handle not in left_out:
                    raise ValueError(f'Tenon has the parameters of the {self.graph.name} in another form, {name}, which is not supported '
                                     'beside kept modules: keep their module too')
        self.take_members(like, self)
        return own

    def other_entries(self):
        """Returns the tensors of kept parts that are not in the state_dict(): buffers that are not saved, and attributes. Those
        that some ranks lack, as what an evaluation on one rank has left, are not among them. Collective."""
        known, found = {id(tensor) for _, _, tensor in self.entries()}, {}
        for name, kept in self.kept.items():
            for path, module in kept.named_modules(prefix=name):
                for key, tensor in _pytree.tree_flatten_with_path(vars(module))[0]:
                    if is_stored(tensor) and id(tensor) not in known:
                        known.add(id(tensor))
                        found[path + _pytree.keystr(key), tuple(tensor.shape), tensor.dtype] = tensor
        common = set(found).intersection(*self.comm.allgather(list(found)))
        return [(key[0], None, found[key]) for key in sorted(common, key=str)]

    def piece(self, number, layouts):
        """Returns a piece, which the first layouts make."""
        if number not in self.pieces:
            path = self.graph.cut.steps[number].path
            self.pieces[number] = Piece(lambda: self.make(path, number), layouts, self.depth)
        return self.pieces[number]

    def set_layout(self, layout: Layout | Sequence[Layout]) -> Divided:
        layouts = [layout] if isinstance(layout, Layout) else list(layout)
        for route in self.set_ups:
            if all(port.layout.is_equal(each) for port, each in zip(route.inputs, layouts, strict=True)):
                self.ports = route
                return self
        self.ports = Route(self, layouts)
        self.set_ups.append(self.ports)
        return self

    def train(self, mode: bool = True) -> Divided:
        torch.nn.Module.train(self, mode)
        for piece in self.pieces.values():
            piece.train(mode)
        if not self.settings.get('training', True):
            for module in self.kept.values():
                module.eval()
        return self

    def take_modes(self, like):
        """Gives kept parts the modes of the original's, and the whole its one."""
        self.train(like.training)
        if self.settings.get('training', True):
            for name, module in self.kept.items():
                for own, other in zip(module.modules(), module_at(like, name).modules()):
                    own.training = other.training

    @property
    def is_repeatable(self) -> bool:  # type: ignore[override]
        return all(piece.is_repeatable for piece in self.pieces.values())

    @is_repeatable.setter
    def is_repeatable(self, is_repeatable: bool) -> None:
        for piece in self.pieces.values():
            piece.is_repeatable = is_repeatable

    def remade(self) -> Divided:
        return Divided(self.make, self.input_layouts, self, self.graph, self.depth, self.seed, self.settings)

    def __deepcopy__(self, memo: Any) -> Divided:
        other = Module.__deepcopy__(self, memo)
        other.take_modes(self)
        for number, piece in self.pieces.items():
            other.pieces[number].is_repeatable = piece.is_repeatable
        return other

    def held_in(self, prefix=''):
        return ((prefix + name, held) for name, held in self.paths.items())

    def wholes(self):
        found = {slot._handle: value for piece in self.pieces.values()
                 for slot, value in zip((*piece.slots, *piece.states), weights(piece.layer).values())}
        return self.from_tenon(found)

    def in_own_form(self, state, prefix=''):
        return {key: value for key, value in state.items() if not key.startswith(prefix) or key[len(prefix):] not in self.graph.others}

    def _get_name(self) -> str:
        return self.graph.name

    def shown_settings(self) -> str:
        return ', '.join([f'keep={list(self.kept)}', *(f'{name}={value!r}' for name, value in self.settings.items()),
                          *[f'depth={self.depth}'] * (self.depth != 1)])

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Returns what the original returns, of this rank's blocks."""
        given = self.graph.inputs.tensors_in(inputs, named)
        self.follow_inputs(given)
        self.check_fixed()
        if self.training:
            for count in self.counts:
                count.add_(1)
        self.evaluations += 1
        leaves = [y.reshape(()) if rank == 0 else y for y, rank in zip(self.ports.run(given), self.graph.ranks)]
        return _pytree.tree_unflatten(leaves, self.graph.form)
