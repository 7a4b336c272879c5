// SPDX-License-Identifier: BSD-2-Clause
// Types that contain layers, as settings only. The form of a container is the forms of its layers
// one after the other, and only whoever holds the layers can make it: a container that is asked for
// one reports a defect of the library.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kRecompute = {
    "recompute", OptionSpec::Flag, "false",
    "keep nothing but the inputs of this container, and evaluate it again before its adjoint"};
constexpr OptionSpec kSequential[] = {kRecompute};
constexpr OptionSpec kGraph[] = {
    {"input_count", OptionSpec::Int, "1", "number of inputs of the graph", nullptr, {1, 64}},
    kRecompute};

class Network final : public Declaration {
public:
  Network(const char* type, std::span<const OptionSpec> table) : Declaration(type, table) {}

  bool contains() const override { return true; }
  int inputCount() const override {
    return settings().has("input_count") ? static_cast<int>(integer("input_count")) : 1;
  }
  Shape outputShape(const std::vector<Shape>&) const override { throwContainer(); }
  SignatureTable rows(const std::vector<Shape>&) const override { throwContainer(); }
  Form form(const Layouts&, const Choice&) const override { throwContainer(); }

private:
  [[noreturn]] void throwContainer() const {
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("{} is a container; ask its layers for their forms", title()));
  }
};

} // namespace

std::unique_ptr<Declaration> declareSequential() {
  return std::make_unique<Network>("sequential", kSequential);
}

std::unique_ptr<Declaration> declareGraph() {
  return std::make_unique<Network>("graph", kGraph);
}

} // namespace tenon
