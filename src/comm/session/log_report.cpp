// SPDX-License-Identifier: BSD-2-Clause
// Combines the logs of all ranks on the way to rank 0, such that no rank stores more than two.
// Traces are long, so rank 0 receives them in blocks, one rank after the other, and writes each
// block at once.
#include "comm/session/log_report.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/communicator.hpp"
#include "sys/files/part_file.hpp"
#include "sys/log/log_trace.hpp"
#include "sys/log/log_view.hpp"
#include "sys/memory/memory.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

namespace tenon {

namespace {

void sendText(Communicator& comm, int rank, int tag, const std::string& text) {
  checkMpi(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, tag, comm.mpi()),
           "MPI_Send");
}

std::string receiveText(Communicator& comm, int rank, int tag) {
  MPI_Status status;
  checkMpi(MPI_Probe(rank, tag, comm.mpi(), &status), "MPI_Probe");
  int size = 0;
  checkMpi(MPI_Get_count(&status, MPI_CHAR, &size), "MPI_Get_count");
  std::string text(size, '\0');
  checkMpi(MPI_Recv(text.data(), size, MPI_CHAR, rank, tag, comm.mpi(), MPI_STATUS_IGNORE),
           "MPI_Recv");
  return text;
}

// The table.

// Returns the sums over all ranks on rank 0, and nothing on other ranks. They are combined along a
// binomial tree of neighbouring ranks, which preserves the order of ranks.
LogSums gatherSums(Communicator& comm) {
  const int tag = comm.nextTag(), me = comm.rank();
  LogSums sums;
  sums.add(logSnapshot());
  for (int step = 1; step < comm.size(); step *= 2) {
    if (me % (2 * step) != 0) {
      sendText(comm, me - step, tag, sums.encode());
      return {};
    }
    if (me + step < comm.size())
      sums.add(LogSums::decode(receiveText(comm, me + step, tag)));
  }
  return sums;
}

} // namespace

void printLogView(Communicator& comm) {
  LogViewHead head{
      .ranks = comm.size(), .seconds = logElapsed(), .maxHighWater = 0, .totalHighWater = 0};
  const long long bytes = memoryHighWater();
  long long maximum = 0, total = 0;
  checkMpi(MPI_Reduce(&bytes, &maximum, 1, MPI_LONG_LONG, MPI_MAX, 0, comm.mpi()), "MPI_Reduce");
  checkMpi(MPI_Reduce(&bytes, &total, 1, MPI_LONG_LONG, MPI_SUM, 0, comm.mpi()), "MPI_Reduce");
  head.maxHighWater = maximum;
  head.totalHighWater = total;
  const LogSums sums = gatherSums(comm);
  if (comm.rank() == 0)
    print(formatLogView(head, sums.rows(comm.size())));
}

// The trace.

namespace {

constexpr Index kBlock = 20000; // Events per message, about three megabytes.

using UseBlock = std::function<void(const std::string&)>;

// Calls useBlock for each block of this rank's trace, in JSON.
void forEachBlock(int rank, const UseBlock& useBlock) {
  useBlock(traceHead(rank));
  const Index size = traceSize();
  for (Index begin = 0; begin < size; begin += kBlock)
    useBlock(traceEvents(rank, begin, std::min(begin + kBlock, size)));
}

// Sends the blocks of this rank. An empty message ends them, also on a rank that fails, since rank
// 0 waits for it.
void sendTrace(Communicator& comm, int tag) {
  try {
    forEachBlock(comm.rank(), [&](const std::string& text) { sendText(comm, 0, tag, text); });
  } catch (...) {
    sendText(comm, 0, tag, "");
    throw;
  }
  sendText(comm, 0, tag, "");
}

void receiveTraces(Communicator& comm, int tag, const UseBlock& useBlock) {
  for (int rank = 1; rank < comm.size(); ++rank)
    for (std::string text; !(text = receiveText(comm, rank, tag)).empty();)
      useBlock(text);
}

// Rank 0: writes the events of all ranks. After a failure it still receives the messages of the
// other ranks, which would otherwise block, and match a later receive.
void receiveAll(Communicator& comm, int tag, const std::string& path,
                std::optional<NewFile>& file) {
  std::exception_ptr failure;
  const auto attempt = [&](const std::function<void()>& body) {
    try {
      if (!failure)
        body();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  attempt([&] {
    file.emplace(path);
    file->write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    forEachBlock(0, [&](const std::string& text) { file->write(text); });
  });
  receiveTraces(comm, tag, [&](const std::string& text) { attempt([&] { file->write(text); }); });
  attempt([&] { file->write("\n]}\n"); });
  if (failure)
    std::rethrow_exception(failure);
}

void reportDropped(Communicator& comm) {
  const long long dropped = traceDropped();
  long long maximum = 0;
  checkMpi(MPI_Reduce(&dropped, &maximum, 1, MPI_LONG_LONG, MPI_MAX, 0, comm.mpi()), "MPI_Reduce");
  if (comm.rank() == 0 && maximum > 0)
    printError(fmt::format("Tenon: the trace is full; up to {} later events per rank were not "
                           "recorded; raise -tenon_log_trace_events\n",
                           maximum));
}

} // namespace

void startTrace(Communicator& comm, const std::string& path) {
  collectively(comm, [&] {
    // Detects now that the file cannot be written, instead of at the end of the run. The attempt is
    // not committed, so it leaves no file.
    if (comm.rank() == 0)
      NewFile attempt(path);
    traceStart(options().getInt("", "log_trace_events"));
    return 0;
  });
  // The ranks leave the agreement at different times; a barrier aligns their time zero.
  checkMpi(MPI_Barrier(comm.mpi()), "MPI_Barrier");
  traceStart(options().getInt("", "log_trace_events"));
}

void writeTrace(Communicator& comm, const std::string& path) {
  const int tag = comm.nextTag();
  std::optional<NewFile> file;
  reportDropped(comm);
  collectively(comm, [&] {
    if (comm.rank() == 0)
      receiveAll(comm, tag, path, file);
    else
      sendTrace(comm, tag);
    return 0;
  });
  collectively(comm, [&] {
    if (file)
      file->commit();
    return 0;
  });
}

} // namespace tenon
