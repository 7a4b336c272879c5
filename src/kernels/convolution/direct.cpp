// SPDX-License-Identifier: BSD-2-Clause
// Direct convolution on the host, which is faster than im2col and a matrix product for few
// channels. im2col would copy, for each input channel and tap, the inputs that the outputs read to
// a contiguous column. Here the column is read in place in the input array: if the stride of the
// window is 1 in the last dimension, the outputs of a row read consecutive inputs. Other windows
// are not supported.
//
// The outputs are divided into bands, blocks whose input fits a cache (Bands, direct_sum.hpp). A
// thread copies the input of a band with its padding, and calls the vector loops of the processor's
// instruction set (DirectKernels, direct_kernels.hpp) for a few channels at a time.
//
//   DirectWeights      adjoint with respect to weights and biases
//   DirectOutputs      forward pass, and adjoint with respect to the data (direct_sum.hpp)
//   DirectConvolution  the backend, which joins both
//   whyNotDirect(), isDirectFaster()  where the backend is possible, and where `auto` selects it
#include "kernels/base/backend.hpp"
#include "kernels/base/context.hpp"
#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/direct_kernels.hpp"
#include "kernels/convolution/direct_sum.hpp"
#include "kernels/elementwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace tenon {

namespace {

// The adjoint with respect to weights and biases. The outputs are divided into bands, whose input
// (copied with its padding) fits a cache, and the bands into parts.

constexpr Index kWeightBandBytes = Index(1) << 19; // size of a band's padded input
// Number of parts. Each part has separate partial sums of the gradients, which are added in order
// at the end. The number does not depend on the number of threads, so the result does not either.
// More parts need more memory and additions.
constexpr Index kMaxParts = 16;
// A part with fewer outputs is not worth separate partial sums.
constexpr Index kOutputsOfPart = 1024;

template <class T>
class DirectWeights {
public:
  DirectWeights(const DirectSum& forward, const DirectKernels<T>& kernels, KernelContext& context);
  // dw += ..., db += ...; db can be null.
  void run(KernelContext& context, const T* x, const T* dy, T* dw, T* db) const;

private:
  // Columns of im2col: pairs of an input channel and a tap.
  Index columns() const { return static_cast<Index>(bands_.offsets().size()); }
  Index allOutputs() const { return sum_.groups * sum_.outChannels; } // output channels
  // Number of partial sums per part: the weights in the order of dw, then the biases.
  Index sumsOfPart() const { return allOutputs() * (columns() + 1); }
  // Adds the band's contribution to the sums of its part. `padded` is the band's padded input, and
  // `gathered` scratch for gather().
  void runBand(const Bands::Band& band, const T* padded, const T* dy, T* gathered, T* sums) const;
  void gather(const Bands::Band& band, const T* dy, T* gathered) const;

