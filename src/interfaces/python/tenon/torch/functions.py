# SPDX-License-Identifier: BSD-2-Clause
"""Operators and layers as modules of torch.

Tenon runs on the memory of the tensors of torch, and torch on that of Tenon's parameters. What torch has written to a
parameter is told to Tenon before the next evaluation: it keeps copies and packed forms of parameters."""
from __future__ import annotations

import ctypes
import math
import weakref
from typing import Any, Iterable, Iterator, Mapping, Sequence

import numpy
import torch
from mpi4py import MPI
from torch.autograd import forward_ad
from torch.autograd.function import once_differentiable

from ..arrays import place_array, place_array_read, placed, span
from ..calls import DataType, DTensor, Layer, Layout, LinearOp, MemorySpace
from ..memory import memory_of
from ..models import names_of, parameters_of, states_of, weights
from ..runtime import address, check, function, int as c_int, long

apply, apply_adjoint = (function(f'TenonLinearOpApply{which}', c_int, *[address] * 3) for which in ('', 'Adjoint'))
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
        # What new tensors are like, without memory of its own. Those without elements keep the strides of 0 of an expanded one.
        empty = torch.empty(self.shape if 0 in self.shape else (), dtype=self.dtype)
        self.like = None if self.is_device else empty.expand(self.shape)

    def use(self, array, what):
        if array.shape != self.shape or array.dtype != self.dtype or array.is_cuda != self.is_device:
            self.refuse(array, what)
        return self.place(array)

    def place(self, array):
        """Lets the tensor of C use an array of the right form."""
        strides = array.stride()
        form = self.forms.get(strides) or self.form(strides, array)
        where = (array.data_ptr(), strides)
        if where != self.last:
            place, offset, arguments, _ = form
            check(place(self.tensor._handle, where[0] + offset if where[0] else None, *arguments))
            self.last = where
        placed[self.tensor._handle] = array
        return self.tensor

    def form(self, strides, array):
        """How arrays of these strides are placed."""
        memory = memory_of(array)
        if len(self.forms) > 16:
            self.forms.clear()
        lists = [(long * len(strides))(*values) for values in (strides, self.low, self.high)]
        self.forms[strides] = (
            place_array_read if memory.is_constant else place_array,
            sum(width * stride for width, stride in zip(self.low, strides)) * array.element_size(),
            (*map(ctypes.addressof, lists), span(memory)), lists)
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

    def new(self, beside):
        """A new tensor, on the device of another one."""
        return torch.empty_like(self.like) if self.like is not None else beside.new_empty(self.shape, dtype=self.dtype)


class ApplyOperator(torch.autograd.Function):
    """An operator or its adjoint: each is the derivative of the other's gradient."""

    @staticmethod
    def forward(ctx, x, operator, is_adjoint):
        ctx.operator, ctx.is_adjoint = operator, is_adjoint
        return operator.run(x, is_adjoint)

    @staticmethod
    def backward(ctx, dy):
        return ApplyOperator.apply(dy, ctx.operator, not ctx.is_adjoint), None, None

    @staticmethod
    def jvp(ctx, dx, operator, is_adjoint):
        return ctx.operator.run(dx, ctx.is_adjoint)


def shown(layouts):
    return ', '.join(' '.join(layout._details()) for layout in layouts)


HOOKS = ('_forward_hooks', '_forward_pre_hooks', '_backward_hooks', '_backward_pre_hooks')


