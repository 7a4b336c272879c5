// SPDX-License-Identifier: BSD-2-Clause
#include "layer/saved.hpp"

#include "dtensor/arithmetic.hpp"

#include <fmt/format.h>

namespace tenon {

bool SavedTensor::keep(const DTensor& x, Saving saving) {
  const bool copied = saving == Saving::CopiesPlaced && x.isPlaced();
  if (copied) {
    if (!copy_ || !(copy_->layout() == x.layout()))
      copy_ = makeRef<DTensor>(x.comm(), x.layout(), x.dataType(), x.space());
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
