# SPDX-License-Identifier: BSD-2-Clause
"""Operators as modules of torch, on whose tensors Tenon works in place."""
from __future__ import annotations

import ctypes
import gc
import math
import weakref
from typing import Any

import torch
from mpi4py import MPI
from torch.autograd import forward_ad

from ..arrays import place_array, place_array_read, placed, span
from ..calls import DataType, DTensor, Layout, LinearOp, MemorySpace
from ..memory import memory_of
from ..runtime import address, check, function, int as c_int, long, to_communicator
from .copies import check_equal, on_all

apply, apply_adjoint = (function(f'TenonLinearOpApply{which}', c_int, *[address] * 3) for which in ('', 'Adjoint'))
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32)
# The object that owns the memory of a tensor of torch, without its graph: the graph would reference
# the module, and the module the placed array.
memory_held = getattr(torch.Tensor, 'untyped_storage', torch.Tensor.detach)


def check_tensor(array, what):
    if isinstance(array, torch.Tensor):
        return
    made = 'torch.from_numpy(x.numpy())' if isinstance(array, DTensor) else 'torch.from_numpy(x)'
    is_array = isinstance(array, DTensor) or type(array).__module__ == 'numpy'
    raise TypeError(f'{what} is of type {type(array).__module__}.{type(array).__name__}, and a tensor of torch is expected' +
                    f': {made} makes one' * is_array)


class Slot:
    """One distributed tensor that uses the memory of one tensor of torch after the other. The C
    arguments are prepared once for each form of the array, since an array is placed at each call
    of an operator."""

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
        # A template of new tensors, without memory. Those without elements have the strides of 0 of
        # an expanded one.
        empty = torch.empty(self.shape if 0 in self.shape else (), dtype=self.dtype)
        self.like = None if self.is_device else empty.expand(self.shape)

    def use(self, array, what):
        if array.shape != self.shape or array.dtype != self.dtype or array.is_cuda != self.is_device:
            self.refuse(array, what)
        return self.place(array)

    def place(self, array):
        """Lets the C tensor use an array of the right form."""
        strides = array.stride()
        form = self.forms.get(strides) or self.form(strides, array)
        where = (array.data_ptr(), strides)
        if where != self.last:
            place, offset, arguments, _ = form
            check(place(self.tensor._handle, where[0] + offset if where[0] else None, *arguments))
            self.last = where
        placed[self.tensor._handle] = memory_held(array)
        return self.tensor

    def release(self):
        """Ends the use of the last array, which would otherwise exist until the next one."""
        self.tensor.reset_array()
        self.last = None

    def form(self, strides, array):
        """Prepares the placement of arrays with these strides."""
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
        check_tensor(array, what)
        if list(array.shape) == self.layout.shape() and array.shape != self.shape:
            raise ValueError(f'{what} is a whole tensor of {list(array.shape)}, and this rank\'s block has {list(self.shape)}: '
                             f'tenon.torch.block(layout, x) is the block in the layout {self.layout.properties()}')
        for d, (found, wanted) in enumerate(zip(array.shape, self.shape)):
            if found != wanted and array.dim() == len(self.shape):
                raise ValueError(f'{what} has {found} elements in dimension {d}, and the layout {self.layout.properties()} of '
                                 f'{self.layout.shape()} has {wanted} on this rank')
        if array.dim() != len(self.shape):
            raise ValueError(f'{what} has {array.dim()} dimensions, and its layout {len(self.shape)}')
        if array.dtype != self.dtype:
            advice = (': Tenon computes in float32 and float64, so the range of torch.autocast ends before it, by x.to(...)'
                      if array.dtype in (torch.bfloat16, torch.float16) else f': x.to({self.dtype}) converts it')
            raise ValueError(f'{what} is of {array.dtype}, and {self.dtype} is expected{advice}')
        raise ValueError(f'{what} is on {array.device}, and the tensors of this operator or layer are on '
                         f'{"the device" if self.is_device else "the host"}')

    def new(self, beside):
        """Returns a new tensor, on the device of another one."""
        return torch.empty_like(self.like) if self.like is not None else beside.new_empty(self.shape, dtype=self.dtype)