class Operator(torch.nn.Module):
    """A linear operator of Tenon: y = op(x), whose gradient is its adjoint."""

    def __init__(self, op: LinearOp) -> None:
        super().__init__()
        domain_type, range_type = op.data_types()
        domain, target = op.domain(), op.range()
        self.op = op
        self.x, self.y = Slot(domain, domain_type), Slot(target, range_type)
        self.dx, self.dy = Slot(domain.dual(), domain_type), Slot(target.dual(), range_type)
        self.hooks = [getattr(self, name) for name in HOOKS if hasattr(self, name)]
        self.routes = ((apply, self.x, 'the input', self.y), (apply_adjoint, self.dy, 'the gradient of the output', self.dx))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return super().__call__(x) if any(self.hooks) else self.forward(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not x.requires_grad and forward_ad._current_level < 0:
            return self.run(x)  # torch's own bookkeeping takes as long as an exchange
        return ApplyOperator.apply(x, self, False)

    def run(self, given, is_adjoint=False):
        call, source, name, target = self.routes[is_adjoint]
        x = source.use(given, name)
        made = target.new(given)
        code = call(self.op._handle, x._handle, target.place(made)._handle)
        if code:
            check(code)
        return made

    def extra_repr(self) -> str:
        return f'{shown([self.x.layout])} -> {shown([self.y.layout])}'

    @property
    def input_layout(self) -> Layout:
        return self.x.layout

    @property
    def output_layout(self) -> Layout:
        return self.y.layout


def data_type_of(dtype: torch.dtype | None) -> DataType:
    return DataType(DTYPES.index(dtype if dtype is not None else torch.get_default_dtype()))


def halo_exchange(from_: Layout, to: Layout, dtype: torch.dtype | None = None) -> Operator:
    """The exchange that fills the halo of the layout `to`: LinearOp.halo()."""
    return Operator(LinearOp.halo(from_, to, data_type_of(dtype)))


def repartition(from_: Layout, to: Layout, dtype: torch.dtype | None = None) -> Operator:
    """The conversion between two layouts: LinearOp.conversion()."""
    return Operator(LinearOp.conversion(from_, to, data_type_of(dtype)))


def primitive(name, layout, axis, dim, dtype):
    return Operator(LinearOp.primitive(layout, name, axis, dim, data_type_of(dtype)))


def broadcast(layout: Layout, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """A copy of the root's tensor on each rank along an axis of the process grid: LinearOp.primitive()."""
    return primitive('broadcast', layout, axis, -1, dtype)


def sum_reduce(layout: Layout, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """The sum along an axis of the process grid, on the root."""
    return primitive('sumreduce', layout, axis, -1, dtype)


def allreduce(layout: Layout, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """The sum along an axis of the process grid, on all its ranks."""
    return primitive('allreduce', layout, axis, -1, dtype)


def scatter(layout: Layout, dim: int, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """The blocks of the root's tensor in dimension `dim`."""
    return primitive('scatter', layout, axis, dim, dtype)


def gather(layout: Layout, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """All blocks along an axis, on the root."""
    return primitive('gather', layout, axis, -1, dtype)


def allgather(layout: Layout, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """All blocks along an axis, on all its ranks."""
    return primitive('allgather', layout, axis, -1, dtype)


def reducescatter(layout: Layout, dim: int, axis: int = 0, dtype: torch.dtype | None = None) -> Operator:
    """The blocks of the sum along an axis in dimension `dim`."""
    return primitive('reducescatter', layout, axis, dim, dtype)


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, comm):
        return torch.from_numpy(numpy.asarray(comm.allreduce(value.detach().cpu().numpy()))).to(value)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def total(value: torch.Tensor, comm: MPI.Comm | None = None) -> torch.Tensor:
    """The sum over the ranks of what each has computed of its block, such as its part of a loss: the same on all ranks, where each
    rank's gradient is that of its own part. All ranks then call backward(). Collective."""
    return Total.apply(value, comm if comm is not None else MPI.COMM_WORLD)


class Evaluation:
    """One evaluation of a layer, of which torch may want the gradient."""
    __slots__ = ('__weakref__', 'training')


class ApplyLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, module, *given):
        ctx.module, ctx.evaluation = module, Evaluation()
        ctx.save_for_backward(*given)  # inputs and parameters
        made = module.run(given[:len(module.inputs)], ctx.evaluation if any(ctx.needs_input_grad) else None)
        return made if len(made) > 1 else made[0]

    @staticmethod
    @once_differentiable
    def backward(ctx, *dy):
        count = len(ctx.module.inputs)
        inputs = ctx.saved_tensors[:count]  # torch checks that nothing has been written to them since
        wanted = ctx.needs_input_grad[1:]
        dx, gradients = ctx.module.run_adjoint(ctx.evaluation, inputs, dy, wanted[:count], wanted[count:])
        return None, *dx, *gradients


def tensor_on(tensor):
    """The local array of a tensor as one of torch, which keeps the memory."""
    with tensor.array() as lent:
        return torch.as_tensor(lent, device='cuda') if hasattr(lent, '__cuda_array_interface__') else torch.from_numpy(lent)


def varies(layer):
    """Whether two evaluations of a layer in training differ, or change what it carries."""
    type = layer.type()
    if type == 'batchnorm':
        return layer.get_text('statistics') == 'batch'
    return type == 'dropout' or type == 'shell' and layer.state_count() > 0 or any(
        varies(layer.child_at(index)) for index in range(layer.child_count()))


class Port:
    """An input or output of a layer: a slot for its values, and one for their cotangent."""

    def __init__(self, layout, type, name):
        self.value, self.cotangent = Slot(layout, type), Slot(layout.dual(), type)
        self.layout, self.name = layout, name


class Module(torch.nn.Module):
    """A layer or network of Tenon with a layout of its input, or a list of one layout for each input, which sets it up:
    y = module(x), module(x0, x1, ...). A graph with several outputs returns a tuple. Parameters are this rank's blocks of
    Tenon's parameters, in place, so that optimizers of torch update them; a dot in their names is an underscore.

    Tenon keeps the last `depth` evaluations for their gradients. Others are evaluated again in the backward pass; layers whose
    evaluations in training differ (dropout, batch normalisation) need a depth of as many evaluations as wait for their gradients.
    `is_repeatable` says that of layers whose functions are the program's own.

    train() and eval() do what they do in torch, and gradients flow in both. Running statistics are buffers, in place too."""

    def __init__(self, layer: Layer, layout: Layout | Sequence[Layout], depth: int = 1, is_repeatable: bool | None = None) -> None:
        super().__init__()
        self.layer, self.depth = layer, depth
        layouts = [layout] if isinstance(layout, Layout) else list(layout)
        layer.set_stack_depth(depth)
        layer.set_up_many(layouts)
        self.inputs, self.outputs = [], []
        for index, each in enumerate(layouts):
            type = layer.create_input_cotangent_at(index).data_type()
            self.inputs.append(Port(each, type, 'the input' + f' {index}' * (len(layouts) > 1)))
        count = layer.output_count()
        for index in range(count):
            with layer.create_output_at(index) as y:
                self.outputs.append(Port(y.layout(), y.data_type(), 'the output' + f' {index}' * (count > 1)))
        self.is_repeatable = not varies(layer) if is_repeatable is None else is_repeatable
        self.pending: list[weakref.ref[Evaluation]] = []
        self.slots, self.states = parameters_of(layer), states_of(layer)  # of parameters, and of buffers
        self.names = names_of(layer, [*self.slots, *self.states])
        for number, (name, tensor) in enumerate(zip(map(self.parameter_name, self.names), (*self.slots, *self.states))):
            if number < len(self.slots):
                self.register_parameter(name, torch.nn.Parameter(tensor_on(tensor)))
            else:
                self.register_buffer(name, tensor_on(tensor))
        self.versions = [parameter._version for parameter in self._parameters.values()]
        self.addresses = [parameter.data_ptr() for parameter in self._parameters.values()]
        self.count_copies()

    def count_copies(self):
        """Says of each parameter on how many ranks each of its elements lies: see clip_grad_norm_()."""
        parameters, comm = list(self._parameters.values()), self.layer.comm()
        counts = comm.allreduce(numpy.array([parameter.numel() for parameter in parameters]))
        for parameter, slot, count in zip(parameters, self.slots, counts):
            parameter.tenon_copies = comm, count / math.prod(slot.layout().shape())

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
        return ApplyLayer.apply(self, *inputs, *self._parameters.values())

    def run(self, inputs, evaluation):
        self.tell()
        self.layer.set_recording(evaluation is not None)
        if evaluation is not None and (len(self.pending) == self.depth or not any(p() for p in self.pending)):
            self.forget()
        given = [port.value.use(x, port.name) for port, x in zip(self.inputs, inputs)]
        made = tuple(port.value.new(inputs[0]) for port in self.outputs)
        self.layer.apply_all(given, [port.value.place(y) for port, y in zip(self.outputs, made)])
        if evaluation is not None:
            evaluation.training = self.training
            self.pending.append(weakref.ref(evaluation))
        return made

    def run_again(self, evaluation, inputs):
        """As it ran, whatever has been said since."""
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
        self.layer.apply_adjoint_all(
            [port.cotangent.use(each, f'the gradient of {port.name}') for port, each in zip(self.outputs, dy)],
            [None if each is None else port.cotangent.place(each) for port, each in zip(self.inputs, dx)])
        return dx, [self.gradient(index) if is_wanted else None for index, is_wanted in enumerate(wanted)]

    def forget(self):
        self.layer.clear_stack()
        self.pending.clear()

    def tell(self):
        """Tells Tenon of parameters that torch has written."""
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
        """What to(), double(), cuda() and others are made of."""
        with torch.no_grad():
            for tensor in (*self._parameters.values(), *self._buffers.values()):
                changed = fn(tensor)
                if changed.data_ptr() != tensor.data_ptr() or changed.dtype != tensor.dtype:
                    self.refuse_memory()
        return self

    def gradient(self, index):
        with self.layer.reduced_gradient(index).read() as lent:
            if hasattr(lent, '__cuda_array_interface__'):
                return torch.as_tensor(lent, device='cuda').clone()
            return torch.from_numpy(lent.copy())

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

    def scatter(self, values: Mapping[str, torch.Tensor]) -> None:
        """Sets the parameters and running statistics from whole ones by name, as of the state_dict() of a module on one process:
        each rank takes its block. Names are those of this module's parameters, or Tenon's, which are PyTorch's in a trained
        network."""
        with torch.no_grad():
            for (name, tensor), slot, of_tenon in zip(self.tensors(), (*self.slots, *self.states), self.names):
                whole = values[name] if name in values else values[of_tenon]
                tensor.copy_(block(slot, whole))
            for name, buffer in self.counts().items():
                if name in values:
                    buffer.copy_(values[name])

    def tensors(self):
        """Parameters, and the buffers that Tenon has."""
        return (*self._parameters.items(), *list(self._buffers.items())[:len(self.states)])

    def counts(self):
        """The other buffers, which are the same on all ranks."""
        return dict(list(self._buffers.items())[len(self.states):])

    def gather(self) -> dict[str, torch.Tensor]:
        """The whole parameters and running statistics by the names of this module's, on all ranks. Collective."""
        wholes = weights(self.layer).values()
        found = {name: torch.from_numpy(whole) for (name, _), whole in zip(self.tensors(), wholes)}
        return {**found, **{name: buffer.clone() for name, buffer in self.counts().items()}}

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError('a layer of Tenon cannot be copied: make another one for the same layout, and give it the values, '
                        'other.load_state_dict(module.state_dict())')


def modules_of(network: torch.nn.Module) -> Iterator[tuple[str, Module]]:
    """The modules of Tenon in a network, with the beginnings of their parameters' names."""
    return ((f'{name}.' if name else '', module) for name, module in network.named_modules() if isinstance(module, Module))


def scatter_state_dict(network: torch.nn.Module, state: Mapping[str, torch.Tensor]) -> None:
    """Sets the parameters of all layers of Tenon in a network from the state_dict() of the same network on one process, whose
    modules have the same names: each rank takes its blocks."""
    for begin, module in modules_of(network):
        module.scatter({name.removeprefix(begin): value for name, value in state.items() if name.startswith(begin)})


def gather_state_dict(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The whole parameters of all layers of Tenon in a network, on all ranks, for load_state_dict() of the same network on one
    process. Collective."""
    return {begin + name: whole for begin, module in modules_of(network) for name, whole in module.gather().items()}


def clip_grad_norm_(parameters: torch.Tensor | Iterable[torch.Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False) -> torch.Tensor:
    """torch.nn.utils.clip_grad_norm_() over the whole parameters: each element counts once, whichever ranks have it. Parameters of
    other modules than Tenon's are taken to be the same on all ranks. Returns the norm before. Collective."""
    given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    found = [parameter for parameter in given if parameter.grad is not None]
    known = [parameter.tenon_copies for parameter in given if hasattr(parameter, 'tenon_copies')]
    if not known:
        return torch.nn.utils.clip_grad_norm_(found, max_norm, norm_type, error_if_nonfinite)
    comm = known[0][0]
    norms = [float(torch.linalg.vector_norm(parameter.grad, norm_type)) if parameter.grad.numel() else 0.0 for parameter in found]
    if norm_type == math.inf:
        total = comm.allreduce(max(norms, default=0.0), MPI.MAX)
    else:
        copies = [getattr(parameter, 'tenon_copies', (comm, comm.size))[1] for parameter in found]
        total = comm.allreduce(sum(norm ** norm_type / count for norm, count in zip(norms, copies))) ** (1 / norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(f'the norm of order {norm_type} of the gradients is {total}, so that it cannot be clipped')
    factor = max_norm / (total + 1e-6)
    with torch.no_grad():
        for parameter in found:
            parameter.grad.mul_(min(1.0, factor))
    return torch.tensor(total)


def block(of: Layout | DTensor, whole: torch.Tensor) -> torch.Tensor:
    """This rank's block of a whole tensor, halo included, as a view."""
    low, high = of.box()
    return whole[tuple(slice(l, h) for l, h in zip(low, high))]
