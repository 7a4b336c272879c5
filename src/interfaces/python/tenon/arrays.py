# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of the program as tensors, and tensors as arrays of numpy.

A placed array is referenced as long as Tenon can use it: by the C tensor and not by the Python
object, since layers and checkpoints reference tensors, too. `placed` contains the array under
the address of the tensor. When the last Python object of a tensor is destroyed and other objects
still reference the tensor, a reference is added to `waiting`. Whenever an array is placed or
released, the list is searched for tensors without other references:

    place(array)                  placed[handle] = array
    last Python object destroyed  no other references: placed.pop(handle); otherwise waiting.append(tensor)
    sweep()                       releases the tensors in `waiting` that nothing else references"""
from __future__ import annotations

import ctypes
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy

from .memory import memory_of
from .objects import Object
from .runtime import (address, check, double, function, int as c_int, list as c_list, long, names, pointer, ref)

if TYPE_CHECKING:
    from typing_extensions import Self

TYPES = {'float32': 0, 'float64': 1, 'int64': 2, 'int32': 3}
C_TYPES = (ctypes.c_float, double, long, ctypes.c_int32)

placed: dict[int, Any] = {}  # the owner of a tensor's memory, by the address of the tensor
waiting: list[Arrays] = []  # tensors without a Python object whose arrays are still in use
lenders: weakref.WeakSet[Lender] = weakref.WeakSet()  # of arrays that are still referenced

place_array = function('TenonDTensorPlaceArray', c_int, *[address] * 5, long)
place_array_read = function('TenonDTensorPlaceArrayRead', c_int, *[address] * 5, long)
place_arrays = function('TenonDTensorPlaceArrays', c_int, address, c_int, c_int, address, c_int, *[address] * 4)
place_arrays_read = function('TenonDTensorPlaceArraysRead', c_int, address, c_int, c_int, address, c_int, *[address] * 4)
reset_array = function('TenonDTensorResetArray', c_int, address)
references = function('TenonObjectGetReferences', c_int, address, address)
ACCESS = {(is_device, is_read): function(f'TenonDTensorGet{"Device" * is_device}Array{"Read" * is_read}', c_int, address,
                                         c_int, address) for is_device in (False, True) for is_read in (False, True)}
RESTORE = {is_read: function(f'TenonDTensorRestoreArray{"Read" * is_read}', c_int, address, address)
           for is_read in (False, True)}


class Arrays(Object):
    """The array functions of tensors, which the generated calls do not contain."""
    __slots__ = ('_fixed',)  # number of dimensions, owned extents, type: constant

    def _describe(self):
        try:
            return self._fixed
        except AttributeError:
            low, high = self.layout().owned_box()
            self._fixed = tuple(h - l for l, h in zip(low, high)), self.data_type()
            return self._fixed

    def _details(self: Any) -> list[str]:
        return [self.data_type().name.lower(), *self.layout()._details()]

    @property
    def shape(self: Any) -> tuple[int, ...]:
        """The extents of the whole tensor. The array of this rank has those of box()."""
        return tuple(self.layout().shape())

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The element type, as in numpy."""
        return numpy.dtype(C_TYPES[self._describe()[1]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        """numpy.asarray(x) is numpy(), a copy of this rank's elements."""
        if copy is False:
            raise ValueError('an array of numpy from a DTensor is a copy; x.array() and x.read() lend its memory for a block')
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def place(self, array: Any, ghosts: Sequence[int] | None = None, ghosts_low: Sequence[int] | None = None,
              ghosts_high: Sequence[int] | None = None) -> Self:
        """Makes the tensor use an array in place, without a copy; it is kept as long as the tensor uses it. Not collective.

        :param array: array of numpy, tensor of torch, or an object with __dlpack__, __cuda_array_interface__ or a buffer,
            of any strides, with the extents of this rank's block and its ghost cells. One that cannot be written makes
            the tensor constant.
        :param ghosts: number of ghost cells in each dimension, on both sides; none by default
        :param ghosts_low, ghosts_high: the same before and after the block, where they differ
        :raises ValueError: the array has another number of dimensions, another extent or another type of elements; the
            message names the dimension and what was found

        TenonDTensorPlaceArray()
        """
        memory = memory_of(array)
        low, high = self._ghosts(ghosts, ghosts_low), self._ghosts(ghosts, ghosts_high)
        self._check(memory, low, high, 'the array')
        place = place_array_read if memory.is_constant else place_array
        check(place(self._handle, *self._arranged(memory, low, high), span(memory)))
        self._keep(memory.owner)
        return self

    def place_arrays(self, dim: int, arrays: Sequence[Any], ghosts: Sequence[int] | None = None,
                     ghosts_low: Sequence[int] | None = None, ghosts_high: Sequence[int] | None = None) -> Self:
        """Associates one array with each index of dimension `dim`, all of one form. Their values are copied by
        gather_arrays() and scatter_arrays(). Not collective.

        TenonDTensorPlaceArrays()
        """
        memories = [memory_of(array) for array in arrays]
        low, high = self._ghosts(ghosts, ghosts_low), self._ghosts(ghosts, ghosts_high)
        without = [d for d in range(len(self._describe()[0])) if d != dim]
        for number, memory in enumerate(memories):
            self._check(memory, [low[d] for d in without], [high[d] for d in without], f'array {number}', without)
            if (memory.strides, memory.is_constant) != (memories[0].strides, memories[0].is_constant):
                raise ValueError(f'array {number} has other strides than array 0, {memory.strides}, or only one of them can '
                                 'be written')
        strides = list(memories[0].strides) if memories else [0] * len(without)
        offset = sum(low[d] * stride for d, stride in zip(without, strides))
        size = ctypes.sizeof(C_TYPES[self._describe()[1]])
        first = (pointer * len(memories))(*[memory.address + offset * size for memory in memories])
        place = place_arrays_read if memories and memories[0].is_constant else place_arrays
        strides.insert(dim, 0)
        check(place(self._handle, dim, len(memories), first, 1, c_list(long, strides), c_list(long, low),
                    c_list(long, high), c_list(long, [max([span(memory) for memory in memories], default=0)])))
        self._keep([memory.owner for memory in memories])
        return self

    def place_components(self, dim: int, arrays: Sequence[Any], ghosts_low: Sequence[Sequence[int]] | None = None,
                         ghosts_high: Sequence[Sequence[int]] | None = None) -> Self:
        """The same for arrays that differ in extents, strides and ghost cells, as on a staggered grid: `ghosts_low` and
        `ghosts_high` have the widths of each array in all dimensions of the tensor. Not collective.

        TenonDTensorPlaceArrays()
        """
        memories = [memory_of(array) for array in arrays]
        widths = [[self._ghosts(None, each[number] if each is not None else None) for number in range(len(memories))]
                  for each in (ghosts_low, ghosts_high)]
        without = [d for d in range(len(self._describe()[0])) if d != dim]
        size = ctypes.sizeof(C_TYPES[self._describe()[1]])
        first, strides, lengths = [], [], []
        for number, (memory, low, high) in enumerate(zip(memories, *widths)):
            self._check(memory, [low[d] for d in without], [high[d] for d in without], f'array {number}', without)
            if memory.is_constant != memories[0].is_constant:
                raise ValueError(f'only one of array {number} and array 0 can be written')
            first.append(memory.address + sum(low[d] * stride for d, stride in zip(without, memory.strides)) * size)
            strides += [*memory.strides[:dim], 0, *memory.strides[dim:]]
            lengths.append(span(memory))
        place = place_arrays_read if memories and memories[0].is_constant else place_arrays
        check(place(self._handle, dim, len(memories), (pointer * len(memories))(*first), len(memories),
                    c_list(long, strides), *[c_list(long, [width for one in each for width in one]) for each in widths],
                    c_list(long, lengths)))
        self._keep([memory.owner for memory in memories])
        return self

    def reset_array(self) -> Self:
        """Ends the use of the arrays of the program. Not collective.

        TenonDTensorResetArray()
        """
        check(reset_array(self._handle))
        placed.pop(self._handle, None)
        sweep()
        return self

    @contextmanager
    def array(self) -> Iterator[Any]:
        """Lends the local array, ghost cells of the layout included, for a block: `with x.array() as a: a[:] = 1`. It is
        an array of numpy, or, of a tensor on the device, an object with __cuda_array_interface__. The tensor cannot be
        used otherwise within the block, and the array not behind it.

        TenonDTensorGetArray(), TenonDTensorRestoreArray()
        """
        with self._lent(False) as lent:
            yield lent

    @contextmanager
    def read(self) -> Iterator[Any]:
        """The same for reading only.

        TenonDTensorGetArrayRead(), TenonDTensorRestoreArrayRead()
        """
        with self._lent(True) as lent:
            yield lent

    def numpy(self) -> numpy.ndarray:
        """A copy of the local array, ghost cells of the layout included, in host memory. Not collective."""
        with self._lent(True, is_host=True) as lent:
            return lent.copy()

    def whole(self: Any, everywhere: bool = False) -> numpy.ndarray | None:
        """The whole tensor as an array of numpy on the first rank, and None on the others; on all ranks
        with everywhere=True. Halos are left out, and contributions (P) are added. Collective on the tensor.

        TenonLinearOpCreateConversion()
        """
        layout, type = self.layout(), self.data_type()
        comm = layout.comm()
        with (names['Partition'](comm, [comm.size]) as line,
              names['Layout'].sharded(line, layout.shape(), 'B' if everywhere else 'R') as target,
              names['LinearOp'].conversion(layout, target, type) as op, names['DTensor'](target, type) as made):
            op.apply(self, made)
            return made.numpy() if everywhere or comm.rank == 0 else None

    def chart(self, component: int = 0) -> Any:
        """Draws a component on the first rank, the last two dimensions as y and x: of [batch, channels, y, x] the
        channel of the first sample, of [batch, channels, z, y, x] the plane in the middle. Needs matplotlib, and
        returns its axes, or None on the other ranks. Collective on the tensor."""
        from .charts import image
        values = self.whole()
        return None if values is None else image(values, component, self.name())

    def assign(self, values: Any) -> Self:
        """Copies values, of the form of numpy(), to the local array. Not collective."""
        with self._lent(False, is_host=True) as lent:
            lent[...] = values
        return self

    @contextmanager
    def _lent(self, is_read, is_host=False):
        is_device = not is_host and self.space() != names['MemorySpace'].HOST
        type = self.data_type()
        first = pointer()
        check(ACCESS[is_device, is_read](self._handle, type, ref(first)))
        lent = None
        try:
            low, high = self.box()
            shape = tuple(h - l for l, h in zip(low, high))
            lent = self._view(first.value, shape, self.strides(), type, is_read, is_device)
            yield lent
        finally:
            if isinstance(lent, numpy.ndarray):
                lent.flags.writeable = False
            check(RESTORE[is_read](self._handle, ref(first)))

    def _view(self, first, shape, strides, type, is_read, is_device):
        dtype = numpy.dtype(C_TYPES[type])
        strides = tuple(stride * dtype.itemsize for stride in strides)
        if not first:
            return numpy.empty(shape, dtype)
        # The view holds a reference to the tensor, and with it to the memory, also that of an array that is placed now.
        interface = {'data': (first, is_read), 'shape': shape, 'strides': strides, 'typestr': dtype.str, 'version': 3}
        lender = Lender(self, interface, is_device)
        return lender if is_device else numpy.asarray(lender)

    def _ghosts(self, both, one):
        dimensions = len(self._describe()[0])
        widths = one if one is not None else both
        if widths is None:
            return [0] * dimensions
        if len(widths) != dimensions:
            raise ValueError(f'{len(widths)} ghost widths are given for {dimensions} dimensions')
        return list(widths)

    def _check(self, memory, low, high, what, dimensions=None):
        owned, type = self._describe()
        dimensions = range(len(owned)) if dimensions is None else dimensions
        if TYPES.get(memory.type) != type:
            raise ValueError(f'the elements of {what} are {memory.type}, and those of the tensor {type.name.lower()}')
        if len(memory.shape) != len(dimensions):
            raise ValueError(f'{what} has {len(memory.shape)} dimensions, and the tensor {len(dimensions)}')
        for d, found, before, after in zip(dimensions, memory.shape, low, high):
            if found != owned[d] + before + after:
                raise ValueError(f'{what} has {found} elements in dimension {d}, where this rank has {owned[d]}, with {before} '
                                 f'ghost cells before and {after} after them')
        if memory.is_device != (self.space() != names['MemorySpace'].HOST):
            raise ValueError(f'{what} is in the memory of {"a device" if memory.is_device else "the host"}, and the tensor is '
                             'not; see DTensor.set_space()')

    def _arranged(self, memory, low, high):
        """Address of the first owned element, strides, ghost widths."""
        offset = sum(width * stride for width, stride in zip(low, memory.strides))
        first = memory.address + offset * ctypes.sizeof(C_TYPES[self._describe()[1]]) if memory.address else None
        count = len(memory.shape)
        return first, (long * count)(*memory.strides), (long * count)(*low), (long * count)(*high)

    def _keep(self, owner):
        placed[self._handle] = owner
        if waiting:
            sweep()

    def _let_go(self, handle):
        if handle not in placed:
            return
        count = c_int()
        check(references(handle, ref(count)))
        if count.value == 1:
            del placed[handle]
        elif not any(other is not self and other._handle == handle for other in waiting):
            waiting.append(type(self)._share(handle))
        sweep(but=handle)


class Lender:
    """The owner from which arrays of numpy and of other packages share the memory of a tensor.
    Its reference does not end with the session."""

    def __init__(self, tensor, interface, is_device):
        self.tensor, self.owner = tensor.share(), placed.get(tensor._handle)
        Object._live.discard(self.tensor)
        lenders.add(self)
        setattr(self, '__cuda_array_interface__' if is_device else '__array_interface__', interface)


def span(memory):
    """The number of elements from the first to the last one of the array, which Tenon checks."""
    if 0 in memory.shape:
        return 0
    return 1 + sum(abs(stride) * (extent - 1) for stride, extent in zip(memory.strides, memory.shape))


def sweep(but=None):
    """Releases arrays whose tensors are referenced only by `waiting`."""
    count = c_int()
    for tensor in waiting[:]:
        if tensor._handle != but and references(tensor._handle, ref(count)) == 0 and count.value == 1:
            waiting.remove(tensor)
            placed.pop(tensor._handle, None)
            handle, tensor._handle = tensor._handle, None
            type(tensor)._destroy(ref(pointer(handle)))
