// SPDX-License-Identifier: BSD-2-Clause
// Tests the device of a process: its selection, the messages if there is none, the current device
// of a thread, and behaviour when memory runs out. The CUDA runtime, driver and libraries are
// replaced by a stand-in on the host (tests/standin), in which tests set the number of devices, the
// memory and failures; each test runs in a child process (inChild()), since a process opens its
// device once.
#include "kernels/cuda/handles.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/fourier/stage.hpp"
#include "standin/calls.hpp"
#include "standin/devices.hpp"
#include "standin/failures.hpp"
#include "standin/in_child.hpp"
#include "sys/cuda/library.hpp"
#include "sys/cuda/pci.hpp"
#include "sys/cuda/status.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace tenon::test {
namespace {

void setDeviceOption(const char* number) {
  const char* arguments[] = {"program", "-tenon_device", number};
  options().load(3, arguments);
}

void setDevices(const char* count) {
  setenv("TENON_STANDIN_DEVICES", count, 1);
}

int current() {
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

} // namespace

TEST(OpenDevice, IsTheOneOfTheOptionOrOfTheRankOnTheNode) {
  const struct {
    const char* option;
    int rank, number;
  } cases[] = {{nullptr, 0, 0}, {nullptr, 3, 1}, {"1", 0, 1}, {"0", 1, 0}};
  for (const auto& one : cases)
    inChild([&] {
      setDevices("2");
      Device::setPlaceOnNode(one.rank, 4);
      if (one.option)
        setDeviceOption(one.option);
      EXPECT_EQ(Device::get().number(), one.number);
      EXPECT_EQ(current(), one.number);
    });
  inChild([] {
    setDevices("2");
    setDeviceOption("9");
    expectError(TENON_ERR_SUPPORT, {"-tenon_device is 9", "2 devices (0 to 1)"},
                [] { Device::get(); });
  });
}

TEST(OpenDevice, IsTheOneThatTheProgramHasChosen) {
  inChild([] {
    setDevices("3");
    cudaSetDevice(2);
    EXPECT_EQ(Device::get().number(), 2);
  });
  inChild([] { // the first one may be current without a choice
    setDevices("3");
    cudaSetDevice(0);
    Device::setPlaceOnNode(1, 2);
    EXPECT_EQ(Device::get().number(), 1);
  });
}

TEST(OpenDevice, IsCurrentInTurnsOfTheLibraryAlone) {
  inChild([] {
    using Whose = CurrentDeviceScope::Whose;
    setDevices("3");
    setDeviceOption("1");
    cudaSetDevice(2);
    {
      const CurrentDeviceScope deviceScope(Whose::Library); // in which the device is opened
      EXPECT_EQ(Device::get().number(), 1);
      EXPECT_EQ(current(), 1);
    }
    EXPECT_EQ(current(), 2);
    cudaSetDevice(0);
    {
      const CurrentDeviceScope deviceScope(Whose::Library), inner(Whose::Library);
      EXPECT_EQ(current(), 1);
      {
        const CurrentDeviceScope callback(Whose::Program);
        EXPECT_EQ(current(), 0);
        cudaSetDevice(2);
        const CurrentDeviceScope again(Whose::Library);
        EXPECT_EQ(current(), 1);
      }
      EXPECT_EQ(current(), 1);
    }
    EXPECT_EQ(current(), 2);
    std::thread([] {
      Device::get(); // a thread that never chose
      EXPECT_EQ(current(), 1);
    }).join();
  });
}

TEST(OpenDevice, ThatFailsToOpenLeavesTheProgramsCurrent) {
  inChild([] {
    setDevices("2");
    setDeviceOption("0");
    cudaSetDevice(1);
    tenonStandinFail("cudaSetDevice");
    expectError(TENON_ERR_LIBRARY,
                {"cudaSetDevice", "busy or unavailable", "EXCLUSIVE_PROCESS",
                 "nvidia-cuda-mps-control -d", "device of its own"},
                [] { Device::get(); });
    EXPECT_EQ(current(), 1);
    EXPECT_EQ(Device::get().number(), 0);
  });
}

// Expects that the device is refused with an error that contains the words, if the driver's version
// is this one as CUDA numbers it (11040 is 11.4, and 0 is no driver).
void expectRefusal(const char* driver, std::initializer_list<const char*> words) {
  inChild([&] {
    setenv("TENON_STANDIN_DRIVER", driver, 1);
    expectError(TENON_ERR_SUPPORT, words, [] { Device::get(); });
  });
}

TEST(OpenDevice, SaysWhichDriverToUpdateOrInstall) {
  expectRefusal("11040",
                {"driver version is insufficient", "the driver supports CUDA 11.4",
                 "Tenon was built with CUDA 1", "update the driver", "use the space host"});
  if (cuda::isWithoutGpu()) // nobody is told to install what would not help
    expectRefusal("0", {"no NVIDIA GPU", "no CUDA driver (Tenon was built with CUDA 1",
                        "); use the space host"});
  else
    expectRefusal("0", {"no CUDA driver was found", "driver version is insufficient",
                        "Tenon was built with CUDA 1", "install a driver", "use the space host"});
}

TEST(PciBus, HasAGpuOfTheVendorsOrNot) {
  const std::filesystem::path bus = testing::TempDir() + "tenon_pci_bus";
  std::filesystem::remove_all(bus);
  const auto add = [&](const char* name, const char* vendor, const char* kind) {
    std::filesystem::create_directories(bus / name);
    std::ofstream(bus / name / "vendor") << vendor << '\n';
    std::ofstream(bus / name / "class") << kind << '\n';
  };
  EXPECT_FALSE(cuda::isWithoutGpu(bus)); // no bus: nobody knows
  std::filesystem::create_directories(bus);
  EXPECT_FALSE(cuda::isWithoutGpu(bus));
  add("0000:00:00.0", "0x8086", "0x060000"); // a bridge
  add("0000:00:02.0", "0x8086", "0x030000"); // another vendor's display
  add("0000:00:03.0", "0x10de", "0x040300"); // sound
  EXPECT_TRUE(cuda::isWithoutGpu(bus));
  std::filesystem::create_directories(bus / "0000:00:04.0");
  EXPECT_TRUE(cuda::isWithoutGpu(bus));
  add("0000:00:05.0", "0x10de", "0x030200"); // a 3D controller
  EXPECT_FALSE(cuda::isWithoutGpu(bus));
  std::filesystem::remove_all(bus);
}

TEST(OpenDevice, KnowsWhoseMemoryItIsBeforeItIsOpened) {
  inChild([] {
    setDevices("2");
    double host = 0;
    void *first = nullptr, *second = nullptr;
    cudaMalloc(&first, 64);
    cudaSetDevice(1);
    cudaMalloc(&second, 64);
    EXPECT_EQ(Device::holderOf(&host), -1);
    EXPECT_EQ(Device::holderOf(first), 0);
    EXPECT_EQ(Device::holderOf(second), 1);
  });
}

TEST(OpenDevice, RefusesStreamsThatItCannotUse) {
  inChild([] {
    setDevices("2");
    setDeviceOption("0");
    Device& device = Device::get();
    cudaStream_t here = nullptr, other = nullptr;
    cudaStreamCreateWithFlags(&here, cudaStreamNonBlocking);
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    device.checkUserStream(here);
    expectError(TENON_ERR_ARG, {"is of device 1", "works on device 0", "-tenon_device to 1"},
                [&] { device.checkUserStream(other); });
    for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
      cudaSetDevice(1);
      {
        const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
        expectError(TENON_ERR_ARG,
                    {"is of device 1", "make device 0 current", "-tenon_device to 1"},
                    [&] { device.checkUserStream(stream); });
      }
      cudaSetDevice(0);
      const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
      device.checkUserStream(stream);
    }
  });
}

