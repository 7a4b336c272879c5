// SPDX-License-Identifier: BSD-2-Clause
// Times work on a CUDA device and compares it with its limits: kernels with copies within the
// device, messages with copies to the host and back, steps with halos with those without. The times
// of layers and training steps follow, one per line ("time NAME SECONDS"), which the same work in
// PyTorch (gpu_torch.py) compares with its own. `small` uses small sizes, only to test that
// everything runs.
//
//   tests/bench/gpu [small]
//   mpiexec -n 2 tests/bench/gpu [small]
#include "bench/gpu.hpp"
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/networks/network_file.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "support/own_communicator.hpp"
#include "support/volume_networks.hpp"
#include "sys/options/options.hpp"
#include "train/optimizer.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

namespace tenon::bench {
namespace {

using test::world;

// Returns the bytes that a copy within the device reads and writes per second.
double copyRate() {
  const Index bytes = sized(Index(1) << 30, 1 << 16);
  Buffer from(bytes, "source", device().memory()), to(bytes, "target", device().memory());
  const double seconds = secondsOf(
      [&] { Device::get().copy(to.data<char>(), from.data<char>(), bytes, device().stream()); });
  return 2 * double(bytes) / seconds;
}

void measureStreams(double rate) {
  const Index n = sized(Index(1) << 28, 1 << 12);
  const auto x = made(alone({n}), TENON_FLOAT32), y = made(alone({n}), TENON_FLOAT32);
  const double elements = double(n) * sizeof(float);
  const auto row = [&](const char* what, double passes, const Work& work) {
    printRow(what, "copy within the device", passes * elements / secondsOf(work) / rate, ">= 0.8");
  };
  row("axpby", 3, [&] { axpby(0.5, *x, 0.5, *y); });
  row("copy of a tensor", 2, [&] { copyLocal(*x, *y); });
  row("norm", 1, [&] { norm(*x); });
  const auto relu = test::newPointwise(world(), "relu");
  relu->setSpace(Space::Device);
  relu->setUp(x->layout());
  relu->setTraining(false);
  row("relu", 2, [&] { relu->apply(*x, *y); });
}

void measureAdam(double rate) {
  const Index n = sized(1 << 14, 16);
  const auto layer = test::newAffine(world(), n, n);
  layer->setSpace(Space::Device);
  layer->setUp(alone({1, n}));
  initialise(*layer);
  const Ref<Optimizer> adam = makeOptimizer("adam", layer);
  const auto x = made(alone({1, n}), TENON_FLOAT32), y = made(layer->outputLayout(), TENON_FLOAT32),
             dy = made(layer->outputLayout().dual(), TENON_FLOAT32);
  layer->apply(*x, *y);
  layer->applyAdjoint(*dy, nullptr);
  // Adam reads value, gradient and two moments, writes all but the gradient, and clears the
  // gradient.
  const double bytes = 8 * sizeof(float) * double(n) * double(n);
  printRow("step of Adam", "copy within the device",
           bytes / secondsOf([&] { adam->step(); }) / rate, ">= 0.8");
}

// Packing of faces, one cell thick, of fields with 16 channels. In the face with rows of one cell,
// the device reads a sector of 32 bytes for each cell.
void measureFaces(double rate) {
  const Index n = sized(128, 8), channels = 16;
  constexpr double kSector = 32;
  Buffer field(channels * n * n * n * Index(sizeof(float)), "field", device().memory()),
      packed(channels * n * n * Index(sizeof(float)), "face", device().memory());
  const Index strides[] = {n * n * n, n * n, n, 1};
  for (int dim = 1; dim <= 3; ++dim) {
    Index extent[] = {channels, n, n, n};
    extent[dim] = 1;
    Index to[4], step = 1;
    for (int d = 3; d >= 0; --d) {
      to[d] = step;
      step *= extent[d];
    }
    const double read = dim == 3 ? kSector : sizeof(float);
    const double seconds = secondsOf(
        [&] {
          blockCombine(device(), Combine::Copy, 4, extent, field.data<float>(), strides,
                       packed.data<float>(), to);
        },
        50);
    printRow(fmt::format("pack of the face across dimension {}", dim), "copy, by sectors",
             double(step) * (read + sizeof(float)) / seconds / rate, ">= 0.6");
  }
}

// A training step (apply, adjoint, Adam) of a network whose last layer is the loss.
double stepTime(const test::VolumeNetwork& network, const Layout& input, const Layout& target,
                bool hasLabels) {
  network.net->setSpace(Space::Device);
  network.net->setUp(input);
  network.net->initialize(1, 0);
  const auto wanted = makeRef<DTensor>(world(), target, hasLabels ? TENON_INT64 : TENON_FLOAT32);
  fillConstant(*wanted, 3);
  network.loss->setTarget(wanted);
  const Layout output = network.net->outputLayout();
  const auto x = made(input, TENON_FLOAT32), y = made(output, TENON_FLOAT32),
             seed = made(output.dual(), TENON_FLOAT32);
  fillConstant(*seed, 1);
  const Ref<Optimizer> adam = makeOptimizer("adam", network.net);
  const auto step = [&] {
    network.net->apply(*x, *y);
    network.net->applyAdjoint(*seed, nullptr);
    adam->step();
  };
  const double seconds = secondsOf(step);
  const Index before = buffersTaken(Space::Device);
  step();
  printRow("buffers that a later step takes", "none", double(buffersTaken(Space::Device) - before),
           "= 0");
  return seconds;
}

test::VolumeNetwork lenet5() {
  test::VolumeNetwork made{
      test::newLayer(world(), "sequential"), test::newLayer(world(), "crossentropy"), {}};
  appendLayer(*made.net, readNetwork(world(), TENON_TEST_NETWORKS "/lenet5.json"));
  appendLayer(*made.net, made.loss);
  return made;
}

// Compares a step by CUDA graphs with the same step, one kernel after the other.
template <class Step>
void measureStep(const char* name, const char* what, const char* target, const Step& step) {
  const double each = step();
  options().set("-tenon_device_graphs", "true");
  const double whole = step();
  options().set("-tenon_device_graphs", "false");
  printTime(name, each);
  printTime(std::string(name) + "_graphs", whole);
  printRow(what, "without graphs", whole / each, target);
}

void measureSteps() {
  const Index batch = sized(256, 4), extent = sized(64, 4), points = sized(4096, 8);
  measureStep("lenet5_step", "step of LeNet-5 by graphs", "<= 1.0", [&] {
    return stepTime(lenet5(), alone({batch, 1, 28, 28}), alone({batch}), true);
  });
  measureStep("unet_step", "step of a U-Net by graphs", "<= 1.0", [&] {
    const Shape field{1, 1, extent, extent, extent};
    return stepTime(test::volumeUnet(world(), extent, sized(16, 2), isSmall ? 1 : 3), alone(field),
                    alone(field), false);
  });
  measureStep("closure", "column network of 4,096 points by graphs", "<= 0.8", [&] {
    const Ref<Layer> closure = test::newLayer(world(), "columnmlp");
    closure->set("widths", std::vector<Index>{8, 32, 32, 8});
    Pass pass(closure, alone({1, 8, points}), TENON_FLOAT32, "auto");
    return secondsOf([&] { pass.both(); });
  });
}

// Times copies of so many bytes from the device to page-locked memory, or back.
double stagingTime(Index bytes) {
  Buffer host(bytes, "staging", Device::get().pinned()), there(bytes, "part", device().memory());
  const double down = secondsOf(
      [&] { Device::get().copy(host.data<char>(), there.data<char>(), bytes, device().stream()); });
  const double up = secondsOf(
      [&] { Device::get().copy(there.data<char>(), host.data<char>(), bytes, device().stream()); });
  return std::max(down, up);
}

// Times copies of so many bytes within the device.
double copyTime(Index bytes) {
  Buffer from(bytes, "part", device().memory()), to(bytes, "copy", device().memory());
  return secondsOf(
      [&] { Device::get().copy(to.data<char>(), from.data<char>(), bytes, device().stream()); });
}

// A repartition between two ranks, in which each sends half of its data: a rank copies the other
// half, packs the part that it sends, and unpacks the part that it receives.
void measureExchange() {
  const Index n = sized(8192, 16);
  const Layout rows = onRow({n, n}, Property::shard(0)),
               columns = onRow({n, n}, Property::shard(1));
  const auto exchange = [&](const CommPtr& comm, Transport transport) {
    MovementPolicy policy = MovementPolicy::fromOptions(Space::Device);
    policy.carrier.transport = transport;
    const auto x = makeRef<DTensor>(comm, rows, TENON_FLOAT32, Space::Device),
               y = makeRef<DTensor>(comm, columns, TENON_FLOAT32, Space::Device);
    const LinearOpRef op = makeConversion(comm, rows, columns, TENON_FLOAT32, policy);
    const KernelContextPtr context = contextOf(comm, Space::Device);
    return secondsOf([&] {
      op->apply(*x, *y);
      context->stream().synchronise();
    });
  };
  const Index part = n * n / 4 * Index(sizeof(float));
  const double staging = stagingTime(part);
  printRow("staged exchange of 64 MiB", "a copy down or up",
           staging / exchange(world(), Transport::Messages), ">= 0.85");
  const auto measureShared = [&](const CommPtr& comm, const char* peer, double seconds,
                                 const char* target) {
    const DeviceArena::Made& shared = comm->openDeviceArena();
    try {
      if (shared.arena)
        printRow(fmt::format("exchange of 64 MiB, shared {}", shared.arena->describe()), peer,
                 seconds / exchange(comm, Transport::Shared), target);
    } catch (const Error& error) { // on all ranks: a container's /dev/shm may be small
      if (comm->rank() == 0)
        fmt::print("no exchange through shared memory: {}\n", error.text());
    }
    if (!shared.reason.empty() && comm->rank() == 0)
      fmt::print("no shared device memory: {}\n", shared.reason);
  };
  measureShared(world(), "three copies within the device", 3 * copyTime(part), ">= 0.8");
  options().set("-tenon_device_ipc", "off");
  measureShared(test::communicatorWithArena(-1), "a copy down or up", staging, "report");
  options().set("-tenon_device_ipc", "true");
}

// Compares a step with halos with one on the same number of elements per rank without neighbours.
void measureHalo() {
  const Index n = sized(128, 8);
  const std::vector<Window> windows(3, {.kernel = 3, .padLow = 1, .padHigh = 1});
  const auto timed = [&](const Shape& shape, Property split) {
    Pass pass(test::newConv(world(), 16, 16, windows), onRow(shape, split), TENON_FLOAT32, "auto");
    return secondsOf([&] { pass.both(); });
  };
  const double with = timed({1, 16, 2 * n, n, n}, Property::shard(2));
  const double without = timed({2, 16, n, n, n}, Property::shard(0));
  printRow("convolution with a halo, both passes", "batch split", with / without, "<= 1.1");
}

void run() {
  const KernelContextPtr held = contextOf(world(), Space::Device); // the one of device()
  if (world()->rank() == 0)
    fmt::print("{} of {} ranks\n{:<50} {:<34} {:>6}  {}\n", Device::get().name(), world()->size(),
               "what", "against", "ratio", "target");
  if (world()->size() > 1) {
    measureExchange();
    measureHalo();
    return;
  }
  printDevice();
  // First the times that are compared with PyTorch; work that can take long is last.
  measureSteps();
  measureAffine();
  const double rate = copyRate();
  fmt::print("{:<50} {:<34} {:>6.0f}  GB/s\n", "copy within the device", "", rate / 1e9);
  measureStreams(rate);
  measureAdam(rate);
  measureFaces(rate);
  measureLaunch();
  measureConvolutions();
  measureFourier();
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0); // so that a killed run keeps its lines
  tenon::bench::isSmall = argc > 1 && std::strcmp(argv[1], "small") == 0;
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
