// SPDX-License-Identifier: BSD-2-Clause
// A program that uses CUDA itself calls the library, with two devices per node. The library works
// on the device that belongs to the rank; after each call, and in functions of the program that the
// library calls, the current device must be the program's. Memory and streams of the other device
// are refused. The first test must run before any other has opened the device.
//
// The tests run on a stand-in for CUDA that computes on the host (tests/standin), so no device is
// needed.
#include "capi/expect_code.hpp"
#include "sys/device.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace tenon::test {
namespace {

int currentDevice() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

class Devices : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    rows_ = layout({8, 3}, "S0");
  }
  void TearDown() override {
    expectSuccess(TenonLayoutDestroy(&rows_));
    CApi::TearDown();
  }
  // 1024 bytes of memory of this device.
  static void* memoryOf(int device) {
    void* memory = nullptr;
    const int before = currentDevice();
    cudaSetDevice(device);
    cudaMalloc(&memory, 1024);
    cudaSetDevice(before);
    return memory;
  }
  // Places an array of the program, without gaps and ghosts, in the tensor.
  TenonErrorCode place(TenonDTensor x, void* memory) {
    const TenonInt ghosts[2] = {0, 0};
    return TenonDTensorPlaceArray(x, memory, nullptr, ghosts, ghosts, 0);
  }
  // Queues copies on the program's stream before and after a call, which has been given the stream
  // `named`. Returns whether the call read what the first copy wrote, and the second what the call
  // wrote.
  bool arrivesWhole(cudaStream_t named, cudaStream_t program) {
    constexpr std::size_t kBytes = 12 * sizeof(double);
    expectSuccess(TenonPartitionSetStream(all_, named));
    TenonDTensor x = tensor(rows_, TENON_FLOAT64), y = tensor(rows_, TENON_FLOAT64);
    void *from = memoryOf(currentDevice()), *to = memoryOf(currentDevice());
    for (const auto& [one, array] : {std::pair(x, from), std::pair(y, to)}) {
      expectSuccess(TenonDTensorSetSpace(one, TENON_MEMORY_DEVICE));
      expectSuccess(place(one, array));
    }
    const std::vector<double> sent{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<double> received(12);
    cudaMemcpyAsync(from, sent.data(), kBytes, cudaMemcpyDefault, program);
    expectSuccess(TenonDTensorCopy(x, y));
    cudaMemcpyAsync(received.data(), to, kBytes, cudaMemcpyDefault, program);
    cudaStreamSynchronize(program);
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonDTensorDestroy(&y));
    expectSuccess(TenonPartitionResetStream(all_));
    cudaFree(from);
    cudaFree(to);
    return received == sent;
  }

  TenonLayout rows_ = nullptr;
};

TEST_F(Devices, DeviceMemoryInATensorOnTheHostIsRefusedBeforeTheDeviceIsOpened) {
  TenonDTensor x = tensor(rows_, TENON_FLOAT64);
  void* memory = memoryOf(0);
  expectCode(TENON_ERR_ARG, place(x, memory),
             {"is on the host", "memory of the device", "TenonDTensorSetSpace()"});
  cudaFree(memory);
  std::vector<double> host(12);
  expectSuccess(place(x, host.data()));
  expectSuccess(TenonDTensorDestroy(&x));
}

TEST_F(Devices, TheRankOnTheNodeSelectsTheDeviceAndTheProgramsDeviceStaysCurrent) {
  for (int own : {0, 1}) {
    cudaSetDevice(own);
    TenonDTensor x = tensor(rows_, TENON_FLOAT64);
    expectSuccess(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE)); // the first time opens the device
    EXPECT_EQ(currentDevice(), own);
    expectSuccess(TenonDTensorFillConstant(x, own + 2));
    double largest = 0;
    expectSuccess(TenonDTensorMaxAbs(x, &largest));
    EXPECT_EQ(largest, own + 2);
    cudaSetDevice(1 - own); // between two calls
    void* array = nullptr;
    expectSuccess(TenonDTensorGetDeviceArray(x, TENON_FLOAT64, &array));
    EXPECT_EQ(Device::holderOf(array), worldRank());
    expectSuccess(TenonDTensorRestoreArray(x, &array));
    expectSuccess(TenonDTensorDestroy(&x));
    EXPECT_EQ(currentDevice(), 1 - own);
  }
}

// The function of a shell operator: records the device that is current, calls the library, and
// makes the other device current.
TenonErrorCode noteDevice(TenonDTensor x, TenonDTensor y, void* context) {
  *static_cast<int*>(context) = currentDevice();
  expectSuccess(TenonDTensorFillConstant(x, 1)); // a call within the call
  cudaSetDevice(1 - currentDevice());
  return TenonDTensorFillConstant(y, 2);
}

