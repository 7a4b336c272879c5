// SPDX-License-Identifier: BSD-2-Clause
#include "layer/join_setup.hpp"

#include "kernels/block_copy.hpp"
#include "layer/held_bytes.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

// The output's layout restricted to begin .. begin + extent of a dimension.
Layout restricted(const Layout& output, int dim, Index begin, Index extent) {
  if (dim < 0)
    return output;
  LayoutSpec spec = output.spec();
  spec.shape[dim] = extent;
  for (Index& cut : spec.cuts[dim])
    cut = std::clamp(cut - begin, Index(0), extent);
  return Layout(std::move(spec));
}

Index offset(const DTensor& y, int dim, Index begin) {
  return dim < 0 ? 0 : begin * y.strides()[dim];
}

} // namespace

JoinSetup::JoinSetup(const JoinLayer& layer, const Layouts& inputs, const Layout& output, int dim)
    : Setup(inputs, output), dim_(dim) {
  const CommPtr& comm = layer.comm();
  Index begin = 0, localBegin = 0;
  for (const Layout& input : inputs) {
    const Index extent = dim < 0 ? 0 : input.shape()[dim];
    const Layout use = restricted(output, dim, begin, extent);
    Place place;
    place.begin = localBegin;
    if (!sameHolding(input, use)) {
      place.toUse = makeRef<Conversion>(comm, input, use, layer.dataType());
      place.use = makeRef<DTensor>(comm, use, layer.dataType());
      place.use->allocate();
      place.useCotangent = makeRef<DTensor>(comm, use.dual(), layer.dataType());
    }
    begin += extent;
    if (dim >= 0)
      localBegin += use.boxOfRank(comm->rank())[dim].size();
    places_.push_back(std::move(place));
  }
}

void JoinSetup::join(Inputs x, DTensor& y) {
  bool fresh = true; // y has no value yet
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (x[i] && place.toUse)
      place.toUse->apply(*x[i], *place.use);
    const DTensor* part = x[i] && place.toUse ? place.use.get() : x[i];
    if (!part)
      continue;
    const bool first = std::exchange(fresh, false);
    if (part->localCells() == 0)
      continue;
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockCombine(dim_ < 0 && !first ? Combine::Add : Combine::Copy, part->rank(),
                   part->extent().data(), part->data<T>(), part->strides().data(),
                   y.mutableData<T>() + offset(y, dim_, place.begin), y.strides().data());
    });
  }
}

void JoinSetup::applyMany(Inputs x, DTensor& y, Frame&, bool) {
  join(x, y);
}

void JoinSetup::tangentMany(Frame&, Inputs dx, DTensor& dy) {
  if (std::find(dx.begin(), dx.end(), nullptr) != dx.end())
    zeroLocal(dy);
  join(dx, dy);
}

void JoinSetup::adjointMany(Frame&, const DTensor& dy, InputCotangents dx) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!dx[i])
      continue;
    const Place& place = places_[i];
    DTensor& part = place.toUse ? *place.useCotangent : *dx[i];
    if (part.localCells() > 0)
      visitFloating(dy.dataType(), [&]<class T>(T) {
        blockCombine(Combine::Copy, part.rank(), part.extent().data(),
                     dy.data<T>() + offset(dy, dim_, place.begin), dy.strides().data(),
                     part.mutableData<T>(), part.strides().data());
      });
    if (place.toUse)
      place.toUse->applyAdjoint(part, *dx[i]);
  }
}

std::string JoinSetup::describe() const {
  const Mesh& mesh = output().mesh();
  std::string text = fmt::format("  process grid {}\n", mesh.describe());
  for (std::size_t i = 0; i < places_.size(); ++i)
    text += viewLine(fmt::format("input {}", i), inputs()[i], places_[i].toUse.get(), mesh);
  return text + viewLine("output", output(), mesh);
}

Index JoinSetup::bytes() const {
  Index sum = 0;
  for (const Place& place : places_)
    sum += heldBytes(place.toUse, place.use, place.useCotangent);
  return sum;
}

} // namespace tenon
