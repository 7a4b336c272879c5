// SPDX-License-Identifier: BSD-2-Clause
// Tests that the stand-in for CUDA exposes wrong uses of streams and memory. Each scene is a small
// program with one planted fault, such as a missing wait. It runs in a child process in the modes
// "lazy" and "others" of the stand-in (streams.hpp), since no single mode exposes all faults, and
// its exit code is compared with the expected one:
//   kRight 0     all values are right: the fault is not visible in this mode
//   kWrong 1     the fault has made values wrong
//   kError 2     the library has reported an error
//   kRefused 86  the stand-in has detected a wrong call and ended the program
//   kFaulted 87  the stand-in has detected a wrong access to device memory
// The correct program must end with kRight in all modes.
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/walks/pairwise_sum.hpp"
#include "kernels/walks/walks.hpp"
#include "sys/cuda/status.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

namespace {

constexpr int kRight = 0, kWrong = 1, kError = 2, kRefused = 86, kFaulted = 87;

// A block of 5 x 7 x 6 elements inside an array of 9 x 11 x 20 cells; it uses every second cell of
// the last dimension. kFrom are its strides in the array, kTo those of the packed block, kFirst is
// the cell of its first element.
constexpr Index kCells = 9 * 11 * 20, kPacked = 5 * 7 * 6;
constexpr Index kExtent[] = {5, 7, 6}, kFrom[] = {220, 20, 2}, kTo[] = {42, 6, 1};
constexpr Index kFirst = 2 * 220 + 1 * 20 + 3;

// The steps of a halo exchange: a field is copied to the device on the stream `compute`, its block
// is packed and copied back to the host on the stream `transfer`. Cell i of the field has the value
// i.
struct Exchange {
  KernelContext compute{Space::Device}, transfer{Space::Device};
  Device& device = Device::get();
  Buffer host = pinned(kCells), result = pinned(kPacked);
  Buffer field{kCells * 8, "field", compute.memory()};
  Buffer packed{kPacked * 8, "packed", transfer.memory()};

  Exchange() {
    for (Index i = 0; i < kCells; ++i)
      host.data<double>()[i] = double(i);
  }
  static Buffer pinned(Index cells) { return {cells * 8, "pinned", Device::get().pinned()}; }

  // Queues the copy of the field to the device.
  void fill() { device.copy(field.data<void>(), host.data<void>(), kCells * 8, compute.stream()); }
  // Queues the kernel that packs the block, displaced by `shift` cells, or with more rows than it
  // has.
  void pack(KernelContext& at, Index shift = 0, Index rows = kExtent[0]) {
    const Index extent[] = {rows, kExtent[1], kExtent[2]};
    blockCombine(at, Combine::Copy, 3, extent, field.data<double>() + kFirst + shift, kFrom,
                 packed.data<double>(), kTo);
  }
  // Queues the copy of the packed block to the host.
  void bringDown() {
    device.copy(result.data<void>(), packed.data<void>(), kPacked * 8, transfer.stream());
  }
  // The whole exchange, with or without each of its three synchronisations: the stream `transfer`
  // waits for the field, the pack runs on the same stream as the copy, and the host waits for the
  // copy.
  void run(bool waitsForField, bool packsOnTransfer, bool synchronises) {
    fill();
    if (waitsForField)
      transfer.stream().wait(compute.stream().record());
    pack(packsOnTransfer ? transfer : compute);
    bringDown();
    if (synchronises)
      transfer.stream().synchronise();
  }
  int verdict() const {
    Index at = 0;
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 7; ++j)
        for (Index k = 0; k < 6; ++k)
          if (result.data<double>()[at++] != double(kFirst + i * 220 + j * 20 + 2 * k))
            return kWrong;
    return kRight;
  }
};

int ends(const std::function<void(Exchange&)>& scene) {
  Exchange exchange;
  scene(exchange);
  const int verdict = exchange.verdict();
  exchange.transfer.stream().synchronise(); // it may still read the field
  return verdict;
}

// Records a pack in a graph and launches it twice: first for a field of zeros, then for the right
// one, which must determine the result. within() is called during the recording.
int packsRecorded(const std::function<void(Exchange&)>& within) {
  Exchange e;
  const StreamRecording pack = e.compute.stream().recording([&] {
    e.pack(e.compute);
    within(e);
  });
  e.field.setZero();
  pack.queue(e.compute.stream());
  e.fill();
  pack.queue(e.compute.stream());
  e.transfer.stream().wait(e.compute.stream().record());
  e.bringDown();
  e.transfer.stream().synchronise();
  return e.verdict();
}

