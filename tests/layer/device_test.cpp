// SPDX-License-Identifier: BSD-2-Clause
// Tensors and layers on the device of one process: they have the values and results of those on the
// host, and layers without kernels for the device are refused with an error that names them.
#include "dtensor/host_view.hpp"
#include "dtensor/measure.hpp"
#include "layer/derivatives/jacobian.hpp"
#include "layer/networks/weights.hpp"
#include "layer_run.hpp"
#include "linop/algebra/adjoint_test.hpp"
#include "train/optimizer.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::localCells;
using test::onWorld;
using test::world;

Ref<DTensor> onDevice(const Layout& layout, TenonDataType type = TENON_FLOAT64) {
  return makeRef<DTensor>(world(), layout, type, Space::Device);
}

// Tensors with halos, and user arrays with reversed and padded strides.
class DeviceTensor : public testing::Test {
protected:
  Layout layout_ = onWorld({4, 3, 5}, "B");
  Index cells_ = 4 * 3 * 5;
};

TEST_F(DeviceTensor, StartsAtZeroAndTakesFills) {
  const auto x = onDevice(layout_), same = test::tensor(layout_);
  EXPECT_EQ(localCells(*x), std::vector<double>(cells_, 0));
  fillUniform(*x, /*seed=*/3, /*stream=*/4, -1, 1);
  fillUniform(*same, /*seed=*/3, /*stream=*/4, -1, 1);
  EXPECT_EQ(localCells(*x), localCells(*same));
  EXPECT_EQ(x->space(), Space::Device);
}

TEST_F(DeviceTensor, LendsItsValuesOnTheHost) {
  const auto x = onDevice(layout_);
  fillConstant(*x, 2);
  auto* values = static_cast<double*>(x->hostValues(TENON_FLOAT64));
  x->lendForWriting();
  EXPECT_EQ(values[7], 2);
  values[7] = 5;
  x->endWriting(values);
  std::vector<double> want(cells_, 2);
  want[7] = 5;
  EXPECT_EQ(localCells(*x), want);
  const void* read = x->hostValues(TENON_FLOAT64);
  x->lendForReading();
  EXPECT_EQ(static_cast<const double*>(read)[7], 5);
  x->endReading(read);
  EXPECT_NE(x->deviceValues(TENON_FLOAT64), nullptr);
  expectErrorOnAll(TENON_ERR_STATE, {"on the host", "TenonDTensorSetSpace()"},
                   [&] { test::tensor(layout_)->deviceValues(TENON_FLOAT64); });
}

