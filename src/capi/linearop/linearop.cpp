// SPDX-License-Identifier: BSD-2-Clause
// The use of a TenonLinearOp F of any type, and the Jacobian of a layer as an operator:
//   Apply, ApplyAdd, ApplyAdjoint   y <- F x, y <- alpha F x + beta y, x <- F* y
//   ApplyMany                       y[i] <- F x[i] for several tensors
//   ApplyBegin ... ApplyEnd         ApplyAdd in two halves, with communication in flight between
//   Bind                            prepares the operator for two fixed tensors
//   TestAdjoint                     compares <F x, y> with <x, F* y> for random x and y
// All of these are collective, except Bind; the queries (Get...) are local. F* is the adjoint of
// F. An application exchanges messages without a preceding check that all ranks are able to. If one
// rank fails, the others wait forever, so an error is fatal unless there is one rank (applying()).
// The calls are declared in tenon/linearop.h, the creation of a Jacobian in
// tenon/linearop_create.h.
#include "linop/linear_op.hpp"

#include "capi/collective.hpp"
#include "capi/tensors.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "layer/core/layer.hpp"
#include "layer/derivatives/jacobian.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/linearop.h>
#include <tenon/linearop_create.h>

using namespace tenon;

namespace {

// The body of a call during which other ranks wait: use(operator). isAlone(op) says whether there
// are other ranks.
template <class Use>
TenonErrorCode applying(const char* function, TenonLinearOp op, Use use) {
  return guardApply(
      function, [&] { use(derefToApply(op, "op")); }, isAlone(op));
}

// The operator of a query that only one with a single domain and range can answer.
const LinearOp& oneMap(TenonLinearOp op) {
  const LinearOp& f = deref(op, "op");
  checkOneMap(f, "this query");
  return f;
}

// Returns the operator as a Jacobian. Throws TENON_ERR_TYPE if it is another operator.
Jacobian& jacobianOf(LinearOp& op) {
  if (auto* jacobian = dynamic_cast<Jacobian*>(&op))
    return *jacobian;
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} has type {}; only operators of TenonLinearOpCreateJacobian() "
                          "have a point",
                          op.title(), op.type()));
}

} // namespace

TenonErrorCode TenonLinearOpCreateJacobian(TenonLayer layer, TenonDTensor x,
                                           TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer, x);
    const auto operation = collectively(
        *comm, "layer and point",
        [&] {
          required(op, "op");
          return makeRef<Jacobian>(Ref<Layer>::share(&deref(layer, "layer")), deref(x, "x"));
        },
        [](const Ref<Jacobian>& jacobian) { return jacobian->agreedText(); });
    // The point is set after the agreement, since this evaluates the layer: a rank that had failed
    // before would leave the others waiting in it.
    collectively(*comm, [&] {
      operation->setPoint(deref(x, "x"));
      return true;
    });
    giveHandle(op, LinearOpRef(operation));
  });
}

TenonErrorCode TenonLinearOpJacobianSetPoint(TenonLinearOp op, TenonDTensor x) noexcept {
  return applying(__func__, op, [&](LinearOp& f) { jacobianOf(f).setPoint(deref(x, "x")); });
}

TenonErrorCode TenonLinearOpApply(TenonLinearOp op, TenonDTensor x, TenonDTensor y) noexcept {
  return applying(__func__, op, [&](LinearOp& f) { f.apply(deref(x, "x"), deref(y, "y")); });
}

TenonErrorCode TenonLinearOpApplyAdjoint(TenonLinearOp op, TenonDTensor y,
                                         TenonDTensor x) noexcept {
  return applying(__func__, op, [&](LinearOp& f) { f.applyAdjoint(deref(y, "y"), deref(x, "x")); });
}

TenonErrorCode TenonLinearOpApplyAdd(TenonLinearOp op, double alpha, TenonDTensor x, double beta,
                                     TenonDTensor y) noexcept {
  return applying(__func__, op,
                  [&](LinearOp& f) { f.apply(alpha, deref(x, "x"), beta, deref(y, "y")); });
}