  DirectSum sum_;
  const DirectKernels<T>* kernels_;
  Bands bands_;
  bool gathers_; // whether dy is copied into vectors; false if its rows are whole vectors
  // The vectors of a band in the gathered copy of dy.
  std::array<std::vector<OutputVector>, Bands::kShapes> gatheredVectors_;
  Index parts_;
  Index sumsAt_; // offset of the partial sums in the scratch
  ThreadScratch padded_, gathered_;
};

template <class T>
DirectWeights<T>::DirectWeights(const DirectSum& forward, const DirectKernels<T>& kernels,
                                KernelContext& context)
    : sum_(forward), kernels_(&kernels),
      bands_(forward, kernels.lanes, kWeightBandBytes / Index(sizeof(T))),
      gathers_(sum_.out.strides.space[2] != 1 || sum_.out.extent[2] % kernels.lanes != 0) {
  const auto& out = sum_.out.extent;
  parts_ = std::clamp<Index>(sum_.batch * out[0] * out[1] * out[2] / kOutputsOfPart, 1, kMaxParts);
  parts_ = std::min(parts_, sum_.batch * bands_.perImage());
  std::size_t mostVectors = 0;
  for (int shape = 0; shape < Bands::kShapes && gathers_; ++shape) {
    gatheredVectors_[shape] = bands_.vectors(shape);
    Index y = 0;
    for (OutputVector& vector : gatheredVectors_[shape]) {
      vector.y = y;
      y += kernels.lanes;
    }
    mostVectors = std::max(mostVectors, gatheredVectors_[shape].size());
  }
  ScratchPlan plan;
  sumsAt_ = plan.add<T>(parts_ * sumsOfPart());
  padded_ = plan.addForThreads<T>(context.threads(), bands_.elements());
  gathered_ = plan.addForThreads<T>(context.threads(),
                                    sum_.outChannels * Index(mostVectors) * kernels.lanes);
  context.reserve(plan);
}

template <class T>
void DirectWeights<T>::run(KernelContext& context, const T* x, const T* dy, T* dw, T* db) const {
  // A unit is a band of one image and one group; unit i is [image, band, group] in row-major order.
  const Index perImage = bands_.perImage(), units = sum_.batch * perImage * sum_.groups;
  const Index weights = allOutputs() * columns();
  T* allSums = context.scratch<T>(sumsAt_);
  const Index work = units * Index(bands_.vectors(0).size()) * sum_.outChannels * columns();
  parallelPieces(context.threads(padded_), parts_, work,
                 [=, this, &context](int piece, Index first, Index last) {
                   T* padded = context.scratch<T>(padded_, piece);
                   T* gathered = context.scratch<T>(gathered_, piece);
                   for (Index part = first; part < last; ++part) {
                     T* sums = allSums + part * sumsOfPart();
                     std::fill_n(sums, sumsOfPart(), T(0));
                     for (Index i = units * part / parts_; i < units * (part + 1) / parts_; ++i) {
                       const Bands::Band band = bands_.band(
                           i / sum_.groups / perImage, i % sum_.groups, i / sum_.groups % perImage);
                       bands_.load(band, x, padded);
                       runBand(band, padded, dy, gathered, sums);
                     }
                   }
                 });
  // to[i] += the sum over all parts of their partial sums first + i, in the order of the parts.
  const auto add = [&](Index first, Index count, T* to) {
    parallelRanges(context.threads(), count, parts_, [=, this](Index begin, Index end) {
      for (Index part = 0; part < parts_; ++part) {
        const T* sums = allSums + part * sumsOfPart() + first;
        for (Index i = begin; i < end; ++i)
          to[i] += sums[i];
      }
    });
  };
  add(0, weights, dw);
  if (db)
    add(weights, allOutputs(), db);
}

template <class T>
void DirectWeights<T>::runBand(const Bands::Band& band, const T* padded, const T* dy, T* gathered,
                               T* sums) const {
  if (gathers_)
    gather(band, dy, gathered);
  const auto& vectors = gathers_ ? gatheredVectors_[band.shape] : bands_.vectors(band.shape);
  const Index count = Index(vectors.size());
  const Index channelStride = gathers_ ? count * kernels_->lanes : sum_.out.strides.channel;
  T* biases = sums + allOutputs() * columns();
  for (Index k = 0; k < sum_.outChannels;) {
    const int block = channelsOfBlock(sum_.outChannels - k, kernels_->maxChannels);
    const Index output = band.group * sum_.outChannels + k;
    const T* first = gathers_ ? gathered + k * channelStride : dy + bands_.firstOutput(band, k);
    kernels_->weights(block,
                      {.x = padded,
                       .offsets = bands_.offsets().data(),
                       .columns = columns(),
                       .dy = first,
                       .dyChannel = channelStride,
                       .dw = sums + output * columns(),
                       .dwChannel = columns()},
                      vectors.data(), count);
    kernels_->biases(block, first, channelStride, vectors.data(), count, biases + output);
    k += block;
  }
}

// Copies dy of the band, channel by channel, into whole vectors, padded with zeros after each row.
template <class T>
void DirectWeights<T>::gather(const Bands::Band& band, const T* dy, T* gathered) const {
  const Index lanes = kernels_->lanes, step = sum_.out.strides.space[2];
  for (Index k = 0; k < sum_.outChannels; ++k) {
    const T* from = dy + bands_.firstOutput(band, k);
    for (const OutputVector& vector : bands_.vectors(band.shape)) {
      for (Index i = 0; i < vector.count; ++i)
        gathered[i] = from[vector.y + i * step];
      std::fill(gathered + vector.count, gathered + lanes, T(0));
      gathered += lanes;
    }
  }
}

// The forward pass and the adjoint with respect to the data: a direct sum, band by band, on several
// threads. At each call the weights are packed in the order in which the loops over blocks of
// channels read them, so a change of the weights is never missed. Packing takes 1 ns per weight, as
// long as the sums for about 25 outputs.

// Bytes of a band's padded input: a fraction of the second-level cache.
constexpr Index kOutputBandBytes = Index(1) << 18;
// Number of output vectors in a strip. All blocks of channels process one strip before any
// processes the next strip, so the input of a strip stays in the first-level cache. A multiple of
// all tile sizes.
constexpr Index kStrip = 24;

template <class T>
class DirectOutputs {
public:
  DirectOutputs(const DirectSum& sum, const DirectKernels<T>& kernels, KernelContext& context);
  // How a sum is stored: out = sum, out += sum, or out = max(0, sum).
  enum class Into { Set, Add, SetRectified };
  // b can be null.
  void run(KernelContext& context, const T* in, const T* w, const T* b, T* out, Into mode) const;

private:
  // The arguments of run(), with the weights packed.
  struct Operands {
    const T *packed, *b;
    T* out;
    Into mode;
  };
  Index columns() const { return static_cast<Index>(bands_.offsets().size()); }
  void pack(KernelContext& context, const T* w, T* packed) const;
  // Band i, numbered over all images and groups.
  Bands::Band bandAt(Index i) const {
    const Index perImage = bands_.perImage();
    return bands_.band(i / perImage / sum_.groups, i / perImage % sum_.groups, i % perImage);
  }
  // `padded` is the padded input of the band.
  void runBand(const Operands& operands, const Bands::Band& band, const T* padded) const;

