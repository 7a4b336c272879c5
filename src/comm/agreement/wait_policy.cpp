// SPDX-License-Identifier: BSD-2-Clause
// Long waits: a rank prints once the call and the missing ranks, and continues, since a slow rank
// is not an error. At the limit it ends the program, since messages are in flight that cannot be
// cancelled. The file also has the texts that name ranks, and two tests of MPI requests.
#include "comm/agreement/wait_policy.hpp"

#include "sys/errors/guard.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// With thousands of ranks a full list would hide the rest of the text.
constexpr std::size_t kMaxNamed = 16;
constexpr double kNever = std::numeric_limits<double>::infinity();

WaitTimes waitTimes;

double orNever(double seconds) {
  return seconds > 0 ? seconds : kNever;
}

} // namespace

void setWaitTimes(const WaitTimes& times) {
  waitTimes = times;
}

WaitTimes waitTimesFromOptions() {
  return {.warning = options().getReal("", "wait_warning"),
          .limit = options().getReal("", "wait_limit")};
}

std::string ranksText(const std::vector<int>& ranks) {
  const std::size_t named = std::min(ranks.size(), kMaxNamed);
  const std::string rest =
      named < ranks.size() ? fmt::format(",... ({} in all)", ranks.size()) : "";
  return fmt::format(
      "{} {}{}", ranks.size() == 1 ? "rank" : "ranks",
      fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ","), rest);
}

std::string someOfText(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "" : "one or more of ") + ranksText(ranks);
}

std::vector<int> othersOf(const Communicator& comm) {
  std::vector<int> ranks;
  for (int r = 0; r < comm.size(); ++r)
    if (r != comm.rank())
      ranks.push_back(r);
  return ranks;
}

bool isComplete(MPI_Request request) {
  int done = 0;
  checkMpi(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
  return done != 0;
}

bool isTakenBack(MPI_Request& request) {
  // MPI decides whether the message or the cancellation comes first, and reports it in the status.
  MPI_Status status;
  int cancelled = 0;
  checkMpi(MPI_Cancel(&request), "MPI_Cancel");
  checkMpi(MPI_Wait(&request, &status), "MPI_Wait");
  checkMpi(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
  return cancelled != 0;
}

bool WaitPolicy::isLong() noexcept {
  const double now = MPI_Wtime();
  if (start_ == 0) {
    start_ = now;
    next_ = std::min(orNever(waitTimes.warning), orNever(waitTimes.limit));
  }
  return now - start_ >= next_;
}

bool WaitPolicy::isOver() const noexcept {
  return MPI_Wtime() - start_ >= orNever(waitTimes.limit);
}

void WaitPolicy::warnOrEndWithoutMemory() {
  next_ = orNever(waitTimes.limit);
  if (isOver()) {
    raise(Error::outOfMemory(), currentFunction(), Severity::Fatal);
    abortProcess(TENON_ERR_TIMEOUT);
  }
  printError("Tenon: a rank has waited long for others, goes on waiting, and has no memory left to "
             "say for whom\n");
}

void WaitPolicy::warnOrEnd(const std::string& missing) {
  const double seconds = MPI_Wtime() - start_;
  const std::string text =
      fmt::format("{:.3g} s in {} for {}, which {} not reached it", seconds, currentCall(), missing,
                  missing.starts_with("rank ") ? "has" : "have");
  // An exception cannot end the wait: this rank has buffers in messages in flight.
  if (isOver()) {
    const std::string words = fmt::format("waited {}; is it called on all ranks of the "
                                          "communicator? (-tenon_wait_limit sets the time)",
                                          text);
    raise(Error(TENON_ERR_TIMEOUT, words), currentFunction(), Severity::Fatal);
    abortProcess(TENON_ERR_TIMEOUT); // Also if the handler returned, since messages are in flight.
    throw RecordedError(TENON_ERR_TIMEOUT, words);
  }
  printError(fmt::format("Tenon: rank {} has waited {}, and goes on waiting; is it called on all "
                         "ranks of the communicator? (-tenon_wait_warning sets the time)\n",
                         processRank(), text));
  next_ = orNever(waitTimes.limit);
}

} // namespace tenon
