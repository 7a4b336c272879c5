// SPDX-License-Identifier: BSD-2-Clause
// Times a part of planning without MPI: the processor time to price 300 parallelizations ("forms")
// of each layer of AlexNet at 4096 ranks. A form gives the 12 binary axes of the process grid to
// batch, output channels or input channels, height and width, in this order.
//
//   tests/bench/form_prices
#include "bench/processor_time.hpp"
#include "declaration/core/types.hpp"

#include <fmt/format.h>

namespace tenon::bench {
namespace {

constexpr int kAxes = 12;
constexpr std::size_t kForms = 300;
constexpr double kTarget = 10; // ms

struct AlexNetLayer {
  const char* type;
  Shape input;
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<std::string> labels;
};

AlexNetLayer convolution(Index in, Index out, Index size, Index kernel, Index stride, Index pad) {
  return {"conv",
          {4096, in, size, size},
          {{"in_channels", in},
           {"out_channels", out},
           {"kernel", std::vector<Index>{kernel, kernel}},
           {"stride", std::vector<Index>{stride, stride}},
           {"padding", std::vector<Index>{pad, pad}}},
          {"n", "o", "h", "w"}};
}

AlexNetLayer affine(Index in, Index out) {
  return {"affine", {4096, in}, {{"inputs", in}, {"outputs", out}}, {"n", "o", "i", "B"}};
}

std::vector<AlexNetLayer> layers() {
  return {convolution(3, 64, 224, 11, 4, 2),
          convolution(64, 192, 27, 5, 1, 2),
          convolution(192, 384, 13, 3, 1, 1),
          convolution(384, 256, 13, 3, 1, 1),
          convolution(256, 256, 13, 3, 1, 1),
          affine(9216, 4096),
          affine(4096, 4096),
          affine(4096, 1000)};
}

// Returns the first kForms ways to divide a row of axes into four consecutive runs, one for each
// label.
std::vector<std::string> parallelizations(const std::vector<std::string>& labels) {
  std::vector<std::string> all;
  for (int a = 0; a <= kAxes; ++a)
    for (int b = 0; a + b <= kAxes; ++b)
      for (int c = 0; a + b + c <= kAxes; ++c) {
        const int runs[] = {a, b, c, kAxes - a - b - c};
        std::string parallelization;
        for (int run = 0; run < 4; ++run)
          for (int axis = 0; axis < runs[run]; ++axis)
            parallelization += (parallelization.empty() ? "" : ",") + labels[run];
        if (all.size() < kForms)
          all.push_back(parallelization);
      }
  return all;
}

} // namespace
} // namespace tenon::bench

int main() {
  using namespace tenon;
  using namespace tenon::bench;
  const GridPtr grid = Grid::make(std::vector<int>(kAxes, 2));
  fmt::print("{:<34} {:>10} {:>8} {:>8}  {}\n", "300 forms of", "ms", "p10", "p90", "target");
  for (const AlexNetLayer& layer : layers()) {
    const auto declaration = makeDeclaration(layer.type);
    for (const auto& [name, value] : layer.settings)
      declaration->set(name, value);
    const Layout input(
        {.shape = layer.input, .grid = grid, .properties = Properties(kAxes, Property::shard(0))});
    const std::vector<std::string> all = parallelizations(layer.labels);
    const auto times = processorTimes(1, [&](int) {
      for (const std::string& parallelization : all)
        declaration->form({input}, {.labels = parallelization});
    });
    const double median = quantile(times, 0.5) / 1000;
    fmt::print("{:<34} {:>10.2f} {:>8.2f} {:>8.2f}  <= {} {}\n", declaration->view(), median,
               quantile(times, 0.1) / 1000, quantile(times, 0.9) / 1000, kTarget,
               median <= kTarget ? "met" : "not met");
  }
  return 0;
}