struct Scene {
  const char* name;
  std::function<int()> run;
  int lazy, others; // expected exit codes in these modes
};

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"right",
       [] {
         return ends([](Exchange& e) {
           e.run(/*waitsForField=*/true, /*packsOnTransfer=*/true, /*synchronises=*/true);
         });
       },
       kRight, kRight},
      {"the pack does not wait for the field",
       [] {
         return ends([](Exchange& e) {
           e.run(/*waitsForField=*/false, /*packsOnTransfer=*/true, /*synchronises=*/true);
         });
       },
       kWrong, kRight},
      {"the copy does not wait for the pack",
       [] {
         return ends([](Exchange& e) {
           e.run(/*waitsForField=*/true, /*packsOnTransfer=*/false, /*synchronises=*/true);
         });
       },
       kWrong, kRight},
      {"the host does not wait",
       [] {
         return ends([](Exchange& e) {
           e.run(/*waitsForField=*/true, /*packsOnTransfer=*/true, /*synchronises=*/false);
         });
       },
       kWrong, kWrong},
      {"a buffer is overwritten while it is copied",
       [] {
         return ends([](Exchange& e) {
           e.run(/*waitsForField=*/true, /*packsOnTransfer=*/true, /*synchronises=*/false);
           e.field.setZero();
           e.pack(e.compute);
           e.transfer.stream().synchronise();
         });
       },
       kRight, kWrong},
      {"the host reads device memory",
       [] {
         return ends([](Exchange& e) { e.result.data<double>()[0] = e.packed.data<double>()[3]; });
       },
       kFaulted, kFaulted},
      {"the host writes the source of a copy",
       [] {
         return ends([](Exchange& e) {
           e.fill();
           e.host.data<double>()[5] = 0;
           e.compute.stream().synchronise();
         });
       },
       kRefused, kRefused},
      {"a kernel reads freed memory",
       [] {
         return ends([](Exchange& e) {
           const auto* freed = e.field.data<double>();
           e.field = Buffer();
           e.compute.stream().synchronise();
           blockCombine(e.transfer, Combine::Copy, 3, kExtent, freed + kFirst, kFrom,
                        e.packed.data<double>(), kTo);
           e.transfer.stream().synchronise();
         });
       },
       kFaulted, kFaulted},
      {"a kernel reads a page beyond",
       [] {
         return ends([](Exchange& e) {
           e.pack(e.compute, 0, 5000);
           e.compute.stream().synchronise();
         });
       },
       kFaulted, kFaulted},
#ifdef __SANITIZE_ADDRESS__ // which ends the program with 1
      {"a kernel reads one element beyond",
       [] {
         Exchange e;
         constexpr Index last = kFirst + 4 * kFrom[0] + 6 * kFrom[1] + 5 * kFrom[2];
         e.fill();
         e.pack(e.compute, kCells - last);
         e.compute.stream().synchronise();
         return kRight;
       },
       1, 1},
#endif
      {"a kernel is given an array of the host",
       [] {
         return ends([](Exchange& e) {
           setenv("TENON_STANDIN_ADDRESSES", "1", 1);
           const std::vector<double> values(kCells);
           blockCombine(e.compute, Combine::Copy, 3, kExtent, values.data(), kFrom,
                        e.packed.data<double>(), kTo);
         });
       },
       kRefused, kRefused},
      {"the default stream",
       [] {
         return ends([](Exchange& e) {
           e.device.copy(e.field.data<void>(), e.host.data<void>(), 8, Stream::wrap(nullptr));
         });
       },
       kRefused, kRefused},
      {"recorded work is done each time", [] { return packsRecorded([](Exchange&) {}); }, kRight,
       kRight},
      {"memory of a recording is NaN each time",
       [] {
         return packsRecorded([](Exchange& e) {
           const Buffer fresh(8, "fresh", e.compute.memory());
           const Index one = 1;
           blockCombine(e.compute, Combine::Copy, 1, &one, fresh.data<double>(), &one,
                        e.packed.data<double>(), &one);
         });
       },
       kWrong, kWrong},
      {"the host waits while a stream records",
       [] { return packsRecorded([](Exchange& e) { e.compute.stream().synchronise(); }); },
       kRefused, kRefused},
      {"a copy of the host's is recorded",
       [] { return packsRecorded([](Exchange& e) { e.fill(); }); }, kRefused, kRefused},
      {"older memory is freed while a stream records",
       [] { return packsRecorded([](Exchange& e) { e.field = Buffer(); }); }, kRefused, kRefused},
      {"memory runs out",
       [] {
         try {
           const KernelContext at(Space::Device);
           const Buffer large(Index(1) << 40, "the field", at.memory());
         } catch (const Error& error) {
           return error.code() == TENON_ERR_MEMORY &&
                          error.text().find("the field: cannot allocate") == 0
                      ? kError
                      : kWrong;
         }
         return kRight;
       },
       kError, kError},
  };
  return all;
}

