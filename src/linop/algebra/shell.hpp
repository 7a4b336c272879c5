// SPDX-License-Identifier: BSD-2-Clause
// An operator whose two maps are functions of the user. The functions overwrite their output with
// F x or F* y; the operator adds alpha and beta, through one temporary tensor per sense and space,
// allocated when it is first needed.
#pragma once

#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"

#include <functional>

namespace tenon {

class Shell : public LinearOp {
public:
  using Map = std::function<void(const DTensor& x, DTensor& y)>;
  struct Functions {
    Map apply, applyAdjoint; // Without applyAdjoint, ApplyAdjoint is TENON_ERR_SUPPORT.
    std::string typeName = "shell";
  };
  Shell(const CommPtr& comm, const Layout& domain, const Layout& range, TenonDataType domainType,
        TenonDataType rangeType, Functions functions);
  ~Shell() override;

  // Sets a function that is called once, when the operator is destroyed.
  void onDestroy(std::function<void()> destroy) { destroy_ = std::move(destroy); }

  std::string_view type() const noexcept override { return functions_.typeName; }
  std::string agreedText() const override;
  std::string describeMore() const override {
    return functions_.applyAdjoint ? "" : "  no adjoint function\n";
  }

private:
  void doEnd(const Action& action) override;

  Functions functions_;
  std::function<void()> destroy_;
  PerSpace<Ref<DTensor>> results_, adjointResults_;
};

} // namespace tenon
