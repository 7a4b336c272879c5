// SPDX-License-Identifier: BSD-2-Clause
// Reductions of groups of terms on the device: a group is reduced in pieces by the functors of
// functors/reduce.hpp, and the pieces then to one value. Below are walks and reductions along the
// middle dimension of arrays [outer, n, inner].
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
  return {n < kShort ? 5 : functors::BlockShape::kMaxBits, 0};
}

// Shorter groups are left to one thread each.
constexpr Index kMinForLanes = 32;

// Into how many pieces a group is divided, so that each thread has little to do in about mostBlocks
// blocks at most.
template <class Term>
Index piecesOf(Index groups, Index n, Index mostBlocks, const Term& term) {
  if (n < kMinForLanes)
    return 1;
  const functors::BlockShape shape = blockShape(n, term);
  const Index bundles = (groups + shape.groups() - 1) / shape.groups();
  const Index most = std::max(Index(1), mostBlocks / bundles), piece = 16 * shape.lanes();
  return std::clamp<Index>((n + piece - 1) / piece, 1, most);
}

// Reduces each group in so many pieces; `use` is what becomes of their values.
template <class Op, class Term, class Use>
void reduceInPieces(KernelContext& context, Index groups, Index n, Index pieces, const Term& term,
                    typename Term::Wide neutral, const Use& use) {
  if (n < kMinForLanes)
    return eachElement(context.stream(), groups,
                       functors::GroupLoops<Op, Term, Use>{term, use, neutral, n});
  const functors::BlockShape shape = blockShape(n, term);
  const Index bundles = (groups + shape.groups() - 1) / shape.groups();
  eachBlock(context.stream(), bundles * pieces,
            functors::GroupTrees<Op, Term, Use>{
                term, use, neutral, shape, static_cast<unsigned>(pieces),
                static_cast<unsigned>(groups), n, (n + pieces - 1) / pieces});
}

constexpr Index kMaxBlocks = 1024; // of a reduction

// use(group, value) for each group, on the device.
template <class Op, class Term, class Use>
void reduceEach(KernelContext& context, Index groups, Index n, const Term& term,
                typename Term::Wide neutral, const Use& use) {
  using Wide = typename Term::Wide;
  if (groups <= 0)
    return;
  const Index pieces = piecesOf(groups, n, kMaxBlocks, term);
  Wide* const parts = context.parts<Wide>(groups * pieces);
  reduceInPieces<Op>(context, groups, n, pieces, term, neutral,
                     functors::StoreGroup<Wide, Wide>{parts});
  const functors::PieceTerm<Wide> part{parts, pieces};
  reduceInPieces<Op>(context, groups, pieces, piecesOf(groups, pieces, 1, part), part, neutral,
                     use);
}

// A group of its own, of n terms.
template <class Term>
struct OneGroup {
  Term term;
  Index n;
};

// The value of all terms of several groups on the host, which waits once for their pieces and
// reduces these itself.
template <class Op, class Term>
typename Term::Wide reduceAll(KernelContext& context, const std::vector<OneGroup<Term>>& groups,
                              typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  std::vector<Index> pieces;
  Index all = 0;
  for (const auto& [term, n] : groups)
    all += pieces.emplace_back(piecesOf(1, n, kMaxBlocks, term));
  Wide* const parts = context.parts<Wide>(all);
  Index first = 0;
  for (std::size_t g = 0; g < groups.size(); first += pieces[g++])
    reduceInPieces<Op>(context, 1, groups[g].n, pieces[g], groups[g].term, neutral,
                       functors::StoreGroup<Wide, Wide>{parts + first});
  std::vector<Wide> values(static_cast<std::size_t>(all));
  context.fetch(values.data(), parts, all * Index(sizeof(Wide)));
  Wide result = neutral;
  for (const Wide value : values)
    result = Op{}(result, value);
  return result;
}

// f.write(place, f.read(place in [outer, n, inner], place in [outer, inner])), or that of f.line()
// (functors/axis.hpp), for each element of the former; for `what` see checkElementCount().
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
