// SPDX-License-Identifier: BSD-2-Clause
// GoogleTest's main for MPI programs: every rank runs every test, rank 0 reports, and a failure on
// any rank fails the program. A watchdog names the rank, the test and the last call instead of
// letting a hang run into ctest's limit.
#include "comm/session/session.hpp"
#include "sys/errors/handler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

class Watchdog : public testing::EmptyTestEventListener {
public:
  explicit Watchdog(int rank) : rank_(rank), thread_([this] { watch(); }) {}
  ~Watchdog() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

private:
  static constexpr std::chrono::seconds kTimeout{240 * TENON_TEST_TIMEOUT_FACTOR};

  void OnTestStart(const testing::TestInfo& info) override {
    const std::lock_guard lock(mutex_);
    test_ = std::string(info.test_suite_name()) + "." + info.name();
    ++started_;
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const int seen = started_;
      if (wake_.wait_for(lock, kTimeout, [&] { return stop_ || started_ != seen; }))
        continue;
      std::fprintf(stderr, "watchdog: rank %d hangs in %s; last call: %s\n", rank_, test_.c_str(),
                   tenon::lastCallName());
      std::fflush(stderr);
      MPI_Abort(MPI_COMM_WORLD, 99);
    }
  }

  const int rank_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string test_ = "no test";
  int started_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

// Other ranks stay silent but for their failures.
class FailuresOnly : public testing::EmptyTestEventListener {
public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                   result.message());
  }
  const int rank_;
};

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // Each test program decides itself when to initialise; most want the library all the time, and
  // before GoogleTest makes the parameters of suites, which can be objects of the library: these
  // would otherwise open the node's shared memory without the options.
  tenon::initialize(&argc, &argv, MPI_COMM_WORLD, "");
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  listeners.Append(new Watchdog(rank));
  int failed = RUN_ALL_TESTS();
  tenon::finalize();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
