# SPDX-License-Identifier: BSD-2-Clause
"""The inputs and outputs of a layer, and the parameters and buffers of torch on its memory."""
from __future__ import annotations

import torch

from ..calls import LinearOp
from ..runtime import check
from .functions import Slot, apply, block


def tensor_on(tensor):
    """Returns the local array of a tensor as a tensor of torch, which references the memory."""
    with tensor.array() as lent:
        return torch.as_tensor(lent, device='cuda') if hasattr(lent, '__cuda_array_interface__') else torch.from_numpy(lent)


def box_of(tensor):
    return tuple(map(tuple, tensor.box()))


def take_blocks(held, state_dict, prefix, error_msgs):
    """Replaces whole tensors in a state_dict() by this rank's blocks."""
    for name, each in held:
        key = prefix + name
        if key not in state_dict:
            continue
        given = state_dict[key]
        if isinstance(given, torch.Tensor) and tuple(given.shape) == each.shape:
            state_dict[key] = each.block(given)
            continue
        found = list(given.shape) if isinstance(given, torch.Tensor) else f'a {type(given).__name__}'
        error_msgs.append(f'size mismatch for {key}: {found} is given, and the whole parameter of the layer is {list(each.shape)}.')
        state_dict[key] = each.tensor.detach()


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


class Ports:
    """The inputs and outputs of a layer for one set-up."""

    def __init__(self, layer, layouts):
        layer.set_up_many(layouts)
        self.inputs, self.outputs = [], []
        for index, layout in enumerate(layouts):
            type = layer.create_input_cotangent(index).data_type()
            self.inputs.append(Port(layout, type, 'the input' + f' {index}' * (len(layouts) > 1)))
        count = layer.output_count()
        for index in range(count):
            with layer.create_output(index) as y:
                self.outputs.append(Port(y.layout(), y.data_type(), 'the output' + f' {index}' * (count > 1)))
        self.shapes = [port.value.shape for port in self.inputs]


class GradientSum:
    """The sum of gradients over the ranks, from Tenon's contributions into a new tensor of torch: Tenon has no array of
    its own for the result, of which torch would then have a copy. Parameters of one layout share it, with its buffers."""

    def __init__(self, contributions, layout):
        self.type = contributions.data_type()
        self.sum = LinearOp.conversion(contributions.layout(), layout, self.type)
        self.target = Slot(layout, self.type)

    def is_for(self, contributions, layout):
        return self.type == contributions.data_type() and self.target.layout.is_equal(layout)

    def __call__(self, contributions):
        made = self.target.new(None)
        check(apply(self.sum._handle, contributions._handle, self.target.place(made)._handle))
        self.target.release()
        return made


class Held:
    """A parameter or buffer of torch on the memory of a parameter or state of Tenon, which has the
    number `index` among those of the layer. `where` is the dictionary in which torch has it."""

    def __init__(self, module, name, slot, index, tensor, is_parameter, shape=None):
        self.name, self.slot, self.index, self.is_parameter = name, slot, index, is_parameter
        self.layout = slot.layout()
        self.shape = tuple(shape if shape is not None else self.layout.shape())  # of the whole
        self.where = module._parameters if is_parameter else module._buffers
        self.where[name] = torch.nn.Parameter(tensor) if is_parameter else tensor  # whatever attributes the module has
        self.version, self.address, self.is_told = self.tensor._version, self.tensor.data_ptr(), False

    @property
    def tensor(self):
        if self.name not in self.where:
            kind = 'parameter' if self.is_parameter else 'buffer'
            raise RuntimeError(f'Tenon has the {kind} {self.name}, and the module no longer has it under this name, as after '
                               'weight_norm or another parametrization: apply that to the module of torch before distribute()')
        return self.where[self.name]

    def block(self, whole):
        """Returns this rank's block of a whole tensor."""
        return block(self.slot, whole.reshape(self.layout.shape())).reshape(self.tensor.shape)
