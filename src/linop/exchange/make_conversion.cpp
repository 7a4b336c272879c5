// SPDX-License-Identifier: BSD-2-Clause
// Creates the operator that converts a tensor from one layout to another. make() takes the first
// that applies, and records the reasons for views of the operator:
//   makeSum()    a reduction method (such as a reduction program), if the conversion sums copies
//   makeChain()  several steps, each an exchange, an MPI collective or a reduction method
//   Conversion   one exchange of messages
// All ranks must choose alike. The choice depends on layouts, options and predicted times that are
// the same on all ranks, and the ranks compare it before they create communicators or programs.
#include "linop/exchange/make_conversion.hpp"

#include "comm/agreement/batched.hpp"
#include "geometry/schedule/axis_change.hpp"
#include "geometry/schedule/traffic.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/exchange/collective_step.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace tenon {

namespace {

// A conversion that another operator carries out, such as a chain of steps. Its type is still
// "conversion", so views and callers do not depend on that operator.
class IndirectConversion final : public LinearOp {
public:
  using TrafficOf = std::function<Traffic(int rank)>;
  IndirectConversion(LinearOpRef op, ConversionNotes notes, TrafficOf trafficOf)
      : LinearOp(op->comm(), op->domain(), op->range(), op->domainType()), op_(std::move(op)),
        notes_(std::move(notes)), trafficOf_(std::move(trafficOf)) {}

  std::string_view type() const noexcept override { return "conversion"; }
  std::string agreedText() const override { return LinearOp::agreedText() + notes_.agreed; }
  std::string describeMore() const override { return notes_.lines; }
  std::optional<Traffic> trafficOf(int rank) const override { return trafficOf_(rank); }
  Index bufferBytes() const override { return op_->bufferBytes(); }

private:
  void doBegin(const Action& action) override { launch(*op_, action); }
  void doEnd(const Action&) override { complete(*op_); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { bindPart(*op_, sense, x, y); }
  void doUnbind() override { unbindPart(*op_); }

  LinearOpRef op_;
  ConversionNotes notes_;
  TrafficOf trafficOf_;
};

// Chooses and creates the operator of one conversion, or of one step of a chain.
struct Maker {
  const CommPtr& comm;
  const Layout &from, &to;
  TenonDataType type;
  const MovementPolicy& policy;
  Route route;
  ConversionNotes notes = {};

  // True if the route is one exchange of messages. A single collective is a chain of one step.
  bool isOneExchange() const { return route.size() == 1 && !route.front().collective; }
  // The text that ranks agree on before the first call that needs all of them.
  std::string agreedText() const {
    return fmt::format("conversion, {}: {} -> {}{}{}", dataTypeName(type), from.describe(),
                       to.describe(), notes.agreed, policy.carrier.agreedText());
  }