  DirectSum sum_;
  const DirectKernels<T>* kernels_;
  Bands bands_;
  ThreadScratch padded_;
  Index packedAt_; // offset of the packed weights in the scratch
};

template <class T>
DirectOutputs<T>::DirectOutputs(const DirectSum& sum, const DirectKernels<T>& kernels,
                                KernelContext& context)
    : sum_(sum), kernels_(&kernels),
      bands_(sum, kernels.lanes, kOutputBandBytes / Index(sizeof(T))) {
  ScratchPlan plan;
  packedAt_ = plan.add<T>(sum_.groups * sum_.outChannels * columns());
  padded_ = plan.addForThreads<T>(context.threads(), bands_.elements());
  context.reserve(plan);
}

// Layout of the result: packed[group, block, column, channel of the block].
template <class T>
void DirectOutputs<T>::pack(KernelContext& context, const T* w, T* packed) const {
  const Index full = kernels_->maxChannels, taps = Index(sum_.taps.size());
  const Index blocks = ceilDivide(sum_.outChannels, full);
  parallelRanges(
      context.threads(), sum_.groups * blocks, full * columns(), [=, this](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const Index group = i / blocks, first = i % blocks * full;
          const Index last = std::min(first + full, sum_.outChannels);
          T* to = packed + (group * sum_.outChannels + first) * columns();
          for (Index k = first; k < last;) {
            const int block = channelsOfBlock(last - k, kernels_->maxChannels);
            const T* from = w + group * sum_.weightGroup + k * sum_.weightOut;
            for (Index c = 0; c < sum_.inChannels; ++c)
              for (Index t = 0; t < taps; ++t, to += block)
                for (int j = 0; j < block; ++j)
                  to[j] = from[j * sum_.weightOut + c * sum_.weightIn + sum_.taps[t].weight];
            k += block;
          }
        }
      });
}

template <class T>
void DirectOutputs<T>::run(KernelContext& context, const T* in, const T* w, const T* b, T* out,
                           Into mode) const {
  const Index bands = sum_.batch * sum_.groups * bands_.perImage();
  if (bands == 0)
    return; // an empty sum has planned no memory for packed weights
  T* packed = context.scratch<T>(packedAt_);
  pack(context, w, packed);
  const Operands operands{packed, b, out, mode};
  const Index work = Index(bands_.vectors(0).size()) * sum_.outChannels * columns(); // of a band
  parallelPieces(context.threads(padded_), bands, work,
                 [=, this, &context](int piece, Index begin, Index end) {
                   T* padded = context.scratch<T>(padded_, piece);
                   for (Index i = begin; i < end; ++i) {
                     const Bands::Band band = bandAt(i);
                     bands_.load(band, in, padded);
                     runBand(operands, band, padded);
                   }
                 });
}

template <class T>
void DirectOutputs<T>::runBand(const Operands& operands, const Bands::Band& band,
                               const T* padded) const {
  const std::vector<OutputVector>& vectors = bands_.vectors(band.shape);
  const Index count = Index(vectors.size()), firstChannel = band.group * sum_.outChannels;
  for (Index i = 0; i < count; i += kStrip)
    for (Index k = 0; k < sum_.outChannels;) {
      const int block = channelsOfBlock(sum_.outChannels - k, kernels_->maxChannels);
      const OutputSums<T> sums{.x = padded,
                               .offsets = bands_.offsets().data(),
                               .columns = columns(),
                               .w = operands.packed + (firstChannel + k) * columns(),
                               .b = operands.b ? operands.b + firstChannel + k : nullptr,
                               .y = operands.out + bands_.firstOutput(band, k),
                               .yChannel = sum_.out.strides.channel,
                               .yStep = sum_.out.strides.space[2],
                               .accumulate = operands.mode == Into::Add,
                               .rectifies = operands.mode == Into::SetRectified};
      kernels_->outputs(block, sums, vectors.data() + i, std::min(kStrip, count - i));
      k += block;
    }
}

