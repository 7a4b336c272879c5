// SPDX-License-Identifier: BSD-2-Clause
// Threads of kernels: how many there are (OpenMP's number, limited by an option and by the scratch
// memory of a kernel, and 1 inside a parallel region), and how parallelPieces() divides work into
// ranges.
#include "kernels/base/context.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/host_context.hpp"
#include "kernels/thread_count.hpp"
#include "sys/threads.hpp"

#include <algorithm>
#include <atomic>

namespace tenon::test {

namespace {

struct Piece {
  int number;
  Index begin, end;
};

// The ranges of parallelPieces(), in the order of their numbers.
std::vector<Piece> piecesOf(int threads, Index count, Index cost) {
  std::vector<Piece> pieces(size_t(threads), {-1, 0, 0});
  std::atomic<int> calls = 0;
  parallelPieces(threads, count, cost, [&](int number, Index begin, Index end) {
    pieces[number] = {number, begin, end};
    ++calls;
  });
  pieces.resize(size_t(calls));
  return pieces;
}

} // namespace

TEST(Threads, AreThoseThatTheProgramAskedFor) {
  KernelContext context;
  for (int count : {1, 2, 5}) {
    ThreadCount set(count);
    EXPECT_EQ(kernelThreads(), hasThreads() ? count : 1);
    EXPECT_EQ(context.threads(), kernelThreads());
  }
}

TEST(Threads, AreLimitedByTheOption) {
  ThreadCount set(5);
  const int all = kernelThreads();
  setThreadLimit(2);
  EXPECT_EQ(kernelThreads(), std::min(all, 2));
  setThreadLimit(100);
  EXPECT_EQ(kernelThreads(), all);
  setThreadLimit(0);
  EXPECT_EQ(kernelThreads(), all);
}

TEST(Threads, ScratchIsForThoseOfItsPlan) {
  KernelContext context;
  ThreadCount three(3);
  ScratchPlan plan;
  plan.add<char>(1);
  const ThreadScratch pieces = plan.addForThreads<double>(context.threads(), 10);
  const ThreadScratch more = plan.addForThreads<float>(context.threads(), 1);
  context.reserve(plan);
  double* first = context.scratch<double>(pieces, 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kAlignment, 0u);
  for (int i = 1; i < pieces.threads; ++i)
    EXPECT_GE(context.scratch<double>(pieces, i), context.scratch<double>(pieces, i - 1) + 10);
  EXPECT_GE(static_cast<void*>(context.scratch<float>(more, 0)),
            static_cast<void*>(context.scratch<double>(pieces, pieces.threads - 1) + 10));
  ThreadCount five(5);
  EXPECT_EQ(context.threads(pieces), hasThreads() ? 3 : 1);
  ThreadCount two(2);
  EXPECT_EQ(context.threads(pieces), hasThreads() ? 2 : 1);
}

// The last two arguments of parallelPieces() are the number of items and the cost of each, which is
// measured against kMinWork, the least work that is divided.
TEST(Threads, RangesMakeUpTheWhole) {
  for (Index count : {kMinWork, kMinWork + 4, Index(3)}) {
    const auto pieces = piecesOf(5, count, kMinWork);
    ASSERT_EQ(Index(pieces.size()), std::min<Index>(5, count));
    Index end = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].number, int(i));
      EXPECT_EQ(pieces[i].begin, end);
      EXPECT_NEAR(double(pieces[i].end - end), double(count) / double(pieces.size()), 1);
      end = pieces[i].end;
    }
    EXPECT_EQ(end, count);
  }
}

TEST(Threads, LittleWorkAndOneItemStayOnOneThread) {
  EXPECT_EQ(piecesOf(5, 0, kMinWork).size(), 0u);
  EXPECT_EQ(piecesOf(5, 1, kMinWork).size(), 1u);
  EXPECT_EQ(piecesOf(5, kMinWork - 1, 1).size(), 1u);
  EXPECT_EQ(piecesOf(5, kMinWork, 1).size(), 5u);
  EXPECT_EQ(piecesOf(1, kMinWork, 1).size(), 1u);
}

#ifdef _OPENMP
TEST(Threads, AreATeam) {
  std::atomic<int> together = 0;
  parallelRanges(2, kMinWork, 1, [&](Index, Index) { together += omp_get_num_threads(); });
  EXPECT_EQ(together, 4); // each of the two threads sees two
}

// If a program calls kernels from its own threads, each on separate arrays, a kernel uses one
// thread.
TEST(Threads, InsideAParallelRegionThereIsOne) {
  ThreadCount three(3);
  Draw draw(4);
  const auto x = draw.reals<double>(kManyElements, -1, 1);
  const double want = dot(test::hostContext(), kManyElements, x.data(), x.data());
  std::vector<int> seen(2, 0), pieces(2, 0);
  std::vector<double> got(2, 0), filled(2 * size_t(kManyElements), 0);
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    double* mine = filled.data() + me * kManyElements;
    seen[me] = kernelThreads();
    parallelRanges(kernelThreads(), kManyElements, 1, [&](Index, Index) { ++pieces[me]; });
    got[me] = dot(test::hostContext(), kManyElements, x.data(), x.data());
    parallelFill(kernelThreads(), kManyElements, double(me + 1), mine);
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 1}));
  EXPECT_EQ(pieces, (std::vector<int>{1, 1}));
  EXPECT_EQ(got, (std::vector<double>{want, want}));
  EXPECT_EQ(std::count(filled.begin(), filled.end(), 1.0), kManyElements);
  EXPECT_EQ(std::count(filled.begin(), filled.end(), 2.0), kManyElements);
}
#endif

} // namespace tenon::test
