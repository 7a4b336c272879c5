// SPDX-License-Identifier: BSD-2-Clause
// Tensors under test, written and read element by element through the public interface. A user
// array is drawn with strides, ghosts and padding, and is filled with guard bytes: the library may
// change only the tensor's own elements in it.
#include "tools/check/field.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace tenon::tools {

namespace {

// The value of guard bytes; as elements they are numbers that no test uses.
constexpr std::byte kGuard{0x5a};

double load(const std::byte* from, TenonDataType type) {
  if (type == TENON_FLOAT32) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (type == TENON_INT64) {
    std::int64_t value;
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  }
  if (type == TENON_INT32) {
    std::int32_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  double value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void storeAs(std::byte* to, double value) {
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}

void store(std::byte* to, TenonDataType type, double value) {
  if (type == TENON_FLOAT32)
    storeAs<float>(to, value);
  else if (type == TENON_INT64)
    storeAs<std::int64_t>(to, value);
  else if (type == TENON_INT32)
    storeAs<std::int32_t>(to, value);
  else
    storeAs<double>(to, value);
}

// The box of this rank's elements: the owned ones, or all that it has, ghosts included.
Box boxOfTensor(TenonLayout layout, bool isOwned) {
  int ndim = 0;
  require(TenonLayoutGetDim(layout, &ndim));
  Indices low(ndim), high(ndim);
  require(isOwned ? TenonLayoutGetOwnedBox(layout, low.data(), high.data())
                  : TenonLayoutGetBox(layout, low.data(), high.data()));
  Box box;
  for (int d = 0; d < ndim; ++d)
    box.push_back({low[d], high[d]});
  return box;
}

// Shares memory with the ranks of a layout. If this is not supported or fails, the array remains
// private, which is a valid case as well.
void shareIfPossible(UserMemory& memory, TenonLayout layout) {
  Partition grid;
  require(TenonLayoutGetPartition(layout, grid.out()));
  try {
    memory.share(std::move(grid));
  } catch (const CallError& error) {
    if (error.code != TENON_ERR_SUPPORT && error.code != TENON_ERR_MEMORY)
      throw;
  }
}

} // namespace

std::size_t bytesOf(TenonDataType type) {
  return type == TENON_FLOAT32 || type == TENON_INT32 ? 4 : 8;
}

Field::Field(TenonLayout layout, TenonDataType type, bool isUserSupplied, Draw& draw,
             TenonMemorySpace space)
    : type_(type), box_(boxOfTensor(layout, /*isOwned=*/false)) {
  require(TenonDTensorCreate(layout, type, tensor_.out()));
  // The space is set first, since the array must be in it.
  require(TenonDTensorSetSpace(tensor_, space));
  // The ranks' parts have different extents, so each rank draws different numbers for its array.
  // They come from a separate source, so the common source remains synchronous.
  Draw local(draw.number(), 0);
  if (isUserSupplied)
    place(layout, space, local);
}

Field::Field(TenonLayout layout, TenonDataType type, Field& other)
    : array_(other.array_), type_(type), box_(boxOfTensor(layout, /*isOwned=*/false)) {
  TenonMemorySpace space;
  require(TenonDTensorGetSpace(other, &space));
  require(TenonDTensorCreate(layout, type, tensor_.out()));
  require(TenonDTensorSetSpace(tensor_, space));
  if (other.isUserSupplied())
    placeOn(other.memory_.data());
}

Field::Field(DTensor tensor) : tensor_(std::move(tensor)) {
  Layout layout;
  require(TenonDTensorGetLayout(tensor_, layout.out()));
  require(TenonDTensorGetDataType(tensor_, &type_));
  box_ = boxOfTensor(layout, /*isOwned=*/false);
}

// Draws an array around the owned block. Along one dimension:
//     | array.low | owned | array.high | padding, if there is another dimension |
// where the ghosts of the box are within array.low and array.high.
Field::Array Field::drawArray(Draw& draw, const Box& owned, const Box& box) {
  const std::size_t ndim = box.size();
  Array array{.low = {}, .high = {}, .strides = Indices(ndim)};
  for (std::size_t d = 0; d < ndim; ++d) {
    // The array must contain the part of the box outside the owned block, and can be larger.
    array.low.push_back(std::max<Index>(owned[d].begin - box[d].begin, 0) + draw.upTo(2));
    array.high.push_back(std::max<Index>(box[d].end - owned[d].end, 0) + draw.upTo(2));
  }
  std::vector<std::size_t> order(ndim);
  std::iota(order.begin(), order.end(), 0);
  if (draw.chance(50))
    draw.shuffle(order);
  // From the fastest dimension to the slowest. A reversed dimension begins at its end, and padding
  // separates its rows.
  for (std::size_t i = ndim; i-- > 0;) {
    const std::size_t d = order[i];
    const bool isReversed = draw.chance(15);
    const Index extent = array.low[d] + owned[d].size() + array.high[d];
    array.strides[d] = isReversed ? -array.elements : array.elements;
    array.first += array.elements * (isReversed ? extent - 1 - array.low[d] : array.low[d]);
    array.elements *= extent + (draw.chance(30) ? draw.upTo(2) : 0);
  }
  return array;
}

void Field::placeOn(std::byte* memory) {
  require(TenonDTensorPlaceArray(
      tensor_, memory + array_.first * static_cast<Index>(bytesOf(type_)), array_.strides.data(),
      array_.low.data(), array_.high.data(), array_.elements));
}

void Field::place(TenonLayout layout, TenonMemorySpace space, Draw& draw) {
  const Box owned = boxOfTensor(layout, /*isOwned=*/true);
  if (elementsOf(owned) == 0 || elementsOf(box_) == 0)
    return;
  array_ = drawArray(draw, owned, box_);
  memory_ = UserMemory(array_.elements * bytesOf(type_), kGuard, space);
  if (draw.chance(50) && space == TENON_MEMORY_HOST)
    shareIfPossible(memory_, layout);
  isCell_.assign(array_.elements, false);
  forEachCell(box_, [&](const Indices& cell) {
    Index at = array_.first;
    for (std::size_t d = 0; d < cell.size(); ++d)
      at += (cell[d] - owned[d].begin) * array_.strides[d];
    isCell_[at] = true;
  });
  placeOn(memory_.data());
}

// Calls visit(offset in bytes from the box's first element) in row-major order, with the strides
// that the library returns.
template <class Visit>
void Field::visitCells(Visit visit) const {
  Indices strides(box_.size());
  require(TenonDTensorGetStrides(tensor_, strides.data()));
  forEachCell(box_, [&](const Indices& cell) {
    Index at = 0;
    for (std::size_t d = 0; d < cell.size(); ++d)
      at += (cell[d] - box_[d].begin) * strides[d];
    visit(at * static_cast<Index>(bytesOf(type_)));
  });
}

void Field::write(const Values& cells) {
  void* array = nullptr;
  require(TenonDTensorGetArray(tensor_, type_, &array));
  std::size_t next = 0;
  visitCells(
      [&](Index at) { store(static_cast<std::byte*>(array) + at, type_, cells.at(next++)); });
  require(TenonDTensorRestoreArray(tensor_, &array));
}

Values Field::read() const {
  const void* array = nullptr;
  require(TenonDTensorGetArrayRead(tensor_, type_, &array));
  Values cells;
  visitCells(
      [&](Index at) { cells.push_back(load(static_cast<const std::byte*>(array) + at, type_)); });
  require(TenonDTensorRestoreArrayRead(tensor_, &array));
  return cells;
}

void Field::fillByPosition(const Filling& filling) {
  Values cells(elementsOf(box_));
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = filling.at(i);
  write(cells);
}

void Field::spoil() {
  // NaN propagates through every sum that reads it; a large integer is detected as well.
  const double spoiled = isInteger(type_) ? 1 << 30 : std::numeric_limits<double>::quiet_NaN();
  write(Values(elementsOf(box_), spoiled));
}

bool Field::isGuardIntact() const {
  if (!isUserSupplied())
    return true;
  read(); // waits until work on the array is done
  const std::vector<std::byte> content = memory_.content();
  const std::size_t bytes = bytesOf(type_);
  for (std::size_t i = 0; i < content.size(); ++i)
    if (!isCell_[i / bytes] && content[i] != kGuard)
      return false;
  return true;
}

Values gathered(TenonDTensor x, MPI_Comm comm) {
  Layout layout;
  require(TenonDTensorGetLayout(x, layout.out()));
  TenonDataType type;
  require(TenonDTensorGetDataType(x, &type));
  int ndim = 0, ranks = 0;
  require(TenonLayoutGetDim(layout, &ndim));
  Indices shape(ndim);
  require(TenonLayoutGetShape(layout, shape.data()));
  MPI_Comm_size(comm, &ranks);
  // A conversion to all ranks returns the value; conversions have their own kinds of
  // configurations, which compare them with the definition.
  const Layout whole = makeLayout(comm, everywhere(shape, ranks));
  DTensor all;
  TenonMemorySpace space = TENON_MEMORY_HOST;
  require(TenonDTensorGetSpace(x, &space));
  require(TenonDTensorCreate(whole, type, all.out()));
  require(TenonDTensorSetSpace(all, space));
  LinearOp gather;
  require(TenonLinearOpCreateConversion(layout, whole, type, gather.out()));
  require(TenonLinearOpApply(gather, x, all));
  return Field(std::move(all)).read();
}

} // namespace tenon::tools
