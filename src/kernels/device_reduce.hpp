// SPDX-License-Identifier: BSD-2-Clause
// Reductions of groups of terms on the device (functors/reduce.hpp): their pieces, and their ends.
#pragma once

#include "kernels/context.hpp"
#include "kernels/functors/reduce.hpp"
#include "kernels/pairwise_sum.hpp"

#include <vector>

namespace tenon::device {

// Parts of each group's value, [groups, pieces], until the next reduction.
template <class Wide>
struct GroupParts {
  Wide* values;
  Index pieces;
};

template <class Op, class Term>
GroupParts<typename Term::Wide> reduceGroups(KernelContext& context, Index groups, Index n,
                                             const Term& term, typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  constexpr Index kForOneThread = 64, kPiece = 4096, kBlocks = 1024;
  const bool loops = n < kForOneThread;
  const Index pieces =
      loops ? 1
            : std::clamp<Index>((n + kPiece - 1) / kPiece, 1, std::max(Index(1), kBlocks / groups));
  Wide* const to = context.parts<Wide>(groups * pieces);
  if (loops)
    eachElement(context.stream(), groups, functors::GroupLoops<Op, Term>{term, neutral, n, to});
  else
    eachBlock(context.stream(), groups * pieces,
              functors::GroupTrees<Op, Term>{term, neutral, n, (n + pieces - 1) / pieces,
                                             static_cast<unsigned>(pieces), to});
  return {to, pieces};
}

// use(group, value) for each group, on the device.
template <class Op, class Term, class Use>
void reduceEach(KernelContext& context, Index groups, Index n, const Term& term,
                typename Term::Wide neutral, const Use& use) {
  using Wide = typename Term::Wide;
  if (groups <= 0)
    return;
  const GroupParts<Wide> parts = reduceGroups<Op>(context, groups, n, term, neutral);
  eachElement(context.stream(), groups,
              functors::GroupEnds<Op, Wide, Use>{parts.values, neutral, parts.pieces, use});
}

// The value of the terms i < n of one group on the host, which waits for it.
template <class Op, class Term>
typename Term::Wide reduceAll(KernelContext& context, Index n, const Term& term,
                              typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  const GroupParts<Wide> parts = reduceGroups<Op>(context, 1, n, term, neutral);
  std::vector<Wide> values(static_cast<std::size_t>(parts.pieces));
  context.fetch(values.data(), parts.values, parts.pieces * Index(sizeof(Wide)));
  Wide all = neutral;
  for (const Wide value : values)
    all = Op{}(all, value);
  return all;
}

} // namespace tenon::device
