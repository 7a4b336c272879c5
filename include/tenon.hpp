// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief The C interface for C++17: handles that release themselves, lists with their length, typed
 *         arrays, and exceptions.
 *
 *  Every call here is a call of the C interface, where its documentation stands: x.norm() is
 *  TenonDTensorNorm(x, &norm), and is collective if that is. Nothing is added, so that programs can
 *  mix both: a handle converts to the C handle, check() turns the code of any C call into an
 *  exception, and out() takes what a C call returns:
 *
 *      tenon::Machine machine;
 *      tenon::check(TenonMachineCreateFromComm(comm, machine.out()));
 *
 *  - Handles (Layout, DTensor, Layer, ...) can be moved, not copied; share() is a second reference
 *    to the same object. A moved handle, and one made without arguments, is empty.
 *  - Lists of numbers are braced lists, arrays, std::vector, or whatever has data() and size(), such
 *    as std::span. Their length is checked.
 *  - Errors are exceptions of class Error, with code, message and call stack. A Session turns off
 *    the printing of errors that are thrown. As in C, an error that other ranks do not know, in
 *    apply() on several ranks, ends the program.
 *  - array<T>() lends the local array of a tensor until the Loan goes out of scope, and place() puts
 *    an array of the program into a tensor until the Placement does.
 */
#ifndef TENON_HPP
#define TENON_HPP

#include <tenon.h>
#include <tenon/cxx/dtensor.hpp>
#include <tenon/cxx/error.hpp>
#include <tenon/cxx/handle.hpp>
#include <tenon/cxx/layer.hpp>
#include <tenon/cxx/layout.hpp>
#include <tenon/cxx/linearop.hpp>
#include <tenon/cxx/training.hpp>

#endif
