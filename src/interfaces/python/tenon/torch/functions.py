# SPDX-License-Identifier: BSD-2-Clause
"""Operators and layers as modules of torch.

Tenon runs on the memory of the tensors of torch, and torch on that of Tenon's parameters. What torch has written to a
parameter is told to Tenon before the next evaluation: it keeps copies and packed forms of parameters."""
import weakref

import torch
from torch.autograd import forward_ad
from torch.autograd.function import once_differentiable

from ..arrays import memory_of, place_array, place_array_read, placed, span
from ..calls import DataType, DTensor, LinearOp, MemorySpace, _TenonLinearOpApply, _TenonLinearOpApplyAdjoint
from ..runtime import check, long

DTYPES = (torch.float32, torch.float64, torch.int64)


class Slot:
    """One distributed tensor, whose memory is that of one tensor of torch after the other. Arguments of C are made once for
    each form of the array: this is done at each call of an operator."""

    def __init__(self, layout, type, tensor=None):
        self.layout, self.dtype = layout, DTYPES[type]
        self.tensor = DTensor(layout, type) if tensor is None else tensor
        self.is_device = self.tensor.space() == MemorySpace.DEVICE
        low, high = layout.box()
        owned_low, owned_high = layout.owned_box()
        self.shape = torch.Size(h - l for l, h in zip(low, high))
        self.low = [o - l for o, l in zip(owned_low, low)]
        self.high = [h - o for o, h in zip(owned_high, high)]
        self.forms, self.last = {}, None

    def use(self, array, what):
        if array.shape != self.shape or array.dtype != self.dtype or array.is_cuda != self.is_device:
            self.refuse(array, what)
        strides = array.stride()
        form = self.forms.get(strides) or self.form(strides, array)
        where = (array.data_ptr(), strides)
        if where != self.last:
            place, offset, arguments = form
            check(place(self.tensor._handle, where[0] + offset if where[0] else None, *arguments))
            self.last = where
        placed[self.tensor._handle] = array
        return self.tensor

    def form(self, strides, array):
        """How arrays of these strides are placed."""
        memory = memory_of(array)
        count = len(strides)
        if len(self.forms) > 16:
            self.forms.clear()
        self.forms[strides] = (
            place_array_read if memory.is_constant else place_array,
            sum(width * stride for width, stride in zip(self.low, strides)) * array.element_size(),
            ((long * count)(*strides), (long * count)(*self.low), (long * count)(*self.high), span(memory)))
        return self.forms[strides]

    def refuse(self, array, what):
        for d, (found, wanted) in enumerate(zip(array.shape, self.shape)):
            if found != wanted and array.dim() == len(self.shape):
                raise ValueError(f'{what} has {found} elements in dimension {d}, and the layout {self.layout.properties()} of '
                                 f'{self.layout.shape()} has {wanted} on this rank')
        if array.dim() != len(self.shape):
            raise ValueError(f'{what} has {array.dim()} dimensions, and its layout {len(self.shape)}')
        if array.dtype != self.dtype:
            raise ValueError(f'{what} is of {array.dtype}, and {self.dtype} is expected')
        raise ValueError(f'{what} is on {array.device}, and the tensors of this operator or layer are on '
                         f'{"the device" if self.is_device else "the host"}')

    def new(self, like):
        return like.new_empty(self.shape, dtype=self.dtype) if like.dtype != self.dtype else like.new_empty(self.shape)


class ApplyOperator(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, operator):
        ctx.operator = operator
        return operator.run(x)

    @staticmethod
    def backward(ctx, dy):
        return ApplyAdjoint.apply(dy, ctx.operator), None

    @staticmethod
    def jvp(ctx, dx, operator):
        return ctx.operator.run(dx)


class ApplyAdjoint(torch.autograd.Function):
    """The adjoint, whose derivative is the operator."""

    @staticmethod
    def forward(ctx, dy, operator):
        ctx.operator = operator
        return operator.run_adjoint(dy)

    @staticmethod
    def backward(ctx, dx):
        return ApplyOperator.apply(dx, ctx.operator), None

    @staticmethod
    def jvp(ctx, dy, operator):
        return ctx.operator.run_adjoint(dy)


