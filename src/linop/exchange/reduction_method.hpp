// SPDX-License-Identifier: BSD-2-Clause
// Methods to carry out a conversion that sums over grid axes, beside the route that every
// conversion has. makeConversion() asks each method for an offer, and takes the cheapest one. The
// methods are made in rooms above, of which this one knows only the table that it is given.
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

// A conversion that sums, or whose adjoint does.
struct ReductionTask {
  CommPtr comm;
  Layout from, to;
  std::optional<SumChange> change; // none if it may do more than that
  TenonDataType type;
  CarrierPolicy carrier;
  Route route; // by which it goes unless a method takes it
  RoutePolicy policy;
};

struct ReductionOffer {
  // Makes the operator; collective. Empty if the method does not take this sum.
  std::function<LinearOpRef()> make;
  // What a rank sends in an Apply of that operator, as a source, or in its adjoint, as a target;
  // without communication.
  std::function<Traffic(int rank, Role role)> sent = {};
  // Of a conversion that does more: the steps in which it is better made, if there are any. Each is
  // offered by itself if it only sums.
  Route steps = {};
  double seconds = 0; // its price; 0 if the user has asked for it, whatever it costs
  std::string why;    // for views: what has decided; may be empty
};

class ReductionMethod {
public:
  virtual ~ReductionMethod() = default;
  // Whether this sum is looked at. The same on all ranks, and it never fails on one of them: only
  // then they agree on an offer.
  virtual bool looksAt(const ReductionTask& sum) const = 0;
  // The part of a text that ranks agree on.
  virtual std::string agreedText(const ReductionTask& sum) const = 0;
  // The same on all ranks, without communication. It may fail on some of them alone.
  virtual ReductionOffer offer(const ReductionTask& sum) const = 0;
};

// A row makes a method as the options want it, or NULL if they do not want it. Of offers with one
// price the first row's is taken. The table must stay; there is none at first.
using ReductionMethodRef = std::shared_ptr<const ReductionMethod>;
using ReductionMethodRow = ReductionMethodRef (*)();
void setReductionMethods(std::span<const ReductionMethodRow> table) noexcept;
// The methods that options want now, of those that the rows make.
std::vector<ReductionMethodRef> wantedReductionMethods();

// The cheapest offer; `why` of it are the reasons of all, as lines of a view.
ReductionOffer bestOffer(const std::vector<ReductionMethodRef>& methods, const ReductionTask& sum);

} // namespace tenon