// The device is the same, but kernels of one context cannot use memory of another.
TEST(OpenDevice, RefusesStreamsAndMemoryOfAnotherContext) {
  inChild([] {
    Device& device = Device::get();
    void *own = nullptr, *others = nullptr;
    cudaMalloc(&own, 64);
    cuCtxSetCurrent(tenonStandinSecondContext(0));
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&others, 64);
    const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
    for (cudaStream_t one : {stream, cudaStream_t(nullptr), cudaStreamPerThread})
      expectError(TENON_ERR_ARG, {"another CUDA context of device 0", "primary context"},
                  [&] { device.checkUserStream(one); });
    EXPECT_TRUE(device.reaches(own));
    expectError(TENON_ERR_ARG, {"another CUDA context of device 0", "primary context"},
                [&] { device.reaches(others); });
  });
}

// Some devices can read all memory of the host. Even then memory that is not registered with CUDA
// counts as out of the device's reach.
TEST(OpenDevice, ReachesOnlyWhatCudaKnowsOfTheHostsMemory) {
  for (const char* reachesAll : {"0", "1"})
    inChild([&] {
      setenv("TENON_STANDIN_HMM", reachesAll, 1);
      alignas(4096) static double host[512];
      Device& device = Device::get();
      EXPECT_FALSE(device.reaches(host));
      device.registerHost(host, sizeof host);
      EXPECT_TRUE(device.reaches(host + 5));
      device.unregisterHost(host);
      EXPECT_FALSE(device.reaches(host));
    });
}

