# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of other packages by DLPack (version 0.x capsules, which all versions give when asked without one)."""
import ctypes

from . import arrays


class Tensor(ctypes.Structure):
    """DLTensor, with which a DLManagedTensor begins."""
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


HOST, DEVICES = (1, 3), (2, 13)  # kDLCPU, kDLCUDAHost; kDLCUDA, kDLCUDAManaged
TYPES = {(2, 32): 'float32', (2, 64): 'float64', (0, 64): 'int64'}
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def memory_of_dlpack(array):
    capsule = array.__dlpack__()  # holds the memory, and is kept as its owner
    tensor = Tensor.from_address(get_pointer(capsule, b'dltensor'))
    if tensor.device_type not in HOST + DEVICES:
        raise ValueError(f'the array is on a device of type {tensor.device_type} of DLPack, which Tenon does not use')
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else arrays.row_major(shape)
    type = TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return arrays.Memory((tensor.data or 0) + tensor.byte_offset, shape, strides,
                         type or f'{tensor.bits}-bit elements of type {tensor.code}', False, (capsule, array),
                         tensor.device_type in DEVICES)
