// SPDX-License-Identifier: BSD-2-Clause
// The ring of attention (used by attention.cpp). Each query needs all keys and values of the
// sequence, which is split over `count` ranks; each rank owns one block of keys and values. The
// blocks rotate, so after `count` turns each rank has computed with all blocks, and no rank ever
// stores the whole sequence: besides its own block it stores only two, the current one and the one
// that is being received.
//
//   turn   0             1                 ...   count - 1
//   block  own           own + 1           ...   own + count - 1     (modulo count)
//   each turn: send the current block to the preceding rank, compute with it, receive the next one
//
// A rotating block is an array [matrices][rows][features of a key, features of its value], padded
// to the number of rows of the longest block; a row is one key with its value. In the adjoint, the
// sums of the cotangents of a block follow it: they are sent at the end of each turn, and after the
// last turn they return to the owner of the block.
//
// All ranks of the ring must call Ring::forward() and Ring::back() together. The caller passes a
// function (`body`) that computes with one block; the ring calls it once per turn.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "linop/linear_op.hpp"

#include <algorithm>
#include <vector>

namespace tenon {

// A rotating array with two buffers: one is read and sent while the next block arrives in the
// other. In each turn the Ring calls
//   current()   the current block, to read it
//   send()      starts the exchange with the neighbouring ranks of the ring
//   receive()   completes the exchange; the received block is the current one from now on
class RingArray {
public:
  RingArray(LinearOpRef op, KernelContextPtr context)
      : op_(std::move(op)), context_(std::move(context)) {}

  // The current block. Other ranks can read it during an exchange (the buffers can be in memory
  // that the ranks of a node share), so it must not be written then.
  template <class T>
  T* current() {
    if (!from_)
      allocate();
    return buffers_[currentBuffer_].data<T>();
  }
  Index elements() const { return elements_; }
  void send() {
    current<void>();
    // The operator exchanges the arrays of these two tensors, which alternate between the buffers.
    from_->placeBox(buffers_[currentBuffer_].data<void>(), false);
    to_->placeBox(buffers_[1 - currentBuffer_].data<void>(), false);
    op_->start({.sense = Sense::Forward, .alpha = 1, .x = from_.get(), .beta = 0, .y = to_.get()});
    isInFlight_ = true;
  }
  // Completes the exchange, if one was started, and makes the received block the current one.
  void receive() {
    if (!isInFlight_)
      return;
    op_->finish();
    isInFlight_ = false;
    currentBuffer_ = 1 - currentBuffer_;
  }
  Index bytes() const { return buffers_[0].bytes() + buffers_[1].bytes(); }

private:
  void allocate() {
    const CommPtr& comm = op_->comm();
    const auto tensor = [&](const Layout& layout) {
      return makeRef<DTensor>(comm, layout, op_->domainType(), context_->space());
    };
    from_ = tensor(op_->domain());
    to_ = tensor(op_->range());
    elements_ = from_->localElements();
    for (Buffer& buffer : buffers_)
      buffer = readableBuffer(*comm, *context_, elements_ * dataTypeSize(op_->domainType()),
                              "parts of keys and values");
  }

  LinearOpRef op_;
  KernelContextPtr context_;
  Ref<DTensor> from_, to_;
  Buffer buffers_[2];
  Index elements_ = 0;
  int currentBuffer_ = 0;
  bool isInFlight_ = false;
};

// Matrices [rows, columns] in one array, whose strides can be larger than the matrices. of(i) is
// the first element of matrix i.
template <class T>
struct Matrices {
  T* first = nullptr;
  Index row = 0;    // distance between consecutive rows of a matrix, in elements
  Index matrix = 0; // distance between consecutive matrices
  T* of(Index number) const { return first + number * matrix; }
};
// The keys k and the values v of one block, or their tangents or cotangents.
template <class T>
struct KeyPart {
  Matrices<T> k, v;
};

// Sizes on this rank.
struct RingSizes {
  Index matrices = 1;             // one per sample and head
  Index features = 0, values = 0; // the features of a key and of a value
  std::vector<Index> keys;        // the first key of each block, and the number of all keys:
                                  // {0, 4, 7, 10} for 10 keys on 3 ranks
  int own = 0;                    // the number of the block that this rank owns

  Index longest() const {
    Index longestBlock = 0;
    for (std::size_t part = 0; part + 1 < keys.size(); ++part)
      longestBlock = std::max(longestBlock, keys[part + 1] - keys[part]);
    return longestBlock;
  }
};

// The ring of one layer on this rank, with the buffers of the rotating blocks.
class Ring {
public:
  // operators[0] moves the block of each rank to the preceding rank, and operators[1] does the same
  // with its tangents or cotangents. The list is empty if the sequence is not split: there is then
  // a single block.
  Ring(KernelContextPtr context, RingSizes sizes, const std::vector<LinearOpRef>& operators)
      : context_(std::move(context)), sizes_(std::move(sizes)), longest_(sizes_.longest()) {
    for (const LinearOpRef& op : operators)
      arrays_.emplace_back(op, context_);
  }