TEST_F(DeviceTensor, WorksOnAnArrayOfTheDeviceInPlace) {
  const auto x = onDevice(layout_), y = test::tensor(layout_);
  Buffer memory(2 * cells_ * Index(sizeof(double)), "the program's array", x->context().memory());
  memory.setZero();
  // Strides of the user array: every second element, with the last dimension backwards.
  x->placeArray(memory.data<double>() + 8, {30, 10, -2}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  fillUniform(*x, /*seed=*/3, /*stream=*/4, -1, 1);
  fillUniform(*y, /*seed=*/3, /*stream=*/4, -1, 1);
  EXPECT_EQ(localCells(*x), localCells(*y));
  EXPECT_EQ(maxAbsolute(*x), maxAbsolute(*y));
}

// A tensor is one of two interleaved components of an array. Reading and writing it on the host
// must not change the other component.
TEST_F(DeviceTensor, OfAnInterleavedArrayIsPutBackAlone) {
  const auto u = onDevice(layout_), v = onDevice(layout_);
  Buffer memory(2 * cells_ * Index(sizeof(double)), "the program's array", u->context().memory());
  memory.setZero();
  u->placeArray(memory.data<double>(), {30, 10, 2}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  v->placeArray(memory.data<double>() + 1, {30, 10, 2}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  std::vector<void*> lent;
  for (const auto& x : {u, v}) {
    lent.push_back(x->hostValues(TENON_FLOAT64));
    x->lendForWriting();
  }
  static_cast<double*>(lent[0])[0] = 1;
  static_cast<double*>(lent[1])[0] = 2;
  u->endWriting(lent[0]);
  v->endWriting(lent[1]);
  EXPECT_EQ(localCells(*u)[0], 1);
  EXPECT_EQ(localCells(*v)[0], 2);
}

// Work of the program on its own CUDA stream, which is not ordered with the stream of the tensor.
class ProgramsWork {
public:
  explicit ProgramsWork(Index elements) : cells_(elements), values_(elements) {}
  void write(double* array, double value) {
    std::fill(values_.begin(), values_.end(), value);
    copy(array, values_.data());
  }
  const std::vector<double>& read(const double* array) {
    copy(values_.data(), array);
    return values_;
  }

private:
  void copy(void* to, const void* from) const {
    Device::get().copy(to, from, cells_ * Index(sizeof(double)), stream_);
    stream_.synchronise();
  }
  Index cells_;
  std::vector<double> values_;
  Stream stream_ = Stream::make();
};

TEST_F(DeviceTensor, IsLentWithItsZeros) {
  const auto x = onDevice(layout_);
  auto* values = static_cast<double*>(x->deviceValues(TENON_FLOAT64));
  x->lendForWriting();
  ProgramsWork(cells_).write(values, 3);
  x->endWriting(values);
  EXPECT_EQ(localCells(*x), std::vector<double>(cells_, 3));
}

TEST_F(DeviceTensor, IsDoneWithAnArrayThatItGivesBack) {
  const auto place = [&](DTensor& x, Buffer& memory) {
    x.placeArray(memory.data<double>(), {15, 5, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  };
  const Index bytes = cells_ * Index(sizeof(double));
  KernelContext at(Space::Device);
  Buffer array(bytes, "an array", at.memory()), next(bytes, "the next", at.memory());
  const auto twos = onDevice(layout_);
  fillConstant(*twos, 2);
  ProgramsWork program(cells_);
  const std::pair<const char*, std::function<void(Ref<DTensor>&)>> ways[] = {
      {"reset", [](auto& x) { x->resetArray(); }},
      {"another", [&](auto& x) { place(*x, next); }},
      {"arrays",
       [&](auto& x) {
         x->placeArrays(0, std::vector<void*>(4, next.data<void>()), {0, 5, 1}, {0, 0, 0},
                        {0, 0, 0}, /*readOnly=*/true);
       }},
      {"destruction", [](auto& x) { x = {}; }},
  };
  for (const auto& [name, giveBack] : ways) {
    auto x = onDevice(layout_);
    place(*x, array);
    copyLocal(*twos, *x);
    giveBack(x);
    program.write(array.data<double>(), 5);
    twos->context().stream().synchronise();
    EXPECT_EQ(program.read(array.data<double>()), std::vector<double>(cells_, 5)) << name;
  }
}

TEST_F(DeviceTensor, IsDoneWithArraysThatItGatheredOrScattered) {
  const auto x = onDevice(layout_);
  Buffer memory(cells_ * Index(sizeof(double)), "the program's arrays", x->context().memory());
  std::vector<void*> arrays;
  for (Index i = 0; i < 4; ++i)
    arrays.push_back(memory.data<double>() + 15 * i);
  x->placeArrays(0, arrays, {0, 5, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  ProgramsWork program(cells_);
  program.write(memory.data<double>(), 7);
  x->gatherArrays();
  program.write(memory.data<double>(), 8);
  EXPECT_EQ(localCells(*x), std::vector<double>(cells_, 7));
  fillConstant(*x, 9);
  x->scatterArrays();
  EXPECT_EQ(program.read(memory.data<double>()), std::vector<double>(cells_, 9));
}

TEST_F(DeviceTensor, RefusesAnArrayOfTheOtherSpace) {
  std::vector<double> host(cells_);
  const auto x = onDevice(layout_), y = test::tensor(layout_);
  expectErrorOnAll(TENON_ERR_ARG, {"on the device", "memory of the host"}, [&] {
    x->placeArray(host.data(), {15, 5, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  });
  const Buffer memory(cells_ * Index(sizeof(double)), "the program's array", x->context().memory());
  auto* storage = const_cast<double*>(memory.data<double>());
  expectErrorOnAll(TENON_ERR_ARG, {"on the host", "memory of the device"}, [&] {
    y->placeArray(storage, {15, 5, 1}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  });
}

TEST_F(DeviceTensor, ChangesItsSpaceOnlyBeforeItsFirstUse) {
  const auto x = test::tensor(layout_);
  x->setSpace(Space::Device);
  x->setSpace(Space::Host);
  x->setSpace(Space::Device);
  fillConstant(*x, 1);
  expectErrorOnAll(TENON_ERR_STATE, {"has an array already"}, [&] { x->setSpace(Space::Host); });
}

TEST_F(DeviceTensor, IsAddedScaledCopiedAndMeasured) {
  const auto x = onDevice(layout_), y = onDevice(layout_);
  const auto hx = test::tensor(layout_), hy = test::tensor(layout_);
  for (const auto& [a, b] : {std::pair(x, y), std::pair(hx, hy)}) {
    fillRaw(*a, 1, /*integers=*/true);
    fillRaw(*b, 2, /*integers=*/true);
    axpby(2, *a, 3, *b);
    scaleArray(-1, *a);
  }
  EXPECT_EQ(localCells(*x), localCells(*hx));
  EXPECT_EQ(localCells(*y), localCells(*hy));
  EXPECT_EQ(rawNorm(*y), rawNorm(*hy));
  EXPECT_EQ(maxAbsolute(*y), maxAbsolute(*hy));
  axpby(1, *hx, 1, *y); // one tensor on the host, one on the device, in both directions
  axpby(1, *hx, 1, *hy);
  EXPECT_EQ(localCells(*y), localCells(*hy));
  axpby(2, *y, 1, *hx);
  const auto single = test::tensor(layout_, TENON_FLOAT32);
  copyLocal(*y, *single);
  EXPECT_EQ(localCells(*single), localCells(*hy));
}

// A network of many layer types that have kernels on the device.
Ref<Layer> network() {
  using W = std::vector<Window>;
  const auto net = test::newLayer(world(), "sequential");
  const auto affine = test::newLayer(world(), "channelaffine");
  affine->set("channels", Index(3));
  appendLayer(*net, affine);
  appendLayer(*net, test::newPointwise(world(), "relu"));
  appendLayer(*net, test::newDropout(world(), 0.3));
  appendLayer(*net, test::newPooling(world(), PoolingMode::AverageIncludePad,
                                     W{{.kernel = 3, .padLow = 1, .padHigh = 1},
                                       {.kernel = 3, .stride = 2, .padLow = 1, .padHigh = 2}}));
  appendLayer(*net, test::newPointwise(world(), "gelu"));
  appendLayer(*net, test::newPooling(world(), PoolingMode::Max,
                                     W{{.kernel = 2, .dilation = 2}, {.kernel = 2}}));
  appendLayer(*net, test::newPointwise(world(), "tanh"));
  return net;
}

// Outputs, tangent, input gradient, gradients and parameters of three steps of training.
std::vector<std::vector<double>> train(TenonDataType type, Space space,
                                       const std::string& optimizer) {
  const auto net = network();
  net->setDataType(type);
  net->setSpace(space);
  const Layout input = onWorld({2, 3, 9, 11}, "B");
  net->setUp(input);
  test::fillParameters(*net);
  const auto step = makeOptimizer(optimizer, net);
  const Layout output = net->outputLayout(input);
  const auto made = [&](const Layout& layout, std::uint64_t stream) {
    const auto x = makeRef<DTensor>(world(), layout, type, space);
    fillUniform(*x, test::kSeed, stream, -1, 1);
    return x;
  };
  const auto x = made(input, 1), dy = made(output.dual(), 2), direction = made(input, 3);
  const auto y = made(output, 4), ofDirection = made(output, 4), dx = made(input.dual(), 4);
  std::vector<std::vector<double>> results;
  for (int n = 0; n < 3; ++n) {
    net->zeroGradients();
    net->apply(*x, *y);
    net->applyTangent(direction.get(), *ofDirection);
    net->applyAdjoint(*dy, dx.get());
    for (const auto& tensor : {y, ofDirection, dx})
      results.push_back(localCells(*tensor));
    for (const auto& p : net->parameters())
      results.push_back(localCells(p->gradient()));
    step->step();
    for (const auto& p : net->parameters())
      results.push_back(localCells(p->value()));
  }
  net->setTraining(false);
  net->apply(*x, *y);
  results.push_back(localCells(*y));
  return results;
}

TEST(DeviceLayer, TrainsAsOnTheHost) {
  for (const char* optimizer : {"sgd", "adam"})
    for (TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
      const auto want = train(type, Space::Host, optimizer);
      const auto got = train(type, Space::Device, optimizer);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NO_FATAL_FAILURE(expectNear(got[i], want[i], type == TENON_FLOAT64 ? 1e-12 : 1e-5,
                                           fmt::format("{} {}", optimizer, i)));
      EXPECT_EQ(train(type, Space::Device, optimizer), got); // bitwise equal in a second run
    }
}

TEST(DeviceLayer, GivesItsWeightsToOneOnTheHostByAFile) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            fmt::format("tenon_device_weights.{}.npz", getpid()))
                               .string();
  std::vector<Ref<Layer>> layers;
  for (const Space space : {Space::Device, Space::Host, Space::Device}) {
    layers.push_back(test::newAffine(world(), 3, 4));
    layers.back()->setDataType(TENON_FLOAT64);
    layers.back()->setSpace(space);
    layers.back()->setUp(onWorld({2, 3}, "B"));
    layers.back()->initialize(test::kSeed, layers.size());
  }
  for (int i = 0; i < 2; ++i) {
    saveWeights(*layers[i], path);
    loadWeights(*layers[i + 1], path, "");
    for (int p = 0; p < 2; ++p)
      EXPECT_EQ(localCells(layers[i + 1]->parameters()[p]->value()),
                localCells(layers[0]->parameters()[p]->value()));
  }
  std::filesystem::remove(path);
}

TEST(DeviceLayer, HasAJacobianOfItsSpace) {
  const Layout layout = onWorld({4, 3}, "B");
  const auto layer = test::newPointwise(world(), "tanh");
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(Space::Device);
  layer->setUp(layout);
  const auto point = makeRef<DTensor>(world(), layout, TENON_FLOAT64); // on the host
  fillUniform(*point, /*seed=*/3, /*stream=*/4, -1, 1);
  const auto jacobian = makeRef<Jacobian>(layer, *point);
  jacobian->setPoint(*point);
  const AdjointTestResult dots = testAdjoint(*jacobian, 5, /*integers=*/false);
  EXPECT_LE(dots.relativeError, 1e-13);
  EXPECT_NE(dots.forwardPairing, 0);
  // Vectors on the host too, as an iterative solver has them.
  const auto dx = onDevice(layout), dy = onDevice(layout);
  fillUniform(*dx, /*seed=*/5, /*stream=*/6, -1, 1);
  jacobian->apply(*dx, *dy);
  const auto hostX = test::tensor(layout), hostY = test::tensor(layout);
  copyLocal(*dx, *hostX);
  jacobian->apply(*hostX, *hostY);
  EXPECT_EQ(localCells(*hostY), localCells(*dy));
  const auto ofY = onDevice(layout.dual()), ofX = onDevice(layout.dual());
  fillUniform(*ofY, /*seed=*/7, /*stream=*/8, -1, 1);
  jacobian->applyAdjoint(*ofY, *ofX);
  const auto hostOfY = test::tensor(layout.dual()), hostOfX = test::tensor(layout.dual());
  copyLocal(*ofY, *hostOfY);
  jacobian->applyAdjoint(*hostOfY, *hostOfX);
  EXPECT_EQ(localCells(*hostOfX), localCells(*ofX));
}

TEST(DeviceLayer, CopiesStridedInputs) {
  const Layout layout = onWorld({2, 3, 4}, "B");
  const auto layer = test::newPointwise(world(), "tanh");
  layer->setDataType(TENON_FLOAT64);
  layer->setSpace(Space::Device);
  layer->setUp(layout);
  const auto x = onDevice(layout), y = onDevice(layout), dx = onDevice(layout);
  Buffer memory(48 * Index(sizeof(double)), "the program's array", x->context().memory());
  memory.setZero();
  x->placeArray(memory.data<double>(), {24, 8, 2}, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  fillUniform(*x, /*seed=*/3, /*stream=*/4, -1, 1);
  layer->apply(*x, *y);
  std::vector<double> want;
  for (double value : localCells(*x))
    want.push_back(std::tanh(value));
  expectNear(localCells(*y), want, 1e-15, "tanh");
}

// A field of a solver on the host, with ghost cells around it, as argument of a network on the
// device.
class FieldOfTheHost : public testing::Test {
protected:
  FieldOfTheHost() {
    layer_ = test::newPointwise(world(), "tanh");
    layer_->setDataType(TENON_FLOAT64);
    layer_->setSpace(Space::Device);
    layer_->setStackDepth(2);
    layer_->setUp(layout_);
    field_->setName("u");
    field_->placeArray(array_.data() + 7, {6, 1}, {1, 1}, {1, 1}, /*readOnly=*/false,
                       static_cast<Index>(array_.size()));
  }
  static std::vector<double> slopes(const std::vector<double>& x) {
    std::vector<double> of;
    for (double value : x)
      of.push_back(1 - std::tanh(value) * std::tanh(value));
    return of;
  }

  Layout layout_ = onWorld({3, 4}, "B");
  Ref<Layer> layer_;
  std::vector<double> array_ =
      std::vector<double>(5 * 6, -9); // ghost cells, which must remain unchanged
  Ref<DTensor> field_ = test::tensor(layout_), y_ = test::tensor(layout_),
               dy_ = test::tensor(layout_.dual()), dx_ = test::tensor(layout_.dual());
};

TEST_F(FieldOfTheHost, ComesBackThroughTheStackAsItWas) {
  fillUniform(*field_, /*seed=*/3, /*stream=*/4, -1, 1);
  const std::vector<double> first = localCells(*field_);
  layer_->apply(*field_, *y_);
  fillUniform(*field_, /*seed=*/5, /*stream=*/6, -1,
              1); // the program may change its array immediately,
  const std::vector<double> second = localCells(*field_);
  layer_->apply(*field_, *y_);
  fillConstant(*y_, 7); // and its output too
  fillConstant(*dy_, 1);
  layer_->applyAdjoint(*dy_, dx_.get());
  expectNear(localCells(*dx_), slopes(second), 1e-15, "second");
  layer_->applyAdjoint(*dy_, dx_.get());
  expectNear(localCells(*dx_), slopes(first), 1e-15, "first");
  EXPECT_EQ(std::count(array_.begin(), array_.end(), -9), 30 - 12);
}

TEST_F(FieldOfTheHost, IsWrittenBetweenItsGhostCells) {
  const auto x = onDevice(layout_);
  fillUniform(*x, /*seed=*/3, /*stream=*/4, -1, 1);
  layer_->apply(*x, *field_);
  std::vector<double> want;
  for (double value : localCells(*x))
    want.push_back(std::tanh(value));
  expectNear(localCells(*field_), want, 1e-15, "output");
  EXPECT_EQ(std::count(array_.begin(), array_.end(), -9), 30 - 12);
}

TEST_F(FieldOfTheHost, IsInTheViewAndTakesNoMemoryLater) {
  const auto step = [&] {
    layer_->apply(*field_, *y_);
    layer_->applyAdjoint(*dy_, dx_.get());
  };
  step();
  const Index onDevice = buffersTaken(Space::Device), onHost = buffersTaken(Space::Host);
  step();
  EXPECT_EQ(buffersTaken(Space::Device), onDevice);
  EXPECT_EQ(buffersTaken(Space::Host), onHost);
  const std::string view = layer_->describe();
  for (const char* line :
       {"copied at each Apply: input, tensor \"u\" (in the other memory space), 96 B on this rank",
        "copied at each Apply: output", "copied at each ApplyAdjoint: output cotangent",
        "copied at each ApplyAdjoint: input cotangent"})
    EXPECT_NE(view.find(line), std::string::npos) << line << "\n" << view;
}

// Functions of a shell layer can work on the host only.
TEST(DeviceLayer, WithoutKernelsIsRefusedAtSetUp) {
  const Layout layout = onWorld({4, 3}, "B");
  const auto layer = test::shell(world());
  layer->setName("closure");
  layer->setSpace(Space::Device);
  expectErrorOnAll(TENON_ERR_SUPPORT,
                   {"\"closure\"", "layers of type shell have no kernels", "space host"},
                   [&] { layer->setUp(layout); });
  layer->setSpace(Space::Host);
  layer->setUp(layout); // the layer works after the error
}

TEST(DeviceLayer, OfAnotherSpaceThanItsContainerIsRefused) {
  const auto net = test::newLayer(world(), "sequential");
  const auto relu = test::newPointwise(world(), "relu");
  relu->setSpace(Space::Device);
  appendLayer(*net, relu);
  expectErrorOnAll(TENON_ERR_SUPPORT, {"is on the device", "on the host", "container's space"},
                   [&] {
                     net->setUp(onWorld({4, 3}, "B"));
                   });
}

} // namespace
} // namespace tenon
