// SPDX-License-Identifier: BSD-2-Clause
#include "comm/trace_report.hpp"

#include "comm/agreement.hpp"
#include "comm/text_message.hpp"
#include "sys/log_trace.hpp"
#include "sys/new_file.hpp"
#include "sys/options.hpp"
#include "sys/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>

namespace tenon {

namespace {

constexpr Index kBlock = 20000; // events, some three megabytes

using Take = std::function<void(const std::string&)>;

void forEachBlock(int rank, const Take& take) {
  take(traceHead(rank));
  const Index size = traceSize();
  for (Index begin = 0; begin < size; begin += kBlock)
    take(traceEvents(rank, begin, std::min(begin + kBlock, size)));
}

// An empty message is the last, also of a rank that fails.
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

// Rank 0: whatever fails, the other ranks' messages are received.
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
