// SPDX-License-Identifier: BSD-2-Clause
// Registry of operator types that are created by name from their domain and range: the library's
// types and those that a program registers.
#pragma once

#include "linop/linear_op.hpp"
#include "sys/errors/registry.hpp"

#include <functional>

namespace tenon {

struct LinearOpSignature {
  CommPtr comm;
  Layout domain, range;
  TenonDataType domainType, rangeType;
};

// `parameters` is passed on to the type unchanged.
using LinearOpFactory = std::function<LinearOpRef(const LinearOpSignature&, void* parameters)>;

// The registry contains "conversion", "identity", "cast" and "zero" from the start.
TypeRegistry<LinearOpFactory>& linearOpTypes();

} // namespace tenon
