// SPDX-License-Identifier: BSD-2-Clause
// The common part of all linear operators: checks, state, and locks of arrays. Derived classes only
// compute (doBegin() and doEnd()). The public calls are built on two halves of an action: launch()
// and complete().
//
//   apply()            check, launch, complete
//   applyMany()        the same for several fields, in one action if the operator can
//   begin(), end()     the halves for users; in between both arrays are locked (a loan)
//   start(), finish()  the halves for layers, without locks
//
// All checks precede doBegin(): once a rank has sent a message, the other ranks wait for the rest
// of its action, so an error after that would leave them waiting.
#include "linop/linear_op.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/stride_sums.hpp"
#include "sys/log/log.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

const char* nameOf(Sense sense) {
  return sense == Sense::Forward ? "Apply" : "ApplyAdjoint";
}

// Whether two tensors are the same or their arrays share memory, as arrays of the library never do.
bool overlap(const DTensor& x, const DTensor& y) {
  return &x == &y || ((x.isPlaced() || y.isPlaced()) && shareElements(x, y));
}

} // namespace

LinearOp::LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType domainType,
                   TenonDataType rangeType)
    : Object(kClass), comm_(std::move(comm)), domain_(std::move(domain)),
      domainDual_(domain_.dual()), range_(std::move(range)), rangeDual_(range_.dual()),
      domainType_(domainType), rangeType_(rangeType) {
  checkDataType(domainType);
  checkDataType(rangeType);
}

std::string LinearOp::typesText() const {
  if (domainType_ == rangeType_)
    return fmt::format("{}, {}", type(), dataTypeName(domainType_));
  return fmt::format("{}, {} -> {}", type(), dataTypeName(domainType_), dataTypeName(rangeType_));
}

std::optional<Sent> LinearOp::sent() const {
  const std::optional<Traffic> sent = trafficOf(comm_->rank());
  if (!sent)
    return std::nullopt;
  return Sent{sent->messages, sent->elements * dataTypeSize(domainType_)};
}

void checkOneMap(const LinearOp& op, std::string_view use) {
  if (!op.blocks().empty())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} is block diagonal and maps {} tensors at once, but {} needs an "
                            "operator on one; apply it with TenonLinearOpApplyMany(), or pass one "
                            "of its operators",
                            op.title(), op.blocks().size(), use));
}

std::string LinearOp::agreedText() const {
  return fmt::format("{}: {} -> {}", typesText(), domain_.describe(), range_.describe());
}

std::string LinearOp::describe() const {
  const Grid& grid = domain_.grid();
  const auto text = [&](const Layout& layout) {
    return viewsInDetail() ? layout.describe() : layout.summary(grid);
  };
  return fmt::format("{}: {}\n  process grid {}\n  domain {}\n  range  {}\n{}", headingOf(*this),
                     typesText(), grid.describe(), text(domain_), text(range_), describeMore());
}

void LinearOp::apply(double alpha, const DTensor& x, double beta, DTensor& y) {
  static const int event = logEvent("LinearOpApply");
  const LogScope scope(event);
  const Action action{.sense = Sense::Forward, .alpha = alpha, .x = &x, .beta = beta, .y = &y};
  check(action);
  run(*this, action);
}

void LinearOp::applyAdjoint(double alpha, const DTensor& y, double beta, DTensor& x) {
  static const int event = logEvent("LinearOpAdjoint");
  const LogScope scope(event);
  // The adjoint maps y to x: the action's input is y.
  const Action action{.sense = Sense::Adjoint, .alpha = alpha, .x = &y, .beta = beta, .y = &x};
  check(action);
  run(*this, action);
}

// Checks that depend on more than the tensors with their arrays and the factors are made each time,
// all others if these differ from those of the last action.
void LinearOp::check(const Action& action) {
  const auto present = [&] {
    return Checked{action.x->placement(), action.y->placement(), action.alpha, action.beta};
  };
  Checked& last = checked_[static_cast<std::size_t>(action.sense)];
  const bool isAsLast = last == present();
  if (!isAsLast) {
    checkOneMap(*this, "this call");
    checkTensors(action);
  }
  checkIdle();
  checkAccess(action);
  if (isAsLast)
    return;
  checkOverlap(action);
  last = present();
}

