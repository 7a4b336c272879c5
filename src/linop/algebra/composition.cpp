// SPDX-License-Identifier: BSD-2-Clause
// Operators that consist of operators: c A, A + B, A* and B A. Their adjoints are (c A)* = c A*, (A
// + B)* = A* + B*, (A*)* = A and (B A)* = A* B*. An action is y <- alpha A x + beta y; alpha and
// beta are passed to the component that writes y, so only B A needs memory, for the tensor between
// A and B. Each class implements the two halves of an action, doBegin() and doEnd(), by those of
// its components: launch(A, action) and complete(A), or run(A, action) for both. bindPart()
// prepares a component for repeated actions on the same arrays. agreedText() describes an operator
// by a text that ranks compare when they create it.
#include "linop/algebra/composition.hpp"
#include "dtensor/arithmetic.hpp"
#include "linop/exchange/wire.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

// Multiples c A, and sums: y <- alpha (A + B) x + beta y is computed as y <- alpha A x + beta y,
// then y <- alpha B x + y.

namespace {

class Scaled final : public LinearOp {
public:
  Scaled(double factor, LinearOpRef op)
      : LinearOp(op->comm(), op->domain(), op->range(), op->domainType(), op->rangeType()),
        factor_(factor), op_(std::move(op)) {
    checkFactor(factor, domainType(), title());
  }

  std::string_view type() const noexcept override { return "scale"; }
  std::string agreedText() const override {
    return fmt::format("{}; {} times {}", LinearOp::agreedText(), factor_, op_->agreedText());
  }
  std::string describeMore() const override {
    return fmt::format("  {} times {}\n", factor_, op_->agreedText());
  }
  bool takesFields() const override { return op_->takesFields(); }

private:
  void doBegin(const Action& action) override {
    // A factor of 0 is not a special case: launch() sends nothing for alpha = 0.
    Action scaled = action;
    scaled.alpha *= factor_;
    checkFactor(scaled.alpha, action.sense == Sense::Forward ? rangeType() : domainType(), title());
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

  std::string_view type() const noexcept override { return "sum"; }
  std::string agreedText() const override { return LinearOp::agreedText() + listed(ops_, "plus"); }
  std::string describeMore() const override { return describeParts(ops_, "term"); }
  bool takesFields() const override {
    return std::ranges::all_of(ops_, [](const LinearOpRef& op) { return op->takesFields(); });
  }

private:
  // Only the first term begins early: the same operator can be a term twice, but can have only one
  // action in flight.
  void doBegin(const Action& action) override { launch(*ops_.front(), action); }
  void doEnd(const Action& action) override {
    complete(*ops_.front());
    Action next = action;
    // The first term has applied beta; the other terms add to its result.
    next.beta = 1;
    for (std::size_t i = 1; i < ops_.size(); ++i)
      run(*ops_[i], next);
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

void checkContribution(const LinearOp& first, const LinearOp& term, std::size_t index) {
  if (first.comm() != term.comm())
    throw Error(TENON_ERR_ARG, fmt::format("operators 0 and {} of the sum are on different "
                                           "communicators; create them on the same one",
                                           index));
  if (first.domainType() != term.domainType() || first.rangeType() != term.rangeType())
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("operator 0 of the sum maps {} to {}, but operator {} maps {} to {}; "
                            "pass operators with the same domain and range",
                            dataTypeName(first.domainType()), dataTypeName(first.rangeType()),
                            index, dataTypeName(term.domainType()),
                            dataTypeName(term.rangeType())));
  if (!(first.domain() == term.domain() && first.range() == term.range()))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("operator 0 of the sum maps {} to {}, but operator {} maps {} to {}; "
                            "pass operators with the same domain and range",
                            first.domain().describe(), first.range().describe(), index,
                            term.domain().describe(), term.range().describe()));
}

} // namespace

LinearOpRef scale(double factor, LinearOpRef op) {
  checkOneMap(*op, "a multiple");
  return makeRef<Scaled>(factor, std::move(op));
}

LinearOpRef sum(std::vector<LinearOpRef> ops) {
  if (ops.empty())
    throw Error(TENON_ERR_ARG, "the sum has no operators; pass at least 1");
  for (const LinearOpRef& op : ops)
    checkOneMap(*op, "a sum");
  for (std::size_t i = 1; i < ops.size(); ++i)
    checkContribution(*ops.front(), *ops[i], i);
  return makeRef<Sum>(std::move(ops));
}

namespace {

class AdjointView final : public LinearOp {
public:
  explicit AdjointView(LinearOpRef op)
      : LinearOp(op->comm(), op->range().dual(), op->domain().dual(), op->rangeType(),
                 op->domainType()),
        op_(std::move(op)) {
    for (const LinearOpRef& block : op_->blocks())
      blocks_.push_back(adjointView(block));
  }