  int count() const { return static_cast<int>(sizes_.keys.size()) - 1; }
  Index bytes() const {
    Index sum = 0;
    for (const RingArray& array : arrays_)
      sum += array.bytes();
    return sum;
  }

  // Apply: calls body(block, number of its first key, number of its keys) for all blocks, beginning
  // with the block of this rank.
  template <class T, class Body>
  void forward(const DTensor* k, const DTensor* v, const Body& body) {
    forward<T>(k, v, nullptr, nullptr,
               [&](const KeyPart<const T>& part, const KeyPart<const T>&, Index first, Index n) {
                 body(part, first, n);
               });
  }
  // Tangent: calls body(block, its tangents, first key, number of keys). dk or dv can be null if
  // keys or values have no tangent. The body runs between send() and receive(), which overlaps the
  // exchange with the computation.
  template <class T, class Body>
  void forward(const DTensor* k, const DTensor* v, const DTensor* dk, const DTensor* dv,
               const Body& body) {
    if (count() == 1)
      return body(
          {ownMatrices<const T>(k, sizes_.features), ownMatrices<const T>(v, sizes_.values)},
          {ownMatrices<const T>(dk, sizes_.features), ownMatrices<const T>(dv, sizes_.values)}, 0,
          sizes_.keys.back());
    const bool hasTangents = dk || dv;
    const int rotating = hasTangents ? 2 : 1; // the blocks, and their tangents
    load<T>(k, v, arrays_[0]);
    if (hasTangents)
      load<T>(dk, dv, arrays_[1]);
    for (int turn = 0; turn < count(); ++turn) {
      const int part = (sizes_.own + turn) % count();
      const T* const array = arrays_[0].current<T>();
      const T* const tangents = hasTangents ? arrays_[1].current<T>() : nullptr;
      const bool isLast = turn + 1 == count();
      for (int i = 0; i < rotating && !isLast; ++i)
        arrays_[i].send();
      body(partIn(array), partIn(tangents, dk, dv), sizes_.keys[part],
           sizes_.keys[part + 1] - sizes_.keys[part]);
      for (int i = 0; i < rotating && !isLast; ++i)
        arrays_[i].receive();
    }
  }

  // Adjoint: calls body(block, cotangents, first key, number of keys) for all blocks. The body
  // calls cotangents() to get the arrays to which it adds the cotangents of the block. This call
  // waits until the sums of the previous ranks have arrived, so the body should compute as much as
  // possible before. dk or dv can be null if it is not needed.
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
    RingArray &parts = arrays_[0], &sums = arrays_[1];
    load<T>(k, v, parts);
    const bool hasSums = dk || dv;
    if (hasSums)
      load<T>(nullptr, nullptr, sums);
    for (int turn = 0; turn < count(); ++turn) {
      const int part = (sizes_.own + turn) % count();
      const T* const array = parts.current<T>();
      const bool isLast = turn + 1 == count();
      if (!isLast)
        parts.send();
      body(
          partIn(array),
          [&] {
            if (!hasSums)
              return KeyPart<T>{};
            sums.receive();
            return partIn(sums.current<T>(), dk, dv);
          },
          sizes_.keys[part], sizes_.keys[part + 1] - sizes_.keys[part]);
      // Does nothing if the body has called cotangents(). Otherwise (a causal mask can exclude all
      // keys of the block) the sums are received here, because the order of messages must be the
      // same on all ranks.
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
  // The matrices in a tensor of the user (ownMatrices), whose rows are contiguous, and those in a
  // rotating array (partIn), whose rows are keys and values next to each other. Null pointers if
  // the tensor is null.
  template <class T, class Tensor>
  Matrices<T> ownMatrices(Tensor* x, Index columns) const {
    if (!x)
      return {};
    if constexpr (std::is_const_v<T>)
      return {.first = x->template data<std::remove_const_t<T>>(),
              .row = columns,
              .matrix = ownKeys() * columns};
    else
      return {.first = x->template mutableData<T>(), .row = columns, .matrix = ownKeys() * columns};
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
  // Copies this rank's keys and values to the rotating array; null tensors are zero.
  template <class T>
  void load(const DTensor* k, const DTensor* v, RingArray& array) {
    T* const to = array.current<T>();
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
    const T* const from = array.current<T>();
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
  std::vector<RingArray> arrays_;
};

} // namespace tenon
