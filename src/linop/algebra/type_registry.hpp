// SPDX-License-Identifier: BSD-2-Clause
// The types of operators that are made by name from their domain and range: the library's own and
// those that are registered from outside.
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

// `parameters` is what the caller passes on to the type.
using LinearOpFactory = std::function<LinearOpRef(const LinearOpSignature&, void* parameters)>;

// The registry knows "conversion", "identity", "cast" and "zero" from the start.
TypeRegistry<LinearOpFactory>& linearOpTypes();

} // namespace tenon
