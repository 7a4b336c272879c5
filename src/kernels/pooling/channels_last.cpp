// SPDX-License-Identifier: BSD-2-Clause
// Maxima over windows of images whose channels are last in memory, for inference, in which the
// positions of the maxima are not needed. All channels of an output are neighbours, and the inner
// loop compares two rows of channels without branches. maximaChannelsLast() is declared in
// pooling.hpp.
//
//   y[n, o, :] = max over the taps t of x[n, i(o, t), :]
#include "kernels/base/instruction_set.hpp"
#include "kernels/base/maximum.hpp"
#include "kernels/base/parallel.hpp"
#include "kernels/pooling/pooling.hpp"

#include <algorithm>

namespace tenon {

template <class T>
void maximaChannelsLast(KernelContext& context, const ImageWindows& images, const T* x, T* y) {
  const WindowShape w = embedWindow(images.window);
  const Index channels = images.channels, inputs = inputVolume(w), outputs = outputVolume(w);
  parallelRanges(context.threads(), images.batch * outputs, channels * kernelVolume(w),
                 [=](Index begin, Index end) {
                   vectorised([=] {
                     for (Index row = begin; row < end; ++row) {
                       const Index flat = row % outputs;
                       const Position o = {flat / (w.out[1] * w.out[2]), flat / w.out[2] % w.out[1],
                                           flat % w.out[2]};
                       const T* const image = x + row / outputs * inputs * channels;
                       T* const best = y + row * channels;
                       bool begins = true;
                       forEachRead(w, o, [&](Index, Index i) {
                         const T* const values = image + i * channels;
                         if (begins)
                           std::copy_n(values, channels, best);
                         else
                           for (Index c = 0; c < channels; ++c)
                             best[c] = beats(values[c], best[c]) ? values[c] : best[c];
                         begins = false;
                       });
                     }
                   });
                 });
}

template void maximaChannelsLast<float>(KernelContext&, const ImageWindows&, const float*, float*);
template void maximaChannelsLast<double>(KernelContext&, const ImageWindows&, const double*,
                                         double*);

} // namespace tenon
