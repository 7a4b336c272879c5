# SPDX-License-Identifier: BSD-2-Clause
"""Layers as modules of torch.

Tenon works on the memory of the tensors of torch, and torch on that of Tenon's parameters. Tenon
has copies and packed forms of parameters, so it is notified before the next evaluation if torch
has modified a parameter."""
from __future__ import annotations

import ctypes
import math
import weakref
from typing import Any, Callable, Mapping, Sequence

import numpy
import torch

from ..arrays import ACCESS, RESTORE
from ..calls import Layer, Layout
from ..memory import row_major
from ..models import names_of, parameters_of, states_of, weights
from ..runtime import check, pointer, ref
from .copies import check_copies
from .functions import Slot, block, note_use, shown
from .gradients import ApplyLayer, Evaluation


def tensor_on(tensor):
    """Returns the local array of a tensor as a tensor of torch, which references the memory."""
    with tensor.array() as lent:
        return torch.as_tensor(lent, device='cuda') if hasattr(lent, '__cuda_array_interface__') else torch.from_numpy(lent)


def box_of(tensor):
    return tuple(map(tuple, tensor.box()))


def varies(layer):
    """Whether two evaluations of a layer in training differ, or change its state."""
    type = layer.type()
    if type == 'batchnorm':
        return layer.get_text('statistics') == 'batch'
    return type == 'dropout' or type == 'shell' and layer.state_count() > 0 or any(
        varies(layer.child_at(index)) for index in range(layer.child_count()))


