// SPDX-License-Identifier: BSD-2-Clause
#include "layer/crossing.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/in_space.hpp"
#include "layer/held_bytes.hpp"
#include "layer/layer.hpp"

#include <algorithm>

namespace tenon {

namespace {

bool isIn(Space space, const DTensor* tensor) {
  return !tensor || tensor->space() == space;
}

} // namespace

template <class Tensor>
bool Crossing::Side<Tensor>::opens(std::span<Tensor* const> given, Space space) {
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

Inputs Crossing::enter(const Layer& layer, Inputs read) {
  if (!read_.opens(read, layer.space()))
    return read;
  for (std::size_t i = 0; i < read.size(); ++i)
    if (read[i])
      read_.tensors[i] = &inSpace(*read[i], layer.comm(), layer.space(), read_.mine[i]);
  return read_.tensors;
}

InputCotangents Crossing::prepare(const Layer& layer, InputCotangents written) {
  if (!written_.opens(written, layer.space()))
    return written;
  for (std::size_t i = 0; i < written.size(); ++i)
    if (written[i])
      written_.tensors[i] =
          &likeInSpace(*written[i], layer.comm(), layer.space(), written_.mine[i]);
  return written_.tensors;
}

void Crossing::leave(InputCotangents owners) {
  for (std::size_t i = 0; i < written_.copies.size(); ++i)
    if (owners[i] && owners[i] != written_.tensors[i])
      copyLocal(*written_.tensors[i], *owners[i]);
}

template <class Tensor>
Index Crossing::Side<Tensor>::bytes() const {
  return heldBytes(mine);
}

Index Crossing::bytes() const {
  return read_.bytes() + written_.bytes();
}

template <class Tensor>
std::string Crossing::Side<Tensor>::describe(const char* call, const char* role) const {
  std::string text;
  for (std::size_t i = 0; i < copies.size(); ++i)
    text += copies[i].describe(call,
                               (copies.size() == 1 ? role : fmt::format("{} {}", role, i)).c_str(),
                               "in the other memory space");
  return text;
}

std::string Crossing::describe(const char* call, const char* read, const char* written) const {
  return read_.describe(call, read) + written_.describe(call, written);
}

} // namespace tenon
