// SPDX-License-Identifier: BSD-2-Clause
// Selects the table of loops for an instruction set. Each set is a separate file that includes
// direct_kernels.inc with its own vector width. The baseline has no table: whyNotDirect() rejects
// it.
#include "kernels/convolution/direct_kernels.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

template <class T>
const DirectKernels<T>& directKernels(InstructionSet set) {
#ifdef TENON_HAS_NEON
  if (set == InstructionSet::Neon)
    return directKernelsNeon<T>();
#endif
#ifdef TENON_HAS_AVX512
  if (set == InstructionSet::Avx512)
    return directKernelsAvx512<T>();
#endif
#ifdef TENON_HAS_AVX2
  if (set == InstructionSet::Avx2)
    return directKernelsAvx2<T>();
#endif
  throw Error(TENON_ERR_INTERNAL,
              fmt::format("no direct convolution is compiled for '{}'", instructionSetName(set)));
}

template const DirectKernels<float>& directKernels<float>(InstructionSet);
template const DirectKernels<double>& directKernels<double>(InstructionSet);

} // namespace tenon
