// SPDX-License-Identifier: BSD-2-Clause
// Copies between arrays of any strides and staged copies, by the kernels that move blocks. The box
// of an array is rotated to channels last, in which the copy is row-major.
#include "kernels/cuda/dnn_staging.hpp"

#include "kernels/movement/bfloat16.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/memory/memory.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon::cuda {

namespace {

// The box with the channels (second dimension) moved to the end.
ArrayBox channelsLast(ArrayBox box) {
  for (std::vector<Index>* list : {&box.extent, &box.strides})
    std::rotate(list->begin() + 1, list->begin() + 2, list->end());
  return box;
}

std::vector<Index> rowMajor(const std::vector<Index>& extent) {
  std::vector<Index> strides(extent.size());
  for (std::size_t d = extent.size(), step = 1; d-- > 0; step *= std::size_t(extent[d]))
    strides[d] = Index(step);
  return strides;
}

} // namespace

ConvolutionGraph staged(ConvolutionGraph g) {
  if (g.staging == Staging::BFloat16)
    g.type = CUDNN_DATA_BFLOAT16;
  g.alignment = kAlignment;
  g.beta = 0;
  for (ArrayBox* box : {&g.x, &g.w, &g.y}) {
    box->strides = rowMajor(channelsLast(*box).extent);
    std::rotate(box->strides.begin() + 1, box->strides.end() - 1, box->strides.end());
  }
  return g;
}

Index bytesOfCopy(const ConvolutionGraph& g, const std::vector<Index>& extent) {
  const Index element = Index(g.staging == Staging::BFloat16 ? sizeof(BFloat16) : sizeof(float));
  return roundedUp(std::accumulate(extent.begin(), extent.end(), element, std::multiplies<>()),
                   kAlignment);
}

Index stagedBytes(const ConvolutionGraph& g) {
  if (g.staging == Staging::None)
    return 0;
  Index sum = g.epilogue == Epilogue::None ? 0 : bytesOfCopy(g, {g.y.extent[1]});
  for (const ArrayBox* box : {&g.x, &g.w, &g.y})
    sum += bytesOfCopy(g, box->extent);
  return sum;
}

void stage(KernelContext& context, Staging form, const ArrayBox& array, const void* from,
           void* to) {
  const ArrayBox box = channelsLast(array);
  const int rank = int(box.extent.size());
  const auto* values = static_cast<const float*>(from);
  if (form == Staging::BFloat16)
    return roundToBFloat16(context, rank, box.extent.data(), values, box.strides.data(),
                           static_cast<BFloat16*>(to));
  blockCombine(context, Combine::Copy, rank, box.extent.data(), values, box.strides.data(),
               static_cast<float*>(to), rowMajor(box.extent).data());
}

void unstage(KernelContext& context, Staging form, const ArrayBox& array, const void* from,
             bool adds, void* to) {
  const ArrayBox box = channelsLast(array);
  const int rank = int(box.extent.size());
  auto* values = static_cast<float*>(to);
  if (form == Staging::BFloat16)
    return expandBFloat16(context, rank, box.extent.data(), static_cast<const BFloat16*>(from),
                          adds, values, box.strides.data());
  blockCombine(context, adds ? Combine::Add : Combine::Copy, rank, box.extent.data(),
               static_cast<const float*>(from), rowMajor(box.extent).data(), values,
               box.strides.data());
}

} // namespace tenon::cuda
