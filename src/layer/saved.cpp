// SPDX-License-Identifier: BSD-2-Clause
#include "layer/saved.hpp"

#include "kernels/block_copy.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

void combineLocal(Combine combine, const DTensor& x, DTensor& y) {
  visitDataType(x.dataType(), [&]<class T>(T) {
    blockCombine(combine, x.rank(), x.extent().data(), x.data<T>(), x.strides().data(),
                 y.mutableData<T>(), y.strides().data());
  });
}

} // namespace

void copyLocal(const DTensor& x, DTensor& y) {
  combineLocal(Combine::Copy, x, y);
}

void addLocal(const DTensor& x, DTensor& y) {
  combineLocal(Combine::Add, x, y);
}

void zeroLocal(DTensor& y) {
  static constexpr Strides kBroadcast{};
  visitFloating(y.dataType(), [&]<class T>(T) {
    const T zero = 0;
    blockCombine(Combine::Copy, y.rank(), y.extent().data(), &zero, kBroadcast.data(),
                 y.mutableData<T>(), y.strides().data());
  });
}

bool SavedTensor::keep(const DTensor& x) {
  const bool copied = x.isPlaced();
  if (copied) {
    if (!copy_ || !(copy_->layout() == x.layout()))
      copy_ = makeRef<DTensor>(x.comm(), x.layout(), x.dataType());
    copyLocal(x, *copy_);
    kept_ = copy_;
  } else {
    kept_ = Ref<DTensor>::share(const_cast<DTensor*>(&x));
  }
  state_ = kept_->state();
  return copied;
}

const DTensor& SavedTensor::get(const std::string& who) const {
  if (kept_->state() != state_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{1} was changed after TenonLayerApply(), but {0} needs it for the "
                            "adjoint; use another tensor, or place a user array, which is copied",
                            who, kept_->title()));
  return *kept_;
}

} // namespace tenon