// One of two processes (the owner of memory and its reader) that are connected by two pipes and
// send each other messages, mostly a single byte for which the other one waits.
class Other {
public:
  Other() {
    if (pipe(toReader_) != 0 || pipe(toOwner_) != 0)
      std::abort();
  }
  void becomeOwner() { take(toReader_[1], toOwner_[0], toReader_[0], toOwner_[1]); }
  void becomeReader() { take(toOwner_[1], toReader_[0], toOwner_[0], toReader_[1]); }

  template <class T>
  void tell(const T& what) const {
    if (write(out_, &what, sizeof what) != sizeof what)
      std::_Exit(kError);
  }
  void tell() const { tell('x'); }
  template <class T>
  T hear() const {
    T what{};
    if (read(in_, &what, sizeof what) != sizeof what)
      std::_Exit(kError);
    return what;
  }
  void wait() const { hear<char>(); }

private:
  // Keeps the ends of the pipes that this process uses and closes the others; otherwise a process
  // could wait forever for one that has ended.
  void take(int out, int in, int others, int others2) {
    out_ = out;
    in_ = in;
    close(others);
    close(others2);
  }
  int toReader_[2], toOwner_[2], out_ = -1, in_ = -1;
};

// The objects of the owner, which exports device memory and fills it, and those of the reader,
// which copies it to the host.
struct Shown {
  KernelContext at{Space::Device};
  Device& device = Device::get();
  Buffer values = Exchange::pinned(kPacked);
  Buffer memory{kPacked * 8, "shown", device.unpooled(at.stream())};

  void fill(double first) {
    at.stream().synchronise(); // an earlier copy may still read `values`
    for (Index i = 0; i < kPacked; ++i)
      values.data<double>()[i] = first + double(i);
    device.copy(memory.data<void>(), values.data<void>(), kPacked * 8, at.stream());
  }
};
struct Reading {
  KernelContext at{Space::Device};
  Device& device = Device::get();
  Buffer values = Exchange::pinned(kPacked);
  Buffer copied{kPacked * 8, "copied", at.memory()};

  void start(const void* shown) {
    device.copy(copied.data<void>(), shown, kPacked * 8, at.stream());
    device.copy(values.data<void>(), copied.data<void>(), kPacked * 8, at.stream());
  }
  int verdict(double first) {
    at.stream().synchronise();
    for (Index i = 0; i < kPacked; ++i)
      if (values.data<double>()[i] != first + double(i))
        return kWrong;
    return kRight;
  }
};

struct SharedScene {
  const char* name;
  std::function<void(Other&, Shown&)> owner;
  std::function<int(Other&, Reading&)> reader;
  int ends; // expected exit code in each mode: the result of reader()

  int run() const {
    Other other;
    const pid_t child = fork();
    if (child == 0) {
      other.becomeOwner();
      Shown shown;
      other.tell(shown.device.keyOf(shown.memory.data<void>()));
      owner(other, shown);
      std::_Exit(kRight);
    }
    other.becomeReader();
    int status = 0;
    {
      Reading reading;
      status = reader(other, reading);
    }
    return status;
  }
};

// Opens the memory, waits until it is filled with 1, 2, ... and reads it, while the owner fills it
// again once told: too early if `releasesEarly` is true.
int readOnce(Other& other, Reading& r, bool releasesEarly) {
  void* const shown = r.device.openShown(other.hear<MemoryKey>());
  other.wait();
  r.start(shown);
  if (!releasesEarly)
    r.at.stream().synchronise();
  other.tell();
  other.wait(); // filled again
  return r.verdict(1);
}
void fillTwice(Other& other, Shown& shown, bool synchronises) {
  shown.fill(1);
  if (synchronises)
    shown.at.stream().synchronise();
  other.tell();
  other.wait();
  shown.fill(2);
  shown.at.stream().synchronise();
  other.tell();
}