void LinearOp::checkTensors(const Action& action) const {
  const bool forward = action.sense == Sense::Forward;
  const TenonDataType outputType = forward ? rangeType_ : domainType_;
  checkTensor(*action.x, forward ? domain_ : rangeDual_, forward ? domainType_ : rangeType_,
              title(), forward ? "input" : "adjoint input");
  checkTensor(*action.y, forward ? range_ : domainDual_, outputType, title(),
              forward ? "output" : "adjoint output");
  if (action.x == action.y)
    throw Error(TENON_ERR_ARG,
                fmt::format("the input and output of {} are the same tensor; pass two", title()));
  if (action.x->space() != action.y->space())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has its input on the {} and its output on the {}; use two tensors in "
                    "one space, and TenonDTensorCopy() between the spaces",
                    title(), spaceName(action.x->space()), spaceName(action.y->space())));
  if (action.x->space() == Space::Device &&
      (action.x->comm() != comm_ || action.y->comm() != comm_))
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{} has tensors on the device of another communicator, whose kernels run "
                    "on another stream; create them on the communicator of the operator",
                    title()));
  checkFactor(action.alpha, outputType, title());
  checkFactor(action.beta, outputType, title());
}

// Kernels also reject a locked or constant array, but at that time other ranks already wait for the
// messages of this rank.
void LinearOp::checkAccess(const Action& action) const {
  action.x->checkReadable();
  action.x->checkGathered();
  action.y->checkWritable();
}

void LinearOp::checkOverlap(const Action& action) const {
  if (shareElements(*action.x, *action.y) && !worksInPlace(action))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("{} cannot work in place, but the input and output arrays overlap; pass "
                    "separate arrays (only a halo exchange with alpha 1 and beta 0 works in place)",
                    title()));
}

void LinearOp::applyMany(Sense sense, std::span<const DTensor* const> x,
                         std::span<DTensor* const> y) {
  static const int events[] = {logEvent("LinearOpApply"), logEvent("LinearOpAdjoint")};
  const LogScope scope(events[static_cast<int>(sense)]);
  checkFields(sense, x, y);
  if (takesFields())
    return run(
        *this,
        {.sense = sense, .x = x[0], .y = y[0], .moreX = x.subspan(1), .moreY = y.subspan(1)});
  for (std::size_t i = 0; i < x.size(); ++i)
    run(*this, {.sense = sense, .x = x[i], .y = y[i]});
}

// As check(), for each field.
void LinearOp::checkFields(Sense sense, std::span<const DTensor* const> x,
                           std::span<DTensor* const> y) {
  checkCount(x.size(), y.size());
  std::vector<std::uint64_t>& last = checkedFields_[static_cast<std::size_t>(sense)];
  bool isAsLast = last.size() == 2 * x.size();
  for (std::size_t i = 0; isAsLast && i < x.size(); ++i)
    isAsLast = last[2 * i] == x[i]->placement() && last[2 * i + 1] == y[i]->placement();
  checkIdle();
  for (std::size_t i = 0; i < x.size(); ++i)
    checkField({.sense = sense, .x = x[i], .y = y[i]}, static_cast<int>(i), isAsLast);
  if (isAsLast)
    return;
  last.clear();
  checkApart(x, y);
  for (std::size_t i = 0; i < x.size(); ++i)
    last.insert(last.end(), {x[i]->placement(), y[i]->placement()});
}

void LinearOp::checkCount(std::size_t inputs, std::size_t outputs) const {
  if (inputs == 0 || inputs != outputs)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} was given {} inputs and {} outputs; pass one output for each "
                            "input, and at least one input",
                            title(), inputs, outputs));
  if (!blocks().empty() && inputs != blocks().size())
    throw Error(TENON_ERR_ARG,
                fmt::format("{} is block diagonal with {} operators, but was given {} inputs; pass "
                            "one input and one output for each operator",
                            title(), blocks().size(), inputs));
}

// Tensors must fit the operator of the field.
void LinearOp::checkField(const Action& action, int field, bool isAsLast) const {
  const LinearOp& op = blocks().empty() ? *this : *blocks()[static_cast<std::size_t>(field)];
  try {
    if (!isAsLast)
      op.checkTensors(action);
    checkAccess(action);
    if (!isAsLast)
      op.checkOverlap(action);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("field {}: {}", field, error.text()));
  }
}

