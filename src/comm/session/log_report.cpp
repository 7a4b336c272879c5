// SPDX-License-Identifier: BSD-2-Clause
// Combines the logs of all ranks on their way to rank 0, so that no rank holds more than two.
// Traces are long, so they come to it in blocks, one rank after the other, and are written as they
// come.
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

// Rank 0 gets the sums of all ranks, the others none. They go up a tree whose ranks have those next
// to them below, so that the order stays that of the ranks.
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
  const long long mine = memoryHighWater();
  long long most = 0, total = 0;
  checkMpi(MPI_Reduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, comm.mpi()), "MPI_Reduce");
  checkMpi(MPI_Reduce(&mine, &total, 1, MPI_LONG_LONG, MPI_SUM, 0, comm.mpi()), "MPI_Reduce");
  head.maxHighWater = most;
  head.totalHighWater = total;
  const LogSums sums = gatherSums(comm);
  if (comm.rank() == 0)
    print(formatLogView(head, sums.rows(comm.size())));
}

// The trace.

namespace {

constexpr Index kBlock = 20000; // events of a message, some three megabytes

using Take = std::function<void(const std::string&)>;

void forEachBlock(int rank, const Take& take) {
  take(traceHead(rank));
  const Index size = traceSize();
  for (Index begin = 0; begin < size; begin += kBlock)
    take(traceEvents(rank, begin, std::min(begin + kBlock, size)));
}

// Sends the blocks of this rank. An empty message is the last one, also from a rank that fails,
// since rank 0 waits for it.
void sendTrace(Communicator& comm, int tag) {
  try {
    forEachBlock(comm.rank(), [&](const std::string& text) { sendText(comm, 0, tag, text); });
  } catch (...) {
    sendText(comm, 0, tag, "");
    throw;
  }
  sendText(comm, 0, tag, "");
}

void receiveTraces(Communicator& comm, int tag, const Take& take) {
  for (int rank = 1; rank < comm.size(); ++rank)
    for (std::string text; !(text = receiveText(comm, rank, tag)).empty();)
      take(text);
}

// Rank 0: writes the events of all ranks. Whatever fails, the messages of the other ranks are
// received, or they would wait, and meet a later receive.
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
  const long long mine = traceDropped();
  long long most = 0;
  checkMpi(MPI_Reduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, comm.mpi()), "MPI_Reduce");
  if (comm.rank() == 0 && most > 0)
    printError(fmt::format("Tenon: the trace is full; up to {} later events per rank were not "
                           "recorded; raise -tenon_log_trace_events\n",
                           most));
}

} // namespace

void startTrace(Communicator& comm, const std::string& path) {
  collectively(comm, [&] {
    // A file that cannot be written is found out now, and not after hours. The attempt is not
    // committed, and so leaves nothing.
    if (comm.rank() == 0)
      NewFile attempt(path);
    traceStart(options().getInt("", "log_trace_events"));
    return 0;
  });
  // The agreement left the ranks at different moments; a barrier brings their zeros together.
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
