// SPDX-License-Identifier: BSD-2-Clause
// DTensor, a distributed tensor: a layout, a data type and this rank's local array, which has the
// elements of the rank's box, halos included. By default the library allocates the array at its
// first use. The user can replace it by memory with any strides:
//   placeArray()       the tensor works on one array of the user
//   placeArrays()      one array per index of a dimension, such as velocity components u, v, w: the
//                      tensor works on the library's array; gatherArrays() copies the user's arrays
//                      into it, scatterArrays() copies it back
//   resetArray()       the tensor returns to the library's array
#pragma once

#include "comm/layout_object.hpp"
#include "dtensor/array_list.hpp"
#include "dtensor/host_copy.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/base/local_array.hpp"
#include "sys/data_type.hpp"
#include "sys/memory/memory.hpp"

#include <optional>

namespace tenon {

class DTensor : public Object {
public:
  static constexpr const char* kClass = "DTensor";
  // Not collective. The array is allocated at its first use, filled with zeros, unless the user has
  // placed one.
  DTensor(CommPtr comm, Layout layout, TenonDataType type, Space space = Space::Host);
  // A tensor in bfloat16, for rounded values of another tensor; only copyLocal() writes and reads
  // it.
  struct Rounded {};
  DTensor(CommPtr comm, Layout layout, Rounded rounded, Space space);
  ~DTensor() override;

  const CommPtr& comm() const noexcept { return comm_; }
  const Layout& layout() const noexcept { return layout_; }
  TenonDataType dataType() const noexcept { return type_; }
  // The context whose kernels use the array.
  KernelContext& context() const noexcept { return *context_; }
  Space space() const noexcept { return context_->space(); }
  // Throws TENON_ERR_STATE once the tensor has an array, TENON_ERR_SUPPORT if there is no device.
  void setSpace(Space space);
  int ndim() const noexcept { return layout_.ndim(); } // number of dimensions
  // Name, data type, layout, and owner of the array's memory.
  std::string describe() const override;
  // The grid position of this rank (-1 outside the grid), its box and the extents of the box.
  int position() const noexcept { return position_; }
  const Box& box() const noexcept { return box_; }
  const Shape& extent() const noexcept { return extent_; }
  Index localElements() const noexcept { return localElements_; }

  // Uses the user's memory. `firstOwned` is the first owned element, the first one that is not a
  // ghost; strides count elements; the ghosts are the numbers of ghost cells around the owned
  // elements. `length` is the number of elements that the user has allocated, 0 if unknown. Throws
  // TENON_ERR_SHAPE if the layout's halo is wider than the ghosts or the array is too short, and
  // TENON_ERR_ARG if two indices are the same element. Kernels can use the array until it is
  // replaced. The replacement waits for these kernels, unless they run on a user's stream: there
  // they precede the work that the user queues later.
  void placeArray(void* firstOwned, const std::vector<Index>& strides,
                  const std::vector<Index>& ghostsLow, const std::vector<Index>& ghostsHigh,
                  bool readOnly, Index length = 0);
  // Uses memory of the library that has exactly the box, row-major. The owner of the memory must
  // wait for kernels before it frees it.
  void placeBox(void* first, bool readOnly);
  // Uses one user array per index of dimension `dim` on this rank; firstOwned[i] is the first owned
  // element of array i. All arrays have the same strides, ghosts and length; the entries of `dim`
  // are ignored. The tensor works on the library's array: gatherArrays() copies into it,
  // scatterArrays() out of it. Throws TENON_ERR_SHAPE for a wrong number of arrays, and for a halo
  // in `dim`.
  void placeArrays(int dim, const std::vector<void*>& firstOwned, const std::vector<Index>& strides,
                   const std::vector<Index>& ghostsLow, const std::vector<Index>& ghostsHigh,
                   bool readOnly, Index length = 0);
  // The same for arrays with different strides and ghosts.
  void placeComponents(int dim, const std::vector<Component>& components, bool readOnly);
  void gatherArrays();
  void scatterArrays();
  const std::optional<ArrayList>& arrays() const noexcept { return arrays_; }
  // Returns to the library's array.
  void resetArray();
  // Whether the library's array is private memory of the process, which a child of fork() needs, or
  // shared by the ranks of the node. A change preserves the values.
  void setPrivate(bool isPrivate);
  bool isPrivate() const noexcept { return private_; }
  // Allocates the library's array now instead of at its first use.
  void allocate() const;
  // The size of the library's array, 0 until it is allocated.
  Index arrayBytes() const noexcept { return own_.bytes(); }
  // True if the user has placed memory, in one array or several.
  bool isPlaced() const noexcept { return placed_ != nullptr || placedEmpty_ || arrays_; }
  bool isReadOnly() const noexcept { return readOnly_; }