  std::string_view type() const noexcept override { return "adjoint"; }
  std::string agreedText() const override {
    return LinearOp::agreedText() + "; of " + op_->agreedText();
  }
  // That of a block diagonal has no domain or range of its own.
  std::string describe() const override {
    return blocks_.empty() ? LinearOp::describe()
                           : fmt::format("{}: {} of {}\n{}", headingOf(*this), type(), op_->type(),
                                         describeParts(blocks_, "operator"));
  }
  std::string describeMore() const override {
    return fmt::format("  adjoint of {}\n", op_->agreedText());
  }
  bool takesFields() const override { return op_->takesFields(); }
  OneExchange asExchange() const override {
    const OneExchange exchange = op_->asExchange();
    return {exchange.executors, !exchange.isTransposed};
  }
  std::span<const LinearOpRef> blocks() const override { return blocks_; }

private:
  // The domain of the view is the dual of the operator's range, so a forward action of the view is
  // an adjoint action of the operator on the same tensors.
  static Action reversedAction(Action action) {
    action.sense = reversed(action.sense);
    return action;
  }
  bool worksInPlace(const Action& action) const override {
    return LinearOp::worksInPlace(*op_, reversedAction(action));
  }
  void doBegin(const Action& action) override { launch(*op_, reversedAction(action)); }
  void doEnd(const Action&) override { complete(*op_); }
  void doBind(Sense sense, DTensor& x, DTensor& y) override {
    bindPart(*op_, reversed(sense), x, y);
  }
  void doUnbind() override { unbindPart(*op_); }

  LinearOpRef op_;
  std::vector<LinearOpRef> blocks_; // Adjoints of those of the operator.
};

class Composition final : public LinearOp {
public:
  explicit Composition(std::vector<LinearOpRef> ops)
      : LinearOp(ops.front()->comm(), ops.front()->domain(), ops.back()->range(),
                 ops.front()->domainType(), ops.back()->rangeType()),
        ops_(std::move(ops)) {}

  std::string_view type() const noexcept override { return "composition"; }
  std::string agreedText() const override { return LinearOp::agreedText() + listed(ops_, "then"); }
  std::string describeMore() const override { return describeParts(ops_, "step"); }
  Index bufferBytes() const override {
    Index bytes = 0;
    for (const LinearOpRef& op : ops_)
      bytes += op->bufferBytes();
    bySpace_.visit([&](const Between& between) {
      for (const auto* list : {&between.values, &between.cotangents})
        for (const Ref<DTensor>& tensor : *list)
          bytes += tensor->arrayBytes();
    });
    return bytes;
  }

private:
  // The tensors between the steps, in one memory space: after each step a value and, in the dual
  // layout, a cotangent. A tensor allocates its array at its first use, so without an adjoint the
  // cotangents cost no memory.
  struct Between {
    std::vector<Ref<DTensor>> values, cotangents;
    Between(const std::vector<LinearOpRef>& ops, Space space) {
      for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
        const LinearOp& op = *ops[i];
        values.push_back(makeRef<DTensor>(op.comm(), op.range(), op.rangeType(), space));
        cotangents.push_back(makeRef<DTensor>(op.comm(), op.range().dual(), op.rangeType(), space));
      }
    }
  };

