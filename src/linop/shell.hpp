// SPDX-License-Identifier: BSD-2-Clause
// An operator whose two maps are functions of the user's. They give F x and F* y into a tensor that
// they overwrite; alpha and beta are added here, through one tensor for each sense, whose array is
// allocated when it is first needed.
#pragma once

#include "linop/linear_op.hpp"

#include <functional>

namespace tenon {

class Shell final : public LinearOp {
public:
  struct Functions {
    std::string typeName = "shell";
    std::function<void(const DTensor&x, DTensor&y)> apply, applyAdjoint;
    // Called once, when the operator is gone; may be empty.
    std::function<void()> destroy;
  };
  // If it throws, destroy is not called.
  Shell(CommPtr comm, Layout domain, Layout range, TenonDataType domainType,
        TenonDataType rangeType, Functions functions);
  ~Shell() override;

  const char* type() const noexcept override { return functions_.typeName.c_str(); }

private:
  void doEnd(const Action& action) override;

  Functions functions_;
  DTensor result_, adjointResult_;
};

} // namespace tenon
