// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution_direct_weights.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kBandBytes = Index(1) << 19; // of the padded input
constexpr Index kMostParts = 16;
constexpr Index kOutputsOfPart = 1024; // fewer are not worth sums of their own

} // namespace

template <class T>
DirectWeights<T>::DirectWeights(const DirectSum& forward, const DirectKernels<T>& kernels,
                                KernelContext& context)
    : sum_(forward), kernels_(&kernels),
      bands_(forward, kernels.lanes, kBandBytes / Index(sizeof(T))),
      gathers_(sum_.out.strides.space[2] != 1 || sum_.out.extent[2] % kernels.lanes != 0) {
  const auto& out = sum_.out.extent;
  parts_ = std::clamp<Index>(sum_.batch * out[0] * out[1] * out[2] / kOutputsOfPart, 1, kMostParts);
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
  sums_ = plan.add<T>(parts_ * sumsOfPart());
  padded_ = plan.addForThreads<T>(context.threads(), bands_.cells());
  gathered_ = plan.addForThreads<T>(context.threads(),
                                    sum_.outChannels * Index(mostVectors) * kernels.lanes);
  context.reserve(plan);
}

template <class T>
void DirectWeights<T>::run(KernelContext& context, const T* x, const T* dy, T* dw, T* db) const {
  const Index perImage = bands_.perImage(), units = sum_.batch * perImage * sum_.groups;
  const Index weights = allOutputs() * columns();
  T* allSums = context.scratch<T>(sums_);
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
  const Index channel = gathers_ ? count * kernels_->lanes : sum_.out.strides.channel;
  T* biases = sums + allOutputs() * columns();
  for (Index k = 0; k < sum_.outChannels;) {
    const int block = channelsOfBlock(sum_.outChannels - k, kernels_->mostChannels);
    const Index output = band.group * sum_.outChannels + k;
    const T* first = gathers_ ? gathered + k * channel : dy + bands_.firstOutput(band, k);
    kernels_->weights(block,
                      {padded, bands_.offsets().data(), columns(), first, channel,
                       sums + output * columns(), columns()},
                      vectors.data(), count);
    kernels_->biases(block, first, channel, vectors.data(), count, biases + output);
    k += block;
  }
}

// dy of the band by channels, in whole vectors with zeros behind the outputs.
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

template class DirectWeights<float>;
template class DirectWeights<double>;

} // namespace tenon