TEST(OpenDevice, KnowsPagesThatCudaHasPinned) {
  inChild([] {
    constexpr Index kPage = 4096, kPages = 8;
    alignas(4096) static std::byte host[kPages * kPage];
    Device::get();
    EXPECT_FALSE(Device::isPinned(host, sizeof host, kPage));
    cudaHostRegister(host + 3 * kPage, kPage, 0);
    EXPECT_TRUE(Device::isPinned(host, sizeof host, kPage));
    EXPECT_FALSE(Device::isPinned(host, 3 * kPage, kPage));
    EXPECT_FALSE(Device::isPinned(host + 4 * kPage, 4 * kPage, kPage));
  });
}

// Buffers may be destroyed outside of calls of the library.
TEST(DeviceMemory, IsGivenBackWhereTheProgramsDeviceIsCurrent) {
  inChild([] {
    setDevices("2");
    setDeviceOption("0");
    tenonStandinBytes(1000);
    const KernelContext at(Space::Device);
    for (int n = 0; n < 3; ++n) {
      const Buffer array(900, "an array", at.memory());
      cuCtxSetCurrent(nullptr);
      cudaSetDevice(1);
    }
  });
}

TEST(DeviceMemory, OfADeviceWithoutPoolsIsTakenFromTheDriver) {
  inChild([] {
    setenv("TENON_STANDIN_POOLS", "0", 1);
    tenonStandinBytes(1000);
    KernelContext at(Space::Device);
    double largest = 0;
    for (int n = 1; n < 4; ++n) {
      Buffer values(800, "values", at.memory());
      const Index cells = 100, one = 1;
      fillBlock(at, 1, &cells, double(n), values.data<double>(), &one);
      largest = maxAbs(at, cells, values.data<double>());
      EXPECT_EQ(largest, n);
    }
    expectError(TENON_ERR_MEMORY, {"an array: cannot allocate"},
                [&] { const Buffer array(2000, "an array", at.memory()); });
  });
}

// When the host waits for a stream, the pool returns its cached memory above the limit
// (-tenon_device_pool_bytes) to the driver: with the limit 0 a later cudaMalloc() succeeds.
TEST(DeviceMemory, ThatThePoolKeepsIsThereForOthers) {
  for (const char* kept : {"-1", "0"})
    inChild([&] {
      constexpr unsigned long long kAll = 100 << 20;
      options().set("-tenon_device_pool_bytes", kept);
      tenonStandinBytes(kAll);
      KernelContext at(Space::Device);
      { const Buffer large(90 << 20, "a network", at.memory()); }
      at.stream().synchronise();
      void* memory = nullptr;
      const bool isKept = std::string(kept) == "-1";
      EXPECT_EQ(cudaMalloc(&memory, 80 << 20), isKept ? cudaErrorMemoryAllocation : cudaSuccess);
    });
}

// Runs work that allocates 100 MiB from the driver while the pool caches 190 of 200 MiB: the pool
// must return its memory.
void expectRoomFor(const std::function<void(KernelContext&)>& work) {
  inChild([&] {
    KernelContext at(Space::Device);
    tenonStandinBytes(200 << 20);
    { const Buffer large(190 << 20, "a network", at.memory()); }
    tenonStandinLibraryBytes(100 << 20);
    work(at);
    at.stream().synchronise();
    EXPECT_EQ(cudaGetLastError(), cudaSuccess); // which the program would find
  });
}

