// SPDX-License-Identifier: BSD-2-Clause
// A program that prints a table of the cost of Tenon's CUDA kernels per element: PTX instructions
// and bytes of global memory read and written (cached or not), counted while the stand-in for CUDA
// runs their translations (kernels.hpp), and the bytes that the operation must move at least. The
// last column is the rate in TB/s at which the needed bytes would move if an H100 were limited by
// instructions only: 132 * 128 lanes begin one instruction in each of 1.7e9 clocks per second. A
// kernel with less than about 3, the TB/s of the memory, is limited by its instructions.
//
// The exit code is 1 if a kernel moves fewer bytes than are needed, which is an error in this
// table.
#include "kernels/draw.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/elementwise/update.hpp"
#include "kernels/movement/bfloat16.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/block_queue.hpp"
#include "kernels/on_device.hpp"
#include "kernels/pooling/pooling.hpp"
#include "kernels/rows/normalisation.hpp"
#include "kernels/rows/softmax.hpp"
#include "standin/kernels.hpp"

#include <cstdio>
#include <functional>
#include <list>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::test {

namespace {

template <class T>
class Table {
public:
  bool isRight() const { return isRight_; }
  void print() {
    const auto ofTwo = vector(kElements), toThree = vector(kElements);
    vectors(ofTwo, toThree);
    blocks(ofTwo, toThree);
    rows(ofTwo, toThree);
    normalisation(ofTwo, toThree);
    pooling(ofTwo, toThree);
  }

private:
  static constexpr Index kElements = Index(1) << 19;
  static constexpr Index kMany = Index(1) << 24;
  static constexpr double kSize = sizeof(T);
  KernelContext& context_ = *deviceContext();
  std::list<DeviceCopy<T>> memory_;
  Buffer many_;
  bool isRight_ = true;

  T* vector(Index n) {
    Draw draw(3);
    const auto values = draw.reals<T>(n, -1, 1);
    return memory_.emplace_back(context_, values.data(), n).data();
  }

  // A large array of zeros.
  T* manyElements() {
    if (many_.bytes() == 0)
      (many_ = Buffer(kMany * Index(sizeof(T)), "a test's array", context_.memory())).setZero();
    return many_.data<T>();
  }

  // Prints a row. `needed` is the number of bytes that the operation must move per element. The
  // work runs twice, and the second run is counted, because the first one can also make plans.
  void row(const std::string& name, Index elements, double needed,
           const std::function<void()>& work) {
    work();
    context_.stream().synchronise();
    const standin::Counts before = tenonStandinCounts();
    work();
    context_.stream().synchronise();
    const standin::Counts after = tenonStandinCounts();
    const auto each = [&](std::uint64_t from, std::uint64_t to) {
      return double(to - from) / double(elements);
    };
    const double instructions = each(before.instructions, after.instructions);
    const double read = each(before.read, after.read),
                 written = each(before.written, after.written);
    constexpr double kInstructionsPerSecond = 132 * 128 * 1.7e9;
    std::printf("%-34s float%-2d %7.1f %7.1f %7.1f %7.1f %7.1f\n", name.c_str(), int(8 * kSize),
                instructions, read, written, needed,
                needed * kInstructionsPerSecond / instructions / 1e12);
    isRight_ &= read + written > 0.99 * needed;
  }

  void vectors(T* x, T* y) {
    constexpr Index n = 1 << 17;
    T *v = vector(n), *w = vector(n);
    row("axpby", n, 3 * kSize, [&] { axpby<T>(context_, n, T(0.5), x, T(0.5), y); });
    const std::pair<Pointwise, const char*> functions[] = {
        {Pointwise::Relu, "relu"},         {Pointwise::Tanh, "tanh"},
        {Pointwise::Sigmoid, "sigmoid"},   {Pointwise::Gelu, "gelu"},
        {Pointwise::GeluTanh, "gelutanh"}, {Pointwise::Silu, "silu"},
        {Pointwise::Softplus, "softplus"}, {Pointwise::Exp, "exp"},
        {Pointwise::Sine, "sine"}};
    for (const auto& [kind, name] : functions) {
      const PointwiseFunction f(kind, 0.1);
      row(name, n, 2 * kSize, [&] { pointwiseForward<T>(context_, f, n, x, y); });
      row(std::string(name) + ", derivative", n, 3 * kSize,
          [&] { pointwiseDerivative<T>(context_, f, n, x, y, v, w); });
    }
    row("adam", n, 7 * kSize, [&] {
      adamStep<T>(context_, n, {1e-3, 0.9, 0.999, 1e-8, 0, false, 1}, x, y, v, w);
    });
    row("dot", n, 2 * kSize, [&] { dot<T>(context_, n, x, v); });
    row("sum", n, kSize, [&] { sum<T>(context_, n, x); });
  }