const std::vector<SharedScene>& sharedScenes() {
  static const std::vector<SharedScene> all = {
      {"right", [](Other& o, Shown& s) { fillTwice(o, s, /*synchronises=*/true); },
       [](Other& o, Reading& r) { return readOnce(o, r, /*releasesEarly=*/false); }, kRight},
      {"the owner does not wait before it tells",
       [](Other& o, Shown& s) { fillTwice(o, s, /*synchronises=*/false); },
       [](Other& o, Reading& r) { return readOnce(o, r, /*releasesEarly=*/false); }, kWrong},
      {"the reader does not wait before it tells",
       [](Other& o, Shown& s) { fillTwice(o, s, /*synchronises=*/true); },
       [](Other& o, Reading& r) { return readOnce(o, r, /*releasesEarly=*/true); }, kWrong},
      {"the owner frees what another has open",
       [](Other& o, Shown& s) {
         s.fill(1);
         s.at.stream().synchronise();
         o.wait();
         s.memory = Buffer();
         o.tell();
       },
       [](Other& o, Reading& r) {
         void* const shown = r.device.openShown(o.hear<MemoryKey>());
         o.tell();
         o.wait();
         r.start(shown);
         return r.verdict(1);
       },
       kWrong},
      {"a kernel reads what was closed", [](Other& o, Shown&) { o.wait(); },
       [](Other& o, Reading& r) {
         void* const shown = r.device.openShown(o.hear<MemoryKey>());
         r.start(shown);
         r.device.closeShown(shown);
         return r.verdict(1);
       },
       kFaulted},
      {"a kernel reads what was closed while the program's device was current",
       [](Other& o, Shown&) { o.wait(); },
       [](Other& o, Reading& r) {
         void* const shown = r.device.openShown(o.hear<MemoryKey>());
         r.start(shown);
         setenv("TENON_STANDIN_DEVICES", "2", 1);
         cudaSetDevice(1);
         r.device.closeShown(shown);
         return r.verdict(1);
       },
       kFaulted},
      {"it is open until it is closed as often as opened",
       [](Other& o, Shown& s) {
         s.fill(1);
         s.at.stream().synchronise();
         o.tell();
         o.wait();
       },
       [](Other& o, Reading& r) {
         const auto key = o.hear<MemoryKey>();
         void* const shown = r.device.openShown(key);
         if (r.device.openShown(key) != shown)
           return kError;
         r.device.closeShown(shown);
         o.wait();
         r.start(shown);
         const int verdict = r.verdict(1);
         o.tell();
         return verdict;
       },
       kRight},
      {"the host reads it", [](Other& o, Shown&) { o.wait(); },
       [](Other& o, Reading& r) {
         const auto* shown = static_cast<double*>(r.device.openShown(o.hear<MemoryKey>()));
         return shown[0] == 1 ? kRight : kWrong;
       },
       kFaulted},
  };
  return all;
}

// Runs a scene in a child process, since the stand-in reads its mode once, and expects its exit
// code.
void inChild(const char* mode, const std::function<int()>& scene, int expected) {
  EXPECT_EXIT(
      {
        setenv("TENON_STANDIN", mode, 1);
        std::_Exit(scene());
      },
      ::testing::ExitedWithCode(expected), "");
}

} // namespace

TEST(Standin, ShowsEachFaultInTheModesMadeForIt) {
  for (const Scene& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    inChild("lazy", scene.run, scene.lazy);
    inChild("others", scene.run, scene.others);
  }
}

TEST(Standin, LetsOtherProcessesReadWhatIsShown) {
  for (const SharedScene& scene : sharedScenes()) {
    SCOPED_TRACE(scene.name);
    for (const char* mode : {"lazy", "others"})
      inChild(
          mode, [&] { return scene.run(); }, scene.ends);
  }
}

TEST(Standin, RefusesToShowWhatCudaDoesNot) {
  const auto codeOf = [](const std::function<void(Shown&)>& use, const char* failure = "") {
    setenv("TENON_STANDIN_FAIL", failure, 1);
    Shown shown;
    try {
      use(shown);
    } catch (const Error& error) {
      return int(error.code());
    }
    return int(TENON_SUCCESS);
  };
  const auto keyOfShown = [](Shown& s) { s.device.keyOf(s.memory.data<void>()); };
  const struct {
    std::function<void(Shown&)> use;
    const char* failure;
    TenonErrorCode code;
  } cases[] = {
      {keyOfShown, "", TENON_SUCCESS},
      {keyOfShown, "cudaIpcGetMemHandle:1", TENON_ERR_LIBRARY},
      {[](Shown& s) { s.device.keyOf(s.memory.data<double>() + 1); }, "", TENON_ERR_LIBRARY},
      {[](Shown& s) {
         Buffer pooled(64, "pooled", s.at.memory());
         s.device.keyOf(pooled.data<void>());
       },
       "", TENON_ERR_LIBRARY},
      {[](Shown& s) { s.device.openShown(s.device.keyOf(s.memory.data<void>())); }, "",
       TENON_ERR_LIBRARY}, // a process cannot open its own memory
  };
  for (const auto& one : cases)
    inChild(
        "lazy", [&] { return codeOf(one.use, one.failure); }, one.code);
}