TEST(DeviceMemory, IsReturnedForLibrariesKernelsAndGraphs) {
  const auto fill = [](KernelContext& at) {
    Buffer values(64, "values", at.memory());
    const Index cells = 8, one = 1;
    fillBlock(at, 1, &cells, 1.0, values.data<double>(), &one);
  };
  expectRoomFor(fill);
  expectRoomFor([](KernelContext& at) { cuda::handlesOf(at).blas(); });
  expectRoomFor([](KernelContext& at) { cuda::handlesOf(at).dnn(); });
  expectRoomFor([](KernelContext& at) { at.stream().recording([] {}).queue(at.stream()); });
  expectRoomFor([](KernelContext& at) {
    const FourierStageShape shape{{64, 0, 64, 9}, true, 3, 1};
    ScratchPlan plan;
    makeCufftStage<double>(at, shape, plan);
  });
}

// Memory that was freed in the order of a stream is available when the stream is done, and memory
// in the pool's cache when the pool is trimmed. Both are done before an allocation fails.
TEST(DeviceMemory, IsTakenAgainBeforeItIsSaidToBeOut) {
  inChild([] {
    tenonStandinBytes(1000);
    const KernelContext at(Space::Device);
    const auto take = [&](Index bytes, const std::shared_ptr<MemorySource>& source) {
      return Buffer(bytes, "an array", source);
    };
    take(700, at.memory());
    take(600, at.memory());
    take(800, Device::get().unpooled(at.stream()));
    const Buffer kept = take(500, at.memory());
    expectError(TENON_ERR_MEMORY,
                {"an array: cannot allocate 600 bytes",
                 "on the device; 500 bytes are in use by Tenon", "more processes", "smaller batch",
                 "saved_type", "other programs"},
                [&] { take(600, at.memory()); });
    take(500, at.memory());
  });
}

// Also memory that was freed in the order of another stream, for which nobody has waited.
TEST(DeviceMemory, FreedOnAnotherStreamIsWaitedFor) {
  inChild([] {
    tenonStandinBytes(1000);
    const KernelContext at(Space::Device), other(Space::Device);
    { const Buffer array(700, "an array", other.memory()); }
    { const Buffer array(600, "an array", at.memory()); }
    { const Buffer array(700, "an array", other.memory()); }
    cuda::returnSpare();
    void* ofAnotherLibrary = nullptr;
    EXPECT_EQ(cudaMalloc(&ofAnotherLibrary, 900), cudaSuccess);
  });
}

TEST(DeviceMemory, IsNotWaitedForWhileAStreamRecords) {
  inChild([] {
    const KernelContext at(Space::Device);
    const auto record = [&] {
      at.stream().recording([&] { const Buffer array(600, "an array", at.memory()); });
    };
    tenonStandinBytes(500);
    expectError(TENON_ERR_MEMORY, {"an array: cannot allocate"}, record);
    tenonStandinBytes(1000);
    record();
  });
}

TEST(DeviceMemory, OfTheScratchStaysWhereMoreDoesNotFit) {
  inChild([] {
    tenonStandinBytes(4096);
    KernelContext at(Space::Device);
    const auto reserve = [&](Index bytes) {
      ScratchPlan plan;
      plan.add<std::byte>(bytes);
      at.reserve(plan);
    };
    reserve(2048);
    expectError(TENON_ERR_MEMORY, {"scratch of the kernels", "8192 bytes"}, [&] { reserve(8192); });
    EXPECT_EQ(at.scratchBytes(), 2048);
    EXPECT_NE(at.scratchAddresses()[0], nullptr);
    reserve(4096); // for which the old memory has to go first
    EXPECT_EQ(at.scratchBytes(), 4096);
  });
}

