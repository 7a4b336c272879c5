// SPDX-License-Identifier: BSD-2-Clause
// Keys and values of an attention, part by part: in as many turns as there are parts, of which this
// rank holds its own and the one that has just arrived. A part that travels has keys and values row
// by row, in an array as long as the longest part's. In the adjoint the sums of cotangents travel
// with the part that they belong to, and are home after the last turn.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "linop/linear_op.hpp"

#include <algorithm>
#include <vector>

namespace tenon {

// An array that goes round: it is in one place while it is read, and arrives in the other.
class RingArray {
public:
  RingArray(LinearOpRef op, KernelContextPtr context)
      : op_(std::move(op)), context_(std::move(context)) {}

  // The array as it is now, which other ranks may read.
  template <class T>
  T* here() {
    if (!from_)
      allocate();
    return places_[at_].data<T>();
  }
  Index elements() const { return elements_; }
  void send() {
    here<void>();
    from_->placeBox(places_[at_].data<void>(), false);
    to_->placeBox(places_[1 - at_].data<void>(), false);
    op_->start({Sense::Forward, 1, from_.get(), 0, to_.get()});
    travels_ = true;
  }
  // Waits for what was sent, if anything was.
  void receive() {
    if (!travels_)
      return;
    op_->finish();
    travels_ = false;
    at_ = 1 - at_;
  }
  Index bytes() const { return places_[0].bytes() + places_[1].bytes(); }

private:
  void allocate() {
    const CommPtr& comm = op_->comm();
    const auto tensor = [&](const Layout& layout) {
      return makeRef<DTensor>(comm, layout, op_->domainType(), context_->space());
    };
    from_ = tensor(op_->domain());
    to_ = tensor(op_->range());
    elements_ = from_->localElements();
    for (Buffer& place : places_)
      place = readableBuffer(*comm, *context_, elements_ * dataTypeSize(op_->domainType()),
                             "parts of keys and values");
  }

  LinearOpRef op_;
  KernelContextPtr context_;
  Ref<DTensor> from_, to_;
  Buffer places_[2];
  Index elements_ = 0;
  int at_ = 0;
  bool travels_ = false;
};

// Matrices [count][rows, columns] in memory: the distances between rows and between matrices.
template <class T>
struct Matrices {
  T* first = nullptr;
  Index row = 0, matrix = 0;
  T* of(Index number) const { return first + number * matrix; }
};
// Keys and values, or their tangents or cotangents, of one part.
template <class T>
struct KeyPart {
  Matrices<T> k, v;
};

// The sizes of a rank: its matrices, the features of keys and values, where the parts of keys
// begin, and which of them is the own one.
struct RingSizes {
  Index matrices = 1, features = 0, values = 0;
  std::vector<Index> keys;
  int own = 0;

  Index longest() const {
    Index most = 0;
    for (std::size_t part = 0; part + 1 < keys.size(); ++part)
      most = std::max(most, keys[part + 1] - keys[part]);
    return most;
  }
};

class Ring {
public:
  // Of what travels, and of its tangents or cotangents; none where there is one part.
  Ring(KernelContextPtr context, RingSizes sizes, const std::vector<LinearOpRef>& operators)
      : context_(std::move(context)), sizes_(std::move(sizes)), longest_(sizes_.longest()) {
    for (const LinearOpRef& op : operators)
      travelling_.emplace_back(op, context_);
  }

  int count() const { return static_cast<int>(sizes_.keys.size()) - 1; }
  Index bytes() const {
    Index sum = 0;
    for (const RingArray& array : travelling_)
      sum += array.bytes();
    return sum;
  }

  // body(part, number of its first key, number of keys) for all parts, the own one first.
  template <class T, class Body>
  void forward(const DTensor* k, const DTensor* v, const Body& body) {
    forward<T>(k, v, nullptr, nullptr,
               [&](const KeyPart<const T>& part, const KeyPart<const T>&, Index first, Index n) {
                 body(part, first, n);
               });
  }
  // The same with tangents of keys and values, of which either may be null. While a part is
  // computed with, it is on its way already.
  template <class T, class Body>
  void forward(const DTensor* k, const DTensor* v, const DTensor* dk, const DTensor* dv,
               const Body& body) {
    if (count() == 1)
      return body(
          {ownMatrices<const T>(k, sizes_.features), ownMatrices<const T>(v, sizes_.values)},
          {ownMatrices<const T>(dk, sizes_.features), ownMatrices<const T>(dv, sizes_.values)}, 0,
          sizes_.keys.back());
    load<T>(k, v, travelling_[0]);
    if (dk || dv)
      load<T>(dk, dv, travelling_[1]);
    for (int turn = 0; turn < count(); ++turn) {
      const int part = (sizes_.own + turn) % count();
      const T *const array = travelling_[0].here<T>(), *const tangents =
                                                           dk || dv ? travelling_[1].here<T>()
                                                                    : nullptr;
      const bool isLast = turn + 1 == count();
      for (int i = 0; i < (dk || dv ? 2 : 1) && !isLast; ++i)
        travelling_[i].send();
      body(partIn(array), partIn(tangents, dk, dv), sizes_.keys[part],
           sizes_.keys[part + 1] - sizes_.keys[part]);
      for (int i = 0; i < (dk || dv ? 2 : 1) && !isLast; ++i)
        travelling_[i].receive();
    }
  }

