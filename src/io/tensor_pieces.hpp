// SPDX-License-Identifier: BSD-2-Clause
// Which cells of a tensor a rank writes and reads, and their way between its array and a buffer. Each
// cell is written by one rank: where it is owned, never from a halo, on coordinate 0 of B axes. Every
// holder reads what it owns.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// Throws TENON_ERR_LAYOUT unless each cell has an owner that holds its value. `title` names the tensor.
void checkStorable(const Layout& layout, const std::string& title);

// Empty where the rank has none.
Box writtenBox(const Layout& layout, int rank);
Box readBox(const Layout& layout, int rank);
// How many ranks read each cell.
Index copiesOf(const Layout& layout);

// A box in pieces of at most so many cells, one after the other in row-major order.
std::vector<Box> piecesOf(const Box& box, Index mostCells);

// The cells of a box of owned cells, row-major: the tensor's own memory where they lie so there, else a
// copy in the buffer, which has room for it.
const std::byte* packed(const DTensor& x, const Box& box, Buffer& buffer);
void unpack(const std::byte* cells, const Box& box, DTensor& x);

// The digest's part of a box whose cells lie row-major (kernels/movement/digest.hpp), and of one of owned cells.
std::uint64_t digestOf(KernelContext& context, TenonDataType type, const Shape& shape,
                       const Box& box, const std::byte* cells);
std::uint64_t digestOf(const DTensor& x, const Box& box);

} // namespace tenon
