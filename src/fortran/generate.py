#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: generate.py INCLUDE FOLDER
Writes the sources of the Fortran module for all public functions into FOLDER, from the headers in INCLUDE:
  tenon_types.f90  module tenon_types: a derived type for each class of handles, and the constants
  tenon_c.f90      module tenon_c: the C functions as they are
  tenon_calls.f90  module tenon_calls: a subroutine for each of them, tenon_layer_set_up for TenonLayerSetUp
  communicators.c  TenonF... for each function with an MPI_Comm, which Fortran has as an integer
  every_name.f90   a program that uses each name, and the C functions without one
Hand-written sources are next to this script. An argument form without a rule ends the script with a message: add it
to kinds.py, or write the call by hand and add it to BY_HAND."""
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'interfaces'))
from calls import Call
from headers import Headers, write
from names import class_name, wrap

# C functions without a subroutine in Fortran, and why.
LEFT_OUT = {
    'TenonCommFromFortran': 'communicators of Fortran are passed as they are',
    'TenonLayerShellGetContext': 'the context is an argument of the procedures',
    'TenonLayerShellSetContext': 'tenon_layer_shell_set_functions takes the context',
    'TenonNoteCaller': 'Fortran has neither the name nor the line of the caller',
}
# Written by hand: calls with procedures, the command line or memory of any type.
BY_HAND = {
    'TenonInitialize', 'TenonInitializeWithComm', 'TenonLayerShellSetFunctions',
    'TenonLinearOpCreateShell', 'TenonOptimizerStepClosure', 'TenonPartitionShareMemory',
    'TenonPartitionUnshareMemory', 'TenonPopErrorHandler', 'TenonPrintErrorHandler',
    'TenonPushErrorHandler', 'TenonReturnErrorHandler', 'TenonSetErrorOutputHandler',
    'TenonSetFatalErrorHandler', 'TenonSetOutputHandler',
}
NOTE = 'Made by src/fortran/generate.py from the public headers. Do not edit.'


# Each of the following functions returns the lines of one generated file.
def module(name, uses, body):
    return (['! SPDX-License-Identifier: BSD-2-Clause', f'! {NOTE}', f'module {name}'] +
            [f'  use {use}' for use in uses] + ['  implicit none'] + body + [f'end module {name}'])


def types(headers):
    body = ['  public', '  private :: c_ptr, c_null_ptr, c_int']
    for handle in headers.handles:
        name = class_name(handle)
        body += [f'  type, bind(C) :: {name}', '    type(c_ptr) :: handle = c_null_ptr',
                 f'  end type {name}']
    body += [f'  integer(c_int), parameter :: {name} = {int(value, 0)}'
             for name, value in headers.constants]
    return module('tenon_types', ['iso_c_binding, only: c_ptr, c_null_ptr, c_int'], body)


def interfaces(calls):
    body = ['  public', '  interface']
    for call in calls:
        body += call.interface()
    return module('tenon_c', ['iso_c_binding'], body + ['  end interface'])


def subroutines(headers, calls):
    generics, body = {}, []
    for call in calls:
        if call.function.name not in BY_HAND and call.function.name not in LEFT_OUT:
            body += call.subroutines(headers.handles, generics)
    public = [line for generic in generics for line in [f'  public :: {generic}']]
    for generic, specifics in generics.items():
        if specifics == [generic]:
            continue
        public += [f'  interface {generic}'] + wrap('    procedure ', specifics) + ['  end interface']
    uses = ['iso_c_binding', 'tenon_mpi, only: MPI_Comm', 'tenon_types', 'tenon_c', 'tenon_convert']
    return module('tenon_calls', uses, ['  private'] + public + ['contains'] + body), list(generics)


def communicators(calls):
    lines = ['/* SPDX-License-Identifier: BSD-2-Clause */', f'/* {NOTE} */', '/* clang-format off */',
             '#include <tenon.h>', '#include <tenon/ext/fortran.h>', '#include <tenon/ext/layer.h>',
             '#include <tenon/ext/linearop.h>', '#include <tenon/ext/machine.h>', '#include <tenon/ext/options.h>',
             '#include <tenon/ext/reduction.h>']
    for call in calls:
        lines += call.communicator_function()
    return lines


def every_name(calls, generics):
    names = dict.fromkeys(generics)
    lines = ['! SPDX-License-Identifier: BSD-2-Clause', f'! {NOTE}', 'program every_name']
    for call in calls:
        name = call.function.name
        if name in LEFT_OUT:
            lines.append(f'  ! {name}: none, {LEFT_OUT[name]}')
            continue
        fortran = call.public_name()
        names.pop(fortran, None)
        lines.append(f'  use tenon, only: {fortran} ! {name}')
    lines += [f'  use tenon, only: {name}' for name in names]
    return lines + ['end program every_name']


def main():
    include, folder = Path(sys.argv[1]), Path(sys.argv[2])
    headers = Headers(include)
    calls = [Call(function, headers) for function in headers.functions]
    calls_module, generics = subroutines(headers, calls)
    files = {'tenon_types.f90': types(headers), 'tenon_c.f90': interfaces(calls),
             'tenon_calls.f90': calls_module, 'communicators.c': communicators(calls),
             'every_name.f90': every_name(calls, generics)}
    for name, lines in files.items():
        write(folder / name, lines)
    print(f'{len(calls)} functions, {len(headers.handles)} classes, {len(headers.constants)} constants')


if __name__ == '__main__':
    main()
