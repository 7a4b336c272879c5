// SPDX-License-Identifier: BSD-2-Clause
// Jacobians of layers as operators.
#include "layer/jacobian.hpp"

#include "capi/collective.hpp"
#include "sys/guard.hpp"

#include <tenon/linearop_create.h>

using namespace tenon;

TenonErrorCode TenonLinearOpCreateJacobian(TenonLayer layer, TenonDTensor x,
                                           TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer, x);
    const auto made = collectively(
        *comm, "layer and point",
        [&] {
          required(op, "op");
          return makeRef<Jacobian>(Ref<Layer>::share(&deref(layer, "layer")), deref(x, "x"));
        },
        [](const Ref<Jacobian>& jacobian) { return jacobian->agreedText(); });
    collectively(*comm, [&] {
      made->setPoint(deref(x, "x"));
      return true;
    });
    give(op, LinearOpRef(made));
  });
}

TenonErrorCode TenonLinearOpJacobianSetPoint(TenonLinearOp op, TenonDTensor x) noexcept {
  return guardApply(__func__, [&] {
    returnIfAlone(op, [&] {
      auto* jacobian = dynamic_cast<Jacobian*>(&deref(op, "op"));
      if (!jacobian)
        throw Error(TENON_ERR_TYPE,
                    fmt::format("{} has type {}; only operators of TenonLinearOpCreateJacobian() "
                                "have a point",
                                deref(op, "op").title(), deref(op, "op").type()));
      jacobian->setPoint(deref(x, "x"));
    });
  });
}
