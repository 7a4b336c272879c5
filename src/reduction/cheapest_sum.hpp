// SPDX-License-Identifier: BSD-2-Clause
// The cheapest program of a sum over the levels of a machine, by the price of what runs
// (program_price.hpp).
//
// Large levels are factored into levels of their own, and neighbouring levels are joined where that
// is cheaper: the levels, from the innermost, become blocks of one step each. In a block either all
// members get the sum of it (AllReduce), or each gets its share (ReduceScatter), with which the
// blocks around it go on, and at the end they gather (AllGather), the outermost first. So a sum
// over 2^k ranks of short arrays is k steps between two members each, one over long arrays halves
// what is left at each level, and what lies between has fewer and larger steps. Reduce and
// Broadcast are left out, since their roots do the work of all.
//
// Where each member is to keep a share, all blocks are shared and nothing is gathered. A sum for
// the first member alone has the program of a sum for all, of which only the first of each group
// keeps what is summed without shares, and what is gathered (reduction_step.hpp).
//
// The search is exact among these programs; its work grows with the number of prime factors, not
// with that of ranks.
#pragma once

#include "reduction/program_price.hpp"

namespace tenon {

struct CheapestSum {
  Hierarchy hierarchy; // the blocks, from the outermost
  Program program;
  double seconds = 0;
};

// Of the programs of a sum of `bytes` bytes on each member of the hierarchy, by the rates between
// members. No more than 8 blocks are made, as many as checkReduces() looks through. Nothing
// is to be done for one member.
CheapestSum cheapestSum(const Hierarchy& hierarchy, double bytes, const LinkRates& rates,
                        SumGoal goal = SumGoal::All);

// The levels of a machine that has these rates, as sizes from the outermost, for so many ranks.
Hierarchy levelsOf(const LinkRates& rates, int ranks);

} // namespace tenon
