# SPDX-License-Identifier: BSD-2-Clause
"""Layers as modules of torch.

Tenon works on the memory of the tensors of torch, and torch on that of Tenon's parameters. Tenon
has copies and packed forms of parameters, so it is notified before the next evaluation if torch
has modified a parameter."""
from __future__ import annotations

import math
import weakref
from typing import Any, Callable, Mapping, NoReturn, Sequence

import numpy
import torch

from ..calls import Layer, Layout
from ..models import names_of, parameters_of, states_of, weights
from .copies import check_copies
from .functions import Slot, call, is_forward, note_use, shown, unwrapped
from .gradients import ApplyLayer, Evaluation
from .ports import GradientSum, Held, Port, Ports, box_of, take_blocks, tensor_on


def varies(layer):
    """Whether two evaluations of a layer in training differ, or change its state."""
    type = layer.type()
    if type == 'batchnorm':
        return layer.get_text('statistics') == 'batch'
    return type == 'dropout' or type == 'shell' and layer.state_count() > 0 or any(
        varies(layer.child(str(index))) for index in range(layer.child_count()))


def refuse_pickle(module: torch.nn.Module) -> NoReturn:
    raise TypeError(f'the {module._get_name()} is on the ranks and in the memory of Tenon, and cannot be pickled: save its state_dict(), or '
                    'tenon.torch.gather_state_dict(network) for any number of ranks, and copy it by copy.deepcopy()')


def refuse_assignment(local_metadata: Mapping[str, Any], error_msgs: list[str]) -> bool:
    """Whether load_state_dict(assign=True) loads a module, which is then an error, once for a network."""
    is_assigned = bool(local_metadata.get('assign_to_params_buffers', False))
    text = ('assign=True would replace parameters that are in the memory of Tenon and stay there: leave it out, and the '
            'values are copied into them.')
    if is_assigned and text not in error_msgs:
        error_msgs.append(text)
    return is_assigned


