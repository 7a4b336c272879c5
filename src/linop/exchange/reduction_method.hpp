// SPDX-License-Identifier: BSD-2-Clause
// ReductionMethod: an alternative way to compute a conversion that sums over grid axes, in place of
// its route (a chain of exchanges and MPI collectives). makeConversion() calls, for each method:
//   appliesTo(task)   can the method compute this sum?
//   offer(task)       the predicted time, and a function that creates the operator
// and uses the cheapest offer. The methods, such as reduction programs and NCCL, are implemented in
// src/programs, which registers them in the table of setReductionMethods().
#pragma once

#include "geometry/schedule/axis_change.hpp"
#include "linop/exchange/carrier.hpp"
#include "linop/linear_op.hpp"
#include "machine/route.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon {

// A conversion that sums over grid axes, or whose adjoint does.
struct ReductionTask {
  CommPtr comm;
  Layout from, to;
  std::optional<SumChange> change; // The sum, or empty if the conversion does more.
  TenonDataType type;
  CarrierPolicy carrier;
  Route route; // The route of the conversion without a reduction method.
  RoutePolicy policy;
};

// The offer of a method for a task: an operator (make), or a division into steps, or neither.
struct ReductionOffer {
  // Makes the operator; collective. Empty if the method makes no offer.
  std::function<LinearOpRef()> make;
  // Messages and elements that a rank sends in an Apply of that operator (Role::Source), or in its
  // adjoint (Role::Target); without communication.
  std::function<Traffic(int rank, Role role)> sent = {};
  // For a conversion that does more than sum: the steps into which it is better divided, if any.
  // Each step that only sums is a separate task.
  Route steps = {};
  // The price, or 0 if the user has requested this method regardless of its price.
  double seconds = 0;
  std::string why; // The reason of the decision, for views; can be empty.
};

class ReductionMethod {
public:
  virtual ~ReductionMethod() = default;
  // True if this method can make an offer for the task. Must be the same on all ranks and must not
  // fail: the ranks agree on an offer only if some method applies.
  virtual bool appliesTo(const ReductionTask& sum) const = 0;
  // The method's part of the text that ranks agree on.
  virtual std::string agreedText(const ReductionTask& sum) const = 0;
  // The same on all ranks, without communication. Can fail on some ranks only.
  virtual ReductionOffer offer(const ReductionTask& sum) const = 0;
};

// A row makes a method as configured by options, or returns NULL if they exclude it. Among offers
// of equal price that of the first row is used. The table must outlive the library's use; it is
// initially empty.
using ReductionMethodRef = std::shared_ptr<const ReductionMethod>;
using ReductionMethodRow = ReductionMethodRef (*)();
void setReductionMethods(std::span<const ReductionMethodRow> table) noexcept;
// The methods that the current options select from the table.
std::vector<ReductionMethodRef> wantedReductionMethods();

// The cheapest offer. Its `why` has the reasons of all methods, as lines of a view.
ReductionOffer bestOffer(const std::vector<ReductionMethodRef>& methods, const ReductionTask& sum);

} // namespace tenon
