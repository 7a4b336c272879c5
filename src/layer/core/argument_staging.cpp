// SPDX-License-Identifier: BSD-2-Clause
// Arguments that a layer copies: those in another memory space, and those that the caller may
// change before the adjoint. Tensors of the library are referenced instead, and one that was
// changed meanwhile is refused by its state.
#include "layer/core/argument_staging.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/host_view.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

bool SavedTensor::keep(const DTensor& x, Saving saving, const Value& as, const BoundMaps& maps) {
  const bool copied = saving == Saving::CopiesPlaced && x.isPlaced();
  if (copied) {
    if (!copy_)
      copy_ = maps.tensor(as);
    copyLocal(x, *copy_);
    saved_ = copy_;
  } else {
    saved_ = Ref<DTensor>::share(const_cast<DTensor*>(&x));
  }
  state_ = saved_->state();
  return copied;
}

const DTensor& SavedTensor::get(const std::string& who) const {
  if (saved_->state() != state_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{1} was changed after TenonLayerApply(), but {0} needs it for the "
                            "adjoint; use another tensor, or place a user array, which is copied",
                            who, saved_->title()));
  return *saved_;
}

namespace {

bool isIn(Space space, const DTensor* tensor) {
  return !tensor || tensor->space() == space;
}

} // namespace

template <class Tensor>
bool ArgumentStaging::Side<Tensor>::opens(std::span<Tensor* const> given, Space space) {
  if (std::ranges::all_of(given, [&](const DTensor* tensor) { return isIn(space, tensor); })) {
    copies.clear();
    return false;
  }
  tensors.assign(given.begin(), given.end());
  mine.resize(given.size());
  copies.resize(given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i])
      copies[i].note(!isIn(space, given[i]), *given[i]);
  return true;
}

Inputs ArgumentStaging::enter(const Layer& layer, Inputs read) {
  if (!read_.opens(read, layer.space()))
    return read;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i])
      read_.tensors[i] = &inSpace(*read[i], layer.comm(), layer.space(), read_.mine[i]);
  return read_.tensors;
}

InputCotangents ArgumentStaging::prepare(const Layer& layer, InputCotangents written) {
  if (!written_.opens(written, layer.space()))
    return written;
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i])
      written_.tensors[i] =
          &likeInSpace(*written[i], layer.comm(), layer.space(), written_.mine[i]);
  return written_.tensors;
}

void ArgumentStaging::leave(InputCotangents owners) {
  for (std::size_t i = 0; i < written_.copies.size(); ++i)
    if (owners[i] && owners[i] != written_.tensors[i])
      copyLocal(*written_.tensors[i], *owners[i]);
}

template <class Tensor>
Index ArgumentStaging::Side<Tensor>::bytes() const {
  return heldBytes(mine);
}

Index ArgumentStaging::bytes() const {
  return read_.bytes() + written_.bytes();
}

template <class Tensor>
std::string ArgumentStaging::Side<Tensor>::describe(const char* call, const char* role) const {
  std::string text;
  for (std::size_t i = 0; i < copies.size(); ++i)
    text += copies[i].describe(call,
                               (copies.size() == 1 ? role : fmt::format("{} {}", role, i)).c_str(),
                               "in the other memory space");
  return text;
}

std::string ArgumentStaging::describe(const char* call, const char* read,
                                      const char* written) const {
  return read_.describe(call, read) + written_.describe(call, written);
}

} // namespace tenon