  // Copies and sums of blocks in 16 channels of 32 x 32 x 32. (On a device, a face with one element
  // per line moves a sector of 32 bytes for each element; the table counts only the element.)
  void blocks(T* field, T* packed) {
    constexpr Index n = 32, channels = 16, cells = n * n * n;
    const Index steps[] = {cells, n * n, n, 1};
    for (int dim = 1; dim <= 4; ++dim) {
      Index extent[] = {channels, n - (dim == 4 ? 2 : 0), n - (dim == 4 ? 2 : 0),
                        n - (dim == 4 ? 2 : 0)};
      if (dim < 4)
        extent[dim] = 1;
      Index to[4], elements = 1;
      for (int d = 3; d >= 0; --d) {
        to[d] = elements;
        elements *= extent[d];
      }
      const std::string what = dim == 4 ? "interior" : "face of dim " + std::to_string(dim);
      row("pack of the " + what, elements, 2 * kSize,
          [&] { blockCombine<T>(context_, Combine::Copy, 4, extent, field, steps, packed, to); });
      row("sum with the " + what, elements, 3 * kSize,
          [&] { blockAxpby<T, T>(context_, 4, extent, T(2), packed, to, T(1), field, steps); });
    }
    faces(field, packed);
    const Index all[] = {channels, cells}, lines[] = {cells, 1}, across[] = {1, channels};
    row("transposition, channels last", channels * cells, 2 * kSize,
        [&] { blockCombine<T>(context_, Combine::Copy, 2, all, field, across, packed, lines); });
    if constexpr (std::is_same_v<T, float>) {
      const Index last[] = {cells, channels}, first[] = {1, cells};
      auto* const rounded = reinterpret_cast<BFloat16*>(packed);
      row("rounding, channels last", channels * cells, kSize + 2,
          [&] { roundToBFloat16<T>(context_, 2, last, field, first, rounded); });
      row("expansion from channels last", channels * cells, kSize + 2,
          [&] { expandBFloat16(context_, 2, last, rounded, false, field, first); });
    }
    const Index batch[] = {2, channels / 2, cells}, ofAll[] = {channels / 2 * cells, cells, 1},
                ofBias[] = {0, 1, 0};
    row("bias of channels", channels * cells, 2 * kSize,
        [&] { blockCombine<T>(context_, Combine::Add, 3, batch, packed, ofBias, field, ofAll); });
    row("gradient of a bias", channels * cells, kSize, [&] {
      blockMultiplyAdd<T>(context_, 3, batch, T(1), nullptr, nullptr, field, ofAll, packed, ofBias);
    });
    const Index many[] = {kMany / (channels / 2 * cells), channels / 2, cells};
    row("  of 16 million elements", kMany, kSize, [&] {
      blockMultiplyAdd<T>(context_, 3, many, T(1), nullptr, nullptr, manyElements(), ofAll, packed,
                          ofBias);
    });
  }

  // Of a block of 16 channels of 30^3 with one ghost cell around it: what its 26 neighbours get,
  // and what they add to it.
  void faces(T* field, T* packed) {
    constexpr Index n = 32, channels = 16, steps[] = {n * n * n, n * n, n, 1};
    const Index around[] = {1, 2, n - 2,
                            n - 1}; // where the first, the inner and the last begin, and their end
    const auto each = [&](const auto& visit) {
      Index elements = 0;
      for (int i = 0; i < 27; ++i) {
        const int part[] = {i / 9, i / 3 % 3, i % 3};
        Index begin[] = {0, 0, 0, 0}, extent[] = {channels, 0, 0, 0}, to[4], stride = 1;
        for (int d = 0; d < 3; ++d) {
          begin[d + 1] = around[part[d]];
          extent[d + 1] = around[part[d] + 1] - begin[d + 1];
        }
        if (i == 13) // the block's own
          continue;
        for (int d = 3; d >= 0; --d) {
          to[d] = stride;
          stride *= extent[d];
        }
        visit(begin, extent, packed + elements, to);
        elements += stride;
      }
      return elements;
    };
    const auto packs = [&] {
      BlockQueue queue(context_);
      const Index elements =
          each([&](const Index* begin, const Index* extent, T* at, const Index* to) {
            const T* from = field;
            for (int d = 0; d < 4; ++d)
              from += begin[d] * steps[d];
            queue.copy(4, extent, from, steps, at, to);
          });
      queue.flush();
      return elements;
    };
    const auto adds = [&] {
      BlockQueue queue(context_);
      each([&](const Index* begin, const Index* extent, T* at, const Index* to) {
        queue.add(4, begin, extent, at, to, field, steps);
      });
      queue.flush();
    };
    const Index elements = packs();
    row("pack for 26 neighbours at once", elements, 2 * kSize, packs);
    row("sum with those of 26 at once", elements, 3 * kSize, adds);
  }

