// SPDX-License-Identifier: BSD-2-Clause
// A tensor under check with its memory: the library's, or an array of the caller's with random
// strides, ghosts and padding around it that nobody may touch, on the host shared with the node or not. Cells
// are read and written in row-major order of the rank's box.
#pragma once

#include "tools/check/callers_memory.hpp"
#include "tools/check/draw.hpp"
#include "tools/check/values.hpp"

namespace tenon::tools {

class Field {
public:
  // isCallers: in an array of the caller's, where this rank owns something.
  Field(TenonLayout layout, TenonDataType type, bool isCallers, Draw& draw,
        TenonMemorySpace space = TENON_MEMORY_HOST);
  // On the array of another, with the same owned cells; the other must outlive it.
  Field(TenonLayout layout, TenonDataType type, Field& other);
  // A tensor that is there, of the library.
  explicit Field(DTensor tensor);

  operator TenonDTensor() const { return tensor_; }
  bool isCallers() const { return memory_.bytes() > 0; }
  const Box& box() const { return box_; }
  TenonDataType type() const { return type_; }
  void write(const Values& cells);
  Values read() const;
  // Every cell becomes NaN, or a large integer: what must not be read.
  void spoil();
  // Whether the caller's array is untouched around the box.
  bool isGuardIntact() const;

private:
  // A caller's array that reaches `low` cells before the part and `high` behind it.
  struct Array {
    Indices low = {}, high = {}, strides = {};
    Index first = 0, elements = 1; // place of the first owned cell; size
  };

  static Array drawArray(Draw& draw, const Box& owned, const Box& box);
  void place(TenonLayout layout, TenonMemorySpace space, Draw& draw);
  void placeOn(std::byte* memory);
  template <class Visit>
  void visitCells(Visit visit) const;

  Array array_;
  CallersMemory memory_;     // of the array
  std::vector<bool> isCell_; // of its elements
  DTensor tensor_;           // behind its memory: its destruction waits for work on it
  TenonDataType type_;
  Box box_;
};

// Bytes of one element.
std::size_t bytesOf(TenonDataType type);

// The value of a tensor, gathered on every rank by a conversion.
Values gathered(TenonDTensor x, MPI_Comm comm);

} // namespace tenon::tools
