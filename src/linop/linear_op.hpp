// SPDX-License-Identifier: BSD-2-Clause
// LinearOp, the base class of every linear operator: a map F from tensors in one layout to tensors
// in another, with its adjoint F*, which maps the dual of the range to the dual of the domain:
// <F x, y> = <x, F* y>  with the pairing of dtensor/measure.hpp.
//
// An application is an Action: y <- alpha F x + beta y, or the same with F*. It has two halves:
//   doBegin(action)   starts communication that proceeds while the caller computes; optional
//   doEnd(action)     completes it and writes y
// An operator can have one action in flight.
#pragma once

#include "dtensor/dtensor.hpp"
#include "geometry/schedule/schedule.hpp"
#include "sys/errors/error.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon {

// One application of an operator F: y <- alpha F x + beta y, or the same with its adjoint F*. y is
// not read if beta is 0. An action of several fields applies F to several pairs of tensors, with
// the same factors.

// Whether F or F* is applied.
enum class Sense { Forward, Adjoint };

inline Sense reversed(Sense sense) {
  return sense == Sense::Forward ? Sense::Adjoint : Sense::Forward;
}

struct Action {
  Sense sense = Sense::Forward;
  double alpha = 1;
  const DTensor* x = nullptr;
  double beta = 0;
  DTensor* y = nullptr;
  // Of several fields: the tensors of fields 1, 2, ...; x and y are those of field 0.
  std::span<const DTensor* const> moreX = {};
  std::span<DTensor* const> moreY = {};

  int fields() const noexcept { return 1 + static_cast<int>(moreX.size()); }
  const DTensor& source(int field) const { return field == 0 ? *x : *moreX[field - 1]; }
  DTensor& target(int field) const { return field == 0 ? *y : *moreY[field - 1]; }
  bool isPlain() const noexcept { return alpha == 1 && beta == 0; }
};

// Messages and bytes that a rank sends in one action.
struct Sent {
  Index messages = 0, bytes = 0;

  Sent& operator+=(const Sent& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
};

class LinearOp;
using LinearOpRef = Ref<LinearOp>;

class FieldExecutors;
// The exchange of which each action of an operator consists: its executors, and whether they run
// the transposed schedule. No executors (NULL) for other operators.
struct OneExchange {
  const FieldExecutors* executors = nullptr;
  bool isTransposed = false;
};

class LinearOp : public Object {
public:
  static constexpr const char* kClass = "LinearOp";

  const CommPtr& comm() const noexcept { return comm_; }
  const Layout& domain() const noexcept { return domain_; }
  const Layout& range() const noexcept { return range_; }
  TenonDataType domainType() const noexcept { return domainType_; }
  TenonDataType rangeType() const noexcept { return rangeType_; }
  std::string_view type() const noexcept override = 0;
  // The memory space in which the operator needs its tensors. Most operators work in both spaces.
  virtual Space space() const noexcept { return Space::Host; }
  // The text that must be the same on all ranks when an operator is created: type, data types and
  // layouts. Derived classes append their parameters.
  virtual std::string agreedText() const;
  // The text of a view: a heading, then one fact per line.
  std::string describe() const override;
  // The lines that a derived class adds to a view, below those of the layouts.
  virtual std::string describeMore() const { return {}; }
  // Bytes that the operator holds now on this rank: message buffers and intermediate tensors.
  virtual Index bufferBytes() const { return 0; }
  // Messages and elements that a rank sends in one Apply, if they are known.
  virtual std::optional<Traffic> trafficOf(int) const { return std::nullopt; }
  // Messages and bytes that this rank sends in one Apply, if they are known.
  virtual std::optional<Sent> sent() const;

  // Whether actions on this rank neither send nor receive. Their kernels can then be recorded (CUDA
  // graphs).
  virtual bool isWithinRank() const { return false; }

