// SPDX-License-Identifier: BSD-2-Clause
// Macros by which the .cu files instantiate elementwise kernels (TENON_ELEMENTS), kernels of thread
// blocks (TENON_BLOCKS) and reductions. A reduction has two stages (functors/reduce.hpp):
// TENON_GROUPS lists its terms, which are reduced to pieces; TENON_ENDS lists the final stages,
// which reduce the pieces and use the result. Groups that need no pieces are reduced in one stage:
// TENON_WHOLE lists its terms and their use, unless TENON_GROUPS has them, StoreGroup<Wide, Wide>.
// Op is the binary operation, and Wide the type of the result.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/functors/reduce.hpp"

namespace tenon::functors {

// The first stage, which stores its pieces: a loop per thread, and a tree per thread block.
template <class Op, class Term>
using TermLoops = GroupLoops<Op, Term, StoreGroup<typename Term::Wide, typename Term::Wide>>;
template <class Op, class Term>
using TermTrees = GroupTrees<Op, Term, StoreGroup<typename Term::Wide, typename Term::Wide>>;

} // namespace tenon::functors

#define TENON_ELEMENTS(...) template void eachElement(const Stream&, Index, const __VA_ARGS__&);
#define TENON_BLOCKS(...) template void eachThreadBlock(const Stream&, Index, const __VA_ARGS__&);
#define TENON_GROUPS(Op, ...)                                                                      \
  TENON_ELEMENTS(TermLoops<Op, __VA_ARGS__>)                                                       \
  TENON_BLOCKS(TermTrees<Op, __VA_ARGS__>)
#define TENON_WHOLE(...) /* Op, Term, Use */                                                       \
  TENON_ELEMENTS(GroupLoops<__VA_ARGS__>)                                                          \
  TENON_BLOCKS(GroupTrees<__VA_ARGS__>)
#define TENON_ENDS(Op, Wide, ...) TENON_WHOLE(Op, PieceTerm<Wide>, __VA_ARGS__)