// The backend: a forward sum, the sums of the adjoint in the data, and the gradients of the
// weights.
template <class T>
class DirectConvolution final : public Convolution<T> {
public:
  DirectConvolution(const ConvolutionShape& shape, KernelContextPtr context, InstructionSet set)
      : context_(std::move(context)), set_(set),
        forward_(forwardSum(shape), directKernels<T>(set), *context_),
        weights_(forwardSum(shape), directKernels<T>(set), *context_) {
    for (const DirectSum& sum : adjointSums(shape))
      data_.emplace_back(sum, directKernels<T>(set), *context_);
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    forward_.run(*context_, x, w, b, y, accumulate ? Into::Add : Into::Set);
  }
  // Fuses a rectifier only: it costs one instruction per vector of outputs, and no memory traffic.
  // Slower functions gain nothing from outputs that are still in the cache.
  bool forwardThen(const T* x, const T* w, const T* b, const PointwiseFunction& f, T* y) override {
    if (f.kind != Pointwise::Relu)
      return false;
    forward_.run(*context_, x, w, b, y, Into::SetRectified);
    return true;
  }
  void adjointData(const T* w, const T* dy, T* dx) override {
    for (const DirectOutputs<T>& residue : data_)
      residue.run(*context_, dy, w, nullptr, dx, Into::Set);
  }
  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    weights_.run(*context_, x, dy, dw, db);
  }

  Backend backend() const override { return Backend::Direct; }
  const char* implementation() const override { return instructionSetName(set_); }

private:
  using Into = typename DirectOutputs<T>::Into;

  KernelContextPtr context_;
  InstructionSet set_;
  DirectOutputs<T> forward_;
  DirectWeights<T> weights_;
  std::vector<DirectOutputs<T>> data_; // one sum for each residue of the stride
};

} // namespace

// The selection: where direct convolution is possible, and where it is faster than oneDNN or BLAS,
// which compute the convolution otherwise.

std::vector<InstructionSet> directInstructionSets() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set : instructionSets())
    if (set != InstructionSet::Baseline && set <= instructionSet())
      sets.push_back(set);
  return sets;
}

std::string whyNotDirect(const WindowShape& window) {
  if (directInstructionSets().empty())
    return "the processor has neither AVX2 with FMA nor NEON";
  if (window.stride[window.rank - 1] > 1)
    return fmt::format("the stride in the last dimension is {}", window.stride[window.rank - 1]);
  return "";
}

template <class T>
InstructionSet directInstructions(const WindowShape& window) {
  const std::vector<InstructionSet> sets = directInstructionSets();
  // A row that fits a narrower vector would leave lanes of the wider one unused.
  for (InstructionSet set : sets)
    if (window.out[window.rank - 1] <= directKernels<T>(set).lanes)
      return set;
  return sets.back();
}

// The bounds were measured with tests/bench/convolution on a processor with AVX-512. The
// alternative is BLAS for double, and for float in a build without oneDNN.
template <class T>
bool isDirectFaster(const ConvolutionShape& shape) {
  // With more channels and fewer outputs BLAS reads the weights less often.
  constexpr Index kManyChannels = 128, kSmallImage = 1024;
  constexpr Index kFewChannels = 16;  // oneDNN pads fewer channels to this number
  constexpr Index kSomeChannels = 32; // above this number oneDNN is as fast
  const WindowShape& w = shape.window;
  if (!whyNotDirect(w).empty() || kernelVolume(w) == 1 || w.out[w.rank - 1] == 1)
    return false; // no input is read twice, or a vector would hold one output
  const Index channels = std::min(shape.inChannels, shape.outChannels) / shape.groups;
  // Outputs of a row, and of a vector.
  const Index row = w.out[w.rank - 1], lanes = directKernels<T>(directInstructions<T>(w)).lanes;
  // Used fraction of the lanes.
  const double laneUse = double(row) / double(ceilDivide(row, lanes) * lanes);
  if (std::is_same_v<T, double> || !hasOneDnn())
    return laneUse >= 0.5 && (channels <= kManyChannels || outputVolume(w) >= kSmallImage);
  if (channels < kFewChannels)
    return laneUse >= 0.75;
  return channels <= kSomeChannels && laneUse >= 0.9 && row >= 2 * lanes;
}

template InstructionSet directInstructions<float>(const WindowShape&);
template InstructionSet directInstructions<double>(const WindowShape&);
template bool isDirectFaster<float>(const ConvolutionShape&);
template bool isDirectFaster<double>(const ConvolutionShape&);

template <class T>
std::unique_ptr<Convolution<T>>
makeDirectConvolution(const ConvolutionShape& shape, KernelContextPtr context, InstructionSet set) {
  return std::make_unique<DirectConvolution<T>>(shape, std::move(context), set);
}

template std::unique_ptr<Convolution<float>>
makeDirectConvolution<float>(const ConvolutionShape&, KernelContextPtr, InstructionSet);
template std::unique_ptr<Convolution<double>>
makeDirectConvolution<double>(const ConvolutionShape&, KernelContextPtr, InstructionSet);

} // namespace tenon
