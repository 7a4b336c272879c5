// SPDX-License-Identifier: BSD-2-Clause
// The elements of a tensor that a rank writes and reads, their division into pieces, and their
// packing into contiguous memory. Example: a float64 tensor [4, 6] whose rows are distributed over
// two ranks, with a halo of one row, and pieces of at most 8 elements:
//
//   rank 0 owns rows 0, 1 and stores row 2 as halo; it writes the box [0,2) x [0,6)
//          in two pieces of one row each, since two rows would have 12 elements
//
// Boxes have global indices. x.box() is the box of all elements that a rank stores, halo included;
// offsets and strides count elements of the local array.
//
// The digest is a sum over elements of a function of value and global position, so the ranks'
// digests can be added, and the result does not depend on the distribution.
#include "io/tensor_pieces.hpp"

#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/digest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// One number per dimension, without allocation.
using Sides = std::array<Index, kMaxDims>;

Sides sidesOf(const Box& box) noexcept {
  Sides sides{};
  for (std::size_t d = 0; d < box.size(); ++d)
    sides[d] = box[d].size();
  return sides;
}

// Strides of a row-major array with these sides.
Sides packedStrides(const Index* sides, std::size_t rank) noexcept {
  Sides strides{};
  Index stride = 1;
  for (std::size_t d = rank; d-- > 0; stride *= sides[d])
    strides[d] = stride;
  return strides;
}

// Offset of the first element of `box` in an array that stores the elements of `within`.
Index offsetOf(const Box& box, const Box& within, const Index* strides) noexcept {
  Index offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    offset += (box[d].begin - within[d].begin) * strides[d];
  return offset;
}

// The same in an array that stores the whole tensor: its first element has index 0 everywhere.
Index offsetOf(const Box& box, const Index* strides) noexcept {
  Index offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    offset += box[d].begin * strides[d];
  return offset;
}

// Whether the elements of a box are contiguous and row-major in an array with these strides.
bool isRowMajor(const Box& box, const Index* strides) noexcept {
  Index expected = 1;
  for (std::size_t d = box.size(); d-- > 0;) {
    if (box[d].size() > 1 && strides[d] != expected)
      return false;
    expected *= box[d].size();
  }
  return true;
}

// Returns a box's contribution to the digest of a tensor with the global shape `shape`. `first` and
// `strides` describe the local array; the digest also needs each element's global row-major index.
template <class T>
std::uint64_t digestOfArray(KernelContext& context, const Shape& shape, const Box& box,
                            const T* first, const Index* strides) {
  const Sides extent = sidesOf(box), global = packedStrides(shape.data(), shape.size());
  return digestBlock<T>(context, static_cast<int>(box.size()), extent.data(), first, strides,
                        offsetOf(box, global.data()), global.data());
}

} // namespace

void checkStorable(const Layout& layout, const std::string& title) {
  if (layout.holdsPartialSums())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} holds partial sums (layout {}), which a checkpoint cannot keep; "
                            "reduce it first, for example with TenonLinearOpCreatePrimitive() "
                            "\"allreduce\"",
                            title, layout.describe()));
  for (int position = 0; position < layout.grid().size(); ++position) {
    // A halo of negative width makes the stored box smaller than the owned one.
    const Box owned = layout.ownedBox(position), stored = layout.box(position);
    for (std::size_t d = 0; d < owned.size(); ++d)
      if (!owned[d].empty() && intersect(owned[d], stored[d]) != owned[d])
        throw Error(
            TENON_ERR_LAYOUT,
            fmt::format("{} has a halo of negative width in dimension {} (layout {}), so "
                        "that nobody holds some of its elements; a checkpoint needs them all",
                        title, d, layout.describe()));
  }
}

void putReadBox(const Layout& layout, int rank, Box& box) noexcept {
  const int position = layout.grid().position(rank);
  const bool hasElements = layout.isHolder(position);
  for (int d = 0; d < layout.ndim(); ++d)
    box[d] = hasElements ? layout.owned(d, layout.part(position, d)) : Interval{};
}

void putWrittenBox(const Layout& layout, int rank, Box& box) noexcept {
  putReadBox(layout, rank, box);
  const int position = layout.grid().position(rank);
  for (int axis = 0; axis < layout.grid().axes() && position >= 0; ++axis)
    if (layout.property(axis).isBroadcast() && layout.grid().coordinate(position, axis) != 0)
      std::fill(box.begin(), box.end(), Interval{});
}

