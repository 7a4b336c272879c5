// SPDX-License-Identifier: BSD-2-Clause
// The linear combinations of operators: (c A)* = c A* and (A + B)* = A* + B*. Both hand factors
// down, so that y <- alpha (A + B) x + beta y is y <- alpha A x + beta y, then y <- alpha B x + y.
#include "dtensor/arithmetic.hpp"
#include "linop/algebra.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class Scaled final : public LinearOp {
public:
  Scaled(double factor, LinearOpRef op)
      : LinearOp(op->comm(), op->domain(), op->range(), op->domainType(), op->rangeType()),
        factor_(factor), op_(std::move(op)) {
    checkFactor(factor, domainType(), title());
  }

  const char* type() const noexcept override { return "scale"; }
  std::string agreedText() const override {
    return fmt::format("{}; {} times {}", LinearOp::agreedText(), factor_, op_->agreedText());
  }
  std::string describeMore() const override {
    return fmt::format("  {} times {}\n", factor_, op_->agreedText());
  }

private:
  void doBegin(const Action& action) override {
    Action scaled = action;
    scaled.alpha *= factor_;
    launch(*op_, scaled);
  }
  void doEnd(const Action&) override { complete(*op_); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override { bindPart(*op_, sense, x, y); }
  void doUnbind() override { unbindPart(*op_); }

  double factor_;
  LinearOpRef op_;
};

class Sum final : public LinearOp {
public:
  explicit Sum(std::vector<LinearOpRef> ops)
      : LinearOp(ops.front()->comm(), ops.front()->domain(), ops.front()->range(),
                 ops.front()->domainType(), ops.front()->rangeType()),
        ops_(std::move(ops)) {}

  const char* type() const noexcept override { return "sum"; }
  std::string agreedText() const override { return LinearOp::agreedText() + listed(ops_, "plus"); }
  std::string describeMore() const override { return describeParts(ops_, "term"); }

private:
  // Only the first is begun: an operator may stand in the sum twice.
  void doBegin(const Action& action) override { launch(*ops_.front(), action); }
  void doEnd(const Action& action) override {
    complete(*ops_.front());
    Action further = action;
    further.beta = 1;
    for (std::size_t i = 1; i < ops_.size(); ++i)
      run(*ops_[i], further);
  }
  void doBind(Sense sense, DTensor& x, DTensor& y) override {
    for (const LinearOpRef& op : ops_)
      bindPart(*op, sense, x, y);
  }
  void doUnbind() override {
    for (const LinearOpRef& op : ops_)
      unbindPart(*op);
  }

  std::vector<LinearOpRef> ops_;
};

void checkAddend(const LinearOp& first, const LinearOp& other, std::size_t at) {
  if (first.comm() != other.comm())
    throw Error(TENON_ERR_ARG, fmt::format("operators 0 and {} of the sum are on different "
                                           "communicators; create them on the same one",
                                           at));
  if (first.domainType() != other.domainType() || first.rangeType() != other.rangeType())
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("operator 0 of the sum maps {} to {}, but operator {} maps {} to {}; "
                            "pass operators with the same domain and range",
                            dataTypeName(first.domainType()), dataTypeName(first.rangeType()), at,
                            dataTypeName(other.domainType()), dataTypeName(other.rangeType())));
  if (!(first.domain() == other.domain() && first.range() == other.range()))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("operator 0 of the sum maps {} to {}, but operator {} maps {} to {}; "
                            "pass operators with the same domain and range",
                            first.domain().describe(), first.range().describe(), at,
                            other.domain().describe(), other.range().describe()));
}

} // namespace

LinearOpRef scale(double factor, LinearOpRef op) {
  return makeRef<Scaled>(factor, std::move(op));
}

LinearOpRef sum(std::vector<LinearOpRef> ops) {
  if (ops.empty())
    throw Error(TENON_ERR_ARG, "the sum has no operators; pass at least 1");
  for (std::size_t i = 1; i < ops.size(); ++i)
    checkAddend(*ops.front(), *ops[i], i);
  return makeRef<Sum>(std::move(ops));
}

} // namespace tenon
