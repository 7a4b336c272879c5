// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: partitions and layouts. */
#ifndef TENON_CXX_LAYOUT_HPP
#define TENON_CXX_LAYOUT_HPP

#include <tenon/cxx/handle.hpp>

#include <stdexcept>
#include <vector>

namespace tenon {

class Partition : public Handle<TenonPartition> {
public:
  using Handle::Handle;
  Partition(MPI_Comm comm, List<int> extents, const Where& where = Where::current()) {
    detail::run(where, TenonPartitionCreate, comm, static_cast<int>(extents.size()), extents.data(),
                out());
  }
  Partition share(const Where& where = Where::current()) const {
    return Partition(retained(where));
  }

  /** A cudaStream_t on which kernels of the communicator run, or nullptr: that of the library. */
  void setStream(void* stream, const Where& where = Where::current()) {
    detail::run(where, TenonPartitionSetStream, get(), stream);
  }
};

class Layout : public Handle<TenonLayout> {
public:
  using Handle::Handle;
  /** From properties such as "S0,B": TenonLayoutCreateSharded(). */
  Layout(const Partition& partition, Ints shape, const char* properties,
         const Where& where = Where::current()) {
    detail::run(where, TenonLayoutCreateSharded, partition, static_cast<int>(shape.size()),
                shape.data(), properties, out());
  }
  /** From the box that this rank holds: TenonLayoutCreateFromBoxes(). */
  Layout(MPI_Comm comm, Ints shape, Ints low, Ints high, const Where& where = Where::current()) {
    if (low.size() != shape.size() || high.size() != shape.size())
      throw std::length_error("tenon::Layout: shape, low and high must have one length");
    detail::run(where, TenonLayoutCreateFromBoxes, comm, static_cast<int>(shape.size()),
                shape.data(), low.data(), high.data(), out());
  }
  Layout share(const Where& where = Where::current()) const { return Layout(retained(where)); }

  Layout dual(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonLayoutGetDual, get(), made.out());
    return made;
  }
  int dimensions(const Where& where = Where::current()) const {
    int count = 0;
    detail::run(where, TenonLayoutGetDim, get(), &count);
    return count;
  }
  std::vector<TenonInt> shape(const Where& where = Where::current()) const {
    std::vector<TenonInt> extents(static_cast<std::size_t>(dimensions(where)));
    detail::run(where, TenonLayoutGetShape, get(), extents.data());
    return extents;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonObjectView, object());
  }
};

} // namespace tenon

#endif
