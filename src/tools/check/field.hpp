// SPDX-License-Identifier: BSD-2-Clause
// A tensor under check with its memory, which is the library's or a user array with random strides,
// ghosts and padding around it that nobody may touch, on the host shared with the node or not.
// Elements are read and written in row-major order of the rank's box.
#pragma once

#include "tools/check/draw.hpp"
#include "tools/check/user_memory.hpp"
#include "tools/check/values.hpp"

namespace tenon::tools {

class Field {
public:
  // With `isUsers` the tensor is in a user array, where this rank owns something.
  Field(TenonLayout layout, TenonDataType type, bool isUsers, Draw& draw,
        TenonMemorySpace space = TENON_MEMORY_HOST);
  // A tensor on the array of another, with the same owned elements; the other must outlive it.
  Field(TenonLayout layout, TenonDataType type, Field& other);
  // A tensor that the library has made.
  explicit Field(DTensor tensor);

  operator TenonDTensor() const { return tensor_; }
  bool isUsers() const { return memory_.bytes() > 0; }
  const Box& box() const { return box_; }
  TenonDataType type() const { return type_; }
  void write(const Values& cells);
  Values read() const;
  // Gives the elements of the box numbers by their places in it. Other ranks have other numbers if
  // they have other keys.
  void fillByPlace(const Filling& filling);
  // Makes every element NaN, or a large integer: what must not be read.
  void spoil();
  // Whether the user array is untouched around the box.
  bool isGuardIntact() const;

private:
  // A user array that reaches `low` elements before the part and `high` behind it.
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
  UserMemory memory_;        // of the array
  std::vector<bool> isCell_; // by element: whether it is in the box
  DTensor tensor_;           // behind its memory: its destruction waits for work on it
  TenonDataType type_;
  Box box_;
};

// The bytes of one element.
std::size_t bytesOf(TenonDataType type);

// The value of a tensor, gathered on every rank by a conversion.
Values gathered(TenonDTensor x, MPI_Comm comm);

} // namespace tenon::tools
