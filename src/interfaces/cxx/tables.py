# SPDX-License-Identifier: BSD-2-Clause
"""Information about the C++ interface that the declarations of the C interface do not contain,
in one place, with a reason for each row or table. A row for a call that is no longer declared has
no effect: generate.py reports it."""

# Calls that are not generated, and their equivalent in tenon.hpp. The destroy calls of all classes
# are not generated either: handles release themselves.
BY_HAND = {
    'TenonAddFrame': 'check(), which throws the code',
    'TenonDTensorGetArray': 'DTensor::array(), whose loan ends with its scope',
    'TenonDTensorGetArrayRead': 'DTensor::read()',
    'TenonDTensorGetDeviceArray': 'DTensor::deviceArray()',
    'TenonDTensorGetDeviceArrayRead': 'DTensor::readDevice()',
    'TenonDTensorPlaceArray': 'DTensor::place(), which knows the type of the elements',
    'TenonDTensorPlaceArrayRead': 'DTensor::place() of constant elements',
    'TenonDTensorPlaceArrays': 'DTensor::placeArrays(), DTensor::placeComponents()',
    'TenonDTensorPlaceArraysRead': 'both of constant elements',
    'TenonDTensorResetArray': 'the end of a Placement',
    'TenonDTensorRestoreArray': 'the end of a Loan',
    'TenonDTensorRestoreArrayRead': 'the end of a Loan',
    'TenonFinalize': 'the end of a Session',
    'TenonInitialize': 'Session, which also takes the command line',
    'TenonInitializeWithComm': 'Session of a communicator',
    'TenonLayerCreateType': 'the constructor of Layer',
    'TenonNoteCaller': 'every call, which notes where it stands',
    'TenonObjectRetain': 'share() of each class',
    'TenonPrintErrorHandler': 'passed as it is to pushErrorHandler()',
    'TenonRaiseError': 'raiseError(), which throws the code',
    'TenonReturnErrorHandler': 'passed as it is to pushErrorHandler()',
}

# Default values of arguments, by call and argument.
DEFAULTS = {
    ('TenonCheckpointGetContents', 'verify'): 'false',  # which takes as long as reading the file
    ('TenonLayerCreateInputCotangent', 'index'): '0',  # most layers have one input and one output
    ('TenonLayerCreateOutput', 'index'): '0',
    ('TenonLayerCreateOutputCotangent', 'index'): '0',
    ('TenonLayerGetOutputLayout', 'index'): '0',
    ('TenonLinearOpTestAdjoint', 'integers'): 'false',  # for real operators, which most are
}

# Classes with a hand-written base class, which is derived from Object<...> or Settings<...>.
BASES = {
    'TenonDTensor': 'detail::Arrays',  # lends and places arrays of a type
    'TenonLayer': 'detail::Typed',  # is made by the name of its type
}

# A class is derived from Settings<...>, which has set() for values of any type, if all of these
# calls are declared for its handle, or for TenonObject.
SETTERS = {'SetBool', 'SetIntegers', 'SetReal', 'SetText'}

# Verbs that do not modify their object; other members are not const.
CONST_VERBS = {'Get', 'Is', 'View', 'Create', 'Save', 'Norm', 'Max', 'Pairing', 'Predict'}

# Names of members of all classes, or of hand-written free functions.
TAKEN = {'get', 'release', 'reset', 'out', 'share', 'object', 'retained', 'self', 'set', 'check', 'detail', 'raiseError'}

KEYWORDS = set('''alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
    char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public register reinterpret_cast requires return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    union unsigned using virtual void volatile wchar_t while xor xor_eq'''.split())
