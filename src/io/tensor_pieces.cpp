// SPDX-License-Identifier: BSD-2-Clause
// Which elements of a tensor a rank writes and reads, and their packing. The digest is a sum over elements that each depend
// on their own global position, so ranks add up the digests of their boxes and any distribution has the same one.
#include "io/tensor_pieces.hpp"

#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/digest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

Index offsetOf(const Box& box, const Box& within, const Index* strides) {
  Index offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    offset += (box[d].begin - within[d].begin) * strides[d];
  return offset;
}

bool liesRowMajor(const Shape& extent, const Index* strides) {
  Index expected = 1;
  for (std::size_t d = extent.size(); d-- > 0;) {
    if (extent[d] > 1 && strides[d] != expected)
      return false;
    expected *= extent[d];
  }
  return true;
}

template <class T>
std::uint64_t digestOfArray(KernelContext& context, const Shape& shape, const Box& box,
                            const T* first, const Index* strides) {
  const Shape extent = extents(box), global = rowMajorStrides(shape);
  return digestBlock<T>(context, static_cast<int>(extent.size()), extent.data(), first, strides,
                        offsetOf(box, Box(box.size()), global.data()), global.data());
}

} // namespace

void checkStorable(const Layout& layout, const std::string& title) {
  if (layout.holdsAddends())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} holds partial sums (layout {}), which a checkpoint cannot keep; "
                            "reduce it first, for example with TenonLinearOpCreatePrimitive() "
                            "\"allreduce\"",
                            title, layout.describe()));
  for (int position = 0; position < layout.grid().size(); ++position) {
    const Box owned = layout.ownedBox(position), held = layout.box(position);
    for (std::size_t d = 0; d < owned.size(); ++d)
      if (!owned[d].empty() && intersect(owned[d], held[d]) != owned[d])
        throw Error(
            TENON_ERR_LAYOUT,
            fmt::format("{} has a halo of negative width in dimension {} (layout {}), so "
                        "that nobody holds some of its elements; a checkpoint needs them all",
                        title, d, layout.describe()));
  }
}

Box readBox(const Layout& layout, int rank) {
  const int position = layout.grid().position(rank);
  return layout.isHolder(position) ? layout.ownedBox(position) : Box(layout.rank());
}

Box writtenBox(const Layout& layout, int rank) {
  const int position = layout.grid().position(rank);
  for (int axis = 0; axis < layout.grid().axes() && position >= 0; ++axis)
    if (layout.property(axis).isBroadcast() && layout.grid().coordinate(position, axis) != 0)
      return Box(layout.rank());
  return readBox(layout, rank);
}

Index copiesOf(const Layout& layout) {
  Index copies = 1;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).isBroadcast())
      copies *= layout.grid().extent(axis);
  return copies;
}

std::vector<Box> piecesOf(const Box& box, Index mostCells) {
  const Index count = cells(box);
  if (count == 0)
    return {};
  if (count <= mostCells)
    return {box};
  // The box is divided along its first dimension with more than one index, so that pieces follow in row-major order; what
  // is still too large is divided again.
  const auto divided = static_cast<std::size_t>(
      std::find_if(box.begin(), box.end(), [](const Interval& side) { return side.size() > 1; }) -
      box.begin());
  const Index each = count / box[divided].size(), step = std::max<Index>(1, mostCells / each);
  std::vector<Box> pieces;
  for (Index begin = box[divided].begin; begin < box[divided].end; begin += step) {
    Box piece = box;
    piece[divided] = {begin, std::min(begin + step, box[divided].end)};
    for (Box& part : piecesOf(piece, mostCells))
      pieces.push_back(std::move(part));
  }
  return pieces;
}

const std::byte* packed(const DTensor& x, const Box& box, Buffer& buffer) {
  const Shape extent = extents(box);
  if (cells(extent) == 0)
    return nullptr;
  return visitDataType(x.dataType(), [&]<class T>(T) {
    const T* first = x.data<T>() + offsetOf(box, x.box(), x.strides().data());
    if (liesRowMajor(extent, x.strides().data()))
      return reinterpret_cast<const std::byte*>(first);
    blockCombine<T>(x.context(), Combine::Copy, x.rank(), extent.data(), first, x.strides().data(),
                    buffer.data<T>(), rowMajorStrides(extent).data());
    return const_cast<const Buffer&>(buffer).data<std::byte>();
  });
}

void unpack(const std::byte* cells, const Box& box, DTensor& x) {
  const Shape extent = extents(box);
  visitDataType(x.dataType(), [&]<class T>(T) {
    T* first = x.mutableData<T>();
    if (tenon::cells(extent) != 0)
      blockCombine<T>(x.context(), Combine::Copy, x.rank(), extent.data(),
                      reinterpret_cast<const T*>(cells), rowMajorStrides(extent).data(),
                      first + offsetOf(box, x.box(), x.strides().data()), x.strides().data());
  });
}

std::uint64_t digestOf(KernelContext& context, TenonDataType type, const Shape& shape,
                       const Box& box, const std::byte* cells) {
  return visitDataType(type, [&]<class T>(T) {
    return digestOfArray(context, shape, box, reinterpret_cast<const T*>(cells),
                         rowMajorStrides(extents(box)).data());
  });
}

std::uint64_t digestOf(const DTensor& x, const Box& box) {
  if (cells(box) == 0)
    return 0;
  return visitDataType(x.dataType(), [&]<class T>(T) {
    return digestOfArray<T>(x.context(), x.layout().shape(), box,
                            x.data<T>() + offsetOf(box, x.box(), x.strides().data()),
                            x.strides().data());
  });
}

} // namespace tenon
