// SPDX-License-Identifier: BSD-2-Clause
// The weights are packed at each call, as the blocks of channels read them, so that no change of them can
// be missed: 1 ns for each, as the sums take for each weight and 25 outputs.
#include "kernels/convolution_direct_outputs.hpp"

namespace tenon {

namespace {

constexpr Index kBandBytes = Index(1)
                             << 18; // of the padded input: a part of the second-level cache
constexpr Index kStrip = 24; // vectors for which the blocks of channels take turns, in whole tiles

} // namespace

template <class T>
DirectOutputs<T>::DirectOutputs(const DirectSum& sum, const DirectKernels<T>& kernels,
                                KernelContext& context)
    : sum_(sum), kernels_(&kernels), bands_(sum, kernels.lanes, kBandBytes / Index(sizeof(T))) {
  ScratchPlan plan;
  packed_ = plan.add<T>(sum_.groups * sum_.outChannels * columns());
  padded_ = plan.addForThreads<T>(context.threads(), bands_.cells());
  context.reserve(plan);
}

// packed[group, block, column, channel of the block]
template <class T>
void DirectOutputs<T>::pack(KernelContext& context, const T* w, T* packed) const {
  const Index most = kernels_->mostChannels, taps = Index(sum_.taps.size());
  const Index blocks = ceilDivide(sum_.outChannels, most);
  parallelRanges(
      context.threads(), sum_.groups * blocks, most * columns(), [=, this](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
          const Index group = i / blocks, first = i % blocks * most;
          const Index last = std::min(first + most, sum_.outChannels);
          T* to = packed + (group * sum_.outChannels + first) * columns();
          for (Index k = first; k < last;) {
            const int block = channelsOfBlock(last - k, kernels_->mostChannels);
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
                           bool accumulate) const {
  const Index bands = sum_.batch * sum_.groups * bands_.perImage();
  if (bands == 0)
    return; // nor has the scratch room for the weights
  T* packed = context.scratch<T>(packed_);
  pack(context, w, packed);
  const Call call{packed, b, out, accumulate};
  const Index work = Index(bands_.vectors(0).size()) * sum_.outChannels * columns(); // of a band
  parallelPieces(context.threads(padded_), bands, work,
                 [=, this, &context](int piece, Index begin, Index end) {
                   T* padded = context.scratch<T>(padded_, piece);
                   for (Index i = begin; i < end; ++i) {
                     const Bands::Band band = bandAt(i);
                     bands_.load(band, in, padded);
                     runBand(call, band, padded);
                   }
                 });
}

template <class T>
void DirectOutputs<T>::runBand(const Call& call, const Bands::Band& band, const T* padded) const {
  const std::vector<OutputVector>& vectors = bands_.vectors(band.shape);
  const Index count = Index(vectors.size()), firstChannel = band.group * sum_.outChannels;
  for (Index i = 0; i < count; i += kStrip)
    for (Index k = 0; k < sum_.outChannels;) {
      const int block = channelsOfBlock(sum_.outChannels - k, kernels_->mostChannels);
      const OutputSums<T> sums{padded,
                               bands_.offsets().data(),
                               columns(),
                               call.packed + (firstChannel + k) * columns(),
                               call.b ? call.b + firstChannel + k : nullptr,
                               call.out + bands_.firstOutput(band, k),
                               sum_.out.strides.channel,
                               sum_.out.strides.space[2],
                               call.accumulate};
      kernels_->outputs(block, sums, vectors.data() + i, std::min(kStrip, count - i));
      k += block;
    }
}

template class DirectOutputs<float>;
template class DirectOutputs<double>;

} // namespace tenon
