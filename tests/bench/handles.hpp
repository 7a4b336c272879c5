// SPDX-License-Identifier: BSD-2-Clause
// For benchmarks that use Tenon's C interface: layouts, arrays of the library or of the user, and
// the main program.
#pragma once

#include "tools/check/user_memory.hpp"
#include "tools/handles.hpp"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace tenon::bench {

using tools::require;
using PartitionHandle = tools::Partition;
using LayoutHandle = tools::Layout;
using TensorHandle = tools::DTensor;
using OpHandle = tools::LinearOp;
using LayerHandle = tools::Layer;

// A layout on a grid of one axis with all ranks.
inline LayoutHandle makeLayout(MPI_Comm comm, const std::vector<TenonInt>& shape,
                               const char* properties) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  PartitionHandle row;
  require(TenonPartitionCreate(comm, 1, &ranks, row.out()));
  LayoutHandle layout;
  require(TenonLayoutCreateSharded(row, static_cast<int>(shape.size()), shape.data(), properties,
                                   layout.out()));
  return layout;
}

// Returns the address of a tensor's own array. The access ends at once, so operators can use the
// tensor, and other tensors the address; the array is never moved.
template <class T>
T* arrayOf(TenonDTensor x, TenonDataType type) {
  void *array = nullptr, *lent = nullptr;
  require(TenonDTensorGetArray(x, type, &array));
  lent = array;
  require(TenonDTensorRestoreArray(x, &lent));
  return static_cast<T*>(array);
}

// The kind of arrays on which an operator works: of the library, or of the user, private or shared
// with the ranks of the node.
enum class Memory { Library, Caller, Shared };
inline constexpr Memory kMemories[] = {Memory::Library, Memory::Caller, Memory::Shared};
inline const char* nameOf(Memory memory) {
  constexpr const char* kNames[] = {"library", "caller", "shared"};
  return kNames[static_cast<int>(memory)];
}

// A user array of zeros; empty if the operator works on the library's array.
class UserArray {
public:
  UserArray(MPI_Comm comm, std::size_t count, Memory memory) {
    if (memory != Memory::Library)
      memory_ = tools::UserMemory(count * sizeof(double), std::byte{0});
    if (memory != Memory::Shared)
      return;
    const int one = 1;
    PartitionHandle grid;
    require(TenonPartitionCreate(comm, 1, &one, grid.out()));
    memory_.share(std::move(grid));
  }
  double* data() const { return reinterpret_cast<double*>(memory_.data()); }

private:
  tools::UserMemory memory_;
};

// Runs the benchmark between TenonInitialize() and TenonFinalize(), and returns its result.
template <class Run>
int benchmarkMain(int argc, char** argv, Run run) {
  if (TenonInitialize(&argc, &argv, nullptr) != TENON_SUCCESS)
    return 1;
  int code = 0;
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    code = 1;
  }
  return TenonFinalize() == TENON_SUCCESS ? code : 1;
}

} // namespace tenon::bench