  // y <- alpha F x + beta y. Collective; alpha and beta must be the same on all ranks. x has the
  // layout domain() and y the layout range(); they share no memory, unless the operator works in
  // place. y is not read if beta is 0, and x is not read if alpha is 0.
  void apply(const DTensor& x, DTensor& y) { apply(1, x, 0, y); }
  void apply(double alpha, const DTensor& x, double beta, DTensor& y);
  // x <- alpha F* y + beta x. y has the dual layout of the range, x that of the domain.
  void applyAdjoint(const DTensor& y, DTensor& x) { applyAdjoint(1, y, 0, x); }
  void applyAdjoint(double alpha, const DTensor& y, double beta, DTensor& x);
  // y[i] <- F x[i], or with F*, for any positive number of fields, the same on all ranks. Fields
  // are in one space; each can be in place, as in apply(). y[i] shares no memory with tensors of
  // other fields. Operators that are one exchange (takesFields()) send each rank one message for
  // all fields. Results are those of one application for each field.
  void applyMany(Sense sense, std::span<const DTensor* const> x, std::span<DTensor* const> y);
  // Whether an action of several fields is one exchange; otherwise they are applied in turn.
  virtual bool takesFields() const { return false; }
  virtual OneExchange asExchange() const { return {}; }
  // The operators of the fields, y[i] <- F_i x[i], if each has one of its own (block_diagonal.hpp);
  // empty for any other operator. domain() and the like are then those of the first, and actions
  // are those of applyMany() with as many fields.
  virtual std::span<const LinearOpRef> blocks() const { return {}; }

  // The two halves of an action for users. Between them x is locked for reading and y for writing,
  // and another action of this operator is TENON_ERR_STATE.
  void begin(Sense sense, double alpha, DTensor& x, double beta, DTensor& y);
  void end(Sense sense);
  // The same halves for layers, without locks: the caller must not change x before finish(), and y
  // must hold the summand of beta y when finish() is called.
  void start(const Action& action);
  void finish();
  bool isBegun() const noexcept { return loan_.has_value(); }

  // Prepares actions between these two arrays, for example with persistent requests. Results do not
  // change, and other tensors can still be used. A second call for a sense replaces its first
  // binding.
  void bind(Sense sense, DTensor& x, DTensor& y);
  void unbind();

protected:
  LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType type)
      : LinearOp(std::move(comm), std::move(domain), std::move(range), type, type) {}
  LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType domainType,
           TenonDataType rangeType);

  // True if the action is valid although x and y share memory.
  virtual bool worksInPlace(const Action&) const { return false; }
  static bool worksInPlace(const LinearOp& op, const Action& action) {
    return op.worksInPlace(action);
  }
  // The halves of an action, implemented by each type. The tensors have been checked; alpha is not
  // 0. An action has several fields only if takesFields().
  virtual void doBegin(const Action&) {}
  virtual void doEnd(const Action& action) = 0;
  virtual void doBind(Sense, DTensor&, DTensor&) {}
  virtual void doUnbind() {}

  // For operators that consist of operators: the halves of an action of a component, without the
  // checks, which were made for the whole action.
  static void launch(LinearOp& op, const Action& action);
  static void complete(LinearOp& op);
  static void run(LinearOp& op, const Action& action);
  static void bindPart(LinearOp& op, Sense sense, DTensor& x, DTensor& y);
  static void unbindPart(LinearOp& op);

  void checkIdle() const {
    if (flight_)
      throwBusy();
  }

private:
  // The locks of the two arrays of begin(), and their addresses, which end() compares.
  struct Loan {
    Ref<DTensor> x, y;
    const void* xArray = nullptr;
    const void* yArray = nullptr;
  };
  // What the last checked action of a sense was: its tensors, by DTensor::placement(), and factors.
  struct Checked {
    std::uint64_t x = 0, y = 0;
    double alpha = 0, beta = 0;
    bool operator==(const Checked&) const = default;
  };
  // Ends both locks. Returns the error if the user has ended one of them already.
  static std::optional<Error> returnLoan(const Loan& loan);
  void check(const Action& action);
  void checkTensors(const Action& action) const;
  void checkAccess(const Action& action) const;
  void checkOverlap(const Action& action) const;
  void checkFields(Sense sense, std::span<const DTensor* const> x, std::span<DTensor* const> y);
  void checkField(const Action& action, int field, bool isAsLast) const;
  void checkCount(std::size_t inputs, std::size_t outputs) const;
  [[noreturn]] void throwBusy() const;
  void checkApart(std::span<const DTensor* const> x, std::span<DTensor* const> y) const;
  std::string typesText() const;

  CommPtr comm_;
  Layout domain_, domainDual_, range_, rangeDual_;
  TenonDataType domainType_, rangeType_;
  std::array<Checked, 2> checked_; // by sense
  // The same of the last actions of several fields: the placements of x[0], y[0], x[1], ...
  std::array<std::vector<std::uint64_t>, 2> checkedFields_;
  std::optional<Action> flight_; // the action in flight, by any of the calls
  std::optional<Loan> loan_;     // its locks, if begin() has begun it
};

// Throws TENON_ERR_SUPPORT if the operator has blocks, and so no single domain and range. `use` is
// what needs them, such as "a sum".
void checkOneMap(const LinearOp& op, std::string_view use);

} // namespace tenon
