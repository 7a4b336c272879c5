// SPDX-License-Identifier: BSD-2-Clause
// Start and end of the library, in a fixed order. initialize(): MPI, options, duplicate of the
// communicator, agreement on errors in the options, shared memory, log. finalize(): all ranks meet,
// the log is printed, live objects are reported, communicators are freed, and MPI ends last. If the
// program finalises MPI first, its next call returns an error (end_of_mpi.hpp).
//
// The first part of the file is the end of a job by a fatal error: ranks with the same error print
// it once.
#include "comm/session/session.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"
#include "comm/communicator.hpp"
#include "comm/memory/node.hpp"
#include "comm/session/end_of_mpi.hpp"
#include "comm/session/launcher.hpp"
#include "comm/session/log_report.hpp"
#include "sys/device.hpp"
#include "sys/errors/handler.hpp"
#include "sys/errors/object.hpp"
#include "sys/log/log.hpp"
#include "sys/log/log_trace.hpp"
#include "sys/options/options.hpp"
#include "sys/random.hpp"
#include "sys/text/output.hpp"
#include "sys/text/text.hpp"
#include "sys/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

namespace tenon {

// Ranks that end the program with the same fatal error print it once. Each sends a digest (a hash)
// of its error to all others and receives theirs for half a second, or until it has all; the lowest
// rank of those with the same error prints it. No rank aborts before the ranks it has received a
// digest of could print, because MPI_Abort() ends them too.

namespace {

constexpr int kDigestTag = 0;          // Tags of objects begin at 1.
constexpr double kDigestSeconds = 0.5; // Time of waiting for the digests of other ranks.
// With more ranks each prints its own error, since each would send a message to each other rank.
constexpr int kMaxRanks = 1024;

// True if another rank, whose digest this rank has received, is about to print.
bool isPrintExpected = false;

bool mayCallMpi() {
  int level = MPI_THREAD_SINGLE, isMain = 0;
  checkMpi(MPI_Query_thread(&level), "MPI_Query_thread");
  checkMpi(MPI_Is_thread_main(&isMain), "MPI_Is_thread_main");
  return isMain || level == MPI_THREAD_MULTIPLE;
}

// Waits until all digests are received, or the time has passed.
void awaitDigests(std::vector<MPI_Request>& requests) {
  int areReceived = 0;
  for (const double end = MPI_Wtime() + kDigestSeconds; !areReceived && MPI_Wtime() < end;
       giveCoreAway())
    checkMpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &areReceived,
                         MPI_STATUSES_IGNORE),
             "MPI_Testall");
}

// Whether this rank prints its error, and for how many ranks. Not collective.
FatalShare shareOf(const Communicator& comm, const std::string& text) {
  if (comm.size() == 1 || comm.size() > kMaxRanks || !mayCallMpi())
    return {};
  const auto digest = static_cast<long long>(streamOf(text));
  std::vector<long long> digests(comm.size(), 0);
  std::vector<MPI_Request> requests(comm.size(), MPI_REQUEST_NULL);
  for (int r = 0; r < comm.size(); ++r) {
    if (r == comm.rank())
      continue;
    // MPI sends a few bytes eagerly, so a rank that never receives blocks no other.
    checkMpi(MPI_Irecv(&digests[r], 1, MPI_LONG_LONG, r, kDigestTag, comm.mpi(), &requests[r]),
             "MPI_Irecv");
    checkMpi(MPI_Send(&digest, 1, MPI_LONG_LONG, r, kDigestTag, comm.mpi()), "MPI_Send");
  }
  awaitDigests(requests);
  FatalShare share{.speaks = true, .ranks = 1, .of = comm.size()};
  for (int r = 0; r < comm.size(); ++r) {
    // Ranks without a digest so far have no part in it: their receive is cancelled.
    if (r == comm.rank() || (requests[r] != MPI_REQUEST_NULL && isTakenBack(requests[r])))
      continue;
    const bool isSame = digests[r] == digest;
    share.ranks += isSame ? 1 : 0;
    share.speaks = share.speaks && !(isSame && r < comm.rank());
    // Ranks with another error print it, and so does the lowest rank with this error.
    isPrintExpected = isPrintExpected || !isSame || r < comm.rank();
  }
  return share;
}

// Waits before the abort, at most a second, if other ranks are about to print: those whose digest
// was received in shareOf(), or a rank that prints this rank's error.
void awaitPrinting(bool isPrintedElsewhere) {
  const bool waits = isPrintExpected || isPrintedElsewhere;
  for (const double end = MPI_Wtime() + 2 * kDigestSeconds; waits && MPI_Wtime() < end;)
    giveCoreAway();
}

// The session.

struct Session {
  int depth = 0;         // Number of initialize() calls without a finalize() so far.
  bool ownsMpi = false;  // True if the library has initialised MPI, and so ends it.
  bool mpiEnded = false; // True if MPI has ended before the session.
  CommPtr comm;
};

Session& session() {
  static Session instance;
  return instance;
}

