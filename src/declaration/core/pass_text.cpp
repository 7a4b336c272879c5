// SPDX-License-Identifier: BSD-2-Clause
// The text of a pass in views of a layer (TenonObjectView()): one line per step, then one line per
// value in memory of the pass. For a convolution with a halo exchange, whose weight is in another
// layout, Apply reads
//
//   0 begin     weight in its use layout
//   1 apply     conversion x -> u
//   2 end       weight in its use layout
//   3 kernel    conv u -> y (weight)
//     u [8] S0 + halo of 1 in dim 0, steps 1 to 3, kept
//
// "->" overwrites and "+>" adds; "*" marks the adjoint of an operator or kernel. Values of a
// derivative have the names of the list with a prefix, d. for cotangents and t. for tangents, which
// makes them easy to find in Apply. describe() is declared in pass.hpp.
#include "declaration/core/pass.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

const char* nameOf(OperatorKind kind) {
  switch (kind) {
  case OperatorKind::Conversion:
  case OperatorKind::Exchange:
    return "conversion";
  case OperatorKind::Maximum:
    return "maximum";
  case OperatorKind::IndexMap:
    return "index map";
  case OperatorKind::IndexSum:
    return "index map*";
  case OperatorKind::Crop:
    return "crop";
  case OperatorKind::Refill:
    return "refill";
  case OperatorKind::BoundaryValues:
    return "boundary values";
  case OperatorKind::BoundaryNumber:
    return "boundary number";
  }
  return "";
}

const char* nameOf(Do what) {
  static constexpr const char* kNames[] = {"begin",   "end",     "apply",     "kernel",
                                           "tangent", "adjoint", "gradients", "copy",
                                           "add",     "zero",    "round",     "expand"};
  return kNames[static_cast<int>(what)];
}

// Formats steps and lifetimes of one pass.
class PassText {
public:
  PassText(const MapList& list, const Pass& pass) : list_(list), pass_(pass) {}

  std::string step(const Step& step) const {
    std::string text = fmt::format("{:<9} ", nameOf(step.what));
    const bool isOfMap = step.map >= 0 && !isCopy(step);
    if (isOfMap)
      text += object(list_.maps()[step.map], step.adjoint);
    if (step.epilogue >= 0)
      text += "then " + object(list_.maps()[step.epilogue], /*adjoint=*/false);
    // The values of an End are listed at its Begin.
    if (step.what != Do::End && !(step.reads.empty() && step.writes.empty()))
      text += fmt::format("{} {} {}", names(step.reads),
                          step.adds || step.what == Do::Add ? "+>" : "->", names(step.writes));
    if (isOfMap && list_.maps()[step.map].kind == Map::Kind::Kernel)
      text += parameters(list_.kernels()[list_.maps()[step.map].object], step.what);
    return text;
  }

  std::string lifetime(const Lifetime& lifetime) const {
    const Value& value = pass_.values[lifetime.value];
    const bool mayBeUsers = value.sharesMemoryOf != kNoValue &&
                            pass_.values[value.sharesMemoryOf].place == Value::Place::Argument;
    return fmt::format("{} {}, steps {} to {}{}{}{}", value.name,
                       value.layout.summary(value.layout.grid()), lifetime.first, lifetime.last,
                       value.saved ? ", kept" : "", value.rounded ? " in bfloat16" : "",
                       mayBeUsers ? ", in the user's array if contiguous" : "");
  }

private:
  std::string object(const Map& map, bool adjoint) const {
    const char* star = adjoint ? "*" : "";
    switch (map.kind) {
    case Map::Kind::Operator:
      return fmt::format("{}{} ", nameOf(list_.operators()[map.object].kind), star);
    case Map::Kind::Kernel:
      return fmt::format("{}{} ", list_.kernels()[map.object].name, star);
    case Map::Kind::Source:
      return list_.sources()[map.object].name + " in its use layout";
    case Map::Kind::Stage:
      break;
    }
    return "";
  }
  std::string names(const std::vector<ValueId>& values) const {
    std::string text;
    // "-" is a missing value; an empty list, such as missing tangents, is "0".
    for (ValueId v : values)
      text += (text.empty() ? "" : ", ") + (v == kNoValue ? "-" : pass_.values[v].name);
    return text.empty() ? "0" : text;
  }
  std::string parameters(const KernelEntry& kernel, Do what) const {
    if (what == Do::AdjointParameters ||
        (what == Do::Adjoint && kernel.gradients == Gradients::Within))
      return " +> gradients";
    std::string text;
    for (int source : kernel.sources)
      text += fmt::format(" ({})", list_.sources()[source].name);
    return text;
  }

  const MapList& list_;
  const Pass& pass_;
};

} // namespace

std::string describe(const MapList& list, const Pass& pass) {
  const PassText lines(list, pass);
  std::string text;
  for (std::size_t s = 0; s < pass.steps.size(); ++s)
    text += fmt::format("    {:>2} {}\n", s, lines.step(pass.steps[s]));
  for (const Lifetime& lifetime : lifetimes(pass))
    text += fmt::format("       {}\n", lines.lifetime(lifetime));
  return text;
}

} // namespace tenon