  const Strides& strides() const noexcept { return strides_; }
  bool isContiguous() const noexcept;
  // A number of the tensor with its present array, for callers that keep what they have found out
  // about it: another array, other strides and another tensor, also one at the address of a
  // destroyed tensor, have another number. 0 is never one. Values and locks do not count.
  std::uint64_t placement() const noexcept { return placement_; }
  // The address of the first element of the box. mutableData() marks the tensor as changed.
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

  // data() and mutableData() without a type, for callers that need only the address.
  const void* readAddress() const { return checkReadable(), address(type_); }
  void* writeAddress() { return checkWritable(), changed(), const_cast<void*>(address(type_)); }

  // The array for kernels. It refers to a description in the tensor, which is valid until the
  // tensor gets another array. writtenArray() marks the tensor as changed.
  LocalArray readArray() const { return checkReadable(), arrayAt(address(type_)); }
  LocalArray writtenArray() { return checkWritable(), changed(), arrayAt(address(type_)); }

  // Locks of the array while the user has its address: one for writing, or any number for reading.
  // Until the end of the lock, a conflicting access is TENON_ERR_STATE.
  void lendForReading();
  void lendForWriting();
  // The address of the values on the host, for the user: the address of the array or, for a device
  // array, of a copy on the host, which the end of the lock copies back.
  void* hostValues(TenonDataType requested);
  // The address of the array on the device, after kernels that write it have ended. TENON_ERR_STATE
  // for a tensor on the host.
  void* deviceValues(TenonDataType requested) const;
  // End a lock. Throw TENON_ERR_STATE if there is none, TENON_ERR_ARG if it is for another address.
  void endReading(const void* array);
  void endWriting(const void* array);
  // Throw TENON_ERR_STATE if the array is locked for writing (checkReadable), or locked or constant
  // (checkWritable).
  void checkReadable() const {
    if (writer_)
      refuseReading();
  }
  void checkWritable() const {
    if (writer_ || readers_ > 0 || readOnly_)
      refuseWriting();
  }
  // Throws TENON_ERR_STATE if arrays have been placed but not gathered: the values are then zeros
  // that were never set.
  void checkGathered() const {
    if (arrays_ && state() == ungatheredState_ && localElements_ > 0)
      refuseUngathered();
  }

private:
  const void* address(TenonDataType requested) const;
  [[noreturn]] void refuseReading() const;
  [[noreturn]] void refuseWriting() const;
  [[noreturn]] void refuseUngathered() const;
  static std::uint64_t newPlacement() noexcept;
  LocalArray arrayAt(const void* first) const {
    array_.first = const_cast<void*>(first);
    array_.context = context_.get();
    return LocalArray(array_);
  }
  Buffer newArray() const;
  void checkGhosts(const std::vector<Index>& strides, const std::vector<Index>& ghostsLow,
                   const std::vector<Index>& ghostsHigh) const;
  // Offset of the first owned element from the first element of the box.
  Index elementsBeforeOwned(const Strides& strides) const;
  Shape extentWithGhosts(const std::vector<Index>& ghostsLow,
                         const std::vector<Index>& ghostsHigh) const;
  const ArrayList& placedArrays() const;
  Strides checkedComponent(int dim, const Component& component, bool readOnly) const;
  void checkArrayCount(int dim, const std::vector<void*>& arrays) const;
  void checkNotLent() const;
  void checkLoan(bool exists, const char* what, const void* array) const;
  void checkPlaced(const void* memory) const;
  // Waits for kernels that use the user's memory, unless they run on a stream of the user.
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
  mutable Buffer own_;               // The library's array, empty until its first use.
  mutable LocalArray::Memory array_; // As last passed to a kernel.
  mutable std::uint64_t placement_ = newPlacement();
  bool private_ = false;
  void* placed_ = nullptr;   // The first element of the box in placed memory, or NULL.
  bool placedEmpty_ = false; // True if memory is placed on a rank without elements (NULL).
  bool isUserArray_ = false; // True if the placed memory, or that of arrays_, is the user's.
  std::optional<ArrayList> arrays_;
  // The state counter at which arrays_ wait for their first gather, or 0.
  std::uint64_t ungatheredState_ = 0;
  bool readOnly_ = false;
  int readers_ = 0;                    // Number of locks for reading.
  bool writer_ = false;                // True while there is a lock for writing.
  std::unique_ptr<HostCopy> hostCopy_; // Exists while host values of a device array are in use.
};

// Throws TENON_ERR_SHAPE, TENON_ERR_LAYOUT or TENON_ERR_DATATYPE unless the tensor has this layout
// and type, which `who` needs for its `role`. `remedy` is an imperative for the error text.
void checkTensor(const DTensor& tensor, const Layout& layout, TenonDataType type,
                 const std::string& who, const char* role, const char* remedy = "");

// A buffer in the space of the context; on the host, the other ranks of the node can read it.
Buffer readableBuffer(const Communicator& comm, const KernelContext& context, Index bytes,
                      std::string label);

} // namespace tenon
