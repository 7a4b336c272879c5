// SPDX-License-Identifier: BSD-2-Clause
// Values of TenonDTensor: fills (constant, random), arithmetic (y <- alpha x + beta y), measures
// (norm, pairing <x, y>, largest absolute value) and queries. Fills, arithmetic and queries are
// local, and so are their errors. The measures are reductions over all ranks. A rank that returned
// early with an error would leave the others waiting in the reduction, so the ranks first agree
// that all arguments are valid. This costs a second small message; measures are not called in inner
// loops. The calls are declared in tenon/dtensor.h.
#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "dtensor/stride_sums.hpp"
#include "sys/errors/guard.hpp"
#include "sys/log/log.hpp"

#include <tenon/dtensor.h>

using namespace tenon;

namespace {

// Returns the bits of a seed or stream of random numbers; negative numbers are valid.
std::uint64_t bitsOf(TenonInt number) {
  return static_cast<std::uint64_t>(number);
}

// All fills are logged as one event.
int fillEvent() {
  static const int event = logEvent("DTensorFill");
  return event;
}

// The body of a measure. check() throws if this rank's arguments are invalid. The ranks exchange
// whether any check failed; if none did, measure() reduces over the ranks.
template <class Check, class Measure>
void measureCollectively(int event, const CommPtr& comm, double* result, const char* name,
                         Check check, Measure measure) {
  const LogScope scope(event);
  runCollectively(*comm, [&] {
    required(result, name);
    check();
  });
  *result = measure();
}

// Checks the tensors of y <- alpha x + beta y: two objects on one communicator, of one layout, and
// of types that y can hold. Their arrays must be separate or identical: with a partial
// overlap, the result would depend on the order of the loop.
void checkAlike(const DTensor& x, const DTensor& y) {
  if (&x == &y)
    throw Error(TENON_ERR_ARG,
                fmt::format("x and y are the same tensor{}; pass two",
                            x.name().empty() ? "" : fmt::format(" \"{}\"", x.name())));
  if (x.comm() != y.comm())
    throw Error(TENON_ERR_ARG,
                "x and y are on different communicators; create them on the same one");
  checkTensor(y, x.layout(), y.dataType(), "arithmetic with x", "tensor y");
  checkConvertible(x.dataType(), y.dataType(), "arithmetic");
  if (shareElements(x, y) && !areSameElements(x, y))
    throw Error(TENON_ERR_ARG, "the arrays of x and y overlap; pass separate arrays, or the same "
                               "array with the same strides for both");
}

} // namespace

TenonErrorCode TenonDTensorFillConstant(TenonDTensor x, double value) noexcept {
  return guard(__func__, [&] {
    const LogScope scope(fillEvent());
    fillConstant(deref(x, "x"), value);
  });
}

TenonErrorCode TenonDTensorFillUniform(TenonDTensor x, TenonInt seed, TenonInt stream, double low,
                                       double high) noexcept {
  return guard(__func__, [&] {
    const LogScope scope(fillEvent());
    fillUniform(deref(x, "x"), bitsOf(seed), bitsOf(stream), low, high);
  });
}

TenonErrorCode TenonDTensorFillNormal(TenonDTensor x, TenonInt seed, TenonInt stream, double mean,
                                      double deviation) noexcept {
  return guard(__func__, [&] {
    const LogScope scope(fillEvent());
    if (!(deviation >= 0))
      throw Error(TENON_ERR_ARG, fmt::format("deviation is {}; it must be >= 0", deviation));
    fillNormal(deref(x, "x"), bitsOf(seed), bitsOf(stream), mean, deviation);
  });
}

TenonErrorCode TenonDTensorNorm(TenonDTensor x, double* result) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorNorm");
    checkInitialized();
    const DTensor& tensor = deref(x, "x");
    measureCollectively(
        event, tensor.comm(), result, "norm",
        [&] {
          checkNormed(tensor);
          tensor.checkReadable();
        },
        [&] { return norm(tensor); });
  });
}

TenonErrorCode TenonDTensorPairing(TenonDTensor x, TenonDTensor y, double* result) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorPairing");
    checkInitialized();
    const CommPtr comm = commOf("x", x, y);
    measureCollectively(
        event, comm, result, "pairing",
        [&] {
          const DTensor& a = deref(x, "x");
          const DTensor& b = deref(y, "y");
          checkPaired(a, b);
          a.checkReadable();
          b.checkReadable();
        },
        [&] { return pairing(deref(x, "x"), deref(y, "y")); });
  });
}

TenonErrorCode TenonDTensorMaxAbs(TenonDTensor x, double* value) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorMaxAbs");
    checkInitialized();
    const DTensor& tensor = deref(x, "x");
    measureCollectively(
        event, tensor.comm(), value, "value",
        [&] {
          checkFloating(tensor.dataType(), "the largest absolute value");
          tensor.checkReadable();
        },
        [&] { return maxAbsolute(tensor); });
  });
}

TenonErrorCode TenonDTensorAXPBY(double alpha, TenonDTensor x, double beta,
                                 TenonDTensor y) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorAXPBY");
    const LogScope scope(event);
    const DTensor& from = deref(x, "x");
    DTensor& to = deref(y, "y");
    checkAlike(from, to);
    checkFactor(alpha, to.dataType(), to.title());
    checkFactor(beta, to.dataType(), to.title());
    axpby(alpha, from, beta, to);
  });
}

TenonErrorCode TenonDTensorCopy(TenonDTensor x, TenonDTensor y) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorCopy");
    const LogScope scope(event);
    const DTensor& from = deref(x, "x");
    DTensor& to = deref(y, "y");
    checkAlike(from, to);
    axpby(/*alpha=*/1, from, /*beta=*/0, to);
  });
}

TenonErrorCode TenonDTensorScale(double factor, TenonDTensor x) noexcept {
  return guard(__func__, [&] {
    static const int event = logEvent("DTensorScale");
    const LogScope scope(event);
    DTensor& tensor = deref(x, "x");
    checkFactor(factor, tensor.dataType(), tensor.title());
    scaleArray(factor, tensor);
  });
}

TenonErrorCode TenonDTensorGetLayout(TenonDTensor x, TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    const DTensor& tensor = deref(x, "x");
    required(layout, "layout");
    giveHandle(layout, makeRef<LayoutObject>(tensor.comm(), tensor.layout()));
  });
}

TenonErrorCode TenonDTensorGetDataType(TenonDTensor x, TenonDataType* type) noexcept {
  return guard(__func__, [&] { required(type, "type") = deref(x, "x").dataType(); });
}

TenonErrorCode TenonDTensorGetBox(TenonDTensor x, TenonInt low[], TenonInt high[]) noexcept {
  return guard(__func__, [&] { copyBox(deref(x, "x").box(), low, high); });
}

TenonErrorCode TenonDTensorGetLocalSize(TenonDTensor x, TenonInt* elements) noexcept {
  return guard(__func__, [&] { required(elements, "elements") = deref(x, "x").localElements(); });
}

TenonErrorCode TenonDTensorDestroy(TenonDTensor* x) noexcept {
  return guard(__func__, [&] { destroy(x, "x"); });
}
