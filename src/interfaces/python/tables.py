# SPDX-License-Identifier: BSD-2-Clause
"""Information about the Python interface that the declarations of the C interface do not
contain, in one place, with a reason for each row."""
import keyword

# Calls that are not generated, and their equivalent in the package. The destroy calls of all
# classes are not generated either: objects release themselves.
BY_HAND = {
    'TenonAddFrame': 'the traceback of Python has the callers',
    'TenonCommFromFortran': 'mpi4py converts communicators',
    'TenonDTensorGetArray': 'DTensor.array(), whose loan ends with its block',
    'TenonDTensorGetArrayRead': 'DTensor.read()',
    'TenonDTensorGetDeviceArray': 'DTensor.array() of a tensor on the device',
    'TenonDTensorGetDeviceArrayRead': 'DTensor.read() of a tensor on the device',
    'TenonDTensorPlaceArray': 'DTensor.place(), which reads addresses, strides and types from the array',
    'TenonDTensorPlaceArrayRead': 'DTensor.place() of an array that cannot be written',
    'TenonDTensorPlaceArrays': 'DTensor.place_arrays(), DTensor.place_components()',
    'TenonDTensorPlaceArraysRead': 'both of arrays that cannot be written',
    'TenonDTensorResetArray': 'DTensor.reset_array(), which lets go of the array',
    'TenonDTensorRestoreArray': 'the end of the block of DTensor.array()',
    'TenonDTensorRestoreArrayRead': 'the end of the block of DTensor.read()',
    'TenonFinalize': 'the end of a Session',
    'TenonInitialize': 'Session',
    'TenonInitializeWithComm': 'Session of a communicator',
    'TenonLayerCreateType': 'the constructor of Layer, which also takes settings',
    'TenonLayerRegister': 'Layer.shell_set_functions(): a function of Python can make such layers',
    'TenonLayerShellGetContext': 'a function of Python has its own variables',
    'TenonLayerShellSetContext': 'Layer.shell_set_functions(): functions of Python have their own variables',
    'TenonLayerShellSetFunctions': 'Layer.shell_set_functions(), which takes functions of Python',
    'TenonLinearOpCreateType': 'LinearOp.shell(): its functions have their own variables',
    'TenonLinearOpRegister': 'LinearOp.shell()',
    'TenonNoteCaller': 'the traceback of Python has the callers',
    'TenonObjectRetain': 'objects of Python hold a reference each',
    'TenonPopErrorHandler': 'errors are exceptions',
    'TenonPrintErrorHandler': 'errors are exceptions',
    'TenonPushErrorHandler': 'errors are exceptions',
    'TenonRaiseError': 'functions of Python raise exceptions',
    'TenonReturnErrorHandler': 'Session, which makes errors exceptions',
    'TenonSetDimensionNote': 'dimensions are those of C',
    'TenonSetFatalErrorHandler': 'its function would have to end the program',
}

# Names that differ from member.py, where C++ distinguishes two members by their arguments.
NAMES = {
    'TenonLayerGetParameterAt': 'parameter_at',
    'TenonLayerGetGradientAt': 'gradient_at',
}

# Arguments that can be omitted, in addition to those that may be NULL.
DEFAULTS = {
    ('TenonCheckpointGetContents', 'verify'): 'False',  # which takes as long as reading the file
    ('TenonLayerCreateInputCotangent', 'index'): '0',  # most layers have one input and one output
    ('TenonLayerCreateOutput', 'index'): '0',
    ('TenonLayerCreateOutputCotangent', 'index'): '0',
    ('TenonLayerGetOutputLayout', 'index'): '0',
    ('TenonLinearOpTestAdjoint', 'integers'): 'False',  # for real operators, which most are
}

# Classes with hand-written members, in a base class.
BASES = {
    'TenonDTensor': '_Arrays',  # lends and places arrays
    'TenonLayer': '_Typed',  # is made by the name of its type, and takes functions of Python
    'TenonPartition': '_Grid',
    'TenonLayout': '_Laid',  # shows what it lays out
    'TenonPlan': '_Planned',  # has tables and charts
}

# Names that cannot be arguments: Python keywords, and names that the bodies use.
RESERVED = {*keyword.kwlist, 'self', 'len', 'list', 'range'}
