// SPDX-License-Identifier: BSD-2-Clause
// Makes the operator of a movement (reduction/movement/movement.hpp), one for each of its parts:
//   Exchange     Conversion
//   Collective   CollectiveStep
//   Steps        the operators of the steps, composed
//   Program      ReductionOp
//   Vendor       NCCL (nccl_sum.hpp)
// Conversions other than exchanges are wrapped, so their type is "conversion" too. All ranks must
// decide alike. The decision depends on layouts, options and predicted times that are the same on
// all ranks, and the ranks compare it before they create communicators or programs.
#include "linop/exchange/make_conversion.hpp"

#include "comm/agreement/batched.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/collectives/collective_step.hpp"
#include "linop/collectives/nccl_sum.hpp"
#include "linop/collectives/reduction_op.hpp"
#include "reduction/sum_route.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <vector>

namespace tenon {

namespace {

// The change of properties, such as "P,S0 -> B,S0", or both layouts if the grids differ.
std::string endsText(const Layout& from, const Layout& to) {
  const bool oneGrid = from.grid() == to.grid();
  return fmt::format("{} -> {}", oneGrid ? describe(from.properties()) : from.describe(),
                     oneGrid ? describe(to.properties()) : to.describe());
}

// The operator of a movement, and those of its parts.
struct Bound {
  LinearOpRef op;
  std::vector<Bound> parts = {};
};

Bound bindMovement(const CommPtr& comm, const Movement& movement, TenonDataType type,
                   const CarrierPolicy& carrier) {
  Bound bound;
  std::vector<LinearOpRef> ops;
  for (const Movement& part : movement.parts)
    ops.push_back(bound.parts.emplace_back(bindMovement(comm, part, type, carrier)).op);
  const Layout &from = movement.from(), &to = movement.to();
  switch (movement.by) {
  case Movement::By::Exchange:
    bound.op = makeRef<Conversion>(comm, from, to, type, carrier);
    break;
  case Movement::By::Collective:
    bound.op = makeRef<CollectiveStep>(comm, movement.ends, type, carrier.space);
    break;
  case Movement::By::Steps:
    bound.op = compose(std::move(ops));
    break;
  case Movement::By::Program:
    bound.op = makeRef<ReductionOp>(comm, from, to, type, movement.program, carrier);
    break;
  case Movement::By::Vendor:
    bound.op = sumByNccl(comm, movement.ends, type, ops.empty() ? LinearOpRef() : ops.front());
    break;
  }
  return bound;
}

// The lines of a view: the reasons, and how each step is carried out.
std::string linesOf(const Movement& movement, const Bound& bound) {
  if (movement.by != Movement::By::Steps)
    return movement.why + bound.op->describeMore();
  std::string text = movement.why;
  for (std::size_t i = 0; i < bound.parts.size(); ++i) {
    const Movement& step = movement.parts[i];
    const std::string ends = endsText(step.from(), step.to());
    text += fmt::format("  step {} of {}: ", i + 1, bound.parts.size());
    if (step.by == Movement::By::Exchange || step.by == Movement::By::Collective) {
      const int rank = bound.op->comm()->rank();
      text += fmt::format(
          "{} {}; {}\n", step.ends.name(), ends,
          sentText(rank, step.sent(rank, Role::Source), bound.op->domainType(), step.ends.seconds));
    } else {
      text += ends + '\n' + linesOf(step, bound.parts[i]);
    }
  }
  return text;
}

// A conversion that another operator carries out, such as a chain of steps. Its type is still
// "conversion", so views and callers do not depend on that operator.
class IndirectConversion final : public LinearOp {
public:
  IndirectConversion(Bound bound, Movement movement, ConversionNotes notes)
      : LinearOp(bound.op->comm(), bound.op->domain(), bound.op->range(), bound.op->domainType()),
        bound_(std::move(bound)), movement_(std::move(movement)), notes_(std::move(notes)) {}

