// SPDX-License-Identifier: BSD-2-Clause
// Which device a process takes, what it says where there is none, whose device is current, and memory that runs out.
#include "kernels/elementwise/reduce.hpp"
#include "standin/failures.hpp"
#include "standin/in_child.hpp"
#include "sys/cuda/library.hpp"
#include "sys/cuda/pci.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
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
      Device::setRankOnNode(one.rank);
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
    Device::setRankOnNode(1);
    EXPECT_EQ(Device::get().number(), 1);
  });
}

TEST(OpenDevice, IsCurrentInTurnsOfTheLibraryAlone) {
  inChild([] {
    using Whose = DeviceTurn::Whose;
    setDevices("3");
    setDeviceOption("1");
    cudaSetDevice(2);
    {
      const DeviceTurn turn(Whose::Library); // in which the device is opened
      EXPECT_EQ(Device::get().number(), 1);
      EXPECT_EQ(current(), 1);
    }
    EXPECT_EQ(current(), 2);
    cudaSetDevice(0);
    {
      const DeviceTurn turn(Whose::Library), inner(Whose::Library);
      EXPECT_EQ(current(), 1);
      {
        const DeviceTurn callback(Whose::Program);
        EXPECT_EQ(current(), 0);
        cudaSetDevice(2);
        const DeviceTurn again(Whose::Library);
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
    expectError(TENON_ERR_LIBRARY, {"cudaSetDevice", "busy or unavailable"}, [] { Device::get(); });
    EXPECT_EQ(current(), 1);
    EXPECT_EQ(Device::get().number(), 0);
  });
}

// Of a driver with the version as CUDA numbers it, 0 for none.
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
    device.checkCallersStream(here);
    expectError(TENON_ERR_ARG, {"is of device 1", "works on device 0", "-tenon_device to 1"},
                [&] { device.checkCallersStream(other); });
    for (cudaStream_t stream : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread})
      expectError(TENON_ERR_ARG, {"a default stream", "cudaStreamCreate()"},
                  [&] { device.checkCallersStream(stream); });
  });
}

// What a stream has given back is there when it is done, and the pool holds it until it is trimmed.
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

TEST(DeviceLibrary, ThatIsMissingOrTooOldIsNamed) {
  const char* const names[] = {"tenonNoSuchFunction"};
  expectError(TENON_ERR_SUPPORT, {"cuBLAS cannot be opened", "libnosuch.so.7", "LD_LIBRARY_PATH"},
              [&] { const cuda::Library library("cuBLAS", "libnosuch.so.7", names); });
  expectError(TENON_ERR_SUPPORT,
              {"cuFFT has no function tenonNoSuchFunction", "built with (libm.so.6)"}, [&] {
                const cuda::Library library("cuFFT", "libm.so.6", names);
                library.find<void (*)()>(names[0]);
              });
  cuda::checkDnnVersion(90800);
  expectError(TENON_ERR_SUPPORT,
              {"cuDNN is version 9.7.1", "at least 9.8.0", "Tenon was built with 9."},
              [] { cuda::checkDnnVersion(90701); });
}

// A process may hold some functions of another version.
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
