// SPDX-License-Identifier: BSD-2-Clause
// Calls of CUDA and its libraries that fail once, in tensors and layers. The stand-in library lets
// a named call fail. The error must name this call, and the tensor or layer must work again
// afterwards.
#include "dtensor/host_view.hpp"
#include "dtensor/measure.hpp"
#include "layer_run.hpp"
#include "standin/failures.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::expectNear;
using test::localCells;
using test::onWorld;
using test::world;

constexpr unsigned long long kEnough = 1ULL << 38; // bytes of the stand-in device

// A layer that uses one of the libraries, and the calls that are made to fail.
struct Case {
  const char* name;
  std::function<Ref<Layer>()> make;
  Shape input;
  const char* call;
  std::vector<const char*> words;
  const char* inSetUp = "cudaMallocFromPoolAsync";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"affine",
       [] { return test::newAffine(world(), 3, 4); },
       {2, 3},
       "cublasDgemm",
       {"cuBLAS failed in cublasDgemm", "CUBLAS_STATUS_EXECUTION_FAILED"},
       "cublasSetWorkspace"},
      {"conv",
       [] {
         return test::newConv(world(), 2, 3, {{.kernel = 3}, {.kernel = 3}});
       },
       {1, 2, 5, 6},
       "cudnnBackendExecute",
       {"cuDNN failed in cudnnBackendExecute", "CUDNN_STATUS_EXECUTION_FAILED",
        "the plan cannot be executed", "backend 'gemm'"},
       "cudnnCreate"},
      {"spectralconv",
       [] {
         const auto layer = test::newLayer(world(), "spectralconv");
         layer->set("in_channels", Index(2));
         layer->set("out_channels", Index(2));
         layer->set("modes", std::vector<Index>{3, 3});
         layer->set("backend", std::string("cufft"));
         return layer;
       },
       {1, 2, 8, 8},
       "cufftXtExec",
       {"cuFFT failed in cufftXtExec", "backend 'gemm'"},
       "cufftMakePlanMany64:*"}, // also the second call, after memory was freed
      {"tanh",
       [] { return test::newPointwise(world(), "tanh"); },
       {2, 3},
       "cudaLaunchKernel",
       {"error of the stand-in"}}};
  return all;
}

class DeviceFailures : public testing::TestWithParam<Case> {
protected:
  void TearDown() override {
    tenonStandinFail("");
    tenonStandinBytes(kEnough);
  }

  void prepare() {
    layer_ = GetParam().make();
    layer_->setDataType(TENON_FLOAT64);
    layer_->setSpace(Space::Device);
  }
  void setUp() {
    layer_->setUp(input_);
    test::fillParameters(*layer_);
    x_ = made(input_);
    y_ = made(layer_->outputLayout(input_));
    fillUniform(*x_, test::kSeed, /*stream=*/1, -1, 1);
  }
  static Ref<DTensor> made(const Layout& layout) {
    return makeRef<DTensor>(world(), layout, TENON_FLOAT64, Space::Device);
  }
  std::vector<double> output() {
    layer_->apply(*x_, *y_);
    return localCells(*y_);
  }
  void expectFailure() {
    try {
      output();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_LIBRARY) << error.text();
      for (const char* word : GetParam().words)
        EXPECT_NE(error.text().find(word), std::string::npos)
            << word << " is missing: " << error.text();
    }
  }
  std::vector<double> expected() {
    const auto host = GetParam().make();
    host->setDataType(TENON_FLOAT64);
    if (std::string(GetParam().name) == "spectralconv")
      host->set("backend", std::string("auto"));
    host->setUp(input_);
    test::fillParameters(*host);
    const auto x = test::tensor(input_), y = test::tensor(host->outputLayout(input_));
    fillUniform(*x, test::kSeed, /*stream=*/1, -1, 1);
    host->apply(*x, *y);
    return localCells(*y);
  }

  Layout input_ = onWorld(GetParam().input, "B");
  Ref<Layer> layer_;
  Ref<DTensor> x_, y_;
};

