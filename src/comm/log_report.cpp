// SPDX-License-Identifier: BSD-2-Clause
#include "comm/log_report.hpp"

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

std::vector<std::string> gatherTexts(Communicator& comm, const std::string& mine) {
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(comm.size()), offsets(comm.size() + 1, 0);
  checkMpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm.mpi()),
           "MPI_Gather");
  for (int r = 0; r < comm.size(); ++r)
    offsets[r + 1] = offsets[r] + lengths[r];
  std::string all(offsets.back(), '\0');
  checkMpi(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                       MPI_CHAR, 0, comm.mpi()),
           "MPI_Gatherv");
  std::vector<std::string> texts;
  for (int r = 0; r < comm.size(); ++r)
    texts.push_back(all.substr(offsets[r], lengths[r]));
  return texts;
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
  const auto texts = gatherTexts(comm, encode(logSnapshot()));
  if (comm.rank() != 0)
    return;
  std::vector<std::vector<EventRecord>> ranks;
  for (const std::string& text : texts)
    ranks.push_back(decode(text));
  print(formatLogView(head, reduceLog(ranks)));
}

} // namespace tenon
