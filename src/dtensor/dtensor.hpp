// SPDX-License-Identifier: BSD-2-Clause
// A distributed tensor: a layout, a data type and this rank's array, the library's own or the
// user's. The local array covers the rank's box, halos included; any strides are allowed.
#pragma once

#include "comm/layout_object.hpp"
#include "dtensor/array_list.hpp"
#include "dtensor/data_type.hpp"
#include "dtensor/host_copy.hpp"
#include "dtensor/kernel_context.hpp"
#include "sys/memory/memory.hpp"

#include <optional>

namespace tenon {

class DTensor : public Object {
public:
  static constexpr const char* kClass = "DTensor";
  // Local. The array is allocated, filled with zeros, at its first use, unless the user places one
  // before.
  DTensor(CommPtr comm, Layout layout, TenonDataType type, Space space = Space::Host);
  // One that holds roundings of another, in bfloat16: copyLocal() alone writes and reads it.
  struct Rounded {};
  DTensor(CommPtr comm, Layout layout, Rounded rounded, Space space);
  ~DTensor() override;

  const CommPtr& comm() const noexcept { return comm_; }
  const Layout& layout() const noexcept { return layout_; }
  TenonDataType dataType() const noexcept { return type_; }
  // The context whose kernels work on the array.
  KernelContext& context() const noexcept { return *context_; }
  Space space() const noexcept { return context_->space(); }
  // Throws TENON_ERR_STATE once the tensor has an array, TENON_ERR_SUPPORT if there is no device.
  void setSpace(Space space);
  int rank() const noexcept { return layout_.rank(); }
  // Name, data type, layout, and whose memory the array is.
  std::string describe() const override;
  // The grid position of this rank, -1 outside; its box and the box's extents.
  int position() const noexcept { return position_; }
  const Box& box() const noexcept { return box_; }
  const Shape& extent() const noexcept { return extent_; }
  Index localElements() const noexcept { return localElements_; }

  // Uses the user's memory. `firstOwned` is the first owned element (that of the local block
  // without ghosts), strides count elements, and ghosts say how many ghost cells surround the owned
  // elements. `length` is the number of elements that the user allocated, 0 if it is not known.
  // Throws TENON_ERR_SHAPE if the layout's halo is wider than the ghosts, or the array too short;
  // TENON_ERR_ARG if two indices are the same element. Kernels may use the array until another one
  // takes its place; then they are done or, on a stream of the user's, come before the user's later
  // work there.
  void placeArray(void* firstOwned, const std::vector<Index>& strides,
                  const std::vector<Index>& ghostsLow, const std::vector<Index>& ghostsHigh,
                  bool readOnly, Index length = 0);
  // Uses memory of the library's for exactly the box, row-major, and allocates nothing. The owner
  // of that memory waits for kernels before it frees it.
  void placeBox(void* first, bool readOnly);
  // The user's memory is one array for each index of dimension `dim` on this rank, and
  // firstOwned[i] is the first owned element of array i. All arrays have the same strides and
  // ghosts, whose entries for `dim` are not looked at. The tensor works on the library's array,
  // which keeps its value; gatherArrays copies into it and scatterArrays out of it. Throws
  // TENON_ERR_SHAPE for another number of arrays and for a halo in `dim`. `length` is that of each
  // array.
  void placeArrays(int dim, const std::vector<void*>& firstOwned, const std::vector<Index>& strides,
                   const std::vector<Index>& ghostsLow, const std::vector<Index>& ghostsHigh,
                   bool readOnly, Index length = 0);
  // The same for arrays that differ in strides and ghosts.
  void placeComponents(int dim, const std::vector<Component>& components, bool readOnly);
  void gatherArrays();
  void scatterArrays();
  const std::optional<ArrayList>& arrays() const noexcept { return arrays_; }
  // Returns to the library's own array.
  void resetArray();
  // Whether the library's own array is memory of this process alone, as a child made by fork()
  // needs it, instead of memory that the node's ranks share. The value stays.
  void setPrivate(bool isPrivate);
  bool isPrivate() const noexcept { return private_; }
  // Allocates the library's own array now instead of at its first use.
  void allocate() const;
  // The size of the library's own array, 0 until it is allocated.
  Index arrayBytes() const noexcept { return own_.bytes(); }
  // Whether the tensor has placed memory, in one array or several.
  bool isPlaced() const noexcept { return placed_ != nullptr || placedEmpty_ || arrays_; }
  bool isReadOnly() const noexcept { return readOnly_; }