class Operator(torch.nn.Module):
    """A linear operator of Tenon: y = op(x), whose gradient is its adjoint."""

    def __init__(self, op):
        super().__init__()
        domain_type, range_type = op.data_types()
        domain, target = op.domain(), op.range()
        self.op = op
        self.x, self.y = Slot(domain, domain_type), Slot(target, range_type)
        self.dx, self.dy = Slot(domain.dual(), domain_type), Slot(target.dual(), range_type)

    def __call__(self, x):
        if self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks:
            return super().__call__(x)
        return self.forward(x)

    def forward(self, x):
        if not x.requires_grad and forward_ad._current_level < 0:
            return self.run(x)  # torch's own bookkeeping takes as long as an exchange
        return ApplyOperator.apply(x, self)

    def run(self, x):
        y = self.y.new(x)
        check(_TenonLinearOpApply(self.op._handle, self.x.use(x, 'the input')._handle, self.y.use(y, 'the output')._handle))
        return y

    def run_adjoint(self, dy):
        dx = self.dx.new(dy)
        check(_TenonLinearOpApplyAdjoint(self.op._handle, self.dy.use(dy, 'the gradient of the output')._handle,
                                         self.dx.use(dx, 'the gradient of the input')._handle))
        return dx

    @property
    def input_layout(self):
        return self.x.layout

    @property
    def output_layout(self):
        return self.y.layout


def data_type_of(dtype):
    return DataType(DTYPES.index(dtype if dtype is not None else torch.get_default_dtype()))


def halo_exchange(from_, to, dtype=None):
    """The exchange that fills the halo of the layout `to`: LinearOp.halo()."""
    return Operator(LinearOp.halo(from_, to, data_type_of(dtype)))


def repartition(from_, to, dtype=None):
    """The conversion between two layouts: LinearOp.conversion()."""
    return Operator(LinearOp.conversion(from_, to, data_type_of(dtype)))


def primitive(name, layout, axis, dim, dtype):
    return Operator(LinearOp.primitive(layout, name, axis, dim, data_type_of(dtype)))


def broadcast(layout, axis=0, dtype=None):
    """A copy of the root's tensor on each rank along an axis of the process grid: LinearOp.primitive()."""
    return primitive('broadcast', layout, axis, -1, dtype)


def sum_reduce(layout, axis=0, dtype=None):
    """The sum along an axis of the process grid, on the root."""
    return primitive('sumreduce', layout, axis, -1, dtype)


def allreduce(layout, axis=0, dtype=None):
    """The sum along an axis of the process grid, on all its ranks."""
    return primitive('allreduce', layout, axis, -1, dtype)


def scatter(layout, dim, axis=0, dtype=None):
    """The blocks of the root's tensor in dimension `dim`."""
    return primitive('scatter', layout, axis, dim, dtype)


def gather(layout, axis=0, dtype=None):
    """All blocks along an axis, on the root."""
    return primitive('gather', layout, axis, -1, dtype)


def allgather(layout, axis=0, dtype=None):
    """All blocks along an axis, on all its ranks."""
    return primitive('allgather', layout, axis, -1, dtype)


def reducescatter(layout, dim, axis=0, dtype=None):
    """The blocks of the sum along an axis in dimension `dim`."""
    return primitive('reducescatter', layout, axis, dim, dtype)


class Evaluation:
    """One evaluation of a layer, of which torch may want the gradient."""
    __slots__ = ('__weakref__',)


class ApplyLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, module, x, *parameters):
        ctx.module, ctx.evaluation = module, Evaluation()
        ctx.save_for_backward(x, *parameters)
        ctx.is_recorded = any(ctx.needs_input_grad)
        return module.run(x, ctx.evaluation if ctx.is_recorded else None)

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        x, *_ = ctx.saved_tensors  # torch checks that nothing has been written to them since
        dx, gradients = ctx.module.run_adjoint(ctx.evaluation, x, dy, ctx.needs_input_grad[1], ctx.needs_input_grad[2:])
        return None, dx, *gradients


