// SPDX-License-Identifier: BSD-2-Clause
// The array of a tensor: the library's, allocated at its first use, or memory that the user has
// placed; the locks while the user has its address (lendForReading() to endWriting()); and the
// checks of both. In functions that place memory, all checks come before the first change. User
// memory is released only after the kernels that use it have ended (awaitUserArray()).
#include "dtensor/dtensor.hpp"

#include "dtensor/arithmetic.hpp"
#include "dtensor/stride_sums.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstring>

namespace tenon {

namespace {

// The library's arrays are row-major without gaps.
Strides ownStrides(const Shape& extent) {
  Strides strides{};
  Index stride = 1;
  for (std::size_t d = extent.size(); d-- > 0; stride *= extent[d])
    strides[d] = stride;
  return strides;
}

void checkLength(const char* what, std::size_t count, int rank) {
  if (static_cast<int>(count) != rank)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("{} {} were given, but the tensor has {} dimensions; pass one per dimension",
                    count, what, rank));
}

// Arrays that will be written must be distinct.
void checkEachOnce(const std::vector<void*>& arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (arrays[i] == arrays[j])
        throw Error(TENON_ERR_ARG, fmt::format("arrays {} and {} are the same; only constant ones "
                                               "may be given twice",
                                               j, i));
}

std::string memoryText(const DTensor& x) {
  const Index bytes = x.localElements() * dataTypeSize(x.dataType());
  if (const auto& arrays = x.arrays())
    return fmt::format("{} user arrays{} along dim {} on rank {}, copied to and from a library "
                       "array of {}",
                       arrays->first.size(), x.isReadOnly() ? " (read only)" : "", arrays->dim,
                       x.comm()->rank(), sizeText(bytes));
  const char* owner = x.isPlaced() ? "user" : x.isPrivate() ? "private library" : "library";
  return fmt::format("{} array{}{}{}, {} on rank {}", owner,
                     x.space() == Space::Device ? " on the device" : "",
                     x.isReadOnly() ? ", read only" : "",
                     x.isContiguous() ? "" : ", strided (the view of a layer says what it copies)",
                     sizeText(bytes), x.comm()->rank());
}

} // namespace

std::string DTensor::describe() const {
  return fmt::format("{}: {} {}; {}", headingOf(*this), dataTypeName(type_), layout_.describe(),
                     memoryText(*this));
}

DTensor::DTensor(CommPtr comm, Layout layout, TenonDataType type, Space space)
    : DTensor(std::move(comm), std::move(layout), Rounded(), space) {
  checkDataType(type);
  type_ = array_.type = type;
}

DTensor::DTensor(CommPtr comm, Layout layout, Rounded, Space space)
    : Object(kClass), comm_(std::move(comm)), layout_(std::move(layout)), type_(kBFloat16),
      context_(contextOf(comm_, space)), position_(layout_.grid().position(comm_->rank())),
      box_(layout_.box(position_)), extent_(extents(box_)), localElements_(elements(extent_)),
      strides_(ownStrides(extent_)), array_{.type = type_,
                                            .extent = extent_,
                                            .strides = strides_.data()} {}

DTensor::~DTensor() {
  try {
    awaitUserArray();
  } catch (...) { // A destructor cannot throw; the next call on the device reports the failure.
  }
}

// After this call the user can free or read the placed array. On a stream of the user no wait is
// needed, since the user's later work on it follows the kernels.
void DTensor::awaitUserArray() const {
  if (isUserArray_ && space() == Space::Device && !isOnUserStream(comm_))
    context_->stream().synchronise();
}

// Tensors of several threads share the counter.
std::uint64_t DTensor::newPlacement() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void DTensor::setSpace(Space space) {
  if (isPlaced() || own_.bytes() > 0)
    throw Error(TENON_ERR_STATE, fmt::format("{} has an array already; set its space before its "
                                             "values are used or an array is placed",
                                             title()));
  context_ = contextOf(comm_, space);
  placement_ = newPlacement();
}

void DTensor::checkPlaced(const void* memory) const {
  const int holder = Device::holderOf(memory);
  const bool isOnHost = space() == Space::Host;
  if (!isOnHost && holder >= 0 && holder != Device::get().number())
    throw Error(TENON_ERR_ARG,
                fmt::format("{0} is on device {1}, but the array is memory of device {2}; place "
                            "memory of device {1}, or set -tenon_device to {2}",
                            title(), Device::get().number(), holder));
  if (isOnHost ? holder >= 0 : !Device::get().reaches(memory))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} is on the {}, but the array is memory of the {}; call "
                            "TenonDTensorSetSpace() first, or place another array",
                            title(), spaceName(space()), isOnHost ? "device" : "host"));
}