TEST_F(Devices, FunctionsOfTheProgramFindItsOwnCurrent) {
  TenonDTensor x = tensor(rows_, TENON_FLOAT64), y = tensor(rows_, TENON_FLOAT64);
  expectSuccess(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE));
  expectSuccess(TenonDTensorSetSpace(y, TENON_MEMORY_DEVICE));
  TenonLinearOp op = nullptr;
  int found = -1;
  expectSuccess(TenonLinearOpCreateShell(rows_, rows_, TENON_FLOAT64, TENON_FLOAT64, noteDevice,
                                         nullptr, &found, nullptr, &op));
  for (int own : {0, 1}) {
    cudaSetDevice(own);
    expectSuccess(TenonLinearOpApply(op, x, y));
    EXPECT_EQ(found, own);
    EXPECT_EQ(currentDevice(), 1 - own);
  }
  expectSuccess(TenonLinearOpDestroy(&op));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonDTensorDestroy(&y));
}

TEST_F(Devices, MemoryAndStreamsOfAnotherDeviceAreRefused) {
  TenonDTensor x = tensor(rows_, TENON_FLOAT64);
  expectSuccess(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE));
  const int ownDevice = Device::get().number(), otherDevice = 1 - ownDevice;
  void *ownMemory = memoryOf(ownDevice), *otherMemory = memoryOf(otherDevice);
  const std::string on = "is on device " + std::to_string(ownDevice),
                    of = "memory of device " + std::to_string(otherDevice);
  expectCode(TENON_ERR_ARG, place(x, otherMemory), {on.c_str(), of.c_str(), "-tenon_device"});
  expectSuccess(place(x, ownMemory));
  expectSuccess(TenonDTensorDestroy(&x));
  cudaStream_t stream = nullptr;
  cudaSetDevice(otherDevice);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  expectCode(TENON_ERR_ARG, TenonPartitionSetStream(all_, stream), {"the stream is of device"});
  expectCode(TENON_ERR_ARG, TenonPartitionSetStream(all_, cudaStreamPerThread),
             {"the stream is of device", "current"});
  cudaFree(ownMemory);
  cudaFree(otherMemory);
}

// With heterogeneous memory management (HMM) a device can read memory of the host by page faults.
// An array of the host is refused also then.
TEST_F(Devices, AnArrayOfTheHostIsRefusedAlsoWhereTheDeviceReachesAllMemory) {
  setenv("TENON_STANDIN_HMM", "1", 1);
  TenonDTensor x = tensor(rows_, TENON_FLOAT64);
  expectSuccess(TenonDTensorSetSpace(x, TENON_MEMORY_DEVICE));
  std::vector<double> host(12);
  expectCode(TENON_ERR_ARG, place(x, host.data()), {"is on the device", "memory of the host"});
  expectSuccess(TenonDTensorDestroy(&x));
  unsetenv("TENON_STANDIN_HMM");
}

// Copies that the program queues on its stream before and after a call are executed in this order
// with the call's kernels, without a synchronization between them.
TEST_F(Devices, WorkInOrderWithTheDefaultStreams) {
  cudaSetDevice(Device::get().number());
  for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread})
    EXPECT_TRUE(arrivesWhole(stream, stream ? stream : cudaStreamLegacy));
}

// Copies that the program queues on a stream of its own, as Kokkos does, are in no order with the
// calls' kernels if it has named the default stream instead, and in order if it has named its own.
TEST_F(Devices, AStreamBesideTheDefaultStreamMustBeNamed) {
  cudaSetDevice(Device::get().number());
  cudaStream_t own = nullptr;
  cudaStreamCreateWithFlags(&own, cudaStreamDefault); // a blocking stream
  for (cudaStream_t named : {cudaStream_t(nullptr), own})
    EXPECT_EQ(arrivesWhole(named, own), named == own);
  cudaStreamDestroy(own);
}

TEST_F(Devices, MemoryThatCudaHasPinnedIsNotShared) {
  constexpr std::size_t kBytes = 1 << 20;
  std::vector<std::byte> memory(kBytes);
  auto* page = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(memory.data()) + 8192) / 4096 * 4096);
  cudaHostRegister(page, 4096, 0);
  expectCode(TENON_ERR_ARG, TenonPartitionShareMemory(all_, memory.data(), kBytes),
             {"registered with CUDA", "unregister it", "register it again"});
  cudaHostUnregister(page);
  expectSuccess(TenonPartitionShareMemory(all_, memory.data(), kBytes));
  expectSuccess(TenonPartitionUnshareMemory(all_, memory.data()));
}

} // namespace
} // namespace tenon::test