  // body(part, cotangents, number of its first key, number of keys), where cotangents() gives the
  // sums to which the part's cotangents are added: it waits for them.
  template <class T, class Body>
  void back(const DTensor* k, const DTensor* v, DTensor* dk, DTensor* dv, const Body& body) {
    for (DTensor* const sum : {dk, dv})
      if (sum)
        scaleArray(0, *sum);
    if (count() == 1)
      return body(
          KeyPart<const T>{ownMatrices<const T>(k, sizes_.features),
                           ownMatrices<const T>(v, sizes_.values)},
          [&] {
            return KeyPart<T>{ownMatrices<T>(dk, sizes_.features),
                              ownMatrices<T>(dv, sizes_.values)};
          },
          0, sizes_.keys.back());
    RingArray &parts = travelling_[0], &sums = travelling_[1];
    load<T>(k, v, parts);
    const bool hasSums = dk || dv;
    if (hasSums)
      load<T>(nullptr, nullptr, sums);
    for (int turn = 0; turn < count(); ++turn) {
      const int part = (sizes_.own + turn) % count();
      const T* const array = parts.here<T>();
      const bool isLast = turn + 1 == count();
      if (!isLast)
        parts.send();
      body(
          partIn(array),
          [&] {
            if (!hasSums)
              return KeyPart<T>{};
            sums.receive();
            return partIn(sums.here<T>(), dk, dv);
          },
          sizes_.keys[part], sizes_.keys[part + 1] - sizes_.keys[part]);
      // In one order on all ranks, also on those that no query of which sees the part.
      sums.receive();
      if (!isLast)
        parts.receive();
      if (hasSums)
        sums.send();
    }
    if (hasSums) {
      sums.receive();
      store<T>(sums, dk, dv);
    }
  }

private:
  // Where the arrays of a tensor's own part lie, and those of one that travels.
  template <class T, class Tensor>
  Matrices<T> ownMatrices(Tensor* x, Index columns) const {
    if (!x)
      return {};
    if constexpr (std::is_const_v<T>)
      return {x->template data<std::remove_const_t<T>>(), columns, ownKeys() * columns};
    else
      return {x->template mutableData<T>(), columns, ownKeys() * columns};
  }
  template <class T>
  KeyPart<T> partIn(T* array, bool hasKeys = true, bool hasValues = true) const {
    const Index row = sizes_.features + sizes_.values, matrix = longest_ * row;
    return {{hasKeys ? array : nullptr, row, matrix},
            {hasValues ? array + sizes_.features : nullptr, row, matrix}};
  }
  Index ownKeys() const { return sizes_.keys[sizes_.own + 1] - sizes_.keys[sizes_.own]; }
  template <class T>
  void copyRows(Index columns, const Matrices<const T>& from, const Matrices<T>& to) {
    const Index extent[] = {sizes_.matrices, ownKeys(), columns};
    const Index xs[] = {from.matrix, from.row, 1}, ys[] = {to.matrix, to.row, 1};
    blockCombine<T>(*context_, Combine::Copy, 3, extent, from.first, xs, to.first, ys);
  }
  // Brings the own keys and values into the array that travels; those that are absent are zero.
  template <class T>
  void load(const DTensor* k, const DTensor* v, RingArray& array) {
    T* const to = array.here<T>();
    if (!k || !v)
      clear(array.elements(), to);
    if (array.elements() == 0)
      return;
    const KeyPart<T> part = partIn(to);
    if (k)
      copyRows<T>(sizes_.features, ownMatrices<const T>(k, sizes_.features), part.k);
    if (v)
      copyRows<T>(sizes_.values, ownMatrices<const T>(v, sizes_.values), part.v);
  }
  template <class T>
  void store(RingArray& array, DTensor* dk, DTensor* dv) {
    if (array.elements() == 0)
      return;
    const T* const from = array.here<T>();
    const KeyPart<const T> part = partIn(from);
    if (dk)
      copyRows<T>(sizes_.features, part.k, ownMatrices<T>(dk, sizes_.features));
    if (dv)
      copyRows<T>(sizes_.values, part.v, ownMatrices<T>(dv, sizes_.values));
  }
  template <class T>
  void clear(Index n, T* y) {
    const Index one = 1;
    fillBlock<T>(*context_, 1, &n, T(0), y, &one);
  }

  KernelContextPtr context_;
  RingSizes sizes_;
  Index longest_;
  std::vector<RingArray> travelling_;
};

} // namespace tenon
