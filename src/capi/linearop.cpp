// SPDX-License-Identifier: BSD-2-Clause
#include "linop/linear_op.hpp"

#include "capi/collective.hpp"
#include "linop/adjoint_test.hpp"
#include "linop/algebra.hpp"
#include "linop/conversion.hpp"
#include "sys/guard.hpp"

#include <tenon/linearop.h>

using namespace tenon;

namespace {

void checkHalo(const Layout& from, const Layout& to) {
  const auto addends = [](const Layout& layout) {
    for (int d = 0; d < layout.rank(); ++d)
      if (layout.margin(d) && layout.margin(d)->addends)
        return true;
    return false;
  };
  if (!to.hasMargins() || !(to.withoutMargins() == from.withoutMargins()) || addends(from) ||
      addends(to))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("a halo exchange goes from a layout to the same one with margins of "
                            "values, but from is {}, and to is {}",
                            from.describe(), to.describe()));
}

void checkRepartition(const Layout& from, const Layout& to) {
  for (const auto& [layout, name] : {std::pair(&from, "from"), std::pair(&to, "to")})
    if (layout->holdsAddends() || layout->hasMargins())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("a repartition knows S, B and R without margins, but {} is {}; use "
                              "TenonLinearOpCreateConversion",
                              name, layout->describe()));
}

template <class Check>
void createConversion(TenonLayout from, TenonLayout to, TenonDataType type, TenonLinearOp* op,
                      Check check) {
  checkInitialized();
  const CommPtr comm = commOf("from", from, to);
  createTogether(
      *comm, op, "op", "layouts and data type",
      [&] {
        const LayoutObject& a = deref(from, "from");
        const LayoutObject& b = deref(to, "to");
        if (a.comm() != b.comm())
          throw Error(TENON_ERR_ARG, "from and to live on different communicators; create both on "
                                     "one that holds the ranks of both");
        check(a.layout(), b.layout());
        return makeRef<Conversion>(comm, a.layout(), b.layout(), type);
      },
      [](const Ref<Conversion>& made) { return made->LinearOp::describe(); });
}

std::vector<LinearOpRef> refsOf(const TenonLinearOp* ops, int count) {
  std::vector<LinearOpRef> refs;
  for (TenonLinearOp op : listOf(ops, count, "ops"))
    refs.push_back(LinearOpRef::share(&deref(op, fmt::format("ops[{}]", refs.size()).c_str())));
  return refs;
}

CommPtr commOfList(const TenonLinearOp* ops, int count) {
  for (int i = 0; ops && i < count; ++i)
    if (isLiveObject(ops[i]))
      return deref(ops[i], "ops").comm();
  refsOf(ops, count);
  throw Error(TENON_ERR_ARG, "a composition needs at least one operator, but count is 0");
}

} // namespace

TenonErrorCode TenonLinearOpCreateConversion(TenonLayout from, TenonLayout to, TenonDataType type,
                                             TenonLinearOp* op) noexcept {
  return guard(__func__,
               [&] { createConversion(from, to, type, op, [](const Layout&, const Layout&) {}); });
}

TenonErrorCode TenonLinearOpCreateHalo(TenonLayout from, TenonLayout to, TenonDataType type,
                                       TenonLinearOp* op) noexcept {
  return guard(__func__, [&] { createConversion(from, to, type, op, checkHalo); });
}

TenonErrorCode TenonLinearOpCreateRepartition(TenonLayout from, TenonLayout to, TenonDataType type,
                                              TenonLinearOp* op) noexcept {
  return guard(__func__, [&] { createConversion(from, to, type, op, checkRepartition); });
}

TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                              TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOfList(ops, count);
    createTogether(
        *comm, op, "op", "the composition", [&] { return compose(refsOf(ops, count)); },
        [](const LinearOpRef& made) { return made->LinearOp::describe(); });
  });
}

TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op, TenonLinearOp* adjoint) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    LinearOp& forward = deref(op, "op");
    createTogether(
        *forward.comm(), adjoint, "adjoint", "the operator",
        [&] { return adjointView(LinearOpRef::share(&forward)); },
        [](const LinearOpRef& made) { return made->LinearOp::describe(); });
  });
}

TenonErrorCode TenonLinearOpApply(TenonLinearOp op, TenonDTensor x, TenonDTensor y) noexcept {
  return guardApply(__func__, [&] {
    returnIfAlone(processesOf(op), [&] {
      checkInitialized();
      deref(op, "op").apply(deref(x, "x"), deref(y, "y"));
    });
  });
}

TenonErrorCode TenonLinearOpApplyAdjoint(TenonLinearOp op, TenonDTensor y,
                                         TenonDTensor x) noexcept {
  return guardApply(__func__, [&] {
    returnIfAlone(processesOf(op), [&] {
      checkInitialized();
      deref(op, "op").applyAdjoint(deref(y, "y"), deref(x, "x"));
    });
  });
}

TenonErrorCode TenonLinearOpGetDomain(TenonLinearOp op, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LinearOp& known = deref(op, "op");
    required(layout, "layout");
    give(layout, makeRef<LayoutObject>(known.comm(), known.domain()));
  });
}

TenonErrorCode TenonLinearOpGetRange(TenonLinearOp op, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const LinearOp& known = deref(op, "op");
    required(layout, "layout");
    give(layout, makeRef<LayoutObject>(known.comm(), known.range()));
  });
}

TenonErrorCode TenonLinearOpGetDataType(TenonLinearOp op, TenonDataType* type) noexcept {
  return guard(__func__, [&] { required(type, "type") = deref(op, "op").domainType(); });
}

TenonErrorCode TenonLinearOpGetTraffic(TenonLinearOp op, TenonInt* messages,
                                       TenonInt* bytes) noexcept {
  return guard(__func__, [&] {
    const LinearOp& known = deref(op, "op");
    const auto* conversion = dynamic_cast<const Conversion*>(&known);
    if (!conversion)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} is of type {}; only a conversion counts its messages",
                              known.title(), known.type()));
    required(messages, "messages") = conversion->traffic().messages;
    required(bytes, "bytes") = conversion->traffic().cells * dataTypeSize(known.domainType());
  });
}

TenonErrorCode TenonLinearOpTestAdjoint(TenonLinearOp op, TenonInt seed, TenonBool integers,
                                        double* forward, double* adjoint,
                                        double* relative) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    LinearOp& tested = deref(op, "op");
    agreeOnText(*tested.comm(), "seed and kind of numbers",
                fmt::format("{}, {}", seed, integers ? "integers" : "reals"));
    checkFloating(tested.domainType(), "the adjoint test");
    const AdjointTestResult result =
        testAdjoint(tested, static_cast<std::uint64_t>(seed), integers != TENON_FALSE);
    if (forward)
      *forward = result.forwardPairing;
    if (adjoint)
      *adjoint = result.adjointPairing;
    if (relative)
      *relative = result.relativeError;
  });
}

TenonErrorCode TenonLinearOpView(TenonLinearOp op) noexcept {
  return guard(__func__, [&] {
    const LinearOp& known = deref(op, "op");
    printOnce(*known.comm(), known.describe());
  });
}

TenonErrorCode TenonLinearOpDestroy(TenonLinearOp* op) noexcept {
  return guard(__func__, [&] { destroy(op, "op"); });
}