// The ghosts can be wider than the halo: elements outside the box are not accessed.
void DTensor::checkGhosts(const std::vector<Index>& strides, const std::vector<Index>& ghostsLow,
                          const std::vector<Index>& ghostsHigh) const {
  checkLength("strides", strides.size(), ndim());
  checkLength("low ghost widths", ghostsLow.size(), ndim());
  checkLength("high ghost widths", ghostsHigh.size(), ndim());
  const Box owned = layout_.ownedBox(position_);
  for (int d = 0; d < ndim() && localElements_ > 0; ++d) {
    const Index low = owned[d].begin - box_[d].begin, high = box_[d].end - owned[d].end;
    if (low > ghostsLow[d] || high > ghostsHigh[d])
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the layout needs {1} + {2} halo elements (low + high) in dimension "
                              "{0}, but the array has {3} + {4} ghost cells",
                              d, low, high, ghostsLow[d], ghostsHigh[d]));
  }
}

Index DTensor::elementsBeforeOwned(const Strides& strides) const {
  Index offset = 0;
  const Box owned = layout_.ownedBox(position_);
  for (int d = 0; d < ndim(); ++d)
    offset += (owned[d].begin - box_[d].begin) * strides[d];
  return offset;
}

Shape DTensor::extentWithGhosts(const std::vector<Index>& ghostsLow,
                                const std::vector<Index>& ghostsHigh) const {
  Shape extent = extents(layout_.ownedBox(position_));
  for (int d = 0; d < ndim(); ++d)
    extent[d] += ghostsLow[d] + ghostsHigh[d];
  return extent;
}

void DTensor::placeArray(void* firstOwned, const std::vector<Index>& strides,
                         const std::vector<Index>& ghostsLow, const std::vector<Index>& ghostsHigh,
                         bool readOnly, Index length) {
  checkNotLent();
  checkGhosts(strides, ghostsLow, ghostsHigh);
  if (localElements_ > 0 && firstOwned == nullptr)
    throw Error(TENON_ERR_NULL,
                fmt::format("firstOwned is NULL, but this rank holds {} elements", localElements_));
  if (localElements_ > 0)
    checkPlaced(firstOwned);
  Strides strideArray{};
  std::copy(strides.begin(), strides.end(), strideArray.begin());
  if (localElements_ > 0) {
    checkSpan(extentWithGhosts(ghostsLow, ghostsHigh), strideArray, length, dataTypeSize(type_));
    checkDistinct(extent_, strideArray, readOnly);
  }
  // All checks precede the first change, so an error leaves the tensor unchanged. The previous
  // array is returned to the user after all kernels that use it.
  awaitUserArray();
  isUserArray_ = true;
  // A rank without elements can place NULL, which counts as placed.
  placedEmpty_ = localElements_ == 0;
  // Kernels use the address of the first element of the box, halo included; the user passes the
  // first owned one.
  placed_ = placedEmpty_ ? nullptr
                         : static_cast<std::byte*>(firstOwned) -
                               elementsBeforeOwned(strideArray) * dataTypeSize(type_);
  arrays_.reset();
  strides_ = strideArray;
  readOnly_ = readOnly;
  placement_ = newPlacement();
  changed();
}

void DTensor::placeBox(void* first, bool readOnly) {
  checkNotLent();
  awaitUserArray();
  // This is memory of the library, which itself waits for the kernels that use it.
  isUserArray_ = false;
  placedEmpty_ = localElements_ == 0;
  placed_ = placedEmpty_ ? nullptr : first;
  arrays_.reset();
  strides_ = ownStrides(extent_);
  readOnly_ = readOnly;
  placement_ = newPlacement();
  changed();
}

void DTensor::checkArrayCount(int dim, const std::vector<void*>& arrays) const {
  if (dim < 0 || dim >= ndim())
    throw Error(TENON_ERR_ARG,
                fmt::format("arrays were given along dimension {}; it must be in 0 to {}", dim,
                            ndim() - 1));
  const Interval owned = layout_.ownedBox(position_)[dim];
  if (localElements_ == 0)
    return;
  if (owned.begin != box_[dim].begin || owned.end != box_[dim].end)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the layout has a halo in dimension {}, along which arrays were given; "
                            "use halos in the other dimensions only",
                            dim));
  if (static_cast<Index>(arrays.size()) != owned.size())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "{} given along dimension {}, of which this rank holds {}; pass one array per index",
            counted(static_cast<Index>(arrays.size()), "array was", "arrays were"), dim,
            counted(owned.size(), "index", "indices")));
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i])
      throw Error(TENON_ERR_NULL,
                  fmt::format("array {} is NULL, but this rank holds {} elements of it", i,
                              localElements_ / owned.size()));
}