TEST(Standin, LetsTheRightProgramPassInEveryMode) {
  for (const char* mode : {"eager", "random:1", "random:2", "random:3"})
    inChild(mode, scenes().front().run, kRight);
}

// Sums have the same bits in every order of blocks and streams.
TEST(Standin, GivesTheSameBitsInEveryMode) {
  constexpr Index n = 30000;
  const auto sumOf = [](double* exact) {
    Exchange e;
    Buffer values = Exchange::pinned(n), device(n * 8, "values", e.compute.memory());
    *exact = 0;
    for (Index i = 0; i < n; ++i)
      *exact += values.data<double>()[i] = double(i % 7) - 2;
    e.device.copy(device.data<void>(), values.data<void>(), n * 8, e.compute.stream());
    return sum(e.compute, n, device.data<double>());
  };
  for (const char* mode : {"eager", "lazy", "others", "random:1", "random:5"})
    inChild(
        mode,
        [&] {
          double exact = 0;
          return sumOf(&exact) == exact ? kRight : kWrong;
        },
        kRight);
}

TEST(Standin, CallsFailWhereTheTestSays) {
  const auto codeOf = [](
                          const char* failure, const std::function<void()>& work = [] {
                            Exchange e;
                            e.run(/*waitsForField=*/true, /*packsOnTransfer=*/true,
                                  /*synchronises=*/true);
                          }) {
    setenv("TENON_STANDIN_FAIL", failure, 1);
    try {
      work();
      return int(TENON_SUCCESS);
    } catch (const Error& error) {
      return int(error.code());
    }
  };
  inChild(
      "lazy", [&] { return codeOf("cudaLaunchKernel:1"); }, TENON_ERR_LIBRARY);
  inChild(
      "lazy", [&] { return codeOf("cudaLaunchKernel:2"); }, TENON_SUCCESS);
  inChild(
      "lazy", [&] { return codeOf("kernel:1"); }, TENON_ERR_LIBRARY);
  inChild(
      "lazy", [&] { return codeOf("cudaMallocFromPoolAsync:*"); }, TENON_ERR_MEMORY);
  inChild(
      "lazy", [&] { return codeOf("cudaMallocFromPoolAsync:2"); },
      TENON_SUCCESS); // the library tries again
  inChild(
      "lazy", [&] { return codeOf("cudaHostAlloc:1"); }, TENON_SUCCESS); // the heap is used instead
  const auto records = [] { packsRecorded([](Exchange&) {}); };
  inChild(
      "lazy", [&] { return codeOf("cudaGraphInstantiate:1", records); },
      TENON_SUCCESS); // the library tries again
  for (const char* call :
       {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate:*"})
    inChild(
        "lazy", [&] { return codeOf(call, records); }, TENON_ERR_LIBRARY);
}

// cudaEventQuery() returns an error for an event that is not done; the library must clear it,
// because the program's next cudaGetLastError() would find it.
TEST(Standin, AnEventThatIsNotDoneIsNoError) {
  inChild(
      "lazy",
      [] {
        Exchange e;
        e.fill();
        const Event filled = e.compute.stream().record();
        const bool isLeft = filled.isDone() || cudaGetLastError() != cudaSuccess;
        e.compute.stream().synchronise();
        return isLeft ? kWrong : kRight;
      },
      kRight);
}

TEST(Standin, ADeviceThatIsNotThereIsNamed) {
  inChild(
      "lazy",
      [] {
        setenv("TENON_STANDIN_DEVICES", "0", 1);
        try {
          Device::get();
        } catch (const Error& error) {
          return error.code() == TENON_ERR_SUPPORT &&
                         error.text().find("no CUDA-capable device is detected") !=
                             std::string::npos
                     ? kRight
                     : kWrong;
        }
        return kError;
      },
      kRight);
}

} // namespace tenon::test
