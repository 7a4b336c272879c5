// SPDX-License-Identifier: BSD-2-Clause
// Long waits: a rank prints once the call and the missing ranks, and continues, since a slow rank
// is not an error. At the limit it ends the program, since messages are in flight that cannot be
// cancelled. The file also has the ways to give a core away, the texts that name ranks, and two
// tests of MPI requests.
#include "comm/agreement/wait_policy.hpp"

#include "sys/core_share.h"
#include "sys/errors/guard.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace tenon {

namespace {

// With thousands of ranks a full list would hide the rest of the text.
constexpr std::size_t kMaxNamed = 16;
constexpr double kNever = std::numeric_limits<double>::infinity();

WaitTimes waitTimes;

// Programs of a job that share MPI_COMM_WORLD need not all use Tenon.
const char* adviceOnWait() noexcept {
  return std::string_view(currentFunction()) == "TenonInitialize"
             ? "if only some programs or ranks of MPI_COMM_WORLD use Tenon, call "
               "TenonInitializeWithComm with a communicator of these ranks"
             : "is it called on all ranks of the communicator?";
}

double orNever(double seconds) {
  return seconds > 0 ? seconds : kNever;
}

// How long a rank that waits pauses on its core between looks, before it gives the core away: 20
// us, the time of 200 looks at MPI, or 2 us if other processes want the core.
constexpr long long kPauses = 20000, kPausesIfWanted = 2000; // ns

// What this thread knows about its core. If all yields of the process are adaptive (src/preload),
// this knowledge is common to both.
TenonCoreShare& coreShare() noexcept {
  using Preloaded = TenonCoreShare*();
  static auto* const preloaded =
      reinterpret_cast<Preloaded*>(dlsym(RTLD_DEFAULT, "tenon_wait_core_share"));
  thread_local TenonCoreShare own = TENON_CORE_SHARE_INIT;
  return preloaded ? *preloaded() : own;
}

// Whether a variable of MPI's tools interface exists and is true.
bool isMpiVariableTrue(const char* name) noexcept {
  int level = 0, provided = 0, index = 0, count = 0;
  std::array<char, 64> value{}; // of an unknown type
  MPI_T_cvar_handle handle = nullptr;
  // Open MPI takes this level as that of the whole process.
  if (MPI_Query_thread(&level) != MPI_SUCCESS || MPI_T_init_thread(level, &provided) != MPI_SUCCESS)
    return false;
  if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    if (count == 1)
      MPI_T_cvar_read(handle, value.data());
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  // Whatever its type, the variable is false only if all bytes are 0, as they are if it is missing.
  return std::ranges::any_of(value, [](char byte) { return byte != 0; });
}

} // namespace

bool doesMpiYield() noexcept {
  static const bool yields = isMpiVariableTrue("mpi_yield_when_idle");
  return yields;
}

bool isCoreWanted() noexcept {
  return coreShare().naps > 0;
}

bool hasCoreForEachRank(const SharedArena* arena) noexcept {
  static const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return arena && arena->nodeSize() <= cores;
}

long yieldOrNextNap(bool isNewWait) noexcept {
  TenonCoreShare& share = coreShare();
  if (const long nap = tenonNextNap(&share, isNewWait); nap > 0)
    return nap;
  const long long before = tenonNanoseconds();
  tenonYield();
  tenonNoteYield(&share, tenonNanoseconds() - before);
  return 0;
}

void giveCoreAway() noexcept {
  if (const long nap = yieldOrNextNap(/*isNewWait=*/false); nap > 0)
    tenonNap(nap);
}

void Nap::operator()(long nanoseconds) const noexcept {
  tenonNap(nanoseconds);
}

bool WaitPolicy::mayPause() noexcept {
  const long long now = tenonNanoseconds();
  if (pausedSince_ == 0)
    pausedSince_ = now;
  pauses_ = now - pausedSince_ < (isCoreWanted() ? kPausesIfWanted : kPauses);
  return pauses_;
}

long WaitPolicy::nextNap() noexcept {
  // MPI has yielded in the look before.
  if (look_ == Look::Mpi && doesMpiYield())
    return 0;
  return yieldOrNextNap(std::exchange(isNew_, false));
}

void WaitPolicy::afterYield(bool hasNapped) {
  // A rank that looks at memory lets MPI make progress by a probe: now and then, and after each
  // nap. Not after each nap where MPI yields, since the probe gives the core away once more.
  if (look_ == Look::Memory && (count_ % kLooksPerProbe == 0 || (hasNapped && !doesMpiYield())))
    probe();
}

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
    const std::string words =
        fmt::format("waited {}; {} (-tenon_wait_limit sets the time)", text, adviceOnWait());
    raise(Error(TENON_ERR_TIMEOUT, words), currentFunction(), Severity::Fatal);
    abortProcess(TENON_ERR_TIMEOUT); // Also if the handler returned, since messages are in flight.
    throw RecordedError(TENON_ERR_TIMEOUT, words);
  }
  printError(fmt::format("Tenon: rank {} has waited {}, and goes on waiting; {} "
                         "(-tenon_wait_warning sets the time)\n",
                         processRank(), text, adviceOnWait()));
  next_ = orNever(waitTimes.limit);
}

} // namespace tenon
