// SPDX-License-Identifier: BSD-2-Clause
// Vote: how the ranks of a communicator reach one verdict in time, or all learn that some are
// absent.
//
// Rank 0 decides for all. Another rank can give up only while rank 0 is absent, and votes only once
// it knows that rank 0 is present. Three messages are sent along trees of ranks (vote_tree.hpp):
// - "here", down, with the digest of rank 0;
// - ballots, up, each with the first failure of the ranks below;
// - the verdict, down.
//
// No rank sends more than three messages. If a rank is late the tree stalls. After an eighth of the
// timeout, at most 10 s, rank 0 calls each rank directly, which reaches the ranks below an absent
// one:
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
// The decision is a timeout if an answer is missing or a rank has left. All ranks succeed or none,
// whenever they arrive: a rank that has left has sent no ballot, so the tree cannot complete, and
// rank 0 reads "I leave" as its answer, or finds none. Once rank 0 has called, only its decision
// ends the vote. A rank that arrives late finds the call and the decision in its queue. After a
// timeout the communicator is out of step on every rank that has learnt of it. Messages are short
// enough for MPI to send them eagerly, whether or not they are received. After a call each rank
// still does its part of the first tree before it answers, and receives the tree's messages once
// all have succeeded, so no message remains for a later vote.
#pragma once

#include "comm/communicator.hpp"
#include "comm/mpi.hpp"
#include "sys/errors/error.hpp"

#include <optional>
#include <utility>

namespace tenon {

// The vote of a rank, and the verdict: the code of the first failure, and its rank. The digest
// represents a text that must be the same on all ranks.
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

// Time in seconds that agreements wait for absent ranks, from -tenon_agree_timeout; also available
// without memory. An invalid option is stored in `failure`, unless that holds another error, since
// it has to be agreed on too.
double agreeTimeout(std::optional<Error>& failure) noexcept;

// Collective. Returns the ballot of the lowest rank with a code other than TENON_SUCCESS, or, with
// the code TENON_ERR_COLLECTIVE, that of the lowest rank whose digest differs from rank 0's. Throws
// an agreed TENON_ERR_TIMEOUT, with the absent ranks, if some do not arrive within `seconds`; the
// communicator is then out of step.
Ballot vote(Communicator& comm, const Ballot& mine, double seconds);

// The vote before a duplicate of the user's communicator exists: either all its ranks take part in
// its first use, or all fail.
//
// On a user's communicator only collective operations can be started, which cannot be cancelled. So
// the vote is two non-blocking ones: a barrier, and then the minimum of the ranks' votes, which are
// positive on a rank that has seen the barrier complete, and 0 on one that has timed out. A rank
// that votes a positive number waits for the minimum, since all ranks have then entered the barrier
// and are about to vote; a rank that votes 0 knows the minimum. So all ranks succeed or none,
// whenever they arrive: a late rank receives the zeros. A rank that votes 0 leaves both operations
// pending, and an attribute marks the communicator as out of step.
//
// A rank that has failed takes part too, and votes the code of its error, so all ranks fail with
// the same code.
//
// Collective over the user's communicator; `mine` is the error of this rank, if any. Throws on all
// ranks an agreed error of the lowest code that a rank has; an agreed TENON_ERR_TIMEOUT if some
// rank does not arrive within -tenon_agree_timeout seconds; TENON_ERR_STATE if that happened in an
// earlier call; and TENON_ERR_ARG for an intercommunicator.
void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine);

} // namespace tenon