// The fields are read and written in any order.
void LinearOp::checkApart(std::span<const DTensor* const> x, std::span<DTensor* const> y) const {
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (x[i]->space() != x[0]->space())
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has field 0 on the {} and field {} on the {}; pass fields of one "
                              "space in one call",
                              title(), spaceName(x[0]->space()), i, spaceName(x[i]->space())));
    for (std::size_t j = 0; j < y.size(); ++j)
      if (j != i && (overlap(*x[j], *y[i]) || overlap(*y[j], *y[i])))
        throw Error(TENON_ERR_ARG,
                    fmt::format("the output of field {} of {} and the {} of field {} are the same "
                                "tensor, or their arrays overlap; pass separate arrays",
                                i, title(), overlap(*x[j], *y[i]) ? "input" : "output", j));
  }
}

void LinearOp::throwBusy() const {
  // Only begin() locks arrays. An action without locks is inside a call of the library, so
  // checkIdle() is called by a user function that this operator runs.
  if (loan_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has an operation in flight; call TenonLinearOpApplyEnd() first", title()));
  throw Error(TENON_ERR_STATE,
              fmt::format("{} is in the midst of an application: of its adjoint or of an operator "
                          "that consists of it, which must end first, or it was called by a "
                          "function that it calls itself, which needs another operator",
                          title()));
}

void LinearOp::start(const Action& action) {
  static const int event = logEvent("LinearOpBegin");
  const LogScope scope(event);
  check(action);
  launch(*this, action);
}

void LinearOp::finish() {
  static const int event = logEvent("LinearOpEnd");
  const LogScope scope(event);
  complete(*this);
}

void LinearOp::begin(Sense sense, double alpha, DTensor& x, double beta, DTensor& y) {
  start({sense, alpha, &x, beta, &y});
  // The arrays are locked after the action has begun: if start() throws, there is no lock to end.
  // The addresses are read before the locks, since an array that is locked for writing has no
  // readable address.
  Loan loan{Ref<DTensor>::share(&x), Ref<DTensor>::share(&y), arrayOf(x), arrayOf(y)};
  x.lendForReading();
  y.lendForWriting();
  loan_ = std::move(loan);
}

void LinearOp::end(Sense sense) {
  if (!loan_ || !flight_ || flight_->sense != sense)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no {} in flight; call TenonLinearOpApplyBegin() first", title(),
                            nameOf(sense)));
  const Loan loan = std::move(*loan_);
  loan_.reset();
  const std::optional<Error> broken = returnLoan(loan);
  // The error of a lock that was ended too early is thrown after finish(): other ranks wait for it.
  finish();
  if (broken)
    throw Error(*broken);
}

// Ends both locks even if the first reports an error: a lock that stays would block its tensor.
std::optional<Error> LinearOp::returnLoan(const Loan& loan) {
  std::optional<Error> broken;
  const auto attempt = [&](auto&& end) {
    try {
      end();
    } catch (...) {
      broken = caughtError();
    }
  };
  attempt([&] { loan.x->endReading(loan.xArray); });
  attempt([&] { loan.y->endWriting(loan.yArray); });
  return broken;
}

void LinearOp::bind(Sense sense, DTensor& x, DTensor& y) {
  // Bound messages serve plain actions only (alpha = 1, beta = 0), so the check is for one.
  check({sense, 1, &x, 0, &y});
  doBind(sense, x, y);
}

void LinearOp::unbind() {
  unbindPart(*this);
}

void LinearOp::bindPart(LinearOp& op, Sense sense, DTensor& x, DTensor& y) {
  op.checkIdle();
  op.doBind(sense, x, y);
}

void LinearOp::unbindPart(LinearOp& op) {
  op.checkIdle();
  op.doUnbind();
}

// With alpha = 0 nothing is read or sent; all ranks pass the same alpha. If doBegin() throws, the
// action is not in flight and the operator can be used again.
void LinearOp::launch(LinearOp& op, const Action& action) {
  op.checkIdle();
  op.flight_.emplace(action);
  try {
    if (action.alpha != 0)
      op.doBegin(action);
  } catch (...) {
    op.flight_.reset();
    throw;
  }
}

void LinearOp::complete(LinearOp& op) {
  // The operator is idle afterwards, even if doEnd() throws.
  const struct Landing {
    std::optional<Action>& flight;
    ~Landing() { flight.reset(); }
  } landing{op.flight_};
  const Action& action = *op.flight_; // NOLINT(bugprone-unchecked-optional-access): launch() set it
  if (action.alpha != 0)
    op.doEnd(action);
  else
    for (int field = 0; field < action.fields(); ++field)
      scaleArray(action.beta, action.target(field));
}

void LinearOp::run(LinearOp& op, const Action& action) {
  launch(op, action);
  complete(op);
}

} // namespace tenon
