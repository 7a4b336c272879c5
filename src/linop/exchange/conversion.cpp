// SPDX-License-Identifier: BSD-2-Clause
// A conversion as one exchange: a schedule, and an executor that runs it. The schedule is not
// stored: it follows from the layouts for any rank, so views compute it again and count the
// messages of every rank without communication.
#include "linop/exchange/conversion.hpp"

#include "sys/log/log.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

Conversion::Conversion(const CommPtr& comm, const Layout& from, const Layout& to,
                       TenonDataType type, const CarrierPolicy& policy, ConversionNotes notes)
    : LinearOp(comm, from, to, type), notes_(std::move(notes)),
      halosOnly_(from.withoutHalos() == to.withoutHalos() && !(from.hasHalos() && to.hasHalos())),
      executors_(
          comm, [this] { return makeSchedule(domain(), range(), this->comm()->rank()); }, type,
          title(), policy) {
  notes_.agreed += policy.agreedText();
}

std::string Conversion::agreedText() const {
  return LinearOp::agreedText() + notes_.agreed;
}

std::optional<Traffic> Conversion::trafficOf(int rank) const {
  return sentTraffic(makeSchedule(domain(), range(), rank), rank);
}

std::string Conversion::describeMore() const {
  const int rank = comm()->rank();
  return fmt::format("{}  one exchange: {}; transport {}\n", notes_.lines,
                     sentText(rank, *trafficOf(rank), domainType(), notes_.seconds),
                     executors_.single().describeTransport());
}

void Conversion::applyMax(const DTensor& x, DTensor& y) {
  // Not an Action, which has factors, an adjoint and two halves: a maximum has none of them and is
  // complete when the call returns.
  static const int event = logEvent("ConversionMax");
  const LogScope scope(event);
  checkTensor(x, domain(), domainType(), title(), "input");
  checkTensor(y, range(), domainType(), title(), "output");
  checkIdle();
  const Action action{.x = &x, .y = &y};
  executors_.single().begin(action);
  executors_.single().end(action, Combine::Max);
}

std::string sentText(int rank, const Traffic& sent, TenonDataType type, double seconds) {
  std::string text = fmt::format("rank {} sends {}, {}", rank, counted(sent.messages, "message"),
                                 sizeText(sent.elements * dataTypeSize(type)));
  if (seconds > 0)
    text += fmt::format("; predicted {:.3g} us", 1e6 * seconds);
  return text;
}

} // namespace tenon
