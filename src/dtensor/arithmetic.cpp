// SPDX-License-Identifier: BSD-2-Clause
// Calls the kernels that scale and add blocks. Arithmetic is in the wider of the two types, real
// numbers being wider than integers, with one rounding. For arrays in different spaces the host
// computes on a copy, so a kernel never has addresses of both spaces.
#include "dtensor/arithmetic.hpp"

#include "kernels/movement/bfloat16.hpp"
#include "kernels/movement/block_copy.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace tenon {

namespace {

template <class S, class T>
void axpbyTyped(double alpha, const DTensor& x, double beta, DTensor& y) {
  using Wide = std::common_type_t<S, T>;
  const auto run = [&](KernelContext& context, const S* from, T* to) {
    blockAxpby<S, T>(context, y.ndim(), y.extent().data(), static_cast<Wide>(alpha), from,
                     x.strides().data(), static_cast<Wide>(beta), to, y.strides().data());
  };
  if (x.space() == y.space())
    return run(y.context(), x.data<S>(), y.mutableData<T>());
  // Between spaces the host computes, on a copy of the array that is on the device. Contiguous
  // arrays that are only copied need no intermediate copy: one transfer is enough.
  T* const to = y.mutableData<T>();
  if (x.localElements() == 0)
    return;
  if constexpr (std::is_same_v<S, T>)
    if (alpha == 1 && beta == 0 && x.isContiguous() && y.isContiguous())
      return (y.space() == Space::Host ? x : y)
          .context()
          .copyAndWait(to, x.data<S>(), x.localElements() * Index(sizeof(T)));
  if (y.space() == Space::Host) {
    const HostCopy values(x);
    return run(y.context(), static_cast<const S*>(values.first()), to);
  }
  const HostCopy values(y, beta == 0 ? HostCopy::Values::Unset : HostCopy::Values::Fetched);
  run(x.context(), x.data<S>(), static_cast<T*>(values.first()));
  values.putBack();
}

} // namespace

ByteSpan spanOf(const DTensor& x) {
  const auto* first = static_cast<const std::byte*>(arrayOf(x));
  const Index size = dataTypeSize(x.dataType());
  // Negative strides reach below the first element, where the span then begins.
  if (x.localElements() == 0)
    return {.begin = first, .bytes = 0, .toFirst = 0};
  Index below = 0, above = size;
  for (int d = 0; d < x.ndim(); ++d) {
    const Index reach = (x.extent()[d] - 1) * x.strides()[d] * size;
    (reach < 0 ? below : above) += reach;
  }
  return {.begin = first + below, .bytes = above - below, .toFirst = -below};
}

void axpby(double alpha, const DTensor& x, double beta, DTensor& y) {
  visitDataType(x.dataType(), [&]<class S>(S) {
    if constexpr (std::is_integral_v<S>)
      if (isInteger(y.dataType()))
        return y.dataType() == TENON_INT64 ? axpbyTyped<S, std::int64_t>(alpha, x, beta, y)
                                           : axpbyTyped<S, std::int32_t>(alpha, x, beta, y);
    visitFloating(y.dataType(), [&]<class T>(T) { axpbyTyped<S, T>(alpha, x, beta, y); });
  });
}

void checkConvertible(TenonDataType x, TenonDataType y, const char* what) {
  checkDataType(x);
  checkDataType(y);
  if (x != y && isInteger(y) && !(x == TENON_INT32 && y == TENON_INT64))
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} would store {} in {}, which cannot hold all of its numbers; "
                            "create the result as {}",
                            what, dataTypeName(x), dataTypeName(y), dataTypeName(x)));
}

void scaleArray(double factor, DTensor& y) {
  visitDataType(y.dataType(), [&]<class T>(T) {
    blockScale(y.context(), y.ndim(), y.extent().data(), static_cast<T>(factor), y.mutableData<T>(),
               y.strides().data());
  });
}

// bfloat16 tensors and the tensors to which they are converted are the library's, so both are
// contiguous.
void copyLocal(const DTensor& x, DTensor& y) {
  if (y.dataType() == kBFloat16)
    return visitFloating(x.dataType(), [&]<class T>(T) {
      roundToBFloat16(x.context(), x.ndim(), x.extent().data(), x.data<T>(), x.strides().data(),
                      y.mutableData<BFloat16>());
    });
  if (x.dataType() == kBFloat16)
    return visitFloating(y.dataType(), [&]<class T>(T) {
      fromBFloat16(x.context(), x.localElements(), x.data<BFloat16>(), y.mutableData<T>());
    });
  axpby(1, x, 0, y);
}

void checkFactor(double factor, TenonDataType type, const std::string& who) {
  // The negative factor is needed too: elements beyond an odd wall are multiplied by it.
  if (isInteger(type) && !(fitsInto(type, factor) && fitsInto(type, -factor)))
    throw Error(
        TENON_ERR_DATATYPE,
        fmt::format("{} has integer elements and cannot be multiplied by {}; pass an integer "
                    "factor that {} can hold",
                    who, factor, dataTypeName(type)));
}

} // namespace tenon