// Only short copies, which the driver stages well enough, read or write memory that is not
// page-locked.
TEST(DeviceCopies, OfTheProgramsMemoryPassThroughPageLockedPieces) {
  for (const char* failing : {"", "cudaHostAlloc:*"})
    inChild([&] {
      KernelContext at(Space::Device);
      tenonStandinFail(failing);
      constexpr Index kBytes = (Index(21) << 20) + 13, kShort = 1000;
      std::vector<unsigned char> sent(kBytes), received(kBytes);
      for (Index i = 0; i < kBytes; ++i)
        sent[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
      Buffer array(kBytes, "an array", at.memory());
      at.copyAndWait(array.data<void>(), sent.data(), kBytes);
      at.copyAndWait(received.data(), array.data<void>(), kBytes);
      EXPECT_TRUE(received == sent);
      if (*failing)
        return; // the pieces are not page-locked either
      EXPECT_EQ(tenonStandinCalls().pageableBytes, 0u);
      at.copyAndWait(received.data(), array.data<void>(), kShort);
      EXPECT_EQ(tenonStandinCalls().pageableBytes, std::uint64_t(kShort));
    });
}

TEST(DeviceFailure, OfACallPassesAndOfAKernelStays) {
  inChild([] {
    KernelContext at(Space::Device);
    Buffer values(64, "values", at.memory());
    const Index cells = 8, one = 1;
    const auto fill = [&] {
      fillBlock(at, 1, &cells, 1.0, values.data<double>(), &one);
      at.stream().synchronise();
    };
    tenonStandinFail("cudaLaunchKernel");
    expectError(TENON_ERR_LIBRARY, {"error of the stand-in"}, fill);
    fill();
    tenonStandinFail("kernel");
    for (int n = 0; n < 2; ++n)
      expectError(TENON_ERR_LIBRARY,
                  {"illegal memory access", "cannot be used again in this process",
                   "CUDA_LAUNCH_BLOCKING", "compute-sanitizer"},
                  fill);
  });
}

TEST(DeviceFailure, SaysWhetherTheDeviceIsLost) {
  // The numbers of cudaErrorContained, cudaErrorTensorMemoryLeak, cudaErrorLaunchFailure and
  // cudaErrorExternalDevice.
  for (int status : {226, 721, 719, 911})
    expectError(TENON_ERR_LIBRARY, {"cudaTest", "cannot be used again", "compute-sanitizer"},
                [&] { cuda::check(cudaError_t(status), "cudaTest"); });
  for (cudaError_t status :
       {cudaErrorMpsRpcFailure, cudaErrorMpsServerNotReady, cudaErrorMpsClientTerminated})
    expectError(TENON_ERR_LIBRARY, {"cudaTest", "cannot be used again", "MPS", "other ranks"},
                [&] { cuda::check(status, "cudaTest"); });
}

TEST(DeviceLibrary, ThatIsMissingOrTooOldIsNamed) {
  const char* const names[] = {"tenonNoSuchFunction"};
  expectError(TENON_ERR_SUPPORT, {"cuBLAS cannot be opened", "libnosuch.so.7", "LD_LIBRARY_PATH"},
              [&] { const cuda::Library library("cuBLAS", "libnosuch.so.7", names); });
  expectError(TENON_ERR_SUPPORT,
              {"cuFFT has no function tenonNoSuchFunction", "built with (libm.so.6)"}, [&] {
                const cuda::Library library("cuFFT", "libm.so.6", names);
                library.find<void (*)()>(names[0]);
              });
  // An older one is taken if it has all functions.
  expectError(TENON_ERR_SUPPORT, {"libnosuch.so.7", "nor libnosuch.so.6"}, [&] {
    const cuda::Library library("cuBLAS", "libnosuch.so.7", names, "libnosuch.so.6");
  });
  expectError(TENON_ERR_SUPPORT, {"libnosuch.so.7", "libm.so.6 has not all functions"},
              [&] { const cuda::Library library("cuBLAS", "libnosuch.so.7", names, "libm.so.6"); });
#ifdef __x86_64__
  const char* const cosines[] = {"_ZGVbN2v_cos"};
  const cuda::Library older("cuBLAS", "libnosuch.so.7", cosines, "libmvec.so.1");
  EXPECT_NE(older.find<void*>(cosines[0]), nullptr);
#endif
  cuda::checkDnnVersion(90800);
  expectError(TENON_ERR_SUPPORT,
              {"cuDNN is version 9.7.1", "at least 9.8.0", "Tenon was built with 9."},
              [] { cuda::checkDnnVersion(90701); });
}

// The process may have loaded another version of the library, so all functions are taken from one
// place: from the process if it has them all, otherwise from the library that is opened.
TEST(DeviceLibrary, IsTakenFromOnePlace) {
  const char* const all[] = {"cublasCreate_v2", "cublasDestroy_v2"};
  const cuda::Library processes("cuBLAS", "libnosuch.so.7", all);
  EXPECT_EQ(processes.find<void*>(all[0]), dlsym(RTLD_DEFAULT, all[0]));
  const char* const some[] = {"cublasCreate_v2", "tenonNoSuchFunction"};
  const cuda::Library opened("cuBLAS", "libm.so.6", some);
  expectError(TENON_ERR_SUPPORT, {"no function cublasCreate_v2"},
              [&] { opened.find<void*>(some[0]); });
}

} // namespace tenon::test
