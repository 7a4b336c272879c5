// SPDX-License-Identifier: BSD-2-Clause
#include "linop/conversion.hpp"

#include "comm/agreement.hpp"
#include "linop/algebra.hpp"
#include "linop/collective_step.hpp"
#include "linop/reduction_choice.hpp"
#include "linop/reduction_op.hpp"
#include "sys/log.hpp"
#include "sys/text.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>

namespace tenon {

Transport Conversion::chosenTransport() {
  return CarrierPolicy::fromOptions().transport;
}

Conversion::Conversion(const CommPtr& comm, const Layout& from, const Layout& to,
                       TenonDataType type, Transport transport, const RoutePolicy& policy)
    : Conversion(comm, findRoute(from, to, dataTypeSize(type), policy), type, transport, policy) {}

Conversion::Conversion(const CommPtr& comm, Route route, TenonDataType type, Transport transport,
                       const RoutePolicy& policy)
    : LinearOp(comm, route.front().from, route.back().to, type), route_(std::move(route)),
      transport_(transport), policyText_(policy.agreedText()),
      traffic_(sentOnRoute(route_, comm->rank())),
      marginsOnly_(domain().withoutMargins() == range().withoutMargins() &&
                   !(domain().hasMargins() && range().hasMargins())) {
  if (policy.mode != RouteMode::Exchange)
    chain_ = makeReduction(policy.rates);
  if (chain_)
    return;
  if (isOneExchange()) {
    if (policy.mode != RouteMode::Exchange)
      if (const std::string why = whyNotSearched(domain(), range()); !why.empty())
        oneExchangeText_ = fmt::format("  {}\n", why);
    executor_.emplace(comm, makeSchedule(domain(), range(), comm->rank()), type, title(),
                      CarrierPolicy::fromOptions().by(transport));
    return;
  }
  const auto isCollective = [](const RouteStep& step) { return step.collective.has_value(); };
  if (std::any_of(route_.begin(), route_.end(), isCollective))
    agreeOnText(*comm, "the route of a conversion", agreedText());
  std::vector<LinearOpRef> steps;
  for (const RouteStep& step : route_)
    steps.push_back(makeStep(step));
  chain_ = compose(std::move(steps));
}

// NULL unless a program is to sum over axes of several ranks.
LinearOpRef Conversion::makeReduction(const LinkRates& rates) {
  const ReductionPolicy policy = ReductionPolicy::fromOptions();
  const std::vector<int> axes = summedAxes(domain(), range());
  if (axes.empty() || policy.isByRoute())
    return {};
  policyText_ += policy.agreedText();
  double seconds = 0;
  for (const RouteStep& step : route_)
    seconds += step.seconds;
  ReductionChoice choice = collectively(
      *comm(), "the reduction of a conversion",
      [&] {
        return chooseReduction(policy, domain(), axes, comm()->size(), dataTypeSize(dataType()),
                               seconds, rates);
      },
      [&](const ReductionChoice&) { return agreedText(); });
  reductionText_ = choice.why;
  if (!choice.taken)
    return {};
  const auto reduction = makeRef<ReductionOp>(comm(), domain(), range(), dataType(),
                                              std::move(choice.plan), transport_);
  traffic_ = reduction->trafficOf(comm()->rank());
  return reduction;
}

LinearOpRef Conversion::makeStep(const RouteStep& step) const {
  if (step.collective)
    return makeRef<CollectiveStep>(comm(), step, dataType());
  return makeRef<Conversion>(comm(), step.from, step.to, dataType(), transport_,
                             RoutePolicy::exchange());
}

std::string Conversion::agreedText() const {
  const std::string transport =
      transport_ == Transport::Auto ? "" : fmt::format("; transport {}", transportName(transport_));
  return LinearOp::agreedText() + policyText_ + transport;
}

std::string Conversion::describeMore() const {
  std::string text;
  if (viewsInDetail() && !policyText_.empty())
    text += "  policy" + policyText_.substr(1) + '\n';
  if (!reductionText_.empty())
    text += fmt::format("  {}\n", reductionText_);
  if (executor_)
    return text +
           fmt::format("  one exchange: {}; transport {}\n", sentText(route_.front()),
                       executor_->describeTransport()) +
           oneExchangeText_;
  if (const auto* reduction = dynamic_cast<const ReductionOp*>(chain_.get()))
    return text + reduction->describeMore();
  for (std::size_t i = 0; i < route_.size(); ++i) {
    const auto& [from, to] = std::tie(route_[i].from, route_[i].to);
    const bool oneGrid = from.mesh() == to.mesh();
    text += fmt::format(
        "  step {} of {}: {} {} -> {}; {}\n", i + 1, route_.size(), route_[i].name(),
        oneGrid ? tenon::describe(from.properties()) : from.describe(),
        oneGrid ? tenon::describe(to.properties()) : to.describe(), sentText(route_[i]));
  }
  return text;
}

// "rank 0 sends 3 messages, 18432 B; predicted 9.9 us".
std::string Conversion::sentText(const RouteStep& step) const {
  const Traffic sent = sentInStep(step, comm()->rank());
  std::string text =
      fmt::format("rank {} sends {}, {} B", comm()->rank(), counted(sent.messages, "message"),
                  sent.cells * dataTypeSize(dataType()));
  if (step.seconds > 0)
    text += fmt::format("; predicted {:.3g} us", 1e6 * step.seconds);
  return text;
}

Traffic Conversion::trafficOf(int rank) const {
  if (const auto* reduction = dynamic_cast<const ReductionOp*>(chain_.get()))
    return reduction->trafficOf(rank);
  return sentOnRoute(route_, rank);
}

Index Conversion::bufferBytes() const {
  return executor_ ? executor_->bufferBytes() : chain_->bufferBytes();
}

void Conversion::doBegin(const Action& action) {
  if (executor_)
    executor_->begin(action);
  else
    launch(*chain_, action);
}

void Conversion::doEnd(const Action& action) {
  if (executor_)
    executor_->end(action);
  else
    complete(*chain_);
}

void Conversion::doBind(Sense sense, DTensor& x, DTensor& y) {
  if (executor_)
    executor_->bind(sense, x, y);
  else
    bindPart(*chain_, sense, x, y);
}

void Conversion::doUnbind() {
  if (executor_)
    executor_->unbind();
  else
    unbindPart(*chain_);
}

void Conversion::applyMax(const DTensor& x, DTensor& y) {
  static const int event = logEvent("ConversionMax");
  const LogScope scope(event);
  checkTensor(x, domain(), dataType(), title(), "input");
  checkTensor(y, range(), dataType(), title(), "output");
  checkIdle();
  if (!executor_)
    throw Error(TENON_ERR_SUPPORT, fmt::format("{} has {} steps, but a maximum needs a single "
                                               "exchange; create it with RoutePolicy::exchange()",
                                               title(), route_.size()));
  const Action action{.x = &x, .y = &y};
  executor_->begin(action);
  executor_->end(action, Combine::Max);
}

} // namespace tenon
