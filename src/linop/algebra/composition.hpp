// SPDX-License-Identifier: BSD-2-Clause
// Operators made of operators. They hold references; an operator may stand in several of them.
#pragma once

#include "linop/linear_op.hpp"

namespace tenon {

// Makes the adjoint an operator of its own, with apply and applyAdjoint exchanged.
LinearOpRef adjointView(LinearOpRef op);

// y <- ops[n-1] ... ops[1] ops[0] x. Throws TENON_ERR_LAYOUT or TENON_ERR_DATATYPE naming the first
// pair that does not fit.
LinearOpRef compose(std::vector<LinearOpRef> ops);

// y <- ops[0] x + ... + ops[n-1] x. Throws the same errors unless all have one domain and one
// range.
LinearOpRef sum(std::vector<LinearOpRef> ops);

// y <- factor F x. Throws TENON_ERR_DATATYPE for a factor with a fraction on integers.
LinearOpRef scale(double factor, LinearOpRef op);

// The agreed texts of the operators with a word between them.
std::string listed(const std::vector<LinearOpRef>& ops, const char* word);
// Lines of a view, one for each operator: "  step 1 of 2: conversion, float32: ... -> ...".
std::string describeParts(const std::vector<LinearOpRef>& ops, const char* word);

} // namespace tenon