TenonErrorCode TenonLinearOpApplyMany(TenonLinearOp op, int count, const TenonDTensor x[],
                                      const TenonDTensor y[]) noexcept {
  return applying(__func__, op, [&](LinearOp& f) {
    const Tensors<const DTensor> inputs(x, count, "x", /*optional=*/false);
    f.applyMany(Sense::Forward, inputs.list(),
                Tensors<DTensor>(y, count, "y", /*optional=*/false).list());
  });
}

TenonErrorCode TenonLinearOpApplyBegin(TenonLinearOp op, double alpha, TenonDTensor x, double beta,
                                       TenonDTensor y) noexcept {
  return applying(__func__, op, [&](LinearOp& f) {
    f.begin(Sense::Forward, alpha, deref(x, "x"), beta, deref(y, "y"));
  });
}

TenonErrorCode TenonLinearOpApplyEnd(TenonLinearOp op) noexcept {
  return applying(__func__, op, [](LinearOp& f) { f.end(Sense::Forward); });
}

TenonErrorCode TenonLinearOpBind(TenonLinearOp op, TenonDTensor x, TenonDTensor y) noexcept {
  return guard(__func__, [&] {
    if (!x && !y) {
      deref(op, "op").unbind();
      return;
    }
    checkInitialized();
    deref(op, "op").bind(Sense::Forward, deref(x, "x"), deref(y, "y"));
  });
}

TenonErrorCode TenonLinearOpGetDomain(TenonLinearOp op, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LinearOp& f = oneMap(op);
    required(layout, "layout");
    giveHandle(layout, makeRef<LayoutObject>(f.comm(), f.domain()));
  });
}

TenonErrorCode TenonLinearOpGetRange(TenonLinearOp op, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LinearOp& f = oneMap(op);
    required(layout, "layout");
    giveHandle(layout, makeRef<LayoutObject>(f.comm(), f.range()));
  });
}

TenonErrorCode TenonLinearOpGetDataTypes(TenonLinearOp op, TenonDataType* domain,
                                         TenonDataType* range) noexcept {
  return guard(__func__, [&] {
    const LinearOp& f = oneMap(op);
    if (domain)
      *domain = f.domainType();
    if (range)
      *range = f.rangeType();
  });
}

TenonErrorCode TenonLinearOpGetTraffic(TenonLinearOp op, TenonInt* messages,
                                       TenonInt* bytes) noexcept {
  return guard(__func__, [&] {
    const LinearOp& f = deref(op, "op");
    const std::optional<Sent> sent = f.sent();
    if (!sent)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has type {}; only conversions, index maps and block diagonals "
                              "count their messages",
                              f.title(), f.type()));
    required(messages, "messages") = sent->messages;
    required(bytes, "bytes") = sent->bytes;
  });
}

TenonErrorCode TenonLinearOpTestAdjoint(TenonLinearOp op, TenonInt seed, TenonBool integers,
                                        double* forward, double* adjoint,
                                        double* relative) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    LinearOp& f = deref(op, "op");
    agreeOnText(*f.comm(), "seed and kind of numbers",
                [&] { return fmt::format("{}, {}", seed, integers ? "integers" : "reals"); });
    checkFloating(f.domainType(), "the adjoint test");
    checkFloating(f.rangeType(), "the adjoint test");
    for (const LinearOpRef& block : f.blocks())
      checkFloating(block->domainType(), "the adjoint test");
    const AdjointTestResult result =
        testAdjoint(f, static_cast<std::uint64_t>(seed), integers != TENON_FALSE);
    if (forward)
      *forward = result.forwardPairing;
    if (adjoint)
      *adjoint = result.adjointPairing;
    if (relative)
      *relative = result.relativeError;
  });
}

TenonErrorCode TenonLinearOpDestroy(TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    // While an operation is in flight, other ranks still write into its buffers.
    if (required(op, "op") && deref(*op, "op").isBegun())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has an operation in flight; call TenonLinearOpApplyEnd() "
                              "before TenonLinearOpDestroy()",
                              deref(*op, "op").title()));
    destroy(op, "op");
  });
}
