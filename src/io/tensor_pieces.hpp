// SPDX-License-Identifier: BSD-2-Clause
// Which elements of a tensor a rank writes and reads, and their way between its array and a buffer.
// Each element is written by one rank: where it is owned, never from a halo, on coordinate 0 of B
// axes. Every holder reads what it owns. What is needed between messages allocates nothing, since a
// rank that failed there would leave the others waiting.
#pragma once

#include "dtensor/dtensor.hpp"

#include <array>

namespace tenon {

// Throws TENON_ERR_LAYOUT unless each element has an owner that holds its value. `title` names the
// tensor.
void checkStorable(const Layout& layout, const std::string& title);

// Puts the elements that a rank writes, and that it reads, into a box with the tensor's number of
// dimensions; empty where it has none.
void putWrittenBox(const Layout& layout, int rank, Box& box) noexcept;
void putReadBox(const Layout& layout, int rank, Box& box) noexcept;
// The same as values.
Box writtenBox(const Layout& layout, int rank);
Box readBox(const Layout& layout, int rank);
// How many ranks read each element.
Index copiesOf(const Layout& layout);

// A box in pieces of at most `mostElements` elements, one after the other in row-major order. It
// refers to the box.
class Pieces {
public:
  Pieces(const Box& box, Index mostElements);
  Index count() const noexcept { return count_; }
  // Puts piece `number` into a box with as many dimensions.
  void put(Index number, Box& piece) const noexcept;

private:
  const Box& box_;
  // The dimension that is divided: before it a piece has one index in each, and behind it all.
  std::size_t divided_ = 0;
  Index step_ = 1, parts_ = 1; // of the divided dimension
  Index count_ = 1;
};

// The elements of a box of owned ones, row-major: the tensor's own memory if they are stored like
// that there, else a copy in the buffer, which has room for it.
const std::byte* packed(const DTensor& x, const Box& box, Buffer& buffer);
void unpack(const std::byte* elements, const Box& box, DTensor& x);

// The part of the tensor's digest (kernels/movement/digest.hpp) that comes from a box: of a
// row-major copy, and of the tensor itself, which owns the box.
std::uint64_t digestOf(KernelContext& context, TenonDataType type, const Shape& shape,
                       const Box& box, const std::byte* elements);
std::uint64_t digestOf(const DTensor& x, const Box& box);

} // namespace tenon