TEST_P(DeviceFailures, OfApplyPass) {
  prepare();
  setUp();
  const std::vector<double> before = output();
  layer_->clearStack();
  tenonStandinFail(GetParam().call);
  expectFailure();
  EXPECT_EQ(output(), before); // the failed Apply has left no pending evaluation
}

TEST_P(DeviceFailures, OfSetUpPass) {
  prepare();
  tenonStandinFail(GetParam().inSetUp);
  if (std::string(GetParam().inSetUp) != "cudaMallocFromPoolAsync") {
    expectErrorOnAll(TENON_ERR_LIBRARY, {}, [&] { setUp(); });
    tenonStandinFail("");
  }
  setUp();
  expectNear(output(), expected(), 1e-12, GetParam().name);
}

TEST_P(DeviceFailures, OfMemoryPass) {
  prepare();
  tenonStandinBytes(1);
  expectErrorOnAll(TENON_ERR_MEMORY, {"cannot allocate", "on the device", "saved_type"},
                   [&] { setUp(); });
  tenonStandinBytes(kEnough);
  setUp();
  expectNear(output(), expected(), 1e-12, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Layers, DeviceFailures, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class DeviceConvolution : public DeviceFailures {};

// If cuDNN's first engine (its first algorithm for a convolution) fails, the next one is used.
TEST_P(DeviceConvolution, TakesTheNextPlanWhereTheFirstCannotBeExecuted) {
  prepare();
  setUp();
  tenonStandinFail("cudnnBackendExecute");
  expectNear(output(), expected(), 1e-12, "conv");
}

TEST_P(DeviceConvolution, SaysWhyWhereTheNextPlanFailsToo) {
  prepare();
  setUp();
  tenonStandinFail("cudnnBackendExecute:*");
  expectFailure();
  tenonStandinFail("");
  expectNear(output(), expected(), 1e-12, "conv");
}

TEST_P(DeviceConvolution, HasPlansWhereTheFirstHeuristicsFail) {
  prepare();
  tenonStandinFail("heuristics");
  setUp();
  expectNear(output(), expected(), 1e-12, "conv");
}

INSTANTIATE_TEST_SUITE_P(Layers, DeviceConvolution, testing::Values(cases()[1]),
                         [](const auto&) { return std::string("conv"); });

// A second copy to the host would fail, so one copy must be enough for all tensors.
TEST(DeviceSquares, OfSeveralTensorsAreWaitedForOnce) {
  const auto x = makeRef<DTensor>(world(), onWorld({4, 3}, "B"), TENON_FLOAT64, Space::Device),
             y = makeRef<DTensor>(world(), onWorld({70, 90}, "B"), TENON_FLOAT64, Space::Device);
  fillConstant(*x, 2);
  fillConstant(*y, -3);
  const DTensor* const both[] = {x.get(), nullptr, y.get()};
  tenonStandinFail("cudaMemcpyAsync:2");
  EXPECT_EQ(localSquares(both), 12 * 4 + 6300 * 9);
  tenonStandinFail("");
}

TEST(DeviceTensorFailures, OfTheFirstUseAndOfHostViewsPass) {
  const Layout layout = onWorld({4, 3}, "B");
  const auto x = makeRef<DTensor>(world(), layout, TENON_FLOAT64, Space::Device);
  tenonStandinBytes(1);
  expectErrorOnAll(TENON_ERR_MEMORY, {"cannot allocate 96 bytes", "on the device"},
                   [&] { fillConstant(*x, 1); });
  tenonStandinBytes(kEnough);
  fillConstant(*x, 2);
  tenonStandinFail("cudaMemcpyAsync");
  expectErrorOnAll(TENON_ERR_LIBRARY, {"cudaMemcpyAsync"}, [&] { x->hostValues(TENON_FLOAT64); });
  EXPECT_EQ(localCells(*x), std::vector<double>(12, 2));
}

} // namespace
} // namespace tenon