  LinearOpRef make();
  // The reduction in the conversion, and the reduction methods that apply to it.
  struct ReductionRequest {
    ReductionTask sum;
    std::vector<ReductionMethodRef> methods;
  };
  std::optional<ReductionRequest> reductionRequest() const;
  // False in route mode "exchange", which requests exactly one exchange, without reduction methods.
  // Otherwise the maker chooses freely among the ways above.
  bool isFree() const { return policy.route.mode != RouteMode::Exchange; }
  // True if steps of a chain that only sum may use reduction methods.
  bool sumsInSteps() const { return policy.route.mode == RouteMode::Auto; }
  // For each function that makes an operator: the messages that a rank sends in one Apply of it
  // (Role::Source) or of its adjoint (Role::Target).
  Traffic sent(int rank, Role role) const;
  std::optional<Traffic> sentInSum(int rank, Role role) const;
  Traffic sentInChain(const Route& steps, int rank, Role role) const;
  LinearOpRef makeSum();
  LinearOpRef makeChain();
  LinearOpRef makeStep(const RouteStep& step) const;
  std::string ends() const;
  std::string textOf(const RouteStep& step) const;
};

LinearOpRef Maker::make() {
  notes.agreed = policy.route.agreedText();
  if (viewsInDetail() && !notes.agreed.empty())
    notes.lines = "  policy" + notes.agreed.substr(1) + '\n';
  if (isFree())
    if (LinearOpRef sum = makeSum())
      return sum;
  if (!isOneExchange())
    return makeChain();
  if (const std::string why = whyNotSearched(from, to); isFree() && !why.empty())
    notes.lines += fmt::format("  {}\n", why);
  notes.seconds = route.front().seconds;
  return makeRef<Conversion>(comm, from, to, type, policy.carrier, notes);
}

std::optional<Maker::ReductionRequest> Maker::reductionRequest() const {
  if (policy.sums.empty())
    return std::nullopt;
  ReductionRequest request{.sum = {.comm = comm,
                                   .from = from,
                                   .to = to,
                                   .change = sumBetween(from, to),
                                   .type = type,
                                   .carrier = policy.carrier,
                                   .route = route,
                                   .policy = policy.route},
                           .methods = policy.sums};
  std::erase_if(request.methods,
                [&](const ReductionMethodRef& method) { return !method->appliesTo(request.sum); });
  if (request.methods.empty())
    return std::nullopt;
  return request;
}

// Returns NULL unless the conversion or its adjoint sums and a reduction method offers a program.
LinearOpRef Maker::makeSum() {
  const std::optional<ReductionRequest> request = reductionRequest();
  if (!request)
    return {};
  const auto& [sum, methods] = *request;
  for (const ReductionMethodRef& method : methods)
    notes.agreed += method->agreedText(sum);
  // Each rank computes the offers separately, which can fail on one of them, for example where a
  // method reads a file; batched() makes that an error on all ranks.
  const ReductionOffer best = batched(
      *comm, "the reduction of a conversion",
      [&] { return bestOffer(request->methods, request->sum); },
      [&](const ReductionOffer&) { return agreedText(); });
  notes.lines += best.why;
  if (!best.steps.empty()) {
    route = best.steps;
    return makeChain();
  }
  if (!best.make)
    return {};
  const LinearOpRef op = best.make();
  notes.agreed += policy.carrier.agreedText();
  notes.lines += op->describeMore();
  return makeRef<IndirectConversion>(op, notes, [=](int rank) { return *op->trafficOf(rank); });
}

LinearOpRef Maker::makeChain() {
  const auto isCollective = [](const RouteStep& step) { return step.collective.has_value(); };
  // All ranks create the communicators of collectives together, so they first compare what they
  // will create. Exchanges alone need no agreement.
  if (std::any_of(route.begin(), route.end(), isCollective))
    batched(
        *comm, "the route of a conversion", [] { return true; },
        [&](bool) { return agreedText(); });
  std::vector<LinearOpRef> steps;
  std::vector<IndirectConversion::TrafficOf> traffic;
  for (const RouteStep& step : route) {
    notes.lines += fmt::format("  step {} of {}: ", steps.size() + 1, route.size());
    // A step that only sums is made like a separate conversion: by a reduction method, if one
    // offers a program.
    Maker stepMaker{comm, step.from, step.to, type, policy, {step}};
    if (LinearOpRef sum = sumsInSteps() ? stepMaker.makeSum() : LinearOpRef()) {
      notes.lines += stepMaker.ends() + '\n' + stepMaker.notes.lines;
      traffic.push_back([sum](int rank) { return *sum->trafficOf(rank); });
      steps.push_back(std::move(sum));
    } else {
      notes.lines += textOf(step);
      traffic.push_back([step](int rank) { return sentInStep(step, rank); });
      steps.push_back(makeStep(step));
    }
  }
  notes.agreed += policy.carrier.agreedText();
  return makeRef<IndirectConversion>(compose(std::move(steps)), notes, [traffic](int rank) {
    Traffic total;
    for (const auto& trafficOfStep : traffic)
      total += trafficOfStep(rank);
    return total;
  });
}

// The messages that a rank sends. sent(), sentInSum() and sentInChain() make the same choices as
// make(), makeSum() and makeChain(), but create nothing.
Traffic Maker::sent(int rank, Role role) const {
  if (isFree())
    if (const std::optional<Traffic> sum = sentInSum(rank, role))
      return *sum;
  return isOneExchange() ? countFlow(from, to, rank, role).others : sentInChain(route, rank, role);
}

std::optional<Traffic> Maker::sentInSum(int rank, Role role) const {
  const std::optional<ReductionRequest> request = reductionRequest();
  if (!request)
    return std::nullopt;
  const ReductionOffer best = bestOffer(request->methods, request->sum);
  if (!best.steps.empty())
    return sentInChain(best.steps, rank, role);
  return best.make ? std::optional(best.sent(rank, role)) : std::nullopt;
}

Traffic Maker::sentInChain(const Route& steps, int rank, Role role) const {
  Traffic total;
  for (const RouteStep& step : steps) {
    const Maker stepMaker{comm, step.from, step.to, type, policy, {step}};
    const Route oneStep = {step};
    if (const auto sum = sumsInSteps() ? stepMaker.sentInSum(rank, role) : std::optional<Traffic>())
      total += *sum;
    else
      total += sentOnRoute(role == Role::Source ? oneStep : adjointOf(oneStep), rank);
  }
  return total;
}

LinearOpRef Maker::makeStep(const RouteStep& step) const {
  if (step.collective)
    return makeRef<CollectiveStep>(comm, step, type, policy.carrier.space);
  return makeRef<Conversion>(comm, step.from, step.to, type, policy.carrier);
}

// The change of properties, such as "P,S0 -> B,S0", or both layouts if the grids differ.
std::string Maker::ends() const {
  const bool oneGrid = from.grid() == to.grid();
  return fmt::format("{} -> {}", oneGrid ? tenon::describe(from.properties()) : from.describe(),
                     oneGrid ? tenon::describe(to.properties()) : to.describe());
}

std::string Maker::textOf(const RouteStep& step) const {
  const Maker stepMaker{comm, step.from, step.to, type, policy, {step}};
  return fmt::format("{} {}; {}\n", step.name(), stepMaker.ends(),
                     sentText(comm->rank(), sentInStep(step, comm->rank()), type, step.seconds));
}

} // namespace

MovementPolicy MovementPolicy::fromOptions(Space space) {
  return {.route = RoutePolicy::fromOptions(),
          .carrier = CarrierPolicy::fromOptions(space),
          .sums = wantedReductionMethods()};
}

LinearOpRef makeConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                           TenonDataType type, const MovementPolicy& policy) {
  // Checked before the search of a route, whose steps have other layouts.
  checkLinkedHalos(from, to);
  Route route = findRoute(from, to, dataTypeSize(type), policy.route);
  return Maker{comm, from, to, type, policy, std::move(route)}.make();
}

Traffic sentInConversion(const CommPtr& comm, const Layout& from, const Layout& to,
                         TenonDataType type, const MovementPolicy& policy, int rank, Role role) {
  Route route = findRoute(from, to, dataTypeSize(type), policy.route);
  return Maker{comm, from, to, type, policy, std::move(route)}.sent(rank, role);
}

} // namespace tenon
