// SPDX-License-Identifier: BSD-2-Clause
#include "layer/join_setup.hpp"

#include "kernels/block_copy.hpp"
#include "layer/held_bytes.hpp"
#include "layer/layer_types.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

Index offset(const DTensor& y, int dim, Index begin) {
  return dim < 0 ? 0 : begin * y.strides()[dim];
}

} // namespace

JoinSetup::JoinSetup(const Layer& layer, const Form& form, int dim)
    : Setup(form.inputs, form.output), dim_(dim) {
  const CommPtr& comm = layer.comm();
  Index localBegin = 0;
  for (std::size_t i = 0; i < form.inputs.size(); ++i) {
    const Layout& use = form.uses[i];
    Place place;
    place.begin = localBegin;
    if (!sameHolding(form.inputs[i], use)) {
      place.toUse = makeRef<Conversion>(comm, form.inputs[i], use, layer.dataType());
      place.use = makeRef<DTensor>(comm, use, layer.dataType());
      place.use->allocate();
      place.useCotangent = makeRef<DTensor>(comm, use.dual(), layer.dataType());
    }
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

std::unique_ptr<Setup> setUpAdd(Layer& layer, const Layouts& inputs) {
  return std::make_unique<JoinSetup>(layer, layer.form(inputs), -1);
}

std::unique_ptr<Setup> setUpConcatenate(Layer& layer, const Layouts& inputs) {
  const Form form = layer.form(inputs);
  return std::make_unique<JoinSetup>(layer, form,
                                     static_cast<int>(layer.declaration().value<Index>("dim")));
}

} // namespace tenon