void startMpi(int* argc, char*** argv) {
  int running = 0, finished = 0;
  MPI_Finalized(&finished);
  if (finished)
    throw Error(TENON_ERR_STATE, "MPI is already finalised; Tenon can no longer be initialised");
  MPI_Initialized(&running);
  if (running)
    return;
  int provided = 0;
  checkMpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  session().ownsMpi = true;
}

// Resets all settings of the process that were read from options.
void forgetOptions() {
  options().clear();
  setThreadLimit(0);
  setWaitTimes({});
}

// Removes the functions that an error handler calls at a fatal error.
void forgetHooks() {
  setFatalShareHook({});
  setAbortHook({});
}

// Called if the program finalises MPI before the session has ended. This is an error that only its
// next call can return, and the last chance to free communicators.
void endWithMpi() noexcept {
  Session& s = session();
  s.mpiEnded = true;
  s.comm.reset();
  Communicator::freeAll();
  setFatalShareHook({});
  // MPI_Abort cannot be called after the end of MPI, so a fatal error ends this process only.
  setAbortHook(exitProcess);
}

constexpr const char* kMpiEnded = "MPI was finalised before Tenon; call TenonFinalize() before "
                                  "MPI_Finalize()";

// Other programs of a job can share MPI_COMM_WORLD and never call TenonInitialize(), whose ranks
// say sooner than others that they wait. In seconds.
constexpr double kWorldWarning = 10;

// Reads the options on this rank. They contain the time limit of the first collective call, so they
// are read before it. Errors in them are returned, and agreed on afterwards.
std::exception_ptr loadOptions(int argc, const char* const* argv, bool isOnWorld) noexcept {
  try {
    options().load(argc, argv);
    WaitTimes times = waitTimesFromOptions();
    if (isOnWorld && !options().findReal("", "wait_warning"))
      times.warning = kWorldWarning;
    setWaitTimes(times);
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Throws the error of loadOptions(), or one in the options read here, on all ranks. Rank 0 answers
// -tenon_help. Collective.
void agreeOnOptions(const std::exception_ptr& failure, const std::string& help) {
  collectively(*session().comm, [&] {
    if (failure)
      std::rethrow_exception(failure);
    checkRankCount(session().comm->size());
    setThreadLimit(options().getInt("", "threads"));
    return true;
  });
  if (const auto word = options().findString("", "help"); word && session().comm->rank() == 0)
    print(help + (help.empty() ? "" : "\n") + options().help(*word));
}

// Answers -help of a program that lets the library parse its command line. If Tenon has initialised
// MPI, the process then exits.
void answerHelp(const std::string& help) {
  Session& s = session();
  if (!answersHelp() || !options().getFlag(kProgram, "help"))
    return;
  if (s.comm->rank() == 0)
    print(help + (help.empty() ? "" : "\n") + options().programHelp());
  if (!s.ownsMpi)
    return;
  s.comm.reset();
  Communicator::freeAll();
  MPI_Finalize();
  if (!isOutputLost())
    std::exit(EXIT_SUCCESS);
  printError("Tenon: cannot write the output\n");
  std::exit(EXIT_FAILURE);
}

// Selects the device by the rank on the node, and warns if threads outnumber CPUs. Collective.
void adaptToNode(const Communicator& comm) {
  const Node node(comm.mpi());
  Device::setPlaceOnNode(node.rank, node.size);
  heedOversubscription(comm, node);
}

void startLog() {
  const std::string trace = options().getString("", "log_trace");
  if (!trace.empty())
    startTrace(*session().comm, trace);
  logEnable(options().getFlag("", "log_view") || !trace.empty());
}

// Writes table and trace. Returns the error, if any, which must not prevent the end of the session.
std::exception_ptr writeLog(Communicator& comm) noexcept {
  std::exception_ptr failure;
  try {
    if (options().getFlag("", "log_view"))
      printLogView(comm);
    if (const std::string trace = options().getString("", "log_trace"); !trace.empty())
      writeTrace(comm, trace);
  } catch (...) {
    failure = std::current_exception();
  }
  traceStop();
  return failure;
}

void reportUnusedOptions() {
  for (const OptionValue& option : options().unused())
    printError(fmt::format("Tenon: option {} {} ({}) was never used; {}\n", option.key, option.text,
                           option.place, options().adviceOn(option.key)));
}

// Reports objects that were not destroyed, on the lowest rank that has some. Objects without a
// user's handle are destroyed with the user's object that references them, and are not reported.
void reportLiveObjects(Communicator& comm) {
  auto objects = liveObjects();
  std::erase_if(objects, [](const LiveObject& object) { return object.handles < 1; });
  int candidate = objects.empty() ? comm.size() : comm.rank(), first = 0;
  checkMpi(MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, comm.mpi()), "MPI_Allreduce");
  if (first != comm.rank())
    return;
  const auto count = static_cast<Index>(objects.size());
  std::string text = fmt::format("Tenon: {} never destroyed on rank {}:\n",
                                 counted(count, "object was", "objects were"), comm.rank());
  for (const LiveObject& object : objects)
    text += fmt::format("  {}, {}\n",
                        object.name.empty() ? "unnamed " + object.className
                                            : fmt::format("{} '{}'", object.className, object.name),
                        counted(object.handles, "reference"));
  printError(text);
}

// Waits for all ranks without a time limit. Ranks can have left an earlier call without the
// knowledge of this rank, whose communicator is then marked as out of step here. If a rank is in
// another collective call, all ranks get an error, and the session continues.
void awaitFinalizeOnAll(Communicator& comm) {
  if (comm.isOutOfStep())
    return;
  try {
    agreeWithoutLimit(comm, "the collective call", "TenonFinalize");
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_TIMEOUT)
      throw;
  }
}