void DTensor::placeArrays(int dim, const std::vector<void*>& firstOwned,
                          const std::vector<Index>& strides, const std::vector<Index>& ghostsLow,
                          const std::vector<Index>& ghostsHigh, bool readOnly, Index length) {
  std::vector<Component> components;
  for (void* first : firstOwned)
    components.push_back({first, strides, ghostsLow, ghostsHigh, length});
  if (components.empty()) // Without components, placeComponents() does not check the ghosts.
    checkGhosts(strides, ghostsLow, ghostsHigh);
  placeComponents(dim, components, readOnly);
}

void DTensor::placeComponents(int dim, const std::vector<Component>& components, bool readOnly) {
  checkNotLent();
  std::vector<void*> firstOwned;
  for (const Component& component : components)
    firstOwned.push_back(component.firstOwned);
  checkArrayCount(dim, firstOwned);
  ArrayList list{.dim = dim, .first = {}, .strides = {}};
  for (const Component& component : components)
    list.strides.push_back(checkedComponent(dim, component, readOnly));
  if (localElements_ > 0 && !readOnly)
    checkEachOnce(firstOwned);
  for (std::size_t i = 0; localElements_ > 0 && i < components.size(); ++i)
    list.first.push_back(static_cast<std::byte*>(firstOwned[i]) -
                         elementsBeforeOwned(list.strides[i]) * dataTypeSize(type_));
  // The tensor works on the library's array; the list is only used by gather and scatter. If the
  // tensor was never written, its values are unknown until the first gather (checkGathered()).
  const bool hasNoValues = state() == 0 || state() == ungatheredState_;
  resetArray();
  allocate();
  arrays_ = std::move(list);
  ungatheredState_ = hasNoValues ? state() : 0;
  isUserArray_ = true;
  readOnly_ = readOnly;
  placement_ = newPlacement(); // After that of resetArray(): there is a list of arrays now.
}

// The strides of one array of a list, after the checks of a single array: along `dim` it has one
// index of the tensor.
Strides DTensor::checkedComponent(int dim, const Component& component, bool readOnly) const {
  checkGhosts(component.strides, component.ghostsLow, component.ghostsHigh);
  Strides strides{};
  std::copy(component.strides.begin(), component.strides.end(), strides.begin());
  if (localElements_ > 0) {
    checkPlaced(component.firstOwned);
    Shape elements = extent_, span = extentWithGhosts(component.ghostsLow, component.ghostsHigh);
    elements[dim] = span[dim] = 1;
    checkSpan(span, strides, component.length, dataTypeSize(type_));
    checkDistinct(elements, strides, readOnly);
  }
  return strides;
}

const ArrayList& DTensor::placedArrays() const {
  if (!arrays_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no list of arrays; call TenonDTensorPlaceArrays() first", title()));
  return *arrays_;
}

void DTensor::gatherArrays() {
  const ArrayList& list = placedArrays();
  checkNotLent();
  gather(*context_, list, type_, extent_, own_.data<void>(), strides_);
  changed();
  awaitUserArray();
}

void DTensor::scatterArrays() {
  const ArrayList& list = placedArrays();
  checkWritable();
  scatter(*context_, list, type_, extent_, own_.data<void>(), strides_);
  awaitUserArray();
}

void DTensor::resetArray() {
  checkNotLent();
  awaitUserArray();
  isUserArray_ = false;
  placed_ = nullptr;
  placedEmpty_ = false;
  arrays_.reset();
  readOnly_ = false;
  strides_ = ownStrides(extent_);
  placement_ = newPlacement();
  changed();
}

// Strides of dimensions with one element are irrelevant, and a tensor without elements is
// contiguous.
bool DTensor::isContiguous() const noexcept {
  Index rowMajor = 1;
  for (std::size_t d = extent_.size(); d-- > 0;) {
    if (extent_[d] > 1 && strides_[d] != rowMajor)
      return localElements_ == 0;
    rowMajor *= extent_[d];
  }
  return true;
}

const void* DTensor::address(TenonDataType requested) const {
  if (requested != type_)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} has elements of type {}, but {} was requested", title(),
                            dataTypeName(type_), dataTypeName(requested)));
  if (placed_ || placedEmpty_)
    return placed_;
  allocate();
  return own_.data<void>();
}

// Logically const: a tensor that was never written is zero, whether or not its array is allocated.
void DTensor::allocate() const {
  if (own_.bytes() > 0 || localElements_ == 0)
    return;
  own_ = newArray();
  placement_ = newPlacement();
  own_.setZero();
}

// On the host, memory from the communicator's arena is shared with the ranks of the node, which
// read halos in place instead of receiving messages.
Buffer readableBuffer(const Communicator& comm, const KernelContext& context, Index bytes,
                      std::string label) {
  return {bytes, std::move(label),
          context.space() == Space::Device ? context.memory() : comm.arena()};
}

