// SPDX-License-Identifier: BSD-2-Clause
// Copies of arguments for a layer call. ArgumentStaging replaces arguments in another memory space
// (host or device) by copies in the space of the layer. SavedTensor keeps an input of Apply for the
// adjoint: user arrays as copies, because a change to them cannot be detected; tensors of the
// library by reference, because every write to one increases its state counter, so a change since
// then is detected and reported.
#include "layer/core/argument_staging.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/host_view.hpp"
#include "layer/core/held_bytes.hpp"
#include "layer/core/layer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

bool SavedTensor::save(const DTensor& x, Saving saving, const Value& as, const BoundMaps& maps) {
  // Changes of a user array cannot be detected, so its values are copied.
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
bool ArgumentStaging::Side<Tensor>::stage(std::span<Tensor* const> arguments, Space space) {
  if (std::ranges::all_of(arguments, [&](const DTensor* tensor) { return isIn(space, tensor); })) {
    copies.clear();
    return false;
  }
  tensors.assign(arguments.begin(), arguments.end());
  replacements.resize(arguments.size());
  copies.resize(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i])
      copies[i].note(!isIn(space, arguments[i]), *arguments[i]);
  return true;
}

ReadTensors ArgumentStaging::enter(const Layer& layer, ReadTensors read) {
  if (!read_.stage(read, layer.space()))
    return read;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i])
      // The tensor itself if it is in the layer's space, otherwise a copy of its values.
      read_.tensors[i] = &inSpace(*read[i], layer.comm(), layer.space(), read_.replacements[i]);
  return read_.tensors;
}

WrittenTensors ArgumentStaging::prepare(const Layer& layer, WrittenTensors written) {
  if (!written_.stage(written, layer.space()))
    return written;
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i])
      // Only allocated, since the layer overwrites it.
      written_.tensors[i] =
          &likeInSpace(*written[i], layer.comm(), layer.space(), written_.replacements[i]);
  return written_.tensors;
}

void ArgumentStaging::leave(WrittenTensors owners) {
  // There are no entries if all tensors were in the layer's space.
  for (std::size_t i = 0; i < written_.copies.size(); ++i)
    if (owners[i] && owners[i] != written_.tensors[i])
      copyLocal(*written_.tensors[i], *owners[i]);
}

template <class Tensor>
Index ArgumentStaging::Side<Tensor>::bytes() const {
  return heldBytes(replacements);
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