// Closes the session after the end of MPI. Reports that need data of all ranks are not printed.
void closeWithoutMpi() {
  traceStop();
  forgetOptions();
  session() = Session();
  throw Error(
      TENON_ERR_STATE,
      fmt::format("{}; the log and the trace are lost, and objects that still exist are not "
                  "reported",
                  kMpiEnded));
}

void endSession() {
  Session& s = session();
  const std::exception_ptr failure = writeLog(*s.comm);
  // Options are normally the same on all ranks, so one rank reports the unused ones.
  if (s.comm->rank() == 0)
    reportUnusedOptions();
  reportLiveObjects(*s.comm);
  leaveEndOfMpi();
  s.comm.reset();
  Communicator::freeAll();
  forgetOptions();
  forgetHooks();
  if (s.ownsMpi)
    MPI_Finalize();
  s = Session();
  if (failure)
    std::rethrow_exception(failure);
}

// The launcher of MPICH 4.2 drops text that ranks have printed just before MPI_Abort, and MPI_Abort
// returns there: the launcher ends the processes some time later.
[[noreturn]] void endAllRanks(TenonErrorCode code) noexcept {
  constexpr std::chrono::milliseconds kTimeToPrint(100);
  std::this_thread::sleep_for(kTimeToPrint);
  MPI_Abort(MPI_COMM_WORLD, code);
  exitProcess(code);
}

// Duplicates the communicator when all its ranks have arrived. The hooks are set before, since a
// rank that waits for long prints its number, and can end the program.
void copyComm(MPI_Comm parent) {
  int rank = 0;
  checkMpi(MPI_Comm_rank(parent, &rank), "MPI_Comm_rank");
  setProcessRank(rank);
  setAbortHook([](TenonErrorCode code) {
    awaitPrinting(/*isPrintedElsewhere=*/false);
    endAllRanks(code);
  });
  try {
    session().comm = Communicator::copyOf(parent);
  } catch (...) {
    forgetOptions();
    forgetHooks();
    throw;
  }
}

} // namespace

void abortAllRanks(TenonErrorCode code) noexcept {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) {
    // A rank that prints an error which all ranks agreed on needs time for it.
    awaitPrinting(lastError().error && lastError().error->isAgreed() &&
                  !lastError().error->speaks());
    endAllRanks(code);
  }
  if (ended)
    exitProcess(code);
  abortProcess(code);
}

void initialize(int* argc, char*** argv, MPI_Comm comm, const std::string& help) {
  Session& s = session();
  if (s.mpiEnded)
    throw Error(TENON_ERR_STATE, kMpiEnded);
  if (s.depth > 0) {
    ++s.depth;
    return;
  }
  // The order is fixed. Options first: they contain the time limit of the first wait. Then the
  // duplicate of the communicator, since errors need ranks; the hooks, since a fatal error now
  // concerns all ranks; the agreement on errors in the options; the arena and the log, which
  // options configure; and last the watch for the end of MPI, which a failed initialisation must
  // not leave behind.
  startMpi(argc, argv);
  const bool isOnWorld = comm == MPI_COMM_NULL;
  const std::exception_ptr failure =
      loadOptions(argc ? *argc : 0, argv ? *argv : nullptr, isOnWorld);
  copyComm(isOnWorld ? MPI_COMM_WORLD : comm);
  if (!failure)
    setWaitTimes(waitTimesFromOptions());
  setFatalShareHook([&comm = *s.comm](const std::string& text) { return shareOf(comm, text); });
  try {
    agreeOnOptions(failure, help);
    answerHelp(help);
    s.comm->openArena();
    adaptToNode(*s.comm);
    if (isOnWorld)
      warnOfUnexpectedWorld();
    startLog();
    watchEndOfMpi(endWithMpi);
  } catch (...) {
    leaveEndOfMpi();
    traceStop();
    forgetOptions();
    forgetHooks();
    s.comm.reset();
    Communicator::freeAll();
    throw;
  }
  s.depth = 1;
}

void finalize() {
  Session& s = session();
  if (s.mpiEnded)
    closeWithoutMpi();
  checkInitialized();
  if (s.depth == 1)
    awaitFinalizeOnAll(*s.comm);
  if (--s.depth == 0)
    endSession();
}

bool isInitialized() noexcept {
  return session().depth > 0 && !session().mpiEnded;
}

void checkInitialized() {
  if (session().mpiEnded)
    throw Error(TENON_ERR_STATE, kMpiEnded);
  if (!isInitialized())
    throw Error(TENON_ERR_STATE, "Tenon is not initialised; call TenonInitialize first");
}

} // namespace tenon
