// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief The C interface for C++17: handles that release themselves, lists with their length,
 *         typed arrays, and exceptions.
 *
 *  It has every call of the C interface, whose headers document each call: x.norm() is
 *  TenonDTensorNorm(x, &norm), and is collective if that is. The name of a member is that of the
 *  call without its class and without Get; tenon/cxx/generated/classes.hpp lists them all. Nothing
 *  is added, so that programs can mix both: a handle converts to the C handle, check() turns the
 *  code of any C call into an exception, and out() takes what a C call returns:
 *
 *      tenon::Machine machine;
 *      tenon::check(TenonMachineCreateFromComm(comm, machine.out()));
 *
 *  - Handles (Layout, DTensor, Layer, ...) can be moved, not copied; share() is a second reference
 *    to the same object. A moved handle, and one made without arguments, is empty: it converts
 *    to NULL.
 *  - A call that creates an object is a constructor or a static member: Layer(comm, "conv"),
 *    LinearOp::halo(from, to, type).
 *  - What a call returns through pointers is its result; of several, a struct:
 *    plan.grid().processes.
 *  - Lists of numbers are braced lists, arrays, std::vector, or whatever has size() and data() or
 *    cdata(), such as std::span; integers of another type are copied. Their length is checked.
 *    Texts are literals, std::string, or whatever has c_str().
 *  - Errors are exceptions of class Error, with code, message and call stack. A Session turns off
 *    the printing of errors that are thrown. As in C, an error that other ranks do not know, in
 *    apply() on several ranks, ends the program.
 *  - A function that Tenon calls is a Function: a lambda expression, for example. It throws its
 *    errors, or returns their code. Error and text handlers, and the functions of own types of
 *    layers, are pointers as in C.
 *  - array<T>() lends the local array of a tensor until the Loan leaves its scope, and place()
 *    puts an array of the program into a tensor until the Placement does.
 */
#ifndef TENON_HPP
#define TENON_HPP

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "tenon.hpp needs C++17: use -std=c++17 or later, or include tenon.h, the C interface"
#else

#include <tenon.h>
#include <tenon/cxx/arguments.hpp>
#include <tenon/cxx/error.hpp>
#include <tenon/cxx/generated/calls.hpp>
#include <tenon/cxx/generated/classes.hpp>
#include <tenon/cxx/handle.hpp>
#include <tenon/cxx/loan.hpp>
#include <tenon/cxx/session.hpp>
#include <tenon/cxx/settings.hpp>

#endif
#endif