  void rows(T* x, T* y) {
    constexpr Index rows = 512, columns = 256, n = rows * columns;
    const AxisShape shape{rows, columns, 1}, few{8192, 10, 1}, channels{4, 16, 2048};
    T *m = vector(8192), *s = vector(8192);
    row("softmax of 2048 x 256", 4 * n, 2 * kSize, [&] {
      axisSoftmax<T>(context_, {4 * rows, columns, 1}, x, m, s, y);
    });
    row("softmax along 16 channels", n, 2 * kSize,
        [&] { axisSoftmax<T>(context_, channels, x, m, s, y); });
    row("  in parts: maxima", n, kSize, [&] { axisMaxima<T>(context_, shape, x, m); });
    row("  exponentials", n, 2 * kSize, [&] { axisExponentials<T>(context_, shape, x, m, y); });
    row("  sums", n, kSize, [&] { axisSums<T>(context_, shape, y, s); });
    row("  quotients", n, 2 * kSize, [&] { axisQuotients<T>(context_, shape, y, s, x); });
    row("  dots", n, 2 * kSize, [&] { axisDots<T>(context_, shape, x, y, s); });
    row("  slope", n, 3 * kSize, [&] { axisSoftmaxSlope<T>(context_, shape, x, y, s, x); });
    row("maxima of 8192 rows of 10", 81920, kSize, [&] { axisMaxima<T>(context_, few, x, m); });
    row("maxima along 16 channels", n, kSize, [&] { axisMaxima<T>(context_, channels, x, y); });
  }

  // Batch normalisation of 4 samples of 16 channels.
  void normalisation(T* x, T* y) {
    constexpr Index rows = 64, length = 2048, n = rows * length, channels = 16;
    RowGroups groups{.rows = rows,
                     .length = length,
                     .groups = channels,
                     .groupOf = {},
                     .weightOf = {},
                     .weights = RowWeights::OfRow};
    for (Index r = 0; r < rows; ++r)
      groups.groupOf.push_back(r % channels);
    groups.weightOf = groups.groupOf;
    RowKernels kernels(groups, deviceContext());
    T *d = vector(n), *m = vector(2 * channels), *w = vector(2 * channels),
      *more = vector(2 * channels);
    row("batchnorm: moments", n, kSize, [&] { kernels.moments<T>(x, {m, m + channels}); });
    RowGroups larger = groups;
    larger.length = kMany / rows;
    RowKernels onMany(larger, deviceContext());
    row("  of 16 million elements", kMany, kSize, [&] {
      onMany.moments<T>(manyElements(), {m, m + channels});
    });
    const NormalisePoint<T> at{x, {m, m + channels}, 1e-5, w};
    row("  normalise", n, 2 * kSize, [&] { kernels.normalise<T>(at, w + channels, y); });
    const NormaliseCotangents<T> cotangents{
        .x = d, .moments = {more, more + channels}, .weight = w, .bias = w + channels};
    row("  adjoint", n, 3 * kSize, [&] { kernels.normaliseAdjoint<T>(at, y, cotangents); });
    row("  adjoint of the moments", n, 3 * kSize, [&] {
      kernels.momentsAdjoint<T>(x, m, {more, more + channels}, true, d);
    });
  }

  void pooling(T* x, T* y) {
    constexpr Index planes = 32, n = planes * 64 * 64;
    WindowShape window;
    window.rank = 2;
    window.in = {64, 64, 1};
    window.out = {32, 32, 1};
    window.kernel = window.stride = {2, 2, 1};
    const auto pooling =
        makePooling<T>({planes, window, PoolingMode::Max}, Backend::Auto, deviceContext());
    T* const kept = vector(pooling->workspaceBytes() / Index(sizeof(T)) + 1);
    row("maxpool of 2 x 2", n, 1.25 * kSize, [&] { pooling->forward(x, y, kept); });
    row("  adjoint", n, 1.25 * kSize, [&] { pooling->adjoint(y, kept, x); });
  }
};

} // namespace

} // namespace tenon::test

int main() {
  std::printf("%-34s %-7s %7s %7s %7s %7s %7s\n", "for each element", "type", "instr.", "read",
              "written", "needed", "TB/s");
  tenon::test::Table<float> single;
  single.print();
  tenon::test::Table<double> twice;
  twice.print();
  return single.isRight() && twice.isRight() ? 0 : 1;
}
