// SPDX-License-Identifier: BSD-2-Clause
// expectSameForAllThreads(): computes a kernel's results on 1, 2, 3 and 5 threads and expects the
// same bits. Without OpenMP every run has one thread. ThreadCount sets OpenMP's number of threads
// while it exists.
#pragma once

#include "kernels/base/parallel.hpp"
#include "kernels/draw.hpp"

#include <cstring>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace tenon::test {

// Sets the number of threads as a user's program does, and restores it at the end.
class ThreadCount {
public:
  explicit ThreadCount(int count) {
#ifdef _OPENMP
    before_ = omp_get_max_threads();
    omp_set_num_threads(count);
#else
    static_cast<void>(count);
#endif
  }
  ~ThreadCount() {
#ifdef _OPENMP
    omp_set_num_threads(before_);
#endif
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

private:
  [[maybe_unused]] int before_ = 1;
};

// A length that five threads do not divide evenly.
constexpr Index kManyElements = 2 * kMinWork + 13;

template <class T>
void expectSameBits(const std::vector<T>& got, const std::vector<T>& want) {
  ASSERT_EQ(got.size(), want.size());
  if (std::memcmp(got.data(), want.data(), want.size() * sizeof(T)) == 0)
    return;
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
        << "element " << i << " is " << got[i] << " instead of " << want[i];
}

// results() runs the kernel and returns all values that it has written, in one vector; `what` names
// the case in a failure.
template <class Results>
void expectSameForAllThreads(const std::string& what, Results results) {
  SCOPED_TRACE(what);
  ThreadCount one(1);
  const auto want = results();
  for (int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    ThreadCount several(threads);
    expectSameBits(results(), want);
  }
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

} // namespace tenon::test