Buffer DTensor::newArray() const {
  const Index bytes = localElements_ * dataTypeSize(type_);
  return private_ && space() == Space::Host ? Buffer(bytes, title())
                                            : readableBuffer(*comm_, *context_, bytes, title());
}

void DTensor::setPrivate(bool isPrivate) {
  checkNotLent();
  if (isPrivate == private_)
    return;
  private_ = isPrivate;
  // Without an array there is no data to move: newArray() will use private_. On the device private_
  // is ignored.
  if (own_.bytes() == 0 || space() == Space::Device)
    return;
  Buffer moved = newArray();
  std::memcpy(moved.data<void>(), own_.data<void>(), static_cast<std::size_t>(own_.bytes()));
  own_ = std::move(moved);
  placement_ = newPlacement();
  changed();
}

void DTensor::refuseReading() const {
  throw Error(TENON_ERR_STATE, fmt::format("the array of {} is in use for writing; restore it "
                                           "with TenonDTensorRestoreArray() first",
                                           title()));
}

void DTensor::refuseUngathered() const {
  throw Error(TENON_ERR_STATE,
              fmt::format("{} has arrays that were placed and never gathered, so that it would be "
                          "read as zeros; call TenonDTensorGatherArrays() first",
                          title()));
}

void DTensor::checkNotLent() const {
  checkReadable();
  if (readers_ > 0)
    throw Error(TENON_ERR_STATE, fmt::format("the array of {} is in use for reading ({} times); "
                                             "restore it with TenonDTensorRestoreArrayRead() first",
                                             title(), readers_));
}

void DTensor::refuseWriting() const {
  checkNotLent();
  throw Error(TENON_ERR_STATE, fmt::format("{} wraps a constant array and cannot be written; "
                                           "place a writable array with TenonDTensorPlaceArray()",
                                           title()));
}

void DTensor::lendForReading() {
  checkReadable();
  ++readers_;
}

void DTensor::lendForWriting() {
  checkWritable();
  writer_ = true;
}

void* DTensor::hostValues(TenonDataType requested) {
  checkReadable();
  void* first = const_cast<void*>(address(requested));
  if (space() == Space::Host || localElements_ == 0)
    return first;
  if (!hostCopy_)
    hostCopy_ = std::make_unique<HostCopy>(*this);
  return hostCopy_->first();
}

void* DTensor::deviceValues(TenonDataType requested) const {
  if (space() == Space::Host)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is on the host; call TenonDTensorSetSpace() first, "
                            "or TenonDTensorGetArray()",
                            title()));
  checkReadable();
  void* const first = const_cast<void*>(address(requested));
  // Kernels that write it can still be queued, for example those that set a new array to zero.
  context_->stream().synchronise();
  return first;
}

void DTensor::checkLoan(bool exists, const char* what, const void* array) const {
  if (!exists)
    throw Error(TENON_ERR_STATE,
                fmt::format("the array of {} is not in use for {}; get it first", title(), what));
  if (array != address(type_) && !(hostCopy_ && array == hostCopy_->first()))
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "the restored array is not the one that was got from {} for {}; pass the same address",
            title(), what));
}

void DTensor::endReading(const void* array) {
  checkLoan(readers_ > 0, "reading", array);
  // All readers share one copy.
  if (--readers_ == 0)
    hostCopy_.reset();
}

void DTensor::endWriting(const void* array) {
  checkLoan(writer_, "writing", array);
  writer_ = false;
  // Only a host copy has to be copied back to the device; deviceValues() returned the array itself.
  if (hostCopy_)
    hostCopy_->putBack();
  hostCopy_.reset();
  changed();
}

void checkTensor(const DTensor& tensor, const Layout& layout, TenonDataType type,
                 const std::string& who, const char* role, const char* remedy) {
  if (tensor.dataType() == type && tensor.layout() == layout)
    return; // Before any text is made: layers and operators make this check at every call.
  const std::string tensorText = tensor.name().empty()
                                     ? fmt::format("the {}", role)
                                     : fmt::format("{} \"{}\"", role, tensor.name());
  const std::string remedyText = *remedy ? fmt::format("; {}", remedy) : "";
  if (tensor.dataType() != type)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} is {}, but {} needs {}{}", tensorText,
                            dataTypeName(tensor.dataType()), who, dataTypeName(type), remedyText));
  if (tensor.layout().shape() != layout.shape())
    throw Error(TENON_ERR_SHAPE, fmt::format("{} has shape [{}], but {} needs [{}]{}", tensorText,
                                             fmt::join(tensor.layout().shape(), ","), who,
                                             fmt::join(layout.shape(), ","), remedyText));
  throw Error(TENON_ERR_LAYOUT,
              fmt::format("{} has layout {}, but {} needs {}{}", tensorText,
                          tensor.layout().describe(), who, layout.describe(), remedyText));
}

} // namespace tenon
