// SPDX-License-Identifier: BSD-2-Clause
// The macros by which the .cu files list walks by element and reductions. TENON_GROUPS lists the
// terms of a reduction, which leave pieces; TENON_ENDS lists what reduces the pieces and uses the
// result.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/functors/reduce.hpp"

namespace tenon::functors {

// The reductions of terms, in loops of one thread and in trees of a block, which store their
// pieces.
template <class Op, class Term>
using TermLoops = GroupLoops<Op, Term, StoreGroup<typename Term::Wide, typename Term::Wide>>;
template <class Op, class Term>
using TermTrees = GroupTrees<Op, Term, StoreGroup<typename Term::Wide, typename Term::Wide>>;

} // namespace tenon::functors

#define TENON_ELEMENTS(...) template void eachElement(const Stream&, Index, const __VA_ARGS__&);
#define TENON_BLOCKS(...) template void eachBlock(const Stream&, Index, const __VA_ARGS__&);
#define TENON_GROUPS(Op, ...)                                                                      \
  TENON_ELEMENTS(TermLoops<Op, __VA_ARGS__>)                                                       \
  TENON_BLOCKS(TermTrees<Op, __VA_ARGS__>)
#define TENON_ENDS(Op, Wide, ...)                                                                  \
  TENON_ELEMENTS(GroupLoops<Op, PieceTerm<Wide>, __VA_ARGS__>)                                     \
  TENON_BLOCKS(GroupTrees<Op, PieceTerm<Wide>, __VA_ARGS__>)
