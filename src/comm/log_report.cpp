// SPDX-License-Identifier: BSD-2-Clause
#include "comm/log_report.hpp"

#include "comm/text_message.hpp"
#include "sys/log_view.hpp"
#include "sys/memory.hpp"
#include "sys/output.hpp"

#include <fmt/format.h>

#include <sstream>

namespace tenon {

namespace {

// One line per record, fields separated by tabs, which no name contains.
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

// Rank 0 gets those of all ranks, the others none.
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

} // namespace tenon
