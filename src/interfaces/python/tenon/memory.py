# SPDX-License-Identifier: BSD-2-Clause
"""The memory of arrays of other packages."""
import ctypes

import numpy

# Constants of DLPack.
HOST, DEVICES = (1, 3), (2, 13)  # kDLCPU, kDLCUDAHost; kDLCUDA, kDLCUDAManaged
TYPES = {(2, 32): 'float32', (2, 64): 'float64', (0, 64): 'int64', (0, 32): 'int32'}
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


class Memory:
    """The memory of an array: the address of its first element, its shape, strides in elements,
    the name of its element type, whether it is constant, and its owner."""
    __slots__ = ('address', 'shape', 'strides', 'type', 'is_constant', 'owner', 'is_device')

    def __init__(self, address, shape, strides, type, is_constant, owner, is_device):
        self.address, self.shape, self.strides, self.type = address, shape, strides, type
        self.is_constant, self.owner, self.is_device = is_constant, owner, is_device


def row_major(shape):
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= extent
    return tuple(strides)


class DLTensor(ctypes.Structure):
    """The beginning of a DLManagedTensor."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


def memory_of_dlpack(array):
    """Uses a capsule of version 0.x, which all versions return if no version is requested."""
    capsule = array.__dlpack__()  # references the memory, and is stored as its owner
    tensor = DLTensor.from_address(get_pointer(capsule, b'dltensor'))
    if tensor.device_type not in HOST + DEVICES:
        raise ValueError(f'the array is on a device of type {tensor.device_type} of DLPack, which Tenon does not use')
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else row_major(shape)
    type = TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return Memory((tensor.data or 0) + tensor.byte_offset, shape, strides,
                  type or f'{tensor.bits}-bit elements of type {tensor.code}', False, (capsule, array),
                  tensor.device_type in DEVICES)


def memory_of(array):
    """Accepts an array of numpy, a tensor of torch, or any object with __cuda_array_interface__,
    __dlpack__ or a buffer."""
    if isinstance(array, numpy.ndarray):
        size = array.itemsize
        if any(stride % size for stride in array.strides):
            raise ValueError(f'the strides {array.strides} of the array are not multiples of its elements\' {size} bytes')
        return Memory(array.__array_interface__['data'][0], array.shape, tuple(s // size for s in array.strides),
                      array.dtype.name if array.dtype.isnative else str(array.dtype), not array.flags.writeable, array, False)
    if hasattr(array, 'data_ptr') and hasattr(array, 'stride'):  # torch
        if str(array.layout) != 'torch.strided':
            raise ValueError(f'a tensor of torch with the layout {array.layout} has no array')
        # A tensor that repeats elements, such as the gradient of a sum, can only be read.
        repeats = any(stride == 0 and extent > 1 for stride, extent in zip(array.stride(), array.shape))
        return Memory(array.data_ptr(), tuple(array.shape), array.stride(), str(array.dtype).rpartition('.')[2], repeats,
                      array, array.is_cuda)
    if hasattr(array, '__cuda_array_interface__'):
        said = array.__cuda_array_interface__
        dtype = numpy.dtype(said['typestr'])
        strides = said.get('strides')
        strides = row_major(said['shape']) if strides is None else tuple(s // dtype.itemsize for s in strides)
        return Memory(said['data'][0], tuple(said['shape']), strides, dtype.name, said['data'][1], array, True)
    if hasattr(array, '__dlpack__'):
        return memory_of_dlpack(array)
    return memory_of(numpy.asarray(memoryview(array)))