class Module(torch.nn.Module):
    """A layer or network of Tenon with a layout of its input, which sets it up: y = module(x). Parameters are this rank's
    blocks of Tenon's parameters, in place, so that optimizers of torch update them; a dot in their names is an underscore.

    Tenon keeps the last `depth` evaluations for their gradients. Others are evaluated again in the backward pass; layers whose
    evaluations differ, such as dropout in training, need a depth of as many evaluations as wait for their gradients.
    Where gradients are recorded, layers run in Tenon's training mode, otherwise not."""

    def __init__(self, layer, layout, depth=1, is_repeatable=True):
        super().__init__()
        self.layer, self.depth, self.is_repeatable = layer, depth, is_repeatable
        layer.set_stack_depth(depth)
        layer.set_up(layout)
        self.x, y = Slot(layout, self.data_type()), layer.create_output()
        self.y = Slot(y.layout(), y.data_type())
        self.dx = Slot(layout.dual(), y.data_type())
        self.dy = Slot(y.layout().dual(), y.data_type())
        self.pending, self.slots, self.versions = [], [], []
        for index in range(layer.parameter_count()):
            self.add(index, layer.parameter(index))

    def data_type(self):
        text = self.layer.get_text('data_type')
        return DataType[text.upper()]

    def add(self, index, parameter):
        with parameter.array() as lent:  # torch's tensor keeps the memory
            tensor = torch.as_tensor(lent, device='cuda') if hasattr(lent, '__cuda_array_interface__') else torch.from_numpy(lent)
        name = self.parameter_name(parameter.name())
        self.register_parameter(name, torch.nn.Parameter(tensor))
        self.slots.append(parameter)
        self.versions.append(self._parameters[name]._version)

    @staticmethod
    def parameter_name(name):
        return name.replace('.', '_')

    def forward(self, x):
        return ApplyLayer.apply(self, x, *self._parameters.values())

    def run(self, x, evaluation):
        self.tell()
        self.layer.set_training(evaluation is not None)
        y = self.y.new(x)
        if evaluation is not None and (len(self.pending) == self.depth or not any(p() for p in self.pending)):
            self.forget()
        self.layer.apply(self.x.use(x, 'the input'), self.y.use(y, 'the output'))
        if evaluation is not None:
            self.pending.append(weakref.ref(evaluation))
        return y

    def run_adjoint(self, evaluation, x, dy, is_wanted, wanted):
        if not self.pending or self.pending[-1]() is not evaluation:
            if not self.is_repeatable:
                raise RuntimeError('this evaluation is no longer kept, and another one would differ: give the module a greater depth, '
                                   'and let the backward pass run in reverse order of the evaluations')
            self.forget()
            self.run(x, evaluation)
        self.pending.pop()
        self.layer.zero_gradients()
        dx = self.dx.new(dy) if is_wanted else None
        self.layer.apply_adjoint(self.dy.use(dy, 'the gradient of the output'),
                                 self.dx.use(dx, 'the gradient of the input') if is_wanted else None)
        gradients = []
        for index, is_needed in enumerate(wanted):
            gradients.append(self.gradient(index) if is_needed else None)
        return dx, gradients

    def forget(self):
        self.layer.clear_stack()
        self.pending.clear()

    def tell(self):
        """Tells Tenon of parameters that torch has written."""
        for index, (parameter, slot) in enumerate(zip(self._parameters.values(), self.slots)):
            if parameter._version != self.versions[index]:
                self.versions[index] = parameter._version
                with slot.array():
                    pass

    def gradient(self, index):
        with self.layer.reduced_gradient(index).read() as lent:
            if hasattr(lent, '__cuda_array_interface__'):
                return torch.as_tensor(lent, device='cuda').clone()
            return torch.from_numpy(lent.copy())

    @property
    def input_layout(self):
        return self.x.layout

    @property
    def output_layout(self):
        return self.y.layout

    def scatter(self, values):
        """Sets the parameters from full ones by name, as of the state_dict() of a module on one process: each rank takes its
        block."""
        with torch.no_grad():
            for (name, parameter), slot in zip(self._parameters.items(), self.slots):
                low, high = slot.box()
                parameter.copy_(values[name][tuple(slice(l, h) for l, h in zip(low, high))])