class Module(torch.nn.Module):
    """A layer or network of Tenon, set up for a layout of its input, or a list of one layout for each input:
    y = module(x), module(x0, x1, ...). A graph with several outputs returns a tuple. Parameters are this rank's blocks of
    Tenon's parameters, in place, so optimizers of torch update them; a dot in their names becomes an underscore.

    Tenon saves the last `depth` evaluations for their gradients. Earlier ones are evaluated again in the backward pass.
    Layers whose evaluations in training differ (dropout, batch normalisation) need a depth of at least the number of
    evaluations that wait for their gradients. `is_repeatable` overrides this for layers with user-defined functions.

    train() and eval() have the same effect as in torch, and gradients are computed in both modes. Running statistics are
    buffers, also in place."""

    def __init__(self, layer: Layer, layout: Layout | Sequence[Layout], depth: int = 1, is_repeatable: bool | None = None) -> None:
        super().__init__()
        self.layer, self.depth, self.comm = layer, depth, layer.comm()
        self.takes_wholes = False  # within scatter()
        self.function: Callable[[torch.Tensor], torch.Tensor] | None = None  # the equivalent
                                                                             # elementwise function
                                                                             # of torch
        layer.set_stack_depth(depth)
        self.ports = Ports(layer, [layout] if isinstance(layout, Layout) else list(layout))
        self.set_ups = [self.ports]
        self.is_repeatable = not varies(layer) if is_repeatable is None else is_repeatable
        self.pending: list[weakref.ref[Evaluation]] = []
        self.slots, self.states = parameters_of(layer), states_of(layer)
        self.held: list[Held] = []  # parameters, then buffers
        self.adopt(names_of(layer, [*self.slots, *self.states]))
        self.sums: dict[int, GradientSum] = {}
        note_use(self, self.comm)
        self.follow_held()

    def adopt(self, names: Sequence[str]) -> None:
        """Makes the layer's parameters and states, which have these names, those of torch."""
        self.names = dict(zip(map(self.parameter_name, names), names))
        for number, (name, slot) in enumerate(zip(self.names, (*self.slots, *self.states))):
            self.held.append(Held(self, name, slot, number, tensor_on(slot), number < len(self.slots)))

    def follow_held(self):
        """Takes note of the parameters and states in `held`. Collective."""
        self.trained = [held for held in self.held if held.is_parameter]
        for held in self.held:  # Tenon has packed forms of parameters; states are read in place
            held.is_told = held.index < len(self.slots)
        self.count_copies()

    def count_copies(self):
        """Sets the number of ranks that have each element of a parameter: see clip_grad_norm_()."""
        counts = self.comm.allreduce(numpy.array([held.tensor.numel() for held in self.trained]))
        for held, count in zip(self.trained, counts):
            held.tensor.tenon_copies = self.comm, count / math.prod(held.shape)
            held.tensor.tenon_box = box_of(held.slot)  # see check_step()

    def train(self, mode: bool = True) -> Module:
        super().train(mode)
        self.layer.set_training(mode)
        return self

    @staticmethod
    def parameter_name(name):
        return name.replace('.', '_')

    def forward(self, *inputs: torch.Tensor) -> Any:
        self.follow_inputs(inputs)
        tensors = [*inputs, *[held.tensor for held in self.trained]]
        is_saved = any(tensor.requires_grad for tensor in tensors) or is_forward()
        return call(ApplyLayer, self, Evaluation(self.training) if is_saved else None, *tensors)

    def follow_inputs(self, inputs):
        """Checks the inputs, and prepares for those of another batch."""
        if len(inputs) != len(self.inputs):
            given = '1 input is' if len(inputs) == 1 else f'{len(inputs)} inputs are'
            raise TypeError(f'{given} given to a {self._get_name()} that has {len(self.inputs)}')
        for port, x in zip(self.inputs, inputs):
            if not isinstance(x, torch.Tensor):
                port.value.refuse(x, port.name)
        if [x.shape for x in inputs] != self.ports.shapes:
            self.follow_batch(inputs)

    def set_layout(self, layout: Layout | Sequence[Layout]) -> Module:
        """Prepares the module for inputs in other layouts, such as those of another batch size, with
        the same parameters. It continues to know those that it had. Collective."""
        layouts = [layout] if isinstance(layout, Layout) else list(layout)
        for ports in self.set_ups:
            if len(layouts) == len(ports.inputs) and all(
                    port.layout.is_equal(each) for port, each in zip(ports.inputs, layouts)):
                self.ports = ports
                return self
        self.ports = Ports(self.layer, layouts)
        self.set_ups.append(self.ports)
        return self

    def follow_batch(self, inputs):
        """Lets the layouts follow inputs that have another extent of the batch only, where each rank
        has all samples of its block, so that all ranks see the same."""
        changed = [x.dim() == len(port.value.shape) > 0 and x.shape[0] != port.value.shape[0] and x.shape[1:] == port.value.shape[1:]
                   for port, x in zip(self.inputs, inputs)]
        if not any(changed):
            return  # use() reports what is wrong
        for port, x, is_other in zip(self.inputs, inputs, changed):
            letters = port.layout.properties().split(',')
            if is_other and (any(each not in ('B', *(f'S{d}' for d in range(1, x.dim()))) for each in letters)
                             or math.prod(port.layout.partition().extents()) != self.comm.size):
                raise ValueError(
                    f'{port.name} has {x.shape[0]} elements in dimension 0, and its layout {port.layout.properties()} of '
                    f'{port.layout.shape()} has {port.value.shape[0]} on this rank. Which layout another batch has is not seen from one '
                    'block: give it by module.set_layout(layout)')
        self.set_layout([
            port.layout.like().set_shape([x.shape[0], *port.layout.shape()[1:]]).set_up() if is_other else port.layout
            for port, x, is_other in zip(self.inputs, inputs, changed)])

    def run(self, inputs, evaluation):
        self.tell()
        self.layer.set_recording(evaluation is not None)
        if evaluation is not None and (len(self.pending) == self.depth or not any(p() for p in self.pending)):
            self.forget()
        ports = self.ports if evaluation is None or evaluation.ports is None else evaluation.ports
        given = [port.value.use(x, port.name) for port, x in zip(ports.inputs, inputs)]
        made = tuple(port.value.new(inputs[0]) for port in ports.outputs)
        self.layer.apply_many(given, [port.value.place(y) for port, y in zip(ports.outputs, made)])
        if evaluation is not None:
            evaluation.training, evaluation.ports = self.training, ports
            self.pending.append(weakref.ref(evaluation))
        return made

    def run_again(self, evaluation, inputs):
        """Repeats an evaluation in its original mode."""
        if evaluation.training and not self.is_repeatable:
            raise RuntimeError('this evaluation is no longer kept, and another one would differ: give the module a greater depth, '
                               'and let the backward pass run in reverse order of the evaluations')
        self.forget()
        training = self.training
        if training != evaluation.training:
            self.train(evaluation.training)
        self.run(inputs, evaluation)
        if training != self.training:
            self.train(training)

    def run_adjoint(self, evaluation, inputs, dy, are_wanted, wanted):
        if not self.pending or self.pending[-1]() is not evaluation:
            self.run_again(evaluation, inputs)
        self.pending.pop()
        self.layer.zero_gradients()
        inputs_of, outputs_of = evaluation.ports.inputs, evaluation.ports.outputs
        dx = [port.cotangent.new(dy[0]) if is_wanted else None for port, is_wanted in zip(inputs_of, are_wanted)]
        self.layer.apply_adjoint_many(
            [port.cotangent.use(each, f'the gradient of {port.name}') for port, each in zip(outputs_of, dy)],
            [None if each is None else port.cotangent.place(each) for port, each in zip(inputs_of, dx)])
        return dx, [self.gradient(held) if is_wanted else None for held, is_wanted in zip(self.trained, wanted)]

    def run_tangent(self, evaluation, inputs, directions):
        """Returns J u for the directions of inputs and parameters, None for those that are 0."""
        is_again = not self.pending or self.pending[-1]() is not evaluation
        if is_again:
            self.run_again(evaluation, inputs)
        count, tangents = len(inputs), []
        for held, direction in zip(self.trained, directions[count:]):
            if direction is not None:
                with self.layer.parameter_tangent(held.index) as tangent:
                    low, high = tangent.box()
                    tangent.assign(direction.detach().cpu().numpy().reshape([h - l for l, h in zip(low, high)]))
                tangents.append(held.index)
        made = tuple(port.tangent().new(inputs[0]) for port in evaluation.ports.outputs)
        self.layer.apply_tangent_many(
            [None if each is None else port.tangent().use(each, f'the direction of {port.name}')
             for port, each in zip(evaluation.ports.inputs, directions)],
            [port.tangent().place(y) for port, y in zip(evaluation.ports.outputs, made)])
        for index in tangents:
            with self.layer.parameter_tangent(index) as tangent:
                tangent.fill(0)
        if is_again:
            self.forget()
        return made

    def local_function(self):
        """Returns the function of torch that is equivalent on this rank's block, if there is
        one; not for partial sums, which represent a value only by their sum."""
        (x, *others), (y, *_) = self.inputs, self.outputs
        is_local = self.function is not None and not others and 'P' not in x.layout.properties() and x.layout.box() == y.layout.box()
        return self.function if is_local else None

    def forget(self):
        self.layer.clear_stack()
        self.pending.clear()

    def tell(self):
        """Notifies Tenon of parameters that torch has modified."""
        for held in self.held:
            tensor = held.tensor if isinstance(held.tensor, torch.nn.Parameter) else unwrapped(held.tensor)
            if tensor.data_ptr() != held.address:
                self.refuse_memory()
            if held.is_told and tensor._version != held.version:
                held.version = tensor._version
                with held.slot.array():
                    pass

    def refuse_memory(self):
        raise RuntimeError('the parameters of a layer of Tenon are in its memory and stay there: write them by copy_() or scatter(), '
                           'and choose their type of elements by dtype and their device by the space of the layer')

    def _apply(self, fn, *arguments, **settings):
        """The common part of to(), double(), cuda() and similar functions."""
        with torch.no_grad():
            for tensor in (*self.parameters(), *self.buffers()):
                changed = fn(tensor)
                if changed.data_ptr() != tensor.data_ptr() or changed.dtype != tensor.dtype:
                    self.refuse_memory()
        return self

    def gradient(self, held):
        """Returns the gradient of a parameter, summed over the ranks, in memory of its own. Collective."""
        if held.tensor.is_cuda:
            with self.layer.reduced_gradient(held.index).read() as lent:
                return torch.as_tensor(lent, device='cuda').clone().view(held.tensor.shape)
        contributions = self.layer.parameter_gradient(held.index)
        if held.index not in self.sums:
            known = (each for each in dict.fromkeys(self.sums.values()) if each.is_for(contributions, held.layout))
            self.sums[held.index] = next(known, None) or GradientSum(contributions, held.layout)
        return self.sums[held.index](contributions).view(held.tensor.shape)

    def extra_repr(self) -> str:
        settings = self.shown_settings()
        return f'{settings}{"; " * bool(settings)}{shown(self.input_layouts)} -> {shown(self.output_layouts)}'

    def shown_settings(self) -> str:
        """Returns the type and the given settings of the layer."""
        return ', '.join([self.layer.type(), *self.layer._details(), *[f'depth={self.depth}'] * (self.depth != 1)])

    @property
    def inputs(self) -> list[Port]:
        return self.ports.inputs

    @property
    def outputs(self) -> list[Port]:
        return self.ports.outputs

    @property
    def input_layout(self) -> Layout:
        return self.inputs[0].layout

    @property
    def output_layout(self) -> Layout:
        return self.outputs[0].layout

    @property
    def input_layouts(self) -> list[Layout]:
        return [port.layout for port in self.inputs]

    @property
    def output_layouts(self) -> list[Layout]:
        return [port.layout for port in self.outputs]

    def scatter(self, values: Mapping[str, torch.Tensor], strict: bool = True) -> Any:
        """Sets the parameters and running statistics from whole ones by name, such as those of
        the state_dict() of a module on one process: each rank copies its block. Names are those
        of this module's parameters, or Tenon's, which are PyTorch's in a trained network.
        Missing, unknown and mismatched entries are reported as by load_state_dict()."""
        self.takes_wholes = True
        try:
            return self.load_state_dict(self.in_own_form(values), strict)
        finally:
            self.takes_wholes = False

    def in_own_form(self, state, prefix=''):
        """Returns a state_dict() of whole tensors in the form that this module has them."""
        return state

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Called by torch to load each module of a network; `takes_wholes` selects whole
        tensors."""
        if refuse_assignment(local_metadata, error_msgs):
            return
        if self.takes_wholes:
            state_dict = self.with_own_names(state_dict, prefix)
            take_blocks([(held.name, held) for held in self.held], state_dict, prefix, error_msgs)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def with_own_names(self, state_dict, prefix):
        """Returns the entries under the names of this module, which can have Tenon's instead.
        Counts of batches have no effect in a network from a file."""
        own = {prefix + of_tenon: prefix + name for name, of_tenon in self.names.items() if prefix + name not in state_dict}
        counted = {f'{key.rpartition(".")[0]}.num_batches_tracked' for key in state_dict if key.endswith('.running_mean')}
        return {own.get(key, key): value for key, value in state_dict.items()
                if key not in counted or key.removeprefix(prefix) in self._buffers}

    def held_in(self, prefix=''):
        """Yields the name in the state_dict() and each parameter and buffer that belongs to Tenon;
        a tensor with several names has each of them."""
        return ((prefix + held.name, held) for held in self.held)

    def entries(self, prefix=''):
        """Yields the name, the box of this rank and the values of each tensor, for copies.py."""
        own = dict(self.held_in(prefix))
        for name, tensor in self.state_dict(keep_vars=True, prefix=prefix).items():
            yield name, box_of(own[name].slot) if name in own else None, tensor

    def wholes(self):
        """Returns the state_dict() of the same module on one process."""
        return self.from_tenon(dict(zip((slot._handle for slot in (*self.slots, *self.states)), weights(self.layer).values())))

    def from_tenon(self, found):
        """Returns that state_dict() from Tenon's whole tensors, by their handles."""
        own = dict(self.held_in())
        return {name: torch.from_numpy(found[own[name].slot._handle]).view(own[name].shape) if name in own else tensor.detach().clone()
                for name, tensor in self.state_dict().items()}

    def gather(self) -> dict[str, torch.Tensor]:
        """Returns the whole parameters and running statistics by the names of this module, on
        all ranks. Copies that differ between ranks are an error. Collective."""
        check_copies(list(self.entries()), self.comm)
        return self.wholes()

    def __reduce_ex__(self, protocol: Any) -> Any:
        refuse_pickle(self)

    def remade(self) -> Module:
        """Returns a module with the same settings and layouts, on other memory."""
        raise TypeError('this layer of Tenon cannot be copied, for it is not known how it was made: make another one for the same layout, '
                        'and give it the values, other.load_state_dict(module.state_dict())')

    def __deepcopy__(self, memo: Any) -> Module:
        """A module with the same values, on memory of its own, as copy.deepcopy() and AveragedModel of
        torch need. Collective."""
        other = memo[id(self)] = self.remade()
        other.load_state_dict(self.state_dict())
        for made, parameter in zip(other.parameters(), self.parameters()):
            made.requires_grad_(parameter.requires_grad)
        other.is_repeatable = self.is_repeatable
        return other.train(self.training)
