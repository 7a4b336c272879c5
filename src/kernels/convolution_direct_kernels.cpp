// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/convolution_direct_kernels.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

template <class T>
const DirectKernels<T>& directKernels(InstructionSet set) {
#ifdef __x86_64__
  return set == InstructionSet::Avx2 ? directKernelsAvx2<T>() : directKernelsAvx512<T>();
#else
  throw Error(TENON_ERR_INTERNAL, fmt::format("there are no kernels for {} on this processor",
                                              instructionSetName(set)));
#endif
}

template const DirectKernels<float>& directKernels<float>(InstructionSet);
template const DirectKernels<double>& directKernels<double>(InstructionSet);

} // namespace tenon
