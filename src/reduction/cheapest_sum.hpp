// SPDX-License-Identifier: BSD-2-Clause
// Finds the cheapest reduction program for a sum over the levels of a machine, by the price of its
// steps (program_price.hpp).
//
// Large levels are split into prime factors, and neighbouring factors are joined where that is
// cheaper. From the innermost level outwards, the results are blocks of one step each. Within a
// block, either all members get the block's sum (AllReduce), or each gets a share of it
// (ReduceScatter), with which the outer blocks continue; shares are gathered at the end
// (AllGather), outermost block first. For a sum over 2^k ranks this gives k steps between pairs for
// short arrays, k halvings and k doublings for long arrays, and fewer, larger steps in between.
// Reduce and Broadcast are not considered, because their roots do all the work.
//
// If each member is to have a share only, all blocks scatter and nothing is gathered. A sum for the
// first member only uses the program of a sum for all, but only the first member of each group
// stores the result of an AllReduce or AllGather (reduction_step.hpp).
//
// The search is exact among these programs. Its work grows with the number of prime factors, not
// with the number of ranks.
#pragma once

#include "reduction/program_price.hpp"

namespace tenon {

// The result of the search.
struct CheapestSum {
  Hierarchy hierarchy; // blocks, from the outermost
  Program program;
  double seconds = 0;
};

// Returns the cheapest program for a sum of `bytes` bytes on each member, at the given rates
// between members. At most 8 blocks are formed, the number that checkReduces() can verify. For one
// member the program is empty.
CheapestSum cheapestSum(const Hierarchy& hierarchy, double bytes, const LinkRates& rates,
                        SumGoal goal = SumGoal::All);

// Returns the sizes of the machine's levels, from the outermost, for this number of ranks.
Hierarchy levelsOf(const LinkRates& rates, int ranks);

} // namespace tenon
