// SPDX-License-Identifier: BSD-2-Clause
// A plan that was found, as JSON: what one rank tells the others, and the heart of a plan file.
#pragma once

#include "planner/plan_search.hpp"
#include "sys/json_text.hpp"
#include "sys/json_tree.hpp"

namespace tenon {

Json jsonOf(const FoundPlan& plan);
std::string textOf(const FoundPlan& plan);
// Throws TENON_ERR_FORMAT naming the key and the byte.
FoundPlan planFrom(const JsonView& plan);

} // namespace tenon
