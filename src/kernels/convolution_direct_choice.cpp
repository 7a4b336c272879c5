// SPDX-License-Identifier: BSD-2-Clause
// Where direct convolution is possible, and where it is faster than the library that would take its place.
#include "kernels/backend.hpp"
#include "kernels/convolution_backends.hpp"
#include "kernels/convolution_direct_kernels.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace tenon {

std::vector<InstructionSet> directInstructionSets() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set : instructionSets())
    if (set != InstructionSet::Baseline && set <= instructionSet())
      sets.push_back(set);
  return sets;
}

std::string whyNotDirect(const WindowShape& window) {
  if (directInstructionSets().empty())
    return "the processor has no AVX2 and FMA";
  if (window.stride[window.rank - 1] > 1)
    return fmt::format("the stride in the last dimension is {}", window.stride[window.rank - 1]);
  return "";
}

template <class T>
InstructionSet directInstructions(const WindowShape& window) {
  const std::vector<InstructionSet> sets = directInstructionSets();
  for (InstructionSet set : sets)
    if (window.out[window.rank - 1] <= directKernels<T>(set).lanes)
      return set;
  return sets.back();
}

// As tests/bench/convolution measures it on a processor with AVX-512. What would take the place is BLAS for double, and for
// float where there is no oneDNN.
template <class T>
bool isDirectFaster(const ConvolutionShape& shape) {
  constexpr Index kManyChannels = 128,
                  kSmallImage = 1024; // beyond them BLAS reads weights less often
  constexpr Index kFewChannels = 16;  // fewer are padded by oneDNN
  constexpr Index kSomeChannels = 32; // above them oneDNN is as fast
  const WindowShape& w = shape.window;
  if (!whyNotDirect(w).empty() || kernelVolume(w) == 1)
    return false;
  const Index channels = std::min(shape.inChannels, shape.outChannels) / shape.groups;
  const Index row = w.out[w.rank - 1], lanes = directKernels<T>(directInstructions<T>(w)).lanes;
  const double use = double(row) / double(ceilDivide(row, lanes) * lanes); // of the vectors' lanes
  if (std::is_same_v<T, double> || !hasOneDnn())
    return use >= 0.5 && (channels <= kManyChannels || outputVolume(w) >= kSmallImage);
  if (channels < kFewChannels)
    return use >= 0.75;
  return channels <= kSomeChannels && use >= 0.9 && row >= 2 * lanes;
}

template InstructionSet directInstructions<float>(const WindowShape&);
template InstructionSet directInstructions<double>(const WindowShape&);
template bool isDirectFaster<float>(const ConvolutionShape&);
template bool isDirectFaster<double>(const ConvolutionShape&);

} // namespace tenon