  std::string_view type() const noexcept override { return "conversion"; }
  std::string agreedText() const override { return LinearOp::agreedText() + notes_.agreed; }
  std::string describeMore() const override { return notes_.lines + linesOf(movement_, bound_); }
  std::optional<Traffic> trafficOf(int rank) const override {
    return movement_.sent(rank, Role::Source);
  }
  Index bufferBytes() const override { return bound_.op->bufferBytes(); }

private:
  void doBegin(const Action& action) override { launch(*bound_.op, action); }
  void doEnd(const Action&) override { complete(*bound_.op); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { bindPart(*bound_.op, sense, x, y); }
  void doUnbind() override { unbindPart(*bound_.op); }

  Bound bound_;
  Movement movement_;
  ConversionNotes notes_;
};

// Whether the movement can depend on the policy of sums. Conversions with halos are one exchange
// unless they sum.
bool dependsOnSums(const Communicator& comm, const Layout& from, const Layout& to,
                   const MovementPolicy& policy) {
  const bool isOneExchange =
      (from.hasHalos() || to.hasHalos() || from == to) && !mayHaveSums(from, to);
  return !isOneExchange &&
         policy.sums.mayReplaceRoutes(policy.route, comm.size(), comm.ranksPerNode());
}

} // namespace

MovementPolicy MovementPolicy::fromOptions(Space space) {
  return {.route = RoutePolicy::fromOptions(),
          .carrier = CarrierPolicy::fromOptions(space),
          .sums = SumPolicy::fromOptions()};
}

MovementTarget MovementPolicy::on(const Communicator& comm) const {
  return MovementTarget::on(comm.size(), comm.ranksPerNode(), carrier.space, route, sums);
}

Movement movementFor(const Communicator& comm, const Layout& from, const Layout& to,
                     TenonDataType type, const MovementPolicy& policy) {
  const MovementTarget target = dependsOnSums(comm, from, to, policy)
                                    ? policy.on(comm)
                                    : MovementTarget{.ranks = comm.size(), .routes = policy.route};
  return movementOf(from, to, dataTypeSize(type), target);
}

LinearOpRef makeConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                           TenonDataType type, const MovementPolicy& policy) {
  // Checked before the search of a route, whose steps have other layouts.
  checkLinkedHalos(from, to);
  checkSameShape(from, to);
  const bool sums = dependsOnSums(*comm, from, to, policy);
  ConversionNotes notes{.agreed = policy.route.agreedText(), .lines = {}};
  if (viewsInDetail() && !notes.agreed.empty())
    notes.lines = "  policy" + notes.agreed.substr(1) + '\n';
  if (sums)
    notes.agreed += policy.sums.agreedText(comm->ranksPerNode());
  const auto decide = [&] {
    Movement movement = movementFor(*comm, from, to, type, policy);
    if (movement.has(Movement::By::Vendor))
      checkNccl();
    return movement;
  };
  const auto agreedText = [&](const Movement&) {
    return fmt::format("conversion, {}: {} -> {}{}{}", dataTypeName(type), from.describe(),
                       to.describe(), notes.agreed, policy.carrier.agreedText());
  };
  // Each rank decides by itself, which can fail on one of them, for example where a machine file
  // cannot be read; batched() makes that an error on all ranks.
  Movement movement =
      sums ? batched(*comm, "the reduction of a conversion", decide, agreedText) : decide();
  if (movement.by == Movement::By::Exchange) {
    notes.lines += movement.why;
    notes.seconds = movement.ends.seconds;
    return makeRef<Conversion>(comm, from, to, type, policy.carrier, notes);
  }
  // All ranks create the communicators of collectives together, so they first compare what they
  // will create. Exchanges alone need no agreement.
  if (!sums && movement.has(Movement::By::Collective))
    batched(
        *comm, "the route of a conversion", [] { return true; },
        [&](bool) { return agreedText(movement); });
  Bound bound = bindMovement(comm, movement, type, policy.carrier);
  notes.agreed += policy.carrier.agreedText();
  return makeRef<IndirectConversion>(std::move(bound), std::move(movement), std::move(notes));
}

} // namespace tenon