Box readBox(const Layout& layout, int rank) {
  Box box(layout.ndim());
  putReadBox(layout, rank, box);
  return box;
}

Box writtenBox(const Layout& layout, int rank) {
  Box box(layout.ndim());
  putWrittenBox(layout, rank, box);
  return box;
}

Index copiesOf(const Layout& layout) {
  Index copies = 1;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).isBroadcast())
      copies *= layout.grid().extent(axis);
  return copies;
}

// For example, a box of 2 x 3 x 4 elements in pieces of at most 8: rows of 4 fit and planes of 12
// do not, so dimension 1 is divided into parts of 2 and 1 indices. This makes 4 pieces, 2 in each
// plane.
Pieces::Pieces(const Box& box, Index mostElements) : box_(box) {
  if (elements(box) == 0)
    count_ = 0;
  if (count_ == 0 || box.empty())
    return;
  // Starting with the last dimension, find the first one that does not fit as a whole into a piece.
  Index inner = 1; // elements per index of the divided dimension
  for (divided_ = box.size() - 1; divided_ > 0; --divided_) {
    if (box[divided_].size() > mostElements / inner)
      break;
    inner *= box[divided_].size();
  }
  step_ = mostElements / inner; // indices per piece in the divided dimension
  parts_ = (box[divided_].size() - 1) / step_ + 1;
  count_ = parts_;
  for (std::size_t d = 0; d < divided_; ++d)
    count_ *= box[d].size();
}

void Pieces::put(Index number, Box& piece) const noexcept {
  std::copy(box_.begin(), box_.end(), piece.begin());
  if (box_.empty())
    return;
  // `number` counts pieces row-major: the parts of the divided dimension, then the indices before
  // it.
  const Interval& whole = box_[divided_];
  const Index begin = whole.begin + number % parts_ * step_;
  piece[divided_] = {begin, begin + std::min(step_, whole.end - begin)};
  number /= parts_;
  for (std::size_t d = divided_; d-- > 0; number /= box_[d].size()) {
    const Index index = box_[d].begin + number % box_[d].size();
    piece[d] = {index, index + 1};
  }
}

const std::byte* packed(const DTensor& x, const Box& box, Buffer& buffer) {
  if (elements(box) == 0)
    return nullptr;
  return visitDataType(x.dataType(), [&]<class T>(T) {
    const T* first = x.data<T>() + offsetOf(box, x.box(), x.strides().data());
    if (isRowMajor(box, x.strides().data()))
      return reinterpret_cast<const std::byte*>(first);
    const Sides extent = sidesOf(box);
    blockCombine<T>(x.context(), Combine::Copy, x.ndim(), extent.data(), first, x.strides().data(),
                    buffer.data<T>(), packedStrides(extent.data(), box.size()).data());
    return const_cast<const Buffer&>(buffer).data<std::byte>();
  });
}

void unpack(const std::byte* elements, const Box& box, DTensor& x) {
  const Sides extent = sidesOf(box);
  visitDataType(x.dataType(), [&]<class T>(T) {
    T* first = x.mutableData<T>();
    if (tenon::elements(box) != 0)
      blockCombine<T>(x.context(), Combine::Copy, x.ndim(), extent.data(),
                      reinterpret_cast<const T*>(elements),
                      packedStrides(extent.data(), box.size()).data(),
                      first + offsetOf(box, x.box(), x.strides().data()), x.strides().data());
  });
}

std::uint64_t digestOf(KernelContext& context, TenonDataType type, const Shape& shape,
                       const Box& box, const std::byte* elements) {
  return visitDataType(type, [&]<class T>(T) {
    const Sides extent = sidesOf(box);
    return digestOfArray(context, shape, box, reinterpret_cast<const T*>(elements),
                         packedStrides(extent.data(), box.size()).data());
  });
}

std::uint64_t digestOf(const DTensor& x, const Box& box) {
  if (elements(box) == 0)
    return 0;
  return visitDataType(x.dataType(), [&]<class T>(T) {
    return digestOfArray<T>(x.context(), x.layout().shape(), box,
                            x.data<T>() + offsetOf(box, x.box(), x.strides().data()),
                            x.strides().data());
  });
}

} // namespace tenon
