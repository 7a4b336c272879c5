// SPDX-License-Identifier: BSD-2-Clause
// A linear map F from tensors in one layout to tensors in another, and its adjoint F*, which maps
// the range's dual to the domain's dual:  <F x, y> = <x, F* y>  with the pairing of measure.hpp.
//
// Every use is an Action, y <- alpha F x + beta y or the same with F*, in two halves: doBegin()
// starts what can go on while the caller computes, doEnd() does the rest. One action may be in
// flight per operator.
#pragma once

#include "dtensor/dtensor.hpp"
#include "geometry/schedule/schedule.hpp"
#include "sys/errors/error.hpp"

#include <optional>

namespace tenon {

// One use of an operator F: y <- alpha F x + beta y, or the same with its adjoint F*. With beta = 0
// y is never read.

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

  bool isPlain() const noexcept { return alpha == 1 && beta == 0; }
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
  // The space in which the operator wants its tensors. Most operators work in either.
  virtual Space space() const noexcept { return Space::Host; }
  // The text that must be the same on all ranks: type, data types and layouts, and what a type
  // adds.
  virtual std::string agreedText() const;
  // The text of a view: a heading, then one fact a line.
  std::string describe() const override;
  // The lines of a view below those of the layouts.
  virtual std::string describeMore() const { return {}; }
  // Memory that the operator holds now on this rank: messages, and what lies between its parts.
  virtual Index bufferBytes() const { return 0; }
  // What a rank sends in one Apply, where that is known.
  virtual std::optional<Traffic> trafficOf(int) const { return std::nullopt; }

  // y <- alpha F x + beta y. Collective, alpha and beta the same on all ranks. x lies in the domain
  // and y in the range; they share no memory, unless the operator works in place. beta = 0 never
  // reads y, and alpha = 0 never x.
  void apply(const DTensor& x, DTensor& y) { apply(1, x, 0, y); }
  void apply(double alpha, const DTensor& x, double beta, DTensor& y);
  // x <- alpha F* y + beta x. y lies in the range's dual, x in the domain's dual.
  void applyAdjoint(const DTensor& y, DTensor& x) { applyAdjoint(1, y, 0, x); }
  void applyAdjoint(double alpha, const DTensor& y, double beta, DTensor& x);

  // begin() and end() are an action in two halves. Between them x is lent for reading and y for
  // writing, and another action of this operator is TENON_ERR_STATE.
  void begin(Sense sense, double alpha, DTensor& x, double beta, DTensor& y);
  void end(Sense sense);
  // start() and finish() are the same halves for layers: nothing is lent. Until finish() x must
  // stay as it was, and then y must hold what the result is added to.
  void start(const Action& action);
  void finish();
  bool isBegun() const noexcept { return loan_.has_value(); }

  // Prepares actions between these two arrays, such as persistent requests. Results stay as they
  // are, and so does the use with other tensors or arrays. One pair per sense, the last one.
  void bind(Sense sense, DTensor& x, DTensor& y);
  void unbind();

protected:
  LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType type)
      : LinearOp(std::move(comm), std::move(domain), std::move(range), type, type) {}
  LinearOp(CommPtr comm, Layout domain, Layout range, TenonDataType domainType,
           TenonDataType rangeType);

  // Whether the action can be done although x and y share memory.
  virtual bool worksInPlace(const Action&) const { return false; }
  static bool worksInPlace(const LinearOp& op, const Action& action) {
    return op.worksInPlace(action);
  }
  // The halves of an action of this type. The tensors have been checked, and alpha is not 0.
  virtual void doBegin(const Action&) {}
  virtual void doEnd(const Action& action) = 0;
  virtual void doBind(Sense, DTensor&, DTensor&) {}
  virtual void doUnbind() {}

  // Operators made of operators call these: the halves of an action of a component, without the
  // checks that have been made on the whole.
  static void launch(LinearOp& op, const Action& action);
  static void complete(LinearOp& op);
  static void run(LinearOp& op, const Action& action);
  static void bindPart(LinearOp& op, Sense sense, DTensor& x, DTensor& y);
  static void unbindPart(LinearOp& op);

  void checkIdle() const;

private:
  struct Loan {
    Ref<DTensor> x, y;
    const void* xArray = nullptr;
    const void* yArray = nullptr;
  };
  // Returns the error of a caller who has given the arrays back in the operator's stead.
  static std::optional<Error> giveBack(const Loan& loan);
  void check(const Action& action) const;
  std::string typesText() const;

  CommPtr comm_;
  Layout domain_, domainDual_, range_, rangeDual_;
  TenonDataType domainType_, rangeType_;
  std::optional<Action> flight_;
  std::optional<Loan> loan_;
};

using LinearOpRef = Ref<LinearOp>;

} // namespace tenon
