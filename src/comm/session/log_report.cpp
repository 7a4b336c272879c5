// SPDX-License-Identifier: BSD-2-Clause
// Collects the texts of all ranks on rank 0, one rank after the other, since together they can have
// more bytes than the int holds in which MPI counts. Traces are long, so they come in blocks and
// are written as they come.
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
#include <sstream>
#include <string>

namespace tenon {

namespace {

void sendText(Communicator& comm, int tag, const std::string& text) {
  checkMpi(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, tag, comm.mpi()),
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

// The records as text: one line each, with fields separated by tabs, which names cannot contain.
std::string encode(const std::vector<EventRecord>& records) {
  std::string text;
  for (const EventRecord& r : records)
    text += fmt::format("{}\t{}\t{} {} {} {} {} {}\n", r.stage, r.event, r.count, r.time,
                        r.selfTime, r.flops, r.messages, r.bytes);
  return text;
}

std::vector<EventRecord> decode(const std::string& text) {
  std::vector<EventRecord> records;
  std::istringstream lines(text);
  for (EventRecord r; std::getline(lines, r.stage, '\t') && std::getline(lines, r.event, '\t');) {
    lines >> r.count >> r.time >> r.selfTime >> r.flops >> r.messages >> r.bytes;
    lines.ignore(1);
    records.push_back(r);
  }
  return records;
}

// Gathers records: rank 0 gets those of all ranks, the others none.
std::vector<std::vector<EventRecord>> gatherRecords(Communicator& comm) {
  const int tag = comm.nextTag();
  if (comm.rank() != 0) {
    sendText(comm, tag, encode(logSnapshot()));
    return {};
  }
  std::vector<std::vector<EventRecord>> ranks = {logSnapshot()};
  for (int rank = 1; rank < comm.size(); ++rank)
    ranks.push_back(decode(receiveText(comm, rank, tag)));
  return ranks;
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
  const auto ranks = gatherRecords(comm);
  if (comm.rank() != 0)
    return;
  print(formatLogView(head, reduceLog(ranks)));
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
    forEachBlock(comm.rank(), [&](const std::string& text) { sendText(comm, tag, text); });
  } catch (...) {
    sendText(comm, tag, "");
    throw;
  }
  sendText(comm, tag, "");
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