  const Strides& strides() const noexcept { return strides_; }
  bool isContiguous() const noexcept;
  // The first element of the box. The mutable form marks the tensor as changed.
  template <class T>
  const T* data() const {
    checkReadable();
    return static_cast<const T*>(address(dataTypeOf<T>()));
  }
  template <class T>
  T* mutableData() {
    checkWritable();
    changed();
    return const_cast<T*>(static_cast<const T*>(address(dataTypeOf<T>())));
  }

  // data() and mutableData() whatever the type, for a caller that needs the address alone.
  const void* readAddress() const { return checkReadable(), address(type_); }
  void* writeAddress() { return checkWritable(), changed(), const_cast<void*>(address(type_)); }

  // Loans of the array to the user, who gets its address before: one for writing, or any number
  // for reading. Until the loan ends, an access that conflicts with it is TENON_ERR_STATE.
  void lendForReading();
  void lendForWriting();
  // The address for a loan of the values on the host: that of the array, or on the device that of a
  // copy, which the end of the loan puts back.
  void* hostValues(TenonDataType requested);
  // The address of the array itself on the device, once its values are there; TENON_ERR_STATE for a
  // tensor on the host.
  void* deviceValues(TenonDataType requested) const;
  // Throw TENON_ERR_STATE if there is no such loan, TENON_ERR_ARG if it is of another address.
  void endReading(const void* array);
  void endWriting(const void* array);
  // Throw TENON_ERR_STATE while the array is lent for writing; lent at all, or constant.
  void checkReadable() const;
  void checkWritable() const;
  // Throws TENON_ERR_STATE for values that are to be read, but whose arrays were placed and never
  // gathered, so that they are zeros that nobody has written.
  void checkGathered() const;

private:
  const void* address(TenonDataType requested) const;
  Buffer newArray() const;
  void checkGhosts(const std::vector<Index>& strides, const std::vector<Index>& ghostsLow,
                   const std::vector<Index>& ghostsHigh) const;
  // The distance from the first element of the box to the first owned one.
  Index elementsBeforeOwned(const Strides& strides) const;
  Shape extentWithGhosts(const std::vector<Index>& ghostsLow,
                         const std::vector<Index>& ghostsHigh) const;
  const ArrayList& placedArrays() const;
  Strides checkedComponent(int dim, const Component& component, bool readOnly) const;
  void checkArrayCount(int dim, const std::vector<void*>& arrays) const;
  void checkNotLent() const;
  void checkLoan(bool exists, const char* what, const void* array) const;
  void checkPlaced(const void* memory) const;
  // Waits for kernels that use memory of the user's, unless they run on a stream of the user's.
  void awaitUserArray() const;

  CommPtr comm_;
  Layout layout_;
  TenonDataType type_;
  KernelContextPtr context_;
  int position_;
  Box box_;
  Shape extent_;
  Index localElements_;
  Strides strides_{};
  mutable Buffer own_;
  bool private_ = false;
  void* placed_ = nullptr;
  bool placedEmpty_ = false;
  bool isUsers_ = false; // the placed memory, or that of arrays_, is the user's
  std::optional<ArrayList> arrays_;
  // The state in which arrays_ wait for their first gather; 0: none.
  std::uint64_t ungatheredState_ = 0;
  bool readOnly_ = false;
  int readers_ = 0;
  bool writer_ = false;
  std::unique_ptr<HostCopy> hostCopy_; // while values are lent on the host
};

// Throws TENON_ERR_SHAPE, TENON_ERR_LAYOUT or TENON_ERR_DATATYPE unless the tensor has this layout
// and type, which `who` needs in its `role`; the remedy is an imperative.
void checkTensor(const DTensor& tensor, const Layout& layout, TenonDataType type,
                 const std::string& who, const char* role, const char* remedy = "");

// A buffer in the space of the context; on the host its memory can be read by the other ranks of
// the node.
Buffer readableBuffer(const Communicator& comm, const KernelContext& context, Index bytes,
                      std::string label);

} // namespace tenon
