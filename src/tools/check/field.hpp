// SPDX-License-Identifier: BSD-2-Clause
// A tensor under test with its memory. The memory is allocated by the library, or is a user array
// with random strides. In a user array, ghosts and padding around the tensor's elements contain
// guard bytes, which the library must not change. On the host the array can be memory that the
// ranks of a node share. Elements are read and written in row-major order of the rank's box.
#pragma once

#include "tools/check/draw.hpp"
#include "tools/check/user_memory.hpp"
#include "tools/check/values.hpp"

namespace tenon::tools {

class Field {
public:
  // With `isUserSupplied` the tensor uses a user array on ranks that own elements.
  Field(TenonLayout layout, TenonDataType type, bool isUserSupplied, Draw& draw,
        TenonMemorySpace space = TENON_MEMORY_HOST);
  // A tensor on the array of another one, `other`, with the same owned elements. `other` must
  // outlive it.
  Field(TenonLayout layout, TenonDataType type, Field& other);
  // A tensor that the library has created.
  explicit Field(DTensor tensor);

  operator TenonDTensor() const { return tensor_; }
  bool isUserSupplied() const { return memory_.bytes() > 0; }
  const Box& box() const { return box_; }
  TenonDataType type() const { return type_; }
  // The elements of this rank's box, row-major.
  void write(const Values& cells);
  Values read() const;
  // Fills the elements of the box with numbers that depend on their position in it. Ranks with
  // different keys have different numbers.
  void fillByPosition(const Filling& filling);
  // Sets every element to NaN, or to a large integer, to detect reads of it.
  void spoil();
  // Whether the user array is unchanged around the box.
  bool isGuardIntact() const;

private:
  // A user array with `low` elements before the owned block and `high` after it.
  struct Array {
    Indices low = {}, high = {}, strides = {};
    Index first = 0, elements = 1; // offset of the first owned element; size
  };

  static Array drawArray(Draw& draw, const Box& owned, const Box& box);
  void place(TenonLayout layout, TenonMemorySpace space, Draw& draw);
  void placeOn(std::byte* memory);
  template <class Visit>
  void visitCells(Visit visit) const;

  Array array_;
  UserMemory memory_;        // of the array
  std::vector<bool> isCell_; // by element: whether it is in the box
  DTensor tensor_; // declared after memory_: its destructor waits for operations on that memory
  TenonDataType type_;
  Box box_;
};

// The size of one element in bytes.
std::size_t bytesOf(TenonDataType type);

// The value of a tensor, gathered on every rank by a conversion.
Values gathered(TenonDTensor x, MPI_Comm comm);

} // namespace tenon::tools
