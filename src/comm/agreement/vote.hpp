// SPDX-License-Identifier: BSD-2-Clause
// Vote: a collective operation with a timeout. Either all ranks of a communicator get the same
// verdict (success, or the first failure of any rank), or all fail with a timeout that names the
// absent ranks.
//
// Rank 0 decides for all ranks. Another rank can give up only while rank 0 is absent, and sends its
// ballot only once it knows that rank 0 is present. Messages are sent along trees of ranks with
// rank 0 as the root (vote_tree.hpp), in three phases:
// - "here", from the root down: rank 0 is present; with the digest of its text (see Ballot);
// - ballots, from the leaves up: each rank sends the first failure in its subtree;
// - the verdict, from the root down.
//
// The ballots and "here" use one tree, and the verdict another one, chosen such that no rank sends
// more than three messages in these phases (vote_tree.hpp); calls and answers come in addition. If
// a rank is late, the ranks above it in the tree wait. After an eighth of the timeout, at most 10
// s, rank 0 therefore sends each rank a direct message, the call, which also reaches the ranks
// below an absent rank:
//
//  rank 0                                    another rank
//  sends "here" down the tree
//                                            waits for "here" or a call; or, after its timeout and
//                                            an eighth more, sends "I leave" to rank 0, and fails
//                                            passes "here" on; from now on it waits without limit
//  waits for the ballots of the tree         waits for the ballots of those below, adds its own
//  if all arrive: sends the verdict down     passes the verdict on
//  if not: calls all ranks                   called: sends its ballot to rank 0, and waits for
//  waits for all answers, at most its        the decision
//  timeout; sends the decision to all
//
// The decision is a timeout if an answer is missing or a rank has left. Either all ranks succeed or
// none, whenever they arrive:
// - A rank that has left has sent no ballot. So the tree cannot complete, and rank 0 receives "I
//   leave", or nothing, as its answer.
// - Once rank 0 has called, only its decision ends the vote. A rank that arrives late finds the
//   call and the decision in its message queue.
// Each rank that learns of a timeout marks the communicator as out of step, that is, unusable.
// Messages are short enough for MPI to send them eagerly, before they are received. A rank that is
// called stops waiting for the ballots of those below. It sends its own ballot, without theirs, up
// the tree if it has not done so, because its parent expects a message; the content no longer
// matters, since each rank also sends its ballot to rank 0 as the answer. If all ranks succeed,
// each also receives the messages of the tree that were sent to it, so none remains for a later
// vote.
#pragma once

#include "comm/communicator.hpp"
#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <optional>
#include <utility>

namespace tenon {

// The vote of a rank (the code of its error, and its rank), and the verdict (the code of the first
// failure, and the rank that failed). The digest is a hash of a text that must be the same on all
// ranks, such as the arguments of a collective call.
struct Ballot {
  long long code = 0;
  long long rank = 0;
  long long digest = 0;
};

// The error that make() returns, or one with the same code and without a text if there is no memory
// for the text: the code is then the same on all ranks, whatever memory each has.
template <class Make>
Error madeError(TenonErrorCode code, Make&& make) noexcept {
  try {
    return std::forward<Make>(make)();
  } catch (...) {
    return Error::withoutWords(code);
  }
}

// Time in seconds that agreements wait for absent ranks, from -tenon_agree_timeout. Also works on a
// rank without memory. If the option is invalid, the error is stored in `failure` unless `failure`
// already has one, since the caller's vote must include it.
double agreeTimeout(std::optional<Error>& failure) noexcept;

// Collective. Returns the ballot of the lowest rank with a code other than TENON_SUCCESS, or, with
// the code TENON_ERR_COLLECTIVE, that of the lowest rank whose digest differs from rank 0's. Throws
// an agreed TENON_ERR_TIMEOUT, with the absent ranks, if some do not arrive within `seconds`; the
// communicator is then out of step.
Ballot vote(Communicator& comm, const Ballot& mine, double seconds);

// The vote before a duplicate of the user's communicator exists: either all its ranks take part in
// its first use, or all fail.
//
// Messages on a user's communicator could match those of the user, so only collective operations
// are possible, and these cannot be cancelled. The vote is two non-blocking collectives: a barrier,
// and then a minimum over the ranks' votes:
//
//   1. MPI_Ibarrier    tested until it has completed or the timeout has passed
//   2. MPI_Iallreduce  of the vote: 0 after a timeout; otherwise the code of this rank's error, or
//                      the largest int for success
//
// A rank with a positive vote waits for the minimum: all ranks have entered the barrier, so all
// will vote. A rank that votes 0 knows that the minimum is 0 and does not wait; both operations
// remain pending, and an attribute marks the communicator as out of step. A rank that arrives later
// gets the minimum 0. Therefore all ranks succeed or none, whenever they arrive, and if some fail,
// all fail with the same code.
//
// Collective over the user's communicator; `mine` is the error of this rank, if any. Throws on all
// ranks an agreed error of the lowest code that a rank has; an agreed TENON_ERR_TIMEOUT if some
// rank does not arrive within -tenon_agree_timeout seconds; TENON_ERR_STATE if that happened in an
// earlier call; and TENON_ERR_ARG for an intercommunicator.
void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine);

} // namespace tenon