# Whether a transform of torch.func is active, whose tensors have no memory of their own.
is_transforming = getattr(torch._C, '_are_functorch_transforms_active', lambda: False)


def is_forward():
    """Whether torch can ask for tangents."""
    return forward_ad._current_level >= 0 or is_transforming()


def unwrapped(tensor):
    """Returns the tensor with memory within those of torch.func."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def also_direct(function):
    """Adds the form of a function, `direct`, that has no setup_context(): for one that has, as
    torch.func needs it, torch reads the signature of forward() at each call."""
    def forward(ctx, *given):
        made = function.forward(*given)
        function.setup_context(ctx, given, made)
        return made
    function.direct = type(function.__name__, (function,), {
        'forward': staticmethod(forward), 'setup_context': staticmethod(getattr(torch.autograd.Function, 'setup_context', None))})
    return function


def call(function, *given):
    """Evaluates a function, within transforms of torch.func too. One within another is refused: in
    forward mode torch would lose the outer derivative of functions like these."""
    if not is_transforming():
        return function.direct.apply(*given)
    if torch._C._functorch.current_level() > 1:
        raise RuntimeError('a transform of torch.func within another one cannot pass through layers and operators of Tenon, whose second '
                           'derivatives are those of torch.autograd.grad(..., create_graph=True)')
    return function.apply(*given)


def refuse_vmap(what):
    raise RuntimeError(f'torch.vmap, and jacrev, jacfwd and hessian of torch.func, which use it, cannot pass through {what}: a layout has '
                       'all dimensions of its tensor, so give all samples at once, or call torch.func.vjp and jvp in a loop')


@also_direct
class ApplyOperator(torch.autograd.Function):
    """An operator or its adjoint: each is the derivative of the other's gradient."""

    @staticmethod
    def forward(x, operator, is_adjoint):
        return operator.run(x, is_adjoint)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.operator, ctx.is_adjoint = inputs

    @staticmethod
    def backward(ctx, dy):
        return call(ApplyOperator, dy, ctx.operator, not ctx.is_adjoint), None, None

    @staticmethod
    def jvp(ctx, dx, operator, is_adjoint):
        return call(ApplyOperator, dx, ctx.operator, ctx.is_adjoint)

    @staticmethod
    def vmap(info, in_dims, x, operator, is_adjoint):
        refuse_vmap(f'an operator {operator.extra_repr()}')


# The communicators of all existing operators and layers, by their C handles, and their users.
in_use: dict[int, tuple[MPI.Comm, weakref.WeakSet[torch.nn.Module]]] = {}


def note_use(module, comm):
    for handle in [handle for handle, (_, users) in in_use.items() if not users]:
        del in_use[handle]
    in_use.setdefault(to_communicator(comm) or 0, (comm, weakref.WeakSet()))[1].add(module)


def comm_in_use() -> MPI.Comm:
    """Returns the communicator of all existing operators and layers of Tenon, if they have the
    same one."""
    found = [comm for comm, users in in_use.values() if users]
    if len(found) > 1:  # some may be those of modules that nobody has, and that wait for the collector
        gc.collect()
        found = [comm for comm, users in in_use.values() if users]
    if any(MPI.Comm.Compare(found[0], other) not in (MPI.IDENT, MPI.CONGRUENT) for other in found[1:]):
        raise ValueError('there are operators or layers of Tenon on several communicators: give the communicator or the layout over '
                         'whose ranks is summed')
    return found[0] if found else MPI.COMM_WORLD


def comm_of(given: MPI.Comm | Layout | None) -> MPI.Comm:
    return given.comm() if isinstance(given, Layout) else given if given is not None else comm_in_use()


def shown(layouts):
    return ', '.join(' '.join(layout._details()) for layout in layouts)


HOOKS = ('_forward_hooks', '_forward_pre_hooks', '_backward_hooks', '_backward_pre_hooks')


