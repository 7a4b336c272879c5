// SPDX-License-Identifier: BSD-2-Clause
// Reductions of groups of terms on the device (functors/reduce.hpp): their pieces, and their ends.
#pragma once

#include "kernels/context.hpp"
#include "kernels/functors/reduce.hpp"

#include <algorithm>
#include <vector>

namespace tenon::device {

// visit(shape) with how blocks are divided for groups of n such terms.
template <class Term, class Visit>
void withBlockShape(Index n, const Term& term, const Visit& visit) {
  constexpr Index kShort = 512;
  if constexpr (requires { term.groupsAreCloser(); })
    if (term.groupsAreCloser())
      return visit(functors::Columns{});
  if (n < kShort)
    visit(functors::ShortRows{});
  else
    visit(functors::OneRow{});
}

// In as many pieces as give each thread little to do, and about so many blocks at most; useOf(pieces) is their use.
template <class Op, class Term, class UseOf>
void reduceInPieces(KernelContext& context, Index groups, Index n, Index mostBlocks,
                    const Term& term, typename Term::Wide neutral, const UseOf& useOf) {
  using Use = decltype(useOf(n));
  constexpr Index kForOneThread = 32;
  if (n < kForOneThread)
    return eachElement(context.stream(), groups,
                       functors::GroupLoops<Op, Term, Use>{term, useOf(1), neutral, n});
  withBlockShape(n, term, [&]<class Shape>(Shape) {
    const Index bundles = (groups + Shape::kGroups - 1) / Shape::kGroups;
    const Index pieces = std::clamp<Index>((n + Shape::kPiece - 1) / Shape::kPiece, 1,
                                           std::max(Index(1), mostBlocks / bundles));
    eachBlock(context.stream(), bundles * pieces,
              functors::GroupTrees<Op, Shape, Term, Use>{term, useOf(pieces), neutral, groups, n,
                                                         (n + pieces - 1) / pieces,
                                                         static_cast<unsigned>(pieces)});
  });
}

// The values of groups in pieces, which are there until the next reduction.
template <class Op, class Term>
functors::PieceTerm<typename Term::Wide> reduceGroups(KernelContext& context, Index groups, Index n,
                                                      const Term& term,
                                                      typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  constexpr Index kMostBlocks = 1024;
  functors::PieceTerm<Wide> parts{};
  reduceInPieces<Op>(context, groups, n, kMostBlocks, term, neutral, [&](Index pieces) {
    Wide* const to = context.parts<Wide>(groups * pieces);
    parts = {to, pieces};
    return functors::StoreGroup<Wide, Wide>{to};
  });
  return parts;
}

// use(group, value) for each group, on the device.
template <class Op, class Term, class Use>
void reduceEach(KernelContext& context, Index groups, Index n, const Term& term,
                typename Term::Wide neutral, const Use& use) {
  if (groups <= 0)
    return;
  const auto parts = reduceGroups<Op>(context, groups, n, term, neutral);
  reduceInPieces<Op>(context, groups, parts.pieces, 1, parts, neutral, [&](Index) { return use; });
}

// The value of the terms i < n of one group on the host, which waits for it.
template <class Op, class Term>
typename Term::Wide reduceAll(KernelContext& context, Index n, const Term& term,
                              typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  const auto parts = reduceGroups<Op>(context, 1, n, term, neutral);
  std::vector<Wide> values(static_cast<std::size_t>(parts.pieces));
  context.fetch(values.data(), parts.values, parts.pieces * Index(sizeof(Wide)));
  Wide all = neutral;
  for (const Wide value : values)
    all = Op{}(all, value);
  return all;
}

} // namespace tenon::device
