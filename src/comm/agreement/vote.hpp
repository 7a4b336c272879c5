// SPDX-License-Identifier: BSD-2-Clause
// How the ranks of a communicator come to one verdict in time, or all learn that some were absent.
//
// Rank 0 decides for all; the others may leave only while it is absent. Messages of one sender
// arrive in order, and all are so short that they leave at once, whether or not anybody receives.
//
//   rank 0                                    another rank
//   sends "here" to all
//                                             sends its ballot, saying whether "here" was there
//                                             if not, waits for it: then it sends "I stay", or, after
//                                             its patience, takes its receive back and sends "I leave"
//   waits for all ballots, at most its
//   patience; for each ballot that came
//   before "here" also for "stay" or "leave"
//   sends the verdict to all, absent or not
//                                             if it stays, waits for the verdict, however long
//
// The verdict is a timeout if a ballot is missing or a rank has left. A rank that has left fails by
// itself with the same error, since rank 0 reads "I leave" before it decides, and can only decide
// for a timeout then; whether a rank leaves or stays is decided by whether its receive could be
// taken back. A rank that comes late finds "here" and the verdict in its queue. So all succeed or
// none does, whenever they come. After a timeout the communicator is out of step on every rank that
// has heard of it, and no rank reads a message of another agreement: nobody begins one before it
// has had the verdict of the one before.
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
// of the ranks' votes, above 0 of a rank that has seen its end, 0 of one that has lost patience. A
// rank that votes above 0 waits for the minimum, as all ranks are then about to vote; a rank that
// votes 0 knows it. So all go on or none does, whenever they come: a late rank finds the zeros. A
// rank that votes 0 leaves both operations pending, and the communicator is out of step from then
// on, which an attribute tells.
//
// A rank that has failed comes as well, and votes for the code of its error, so that all fail alike.
//
// Collective over the communicator of a caller; `mine` is why this rank cannot go on. Throws on all
// ranks, agreed on, an error of the lowest code that a rank has; TENON_ERR_TIMEOUT, agreed on, if
// some rank does not come within -tenon_agree_timeout seconds; TENON_ERR_STATE if that happened
// before, and TENON_ERR_ARG for an intercommunicator.
void awaitAllRanks(MPI_Comm parent, std::optional<Error> mine);

} // namespace tenon