class Port:
    """An input or output of a layer: a slot for its values, and one for their cotangent."""

    def __init__(self, layout, type, name):
        self.value, self.cotangent = Slot(layout, type), Slot(layout.dual(), type)
        self.layout, self.type, self.name = layout, type, name
        self.direction: Slot | None = None

    def tangent(self):
        """Returns the slot of directions, for second derivatives."""
        if self.direction is None:
            self.direction = Slot(self.layout, self.type)
        return self.direction


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
        layouts = [layout] if isinstance(layout, Layout) else list(layout)
        layer.set_stack_depth(depth)
        layer.set_up_many(layouts)
        self.inputs, self.outputs = [], []
        for index, each in enumerate(layouts):
            type = layer.create_input_cotangent(index).data_type()
            self.inputs.append(Port(each, type, 'the input' + f' {index}' * (len(layouts) > 1)))
        count = layer.output_count()
        for index in range(count):
            with layer.create_output(index) as y:
                self.outputs.append(Port(y.layout(), y.data_type(), 'the output' + f' {index}' * (count > 1)))
        self.is_repeatable = not varies(layer) if is_repeatable is None else is_repeatable
        self.pending: list[weakref.ref[Evaluation]] = []
        self.slots, self.states = parameters_of(layer), states_of(layer)  # of parameters, and of
                                                                          # buffers
        self.names = names_of(layer, [*self.slots, *self.states])
        for number, (name, tensor) in enumerate(zip(map(self.parameter_name, self.names), (*self.slots, *self.states))):
            if number < len(self.slots):
                self.register_parameter(name, torch.nn.Parameter(tensor_on(tensor)))
            else:
                self.register_buffer(name, tensor_on(tensor))
        self.versions = [parameter._version for parameter in self._parameters.values()]
        self.addresses = [parameter.data_ptr() for parameter in self._parameters.values()]
        self.sums: dict[int, tuple[int, torch.dtype, torch.Size, bool]] = {}
        note_use(self, self.comm)
        self.count_copies()

    def count_copies(self):
        """Sets the number of ranks that have each element of a parameter: see clip_grad_norm_()."""
        parameters, comm = list(self._parameters.values()), self.comm
        counts = comm.allreduce(numpy.array([parameter.numel() for parameter in parameters]))
        for parameter, slot, count in zip(parameters, self.slots, counts):
            parameter.tenon_copies = comm, count / math.prod(slot.layout().shape())
            parameter.tenon_box = box_of(slot)  # see check_step()

    def train(self, mode: bool = True) -> Module:
        super().train(mode)
        self.layer.set_training(mode)
        return self

    @staticmethod
    def parameter_name(name):
        return name.replace('.', '_')

    def forward(self, *inputs: torch.Tensor) -> Any:
        if len(inputs) != len(self.inputs):
            raise TypeError(f'{len(inputs)} inputs are given to a layer that has {len(self.inputs)}')
        for port, x in zip(self.inputs, inputs):
            if not isinstance(x, torch.Tensor):
                port.value.refuse(x, port.name)
        return ApplyLayer.apply(self, *inputs, *self._parameters.values())

    def run(self, inputs, evaluation):
        self.tell()
        self.layer.set_recording(evaluation is not None)
        if evaluation is not None and (len(self.pending) == self.depth or not any(p() for p in self.pending)):
            self.forget()
        given = [port.value.use(x, port.name) for port, x in zip(self.inputs, inputs)]
        made = tuple(port.value.new(inputs[0]) for port in self.outputs)
        self.layer.apply_many(given, [port.value.place(y) for port, y in zip(self.outputs, made)])
        if evaluation is not None:
            evaluation.training = self.training
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
        dx = [port.cotangent.new(dy[0]) if is_wanted else None for port, is_wanted in zip(self.inputs, are_wanted)]
        self.layer.apply_adjoint_many(
            [port.cotangent.use(each, f'the gradient of {port.name}') for port, each in zip(self.outputs, dy)],
            [None if each is None else port.cotangent.place(each) for port, each in zip(self.inputs, dx)])
        return dx, [self.gradient(index) if is_wanted else None for index, is_wanted in enumerate(wanted)]

    def run_tangent(self, evaluation, x, direction):
        """Returns J u at x, for a layer with one input and one output."""
        self.run_again(evaluation, [x])
        made = self.outputs[0].tangent().new(direction)
        self.layer.apply_tangent_many([self.inputs[0].tangent().use(direction, f'the direction of {self.inputs[0].name}')],
                                     [self.outputs[0].tangent().place(made)])
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
        for index, (parameter, slot) in enumerate(zip(self._parameters.values(), self.slots)):
            if parameter.data_ptr() != self.addresses[index]:
                self.refuse_memory()
            if parameter._version != self.versions[index]:
                self.versions[index] = parameter._version
                with slot.array():
                    pass

    def refuse_memory(self):
        raise RuntimeError('the parameters of a layer of Tenon are in its memory and stay there: write them by copy_() or scatter(), '
                           'and choose their type of elements by dtype and their device by the space of the layer')

    def _apply(self, fn, *arguments, **settings):
        """The common part of to(), double(), cuda() and similar functions."""
        with torch.no_grad():
            for tensor in (*self._parameters.values(), *self._buffers.values()):
                changed = fn(tensor)
                if changed.data_ptr() != tensor.data_ptr() or changed.dtype != tensor.dtype:
                    self.refuse_memory()
        return self

    def gradient(self, index):
        """Returns a copy of the gradient of a parameter, summed over the ranks. Its constant
        properties are queried once."""
        tensor = self.layer.reduced_gradient(index)
        if index not in self.sums:
            slot = Slot(tensor.layout(), tensor.data_type(), tensor)
            is_plain = not slot.is_device and (0 in slot.shape or tuple(tensor.strides()) == row_major(slot.shape))
            self.sums[index] = int(tensor.data_type()), slot.dtype, slot.shape, is_plain
        type, dtype, shape, is_plain = self.sums[index]
        if not is_plain:
            with tensor.read() as lent:
                is_device = hasattr(lent, '__cuda_array_interface__')
                return torch.as_tensor(lent, device='cuda').clone() if is_device else torch.from_numpy(lent.copy())
        made, first = torch.empty(shape, dtype=dtype), pointer()
        check(ACCESS[False, True](tensor._handle, type, ref(first)))
        ctypes.memmove(made.data_ptr(), first.value, made.numel() * made.element_size())
        check(RESTORE[True](tensor._handle, ref(first)))
        return made

    def extra_repr(self) -> str:
        return f'{shown(self.input_layouts)} -> {shown(self.output_layouts)}'

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
            return self.load_state_dict(values, strict)
        finally:
            self.takes_wholes = False

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Called by torch to load each module of a network; `takes_wholes` selects whole
        tensors."""
        if not self.takes_wholes:
            super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
            return
        known = {prefix + name for name in self.counts()}
        for (name, tensor), slot, of_tenon in zip(self.tensors(), (*self.slots, *self.states), self.names):
            key = prefix + (name if prefix + name in state_dict else of_tenon)
            if key not in state_dict:
                missing_keys.append(prefix + name)
                continue
            known.add(key)
            given, shape = state_dict[key], tuple(slot.layout().shape())
            if not isinstance(given, torch.Tensor) or tuple(given.shape) != shape:
                found = list(given.shape) if isinstance(given, torch.Tensor) else f'a {type(given).__name__}'
                error_msgs.append(f'size mismatch for {prefix + name}: {found} is given, and the whole parameter of the layer is '
                                  f'{list(shape)}.')
                continue
            with torch.no_grad():
                tensor.copy_(block(slot, given))
        for name, buffer in self.counts().items():
            if prefix + name in state_dict:
                buffer.copy_(state_dict[prefix + name])
        # Counts of batches have no effect in a network from a file.
        known |= {f'{key.rpartition(".")[0]}.num_batches_tracked' for key in known if key.endswith('.running_mean')}
        unexpected_keys += [key for key in state_dict if key.startswith(prefix) and key not in known] if strict else []

    def tensors(self):
        """Returns the parameters, and the buffers that belong to Tenon."""
        return (*self._parameters.items(), *list(self._buffers.items())[:len(self.states)])

    def counts(self):
        """Returns the other buffers, which are equal on all ranks."""
        return dict(list(self._buffers.items())[len(self.states):])

    def entries(self, prefix=''):
        """Yields the name, the box of this rank and the values of each tensor, for copies.py."""
        for (name, tensor), slot in zip(self.tensors(), (*self.slots, *self.states)):
            yield prefix + name, box_of(slot), tensor
        for name, buffer in self.counts().items():
            yield prefix + name, None, buffer

    def wholes(self):
        found = {name: torch.from_numpy(whole) for (name, _), whole in zip(self.tensors(), weights(self.layer).values())}
        return {**found, **{name: buffer.clone() for name, buffer in self.counts().items()}}

    def gather(self) -> dict[str, torch.Tensor]:
        """Returns the whole parameters and running statistics by the names of this module, on
        all ranks. Copies that differ between ranks are an error. Collective."""
        check_copies(list(self.entries()), self.comm)
        return self.wholes()

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError('a layer of Tenon cannot be copied: make another one for the same layout, and give it the values, '
                        'other.load_state_dict(module.state_dict())')


