// SPDX-License-Identifier: BSD-2-Clause
// Operators made of operators: (B A)* = A* B*, and (A*)* = A.
#include "linop/linear_op.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class AdjointView final : public LinearOp {
public:
  explicit AdjointView(LinearOpRef op)
      : LinearOp(op->comm(), op->range().dual(), op->domain().dual(), op->dataType()),
        op_(std::move(op)) {}

  const char* type() const noexcept override { return "adjoint"; }

private:
  void doApply(const DTensor& x, DTensor& y) override { op_->applyAdjoint(x, y); }
  void doApplyAdjoint(const DTensor& y, DTensor& x) override { op_->apply(y, x); }

  LinearOpRef op_;
};

class Composition final : public LinearOp {
public:
  explicit Composition(std::vector<LinearOpRef> ops)
      : LinearOp(ops.front()->comm(), ops.front()->domain(), ops.back()->range(),
                 ops.front()->dataType()),
        ops_(std::move(ops)) {
    for (std::size_t i = 0; i + 1 < ops_.size(); ++i) {
      between_.push_back(makeRef<DTensor>(comm(), ops_[i]->range(), dataType()));
      betweenDual_.push_back(makeRef<DTensor>(comm(), ops_[i]->range().dual(), dataType()));
    }
  }

  const char* type() const noexcept override { return "composition"; }

private:
  void doApply(const DTensor& x, DTensor& y) override {
    const DTensor* from = &x;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      DTensor& to = i + 1 < ops_.size() ? *between_[i] : y;
      ops_[i]->apply(*from, to);
      from = &to;
    }
  }

  void doApplyAdjoint(const DTensor& y, DTensor& x) override {
    const DTensor* from = &y;
    for (std::size_t i = ops_.size(); i-- > 0;) {
      DTensor& to = i > 0 ? *betweenDual_[i - 1] : x;
      ops_[i]->applyAdjoint(*from, to);
      from = &to;
    }
  }

  std::vector<LinearOpRef> ops_;
  std::vector<Ref<DTensor>> between_, betweenDual_;
};

void checkFit(const LinearOp& first, const LinearOp& second, std::size_t at) {
  if (first.comm() != second.comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("operators {} and {} of a composition live on different communicators",
                            at, at + 1));
  if (first.dataType() != second.dataType())
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("operator {} of a composition gives {}, but operator {} takes {}", at,
                            dataTypeName(first.dataType()), at + 1,
                            dataTypeName(second.dataType())));
  if (!(first.range() == second.domain()))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("operator {} of a composition gives {}, but operator {} takes {}", at,
                            first.range().describe(), at + 1, second.domain().describe()));
}

} // namespace

LinearOpRef adjointView(LinearOpRef op) {
  return makeRef<AdjointView>(std::move(op));
}

LinearOpRef compose(std::vector<LinearOpRef> ops) {
  if (ops.empty())
    throw Error(TENON_ERR_ARG, "a composition needs at least one operator");
  for (std::size_t i = 0; i + 1 < ops.size(); ++i)
    checkFit(*ops[i], *ops[i + 1], i);
  return makeRef<Composition>(std::move(ops));
}

} // namespace tenon
