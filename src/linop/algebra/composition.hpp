// SPDX-License-Identifier: BSD-2-Clause
// Adjoint view, composition, sum and multiple: operators that consist of other operators. They hold
// references; an operator can be a component of several of them.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

// The adjoint as an operator, with apply and applyAdjoint exchanged.
LinearOpRef adjointView(LinearOpRef op);

// y <- ops[n-1] ... ops[1] ops[0] x. Throws TENON_ERR_LAYOUT or TENON_ERR_DATATYPE if the range of
// an operator is not the domain of the next; the text names the first such pair.
LinearOpRef compose(std::vector<LinearOpRef> ops);

// y <- ops[0] x + ... + ops[n-1] x. Throws the same errors unless all domains are equal and all
// ranges are equal.
LinearOpRef sum(std::vector<LinearOpRef> ops);

// y <- factor F x. Throws TENON_ERR_DATATYPE for a non-integer factor on an integer type.
LinearOpRef scale(double factor, LinearOpRef op);

// The agreed texts of the operators, separated by `word`.
std::string listed(const std::vector<LinearOpRef>& ops, const char* word);
// The lines of a view, one per operator: "  step 1 of 2: conversion, float32: ... -> ...".
std::string describeParts(const std::vector<LinearOpRef>& ops, const char* word);

} // namespace tenon
