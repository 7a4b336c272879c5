// SPDX-License-Identifier: BSD-2-Clause
// Reductions of groups of terms on the device: a group is reduced in pieces by the functors of
// functors/reduce.hpp, and the pieces then to one value. Below are walks and reductions along the middle
// dimension of arrays [outer, n, inner].
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/reduce.hpp"
#include "kernels/rows/axis_shape.hpp"
#include "kernels/walks/each.hpp"

#include <algorithm>
#include <vector>

namespace tenon::device {

// How blocks of threads are divided for groups of n such terms.
template <class Term>
functors::BlockShape blockShape(Index n, const Term& term) {
  constexpr Index kShort = 512;
  if constexpr (requires { term.groupsAreCloser(); })
    if (term.groupsAreCloser())
      return {3, 1};
  return {n < kShort ? 5 : functors::BlockShape::kMostBits, 0};
}

// Reduces each group in as many pieces as give each thread little to do, in about mostBlocks blocks at most;
// useOf(pieces) is what becomes of their values. Short groups are left to one thread each.
template <class Op, class Term, class UseOf>
void reduceInPieces(KernelContext& context, Index groups, Index n, Index mostBlocks,
                    const Term& term, typename Term::Wide neutral, const UseOf& useOf) {
  using Use = decltype(useOf(n));
  constexpr Index kForOneThread = 32;
  if (n < kForOneThread)
    return eachElement(context.stream(), groups,
                       functors::GroupLoops<Op, Term, Use>{term, useOf(1), neutral, n});
  const functors::BlockShape shape = blockShape(n, term);
  const Index bundles = (groups + shape.groups() - 1) / shape.groups();
  const Index most = std::max(Index(1), mostBlocks / bundles), piece = 16 * shape.lanes();
  const Index pieces = std::clamp<Index>((n + piece - 1) / piece, 1, most);
  eachBlock(context.stream(), bundles * pieces,
            functors::GroupTrees<Op, Term, Use>{
                term, useOf(pieces), neutral, shape, static_cast<unsigned>(pieces),
                static_cast<unsigned>(groups), n, (n + pieces - 1) / pieces});
}

// The values of groups in pieces, in memory of the context that the next reduction overwrites.
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

// The value of the terms i < n of one group on the host, which waits for it and reduces the pieces itself.
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

// f.write(place, f.read(place in [outer, n, inner], place in [outer, inner])), or that of f.line() (functors/axis.hpp), for
// each element of the former; for `what` see checkElementCount().
template <class F>
void eachAlongAxis(KernelContext& context, const AxisShape& shape, const char* what, const F& f) {
  checkElementCount(shape.outer * shape.n * shape.inner, what);
  if (shape.outer * shape.n * shape.inner == 0)
    return;
  const functors::AlongAxis<F> strips(shape.outer, shape.n, shape.inner, f);
  eachElement(context.stream(), strips.strips(), strips);
}

// use(place in [outer, inner], Op of its n terms) for each place.
template <class Op, class Wide, class Term, class Use>
void reduceAlongAxis(KernelContext& context, const AxisShape& shape, const char* what,
                     const Term& term, Wide neutral, const Use& use) {
  const Index extent[] = {shape.outer, shape.inner}, steps[] = {shape.n * shape.inner, 1};
  const Index groups = shape.outer * shape.inner;
  checkElementCount(groups, what);
  if (groups > 0)
    reduceEach<Op>(context, groups, shape.n,
                   functors::AxisTerm<Wide, Term>{{2, extent, {steps}}, shape.inner, term}, neutral,
                   use);
}

} // namespace tenon::device
