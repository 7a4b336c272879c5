// SPDX-License-Identifier: BSD-2-Clause
// Which elements of a distributed tensor each rank writes to a file and reads from it, and their
// packing into contiguous memory. Each element is written by one rank. If it has copies (a B axis
// of the process grid replicates it), the rank with coordinate 0 on that axis writes it, and all
// ranks with a copy read it. Ghost cells of halos are neither written nor read. For example, on a
// grid of 2 x 2 ranks with S0 and B, ranks 0 and 2 each write half of the rows, and ranks 1 and 3
// only read.
// Functions that are used between messages allocate nothing, because a rank that failed there
// would leave the other ranks waiting.
#pragma once

#include "dtensor/dtensor.hpp"

#include <array>

namespace tenon {

// Throws TENON_ERR_LAYOUT unless each element has an owner that holds its value (not a partial
// sum). `title` is the name of the tensor for messages.
void checkStorable(const Layout& layout, const std::string& title);

// Store the box that a rank writes, or reads, in `box`. `box` must already have the tensor's number
// of dimensions. It is empty if the rank has nothing to write or read.
void putWrittenBox(const Layout& layout, int rank, Box& box) noexcept;
void putReadBox(const Layout& layout, int rank, Box& box) noexcept;
// The same, returning the box.
Box writtenBox(const Layout& layout, int rank);
Box readBox(const Layout& layout, int rank);
// Returns the number of ranks that read each element.
Index copiesOf(const Layout& layout);

// Divides a box into pieces of at most `mostElements` elements, consecutive in row-major order.
// Holds a reference to the box.
class Pieces {
public:
  Pieces(const Box& box, Index mostElements);
  Index count() const noexcept { return count_; }
  // Stores piece `number` in a box with the same number of dimensions.
  void put(Index number, Box& piece) const noexcept;

private:
  const Box& box_;
  // Dimension that is divided: a piece has one index in each dimension before it, and all indices
  // after it.
  std::size_t divided_ = 0;
  Index step_ = 1, parts_ = 1; // step and number of parts in the divided dimension
  Index count_ = 1;
};

// Returns the elements of a box of owned elements, row-major: in place if the tensor stores them in
// this way, otherwise a copy in the buffer, which must be large enough.
const std::byte* packed(const DTensor& x, const Box& box, Buffer& buffer);
void unpack(const std::byte* elements, const Box& box, DTensor& x);

// Returns a box's contribution to the tensor's digest (kernels/movement/digest.hpp), a sum over all
// elements that does not depend on how they are distributed. The first function reads a row-major
// copy of the box; the second reads the box in a tensor that owns it.
std::uint64_t digestOf(KernelContext& context, TenonDataType type, const Shape& shape,
                       const Box& box, const std::byte* elements);
std::uint64_t digestOf(const DTensor& x, const Box& box);

} // namespace tenon