  // Steps are counted in the order of execution, which the adjoint reverses.
  LinearOp& opOf(Sense sense, std::size_t step) const {
    return *ops_[sense == Sense::Forward ? step : ops_.size() - 1 - step];
  }
  // The result of a step. In the adjoint it is the cotangent of the domain of the step's operator,
  // which is the range of the preceding operator in the list.
  DTensor& resultOf(Sense sense, std::size_t step, Space space) {
    const Between& between =
        bySpace_.of(space, [&] { return std::make_unique<Between>(ops_, space); });
    return sense == Sense::Forward ? *between.values[step]
                                   : *between.cotangents[ops_.size() - 2 - step];
  }
  Action stepOf(const Action& whole, std::size_t step) {
    const Space space = whole.x->space();
    Action action{.sense = whole.sense};
    action.x = step == 0 ? whole.x : &resultOf(whole.sense, step - 1, space);
    // Only the last step writes the result of the whole, so alpha and beta are passed to it.
    const bool isLast = step + 1 == ops_.size();
    action.y = isLast ? whole.y : &resultOf(whole.sense, step, space);
    if (isLast) {
      action.alpha = whole.alpha;
      action.beta = whole.beta;
    }
    return action;
  }

  // Each later step reads the result of the step before it, so only the first can begin early.
  void doBegin(const Action& action) override { launch(opOf(action.sense, 0), stepOf(action, 0)); }
  void doEnd(const Action& action) override {
    complete(opOf(action.sense, 0));
    for (std::size_t step = 1; step < ops_.size(); ++step)
      run(opOf(action.sense, step), stepOf(action, step));
  }
  void doBind(Sense sense, DTensor& x, DTensor& y) override {
    for (std::size_t step = 0; step < ops_.size(); ++step)
      bindPart(opOf(sense, step), sense, step == 0 ? x : resultOf(sense, step - 1, x.space()),
               step + 1 == ops_.size() ? y : resultOf(sense, step, x.space()));
  }
  void doUnbind() override {
    for (const LinearOpRef& op : ops_)
      unbindPart(*op);
  }

  std::vector<LinearOpRef> ops_;
  PerSpace<Between> bySpace_;
};

void checkFit(const LinearOp& first, const LinearOp& second, std::size_t index) {
  if (first.comm() != second.comm())
    throw Error(TENON_ERR_ARG, fmt::format("operators {} and {} of the composition are on "
                                           "different communicators; create them on the same one",
                                           index, index + 1));
  if (first.rangeType() != second.domainType())
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("operator {} of the composition produces {}, but operator {} needs {}; "
                            "insert a cast (TenonLinearOpCreateType())",
                            index, dataTypeName(first.rangeType()), index + 1,
                            dataTypeName(second.domainType())));
  if (!(first.range() == second.domain()))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("operator {} of the composition has range {}, but operator {} has "
                            "domain {}; insert a conversion between them",
                            index, first.range().describe(), index + 1,
                            second.domain().describe()));
}

} // namespace

std::string listed(const std::vector<LinearOpRef>& ops, const char* word) {
  std::string text = ":";
  for (const LinearOpRef& op : ops)
    text += fmt::format("{} {}", text == ":" ? "" : fmt::format(", {}", word), op->agreedText());
  return text;
}

std::string describeParts(const std::vector<LinearOpRef>& ops, const char* word) {
  std::string text;
  for (std::size_t i = 0; i < ops.size(); ++i)
    text += fmt::format("  {} {} of {}: {}\n", word, i + 1, ops.size(), ops[i]->agreedText());
  return text;
}

LinearOpRef adjointView(LinearOpRef op) {
  return makeRef<AdjointView>(std::move(op));
}

LinearOpRef compose(std::vector<LinearOpRef> ops) {
  if (ops.empty())
    throw Error(TENON_ERR_ARG, "the composition has no operators; pass at least 1");
  for (const LinearOpRef& op : ops)
    checkOneMap(*op, "a composition");
  for (std::size_t i = 0; i + 1 < ops.size(); ++i)
    checkFit(*ops[i], *ops[i + 1], i);
  return makeRef<Composition>(std::move(ops));
}

} // namespace tenon
