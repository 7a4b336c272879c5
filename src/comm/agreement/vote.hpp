// SPDX-License-Identifier: BSD-2-Clause
// How the ranks of a communicator come to one verdict in time, or all learn that some were absent.
//
// Rank 0 decides for all; the others may leave only while it is absent, and speak for themselves
// only once they know that it is not. So three messages go along trees of ranks (vote_tree.hpp):
// "here" down, with the digest of rank 0; ballots up, each the first failure of the ranks below;
// the verdict down. No rank sends more than three. Where a rank is late the tree stalls, and after
// an eighth of the timeout, at most 10 s, rank 0 calls each rank by itself, which reaches
// those below one that is absent:
//
//   rank 0                                    another rank
//   sends "here" down the tree
//                                             waits for "here" or a call; or, after its timeout and
//                                             that much more, sends "I leave" to rank 0, and fails
//                                             passes "here" on; then it stays, however long
//   waits for the ballots of the tree         waits for the ballots of those below, adds its own
//   if all come: sends the verdict down       passes the verdict on
//   if not: calls all, absent or not          called: sends its ballot to rank 0, and waits for
//   waits for all answers, at most its        the decision
//   timeout; sends the decision to all
//
// The decision is a timeout if an answer is missing or a rank has left. All succeed or none does,
// whenever they come: a rank that has left has sent no ballot, so the tree cannot complete, and
// rank 0 reads "I leave" as its answer, or finds none. Once rank 0 has called, nothing but its
// decision ends the vote. A rank that comes late finds the call and the decision in its queue.
// After a timeout the communicator is out of step on every rank that has heard of it. Messages are
// so short that they leave at once, whether or not anybody receives. After a call, too, each rank
// does its part of the first tree, before it answers, and reads what came of it once all have
// succeeded: so no message is left for another vote.
#pragma once

#include "comm/communicator.hpp"
#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <optional>
#include <utility>

namespace tenon {

// What a rank votes, and the verdict: the first failure, and the rank that has it. The digest
// stands for a text that must be the same on all ranks.
struct Ballot {
  long long code = 0;
  long long rank = 0;
  long long digest = 0;
};

// The error of that code that make() returns, or one of that code alone if there is no memory for
// its words: the code is the same on all ranks, whatever memory each has.
template <class Make>
Error madeError(TenonErrorCode code, Make&& make) noexcept {
  try {
    return std::forward<Make>(make)();
  } catch (...) {
    return Error::withoutWords(code);
  }
}

// How many seconds agreements wait for absent ranks, by -tenon_agree_timeout, also where there is
// no memory. That the option is wrong is put into `failure`, unless there is another one, since it
// has to be agreed on as well.
double agreeTimeout(std::optional<Error>& failure) noexcept;

// Collective. The ballot of the lowest rank with a code other than TENON_SUCCESS; or, with the code
// TENON_ERR_COLLECTIVE, of the lowest whose digest differs from that of rank 0. Throws
// TENON_ERR_TIMEOUT, agreed on, naming the absent ranks, if some do not come within that many
// seconds; the communicator is out of step from then on.
Ballot vote(Communicator& comm, const Ballot& mine, double seconds);

// The vote before there is a copy of the caller's communicator: all its ranks come to its first
// use, or none goes on.
//
// On that communicator only collective operations can be started, which nobody can take back. So
// there are two that do not block: a barrier, which ends when all have come, and then the minimum
// of the ranks' votes, above 0 of a rank that has seen its end, 0 of one that has timed out. A
// rank that votes above 0 waits for the minimum, as all ranks are then about to vote; a rank that
// votes 0 knows it. So all go on or none does, whenever they come: a late rank finds the zeros. A
// rank that votes 0 leaves both operations pending, and the communicator is out of step from then
// on, which an attribute tells.
//
// A rank that has failed comes as well, and votes for the code of its error, so that all fail
// alike.
//
// Collective over the communicator of a caller; `mine` is why this rank cannot go on. Throws on all
// ranks, agreed on, an error of the lowest code that a rank has; TENON_ERR_TIMEOUT, agreed on, if
// some rank does not come within -tenon_agree_timeout seconds; TENON_ERR_STATE if that happened
// before, and TENON_ERR_ARG for an intercommunicator.
void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine);

} // namespace tenon