class Operator(torch.nn.Module):
    """A linear operator of Tenon: y = op(x), whose gradient is computed by its adjoint."""

    def __init__(self, op: LinearOp) -> None:
        super().__init__()
        domain_type, range_type = op.data_types()
        domain, target = op.domain(), op.range()
        self.op = op
        self.x, self.y = Slot(domain, domain_type), Slot(target, range_type)
        self.dx, self.dy = Slot(domain.dual(), domain_type), Slot(target.dual(), range_type)
        self.hooks = [getattr(self, name) for name in HOOKS if hasattr(self, name)]
        note_use(self, domain.comm())
        self.routes = ((apply, self.x, 'the input', self.y), (apply_adjoint, self.dy, 'the gradient of the output', self.dx))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return super().__call__(x) if any(self.hooks) else self.forward(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not isinstance(x, torch.Tensor):
            self.x.refuse(x, 'the input')
        if not x.requires_grad and not is_forward():
            return self.run(x)  # the bookkeeping of torch takes as long as an exchange
        return call(ApplyOperator, x, self, False)

    def run(self, given, is_adjoint=False):
        call, source, name, target = self.routes[is_adjoint]
        x = source.use(given, name)
        made = target.new(given)
        code = call(self.op._handle, x._handle, target.place(made)._handle)
        if code:
            check(code)
        return made

    def __deepcopy__(self, memo: Any) -> Operator:
        return Operator(self.op)  # it has no values

    def extra_repr(self) -> str:
        return f'{shown([self.x.layout])} -> {shown([self.y.layout])}'

    @property
    def input_layout(self) -> Layout:
        return self.x.layout

    @property
    def output_layout(self) -> Layout:
        return self.y.layout


def block(of: Layout | DTensor, whole: torch.Tensor) -> torch.Tensor:
    """Returns this rank's block of a whole tensor, halo included, as a view: a field in the layout of a
    module's input, or a target in that of its output. Not collective."""
    low, high = of.box()
    shape = (of.layout() if isinstance(of, DTensor) else of).shape()
    if list(whole.shape) != shape:
        raise ValueError(f'a tensor of {list(whole.shape)} is given, and the whole in this layout is {shape}')
    if any(l < 0 or h > n for l, h, n in zip(low, high, shape)):
        raise ValueError(f'this rank\'s block is from {list(low)} to {list(high)}, with a halo beyond the whole of {shape}: take the block '
                         'without the halo, and tenon.torch.halo_exchange() fills it')
    return whole[tuple(slice(l, h) for l, h in zip(low, high))]


def copies_of(layout):
    """Returns how many ranks have each element of a tensor in the layout."""
    extents = layout.partition().extents()
    return math.prod(extent for letter, extent in zip(layout.properties().split(','), extents) if letter == 'B')


def whole(of: Layout, block: torch.Tensor, everywhere: bool = False) -> torch.Tensor | None:
    """Returns the whole tensor of which each rank gives its block, such as an output of a module in the layout of this output, on
    the first rank, and None on the others; on all ranks with everywhere=True. Halos are left out, and contributions (P) are
    added. The result is in host memory, without a gradient; repartition() has one. Collective on the layout."""
    comm, failure = of.comm(), 'the whole was not made'
    with on_all(comm, failure):
        check_tensor(block, 'the block')
        type = data_type_of(block.dtype)
        host = block.detach().cpu()
    check_equal(comm, [f'a block of {block.dtype}', f'everywhere={everywhere}'], 'arguments of whole()')
    slot = Slot(of, type)
    try:
        with on_all(comm, failure):
            used = slot.use(host.reshape(slot.shape) if host.dim() == 0 else host, 'the block')
        found = used.whole(everywhere)
    finally:
        slot.release()
    return None if found is None else torch.from_numpy(found)


def data_type_of(dtype: torch.dtype | None) -> DataType:
    wanted = dtype if dtype is not None else torch.get_default_dtype()
    if wanted not in DTYPES:
        raise ValueError(f'dtype={wanted} is not supported, torch.float32 or torch.float64 is, and of operators torch.int64 '
                         'and torch.int32')
    return DataType(DTYPES.index(wanted))


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
