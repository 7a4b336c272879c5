// SPDX-License-Identifier: BSD-2-Clause
#include "comm/session.hpp"

#include "comm/agreement.hpp"
#include "comm/last_words.hpp"
#include "comm/launcher.hpp"
#include "comm/log_report.hpp"
#include "comm/node.hpp"
#include "comm/oversubscription.hpp"
#include "comm/patience.hpp"
#include "comm/trace_report.hpp"
#include "sys/device.hpp"
#include "sys/handler.hpp"
#include "sys/live_objects.hpp"
#include "sys/log.hpp"
#include "sys/log_trace.hpp"
#include "sys/options.hpp"
#include "sys/output.hpp"
#include "sys/text.hpp"
#include "sys/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

namespace tenon {

namespace {

struct Session {
  int depth = 0;
  bool ownsMpi = false;
  bool mpiEnded = false; // before the session's own end
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

void forgetOptions() {
  options().clear();
  setThreadLimit(0);
  setWaitTimes({});
}

void forgetHooks() {
  setFatalShareHook({});
  setAbortHook({});
}

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, and MPI still works then: the last
// moment to free communicators, if the session has not ended.
int endWithMpi(MPI_Comm, int, void*, void*) noexcept {
  Session& s = session();
  if (s.depth == 0)
    return MPI_SUCCESS;
  s.mpiEnded = true;
  s.comm.reset();
  Communicator::freeAll();
  setFatalShareHook({});
  setAbortHook(exitProcess);
  return MPI_SUCCESS;
}

void watchEndOfMpi() {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval != MPI_KEYVAL_INVALID)
    return;
  checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, endWithMpi, &keyval, nullptr),
           "MPI_Comm_create_keyval");
  checkMpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "MPI_Comm_set_attr");
}

constexpr const char* kMpiEnded = "MPI was finalised before Tenon; call TenonFinalize() before "
                                  "MPI_Finalize()";

void readOptions(int argc, const char* const* argv, const std::string& help) {
  collectively(*session().comm, [&] {
    auto read = options().load(argc, argv);
    checkRankCount(session().comm->size());
    setThreadLimit(options().getInt("", "threads"));
    setWaitTimes(waitTimesFromOptions());
    return read;
  });
  if (const auto word = options().findString("", "help"); word && session().comm->rank() == 0)
    print(help + (help.empty() ? "" : "\n") + options().help(*word));
}

// -help of a program that owns its command line. A process whose MPI is ours ends here.
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

void lookAtNode(const Communicator& comm) {
  const Node node(comm.mpi());
  Device::setRankOnNode(node.rank);
  warnOfOversubscription(comm, node);
}

void startLog() {
  const std::string trace = options().getString("", "log_trace");
  if (!trace.empty())
    startTrace(*session().comm, trace);
  logEnable(options().getFlag("", "log_view") || !trace.empty());
}

// What went wrong, which must not keep the session from its end.
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
  for (const OptionValue& option : options().unused()) {
    const std::string meant = options().nearestAsked(option.key);
    printError(fmt::format("Tenon: option {} {} ({}) was never used; {}\n", option.key, option.text,
                           option.place,
                           meant.empty() ? "no object reads its options under such a name"
                                         : fmt::format("did you mean {}?", meant)));
  }
}

// One rank speaks for all: the lowest that has something left. What only the library holds goes with
// the caller's object that holds it.
void reportLiveObjects(Communicator& comm) {
  auto objects = liveObjects();
  std::erase_if(objects, [](const LiveObject& object) { return object.handles < 1; });
  int mine = objects.empty() ? comm.size() : comm.rank(), first = 0;
  checkMpi(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm.mpi()), "MPI_Allreduce");
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

// All ranks are waited for, without end; who is out of step learns it here. A rank in another
// collective call is an error on all of them, and the session goes on.
void meet(Communicator& comm) {
  if (comm.isOutOfStep())
    return;
  try {
    agreeWithoutLimit(comm, "the collective call", "TenonFinalize");
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_TIMEOUT)
      throw;
  }
}

// Nothing is printed that all ranks would have to gather.
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

void close() {
  Session& s = session();
  const std::exception_ptr failure = writeLog(*s.comm);
  if (s.comm->rank() == 0)
    reportUnusedOptions();
  reportLiveObjects(*s.comm);
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

} // namespace

void abortAllRanks(TenonErrorCode code) noexcept {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) {
    awaitLastWords(lastError().error && lastError().error->isAgreed() &&
                   !lastError().error->speaks());
    MPI_Abort(MPI_COMM_WORLD, code);
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
  startMpi(argc, argv);
  watchEndOfMpi();
  s.comm = Communicator::copyOf(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm);
  setProcessRank(s.comm->rank());
  setFatalShareHook([&comm = *s.comm](const std::string& text) { return shareOf(comm, text); });
  setAbortHook([](TenonErrorCode code) {
    awaitLastWords(false);
    MPI_Abort(MPI_COMM_WORLD, code);
  });
  try {
    readOptions(argc ? *argc : 0, argv ? *argv : nullptr, help);
    answerHelp(help);
    s.comm->openArena();
    lookAtNode(*s.comm);
    if (comm == MPI_COMM_NULL)
      warnOfUnexpectedWorld();
    startLog();
  } catch (...) {
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
    meet(*s.comm);
  if (--s.depth == 0)
    close();
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
