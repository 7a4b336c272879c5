// SPDX-License-Identifier: BSD-2-Clause
// Tenon's C interface for the benchmarks: handles that give themselves back, and the main program.
#pragma once

#include <tenon.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

namespace tenon::bench {

inline void check(TenonErrorCode code) {
  if (code != TENON_SUCCESS)
    throw std::runtime_error("a call of Tenon failed");
}

template <class T, auto destroy>
class Handle {
public:
  Handle() = default;
  Handle(Handle&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
  Handle& operator=(Handle&&) = delete;
  ~Handle() { destroy(&handle_); }
  operator T() const { return handle_; }
  T* put() { return &handle_; }

private:
  T handle_ = nullptr;
};
using PartitionHandle = Handle<TenonPartition, TenonPartitionDestroy>;
using LayoutHandle = Handle<TenonLayout, TenonLayoutDestroy>;
using TensorHandle = Handle<TenonDTensor, TenonDTensorDestroy>;
using OpHandle = Handle<TenonLinearOp, TenonLinearOpDestroy>;
using LayerHandle = Handle<TenonLayer, TenonLayerDestroy>;

// A layout on all ranks in a row.
inline LayoutHandle makeLayout(MPI_Comm comm, const std::vector<TenonInt>& shape,
                               const char* properties) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  PartitionHandle row;
  check(TenonPartitionCreate(comm, 1, &ranks, row.put()));
  LayoutHandle layout;
  check(TenonLayoutCreateSharded(row, static_cast<int>(shape.size()), shape.data(), properties,
                                 layout.put()));
  return layout;
}

// The array of a tensor of the library's. The loan ends at once, so that the address may be used
// beside operators and placed in other tensors; no call of Tenon's moves it.
template <class T>
T* arrayOf(TenonDTensor x, TenonDataType type) {
  void *array = nullptr, *lent = nullptr;
  check(TenonDTensorGetArray(x, type, &array));
  lent = array;
  check(TenonDTensorRestoreArray(x, &lent));
  return static_cast<T*>(array);
}

// Runs the benchmark between TenonInitialize() and TenonFinalize(); its result is the program's.
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
