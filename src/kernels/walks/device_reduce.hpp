// SPDX-License-Identifier: BSD-2-Clause
// Reductions on the device, in two stages: the n terms of a sum are divided into pieces, which many
// thread blocks reduce to one value each, and then these values are reduced to one. With n = 10^6
// there are 245 pieces of 4082 terms. The functors of both stages are in functors/reduce.hpp, which
// also explains the arguments:
//     Op       binary operation of the reduction, such as AddTo or MaxTo
//     Term     computes term i of a group; Wide is the type of the result
//     Use      receives the result of a group, and stores it
// A group is one of several independent reductions, such as a row:
//     reduceEach()       many groups; the results remain on the device. It needs one stage if no
//                        group is divided into pieces
//     reduceInStages()   one group or few, always in two stages: fewer kernels to compile
//     reduceAll()        all groups together, to one value that the host waits for
//     eachAlongAxis(), reduceAlongAxis()    along the middle dimension of arrays [outer, n, inner]
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/functors/axis.hpp"
#include "kernels/functors/reduce.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"

#include <algorithm>
#include <vector>

namespace tenon::device {

// Division of a thread block for groups of n such terms: 8 lanes if neighbouring groups are read
// together, 32 lanes (a warp) for short groups, else the whole block.
template <class Term>
functors::BlockShape blockShape(Index n, const Term& term) {
  constexpr Index kShort = 512;
  if constexpr (requires { term.groupsAreCloser(); })
    if (term.groupsAreCloser())
      return {.bits = 3, .isAcross = 1};
  return {.bits = n < kShort ? 5 : functors::BlockShape::kMaxBits, .isAcross = 0};
}

// Groups with fewer terms are reduced by one thread each.
constexpr Index kMinForLanes = 32;

// Number of pieces of a group. A thread has about 16 terms, unless this would need more than about
// mostBlocks thread blocks.
template <class Term>
Index piecesOf(Index groups, Index n, Index mostBlocks, const Term& term) {
  if (n < kMinForLanes)
    return 1;
  const functors::BlockShape shape = blockShape(n, term);
  // A thread block processes shape.groups() groups together, a bundle.
  const Index bundles = (groups + shape.groups() - 1) / shape.groups();
  constexpr Index kTermsOfThread = 16;
  const Index maxPieces = std::max(Index(1), mostBlocks / bundles),
              termsOfPiece = kTermsOfThread * shape.lanes();
  return std::clamp<Index>((n + termsOfPiece - 1) / termsOfPiece, 1, maxPieces);
}

// One stage: reduces each group in `pieces` pieces, and calls use(group * pieces + piece, value).
template <class Op, class Term, class Use>
void reduceInPieces(KernelContext& context, Index groups, Index n, Index pieces, const Term& term,
                    typename Term::Wide neutral, const Use& use) {
  if (n < kMinForLanes)
    return eachElement(context.stream(), groups,
                       functors::GroupLoops<Op, Term, Use>{term, use, neutral, n});
  const functors::BlockShape shape = blockShape(n, term);
  const Index bundles = (groups + shape.groups() - 1) / shape.groups();
  eachThreadBlock(context.stream(), bundles * pieces,
                  functors::GroupTrees<Op, Term, Use>{
                      term, use, neutral, shape, static_cast<unsigned>(pieces),
                      static_cast<unsigned>(groups), n, (n + pieces - 1) / pieces});
}

constexpr Index kMaxBlocks = 1024; // thread blocks per reduction

// Calls use(group, value) for each group, on the device, after all terms have been read.
template <class Op, class Term, class Use>
void reduceInStages(KernelContext& context, Index groups, Index n, const Term& term,
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

// Calls use(group, value) for each group, on the device. use() must not write what term() reads.
template <class Op, class Term, class Use>
void reduceEach(KernelContext& context, Index groups, Index n, const Term& term,
                typename Term::Wide neutral, const Use& use) {
  if (groups > 0 && piecesOf(groups, n, kMaxBlocks, term) == 1)
    return reduceInPieces<Op>(context, groups, n, 1, term, neutral, use);
  reduceInStages<Op>(context, groups, n, term, neutral, use);
}

// A separate group of n terms.
template <class Term>
struct OneGroup {
  Term term;
  Index n;
};

// Reduces all terms of several groups to one value on the host, which waits once for the pieces and
// reduces them itself.
template <class Op, class Term>
typename Term::Wide reduceAll(KernelContext& context, const std::vector<OneGroup<Term>>& groups,
                              typename Term::Wide neutral) {
  using Wide = typename Term::Wide;
  std::vector<Index> pieces;
  Index allPieces = 0;
  for (const auto& [term, n] : groups)
    allPieces += pieces.emplace_back(piecesOf(1, n, kMaxBlocks, term));
  Wide* const parts = context.parts<Wide>(allPieces);
  Index first = 0;
  for (std::size_t g = 0; g < groups.size(); first += pieces[g++])
    reduceInPieces<Op>(context, 1, groups[g].n, pieces[g], groups[g].term, neutral,
                       functors::StoreGroup<Wide, Wide>{parts + first});
  std::vector<Wide> values(static_cast<std::size_t>(allPieces));
  context.copyAndWait(values.data(), parts, allPieces * Index(sizeof(Wide)));
  Wide result = neutral;
  for (const Wide value : values)
    result = Op{}(result, value);
  return result;
}

// Calls f.write(index in [outer, n, inner], f.read(index in [outer, n, inner], index in [outer,
// inner])), or the form with f.line() (functors/axis.hpp), for each element.
template <class F>
void eachAlongAxis(KernelContext& context, const AxisShape& shape, const F& f) {
  if (shape.outer * shape.n * shape.inner == 0)
    return;
  forEachAxisSlice(shape, [&](const AxisSlice& slice) {
    const functors::AlongAxis<F> strips(shape, slice, f);
    eachElement(context.stream(), strips.strips(), strips);
  });
}

// Calls use(index in [outer, inner], reduction of its n terms by Op) for each index.
template <class Op, class Wide, class Term, class Use>
void reduceAlongAxis(KernelContext& context, const AxisShape& shape, const Term& term, Wide neutral,
                     const Use& use) {
  if (shape.outer * shape.inner == 0)
    return;
  const Index steps[] = {shape.n * shape.inner, 1};
  forEachSliceOfLines(shape, 1, [&](const AxisSlice& slice) {
    const Index extent[] = {slice.shape.outer, slice.shape.inner};
    reduceEach<Op>(
        context, extent[0] * extent[1], shape.n,
        functors::AxisTerm<Wide, Term>{
            {2, extent, {steps}}, shape.inner, slice.firstElement, slice.firstLine, term},
        neutral, use.from(slice.firstLine));
  });
}

} // namespace tenon::device
