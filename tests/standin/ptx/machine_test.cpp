// SPDX-License-Identifier: BSD-2-Clause
// Tests the translation of PTX (translate.py, machine.hpp): each test runs a kernel of machine.ptx,
// which is written by hand and translated with the build, and compares the numbers that it stores
// with values computed here by the rules of PTX's manual. Also tested: the order of threads, the
// counts of instructions and bytes, and that each fault ends the program with its message.
#include "standin/kernels.hpp"
#include "standin/refused.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test {

namespace {

// Runs one block of a kernel whose parameter is the address of an array. Returns the first `count`
// numbers of the array.
template <class T>
std::vector<T> run(const char* kernel, std::size_t count, unsigned threads) {
  alignas(16) static char memory[8192];
  std::memset(memory, 0, sizeof memory);
  const void* parameter = memory;
  standin::nameKernel(kernel, kernel);
  standin::runKernel(kernel,
                     {.parameter = &parameter, .blocks = 1, .threads = threads, .order = nullptr});
  std::vector<T> stored(count);
  std::memcpy(stored.data(), memory, count * sizeof(T));
  return stored;
}

// A number of 64 bits from its halves.
std::int64_t halves(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::int64_t>(std::uint64_t(high) << 32 | low);
}

std::int64_t bits(double value) {
  std::int64_t same = 0;
  std::memcpy(&same, &value, sizeof same);
  return same;
}

} // namespace

TEST(TranslatedPtx, ComputesWithIntegers) {
  const std::vector<std::int64_t> expected = {std::numeric_limits<std::int64_t>::max(),
                                              halves(0xfffffffe, 7),
                                              halves(0, 0xffffffff),
                                              -21,
                                              halves(0, 5),
                                              0,
                                              halves(2, 7),
                                              halves(0xffffffff, 4),
                                              11,
                                              halves(29, std::uint32_t(-3)),
                                              -1,
                                              3,
                                              -1};
  EXPECT_EQ(run<std::int64_t>("integers", expected.size(), 1), expected);
}

TEST(TranslatedPtx, ComputesWithReals) {
  const double x = 1 + std::ldexp(1.0, -23);
  const std::vector<std::int64_t> found = run<std::int64_t>("reals", 10, 1);
  const std::vector<std::int64_t> expected = {bits(std::ldexp(1.0, -22) + std::ldexp(1.0, -46)),
                                              bits(0.0),
                                              bits(-0.0),
                                              halves(0, 1),
                                              halves(1, 0),
                                              halves(0x7fffffff, 2),
                                              bits(double(float(x))),
                                              bits(x / 2),
                                              found[8],
                                              std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(found, expected);
  EXPECT_LT(found[8], bits(1 / 3.0));
  EXPECT_GT(found[8], bits(1 / 3.0 - std::ldexp(1.0, -22)));
}

TEST(TranslatedPtx, MeetsAtBarriers) {
  const auto found = run<std::uint32_t>("shared_sum", 100, 100);
  for (unsigned t = 0; t < 100; ++t)
    EXPECT_EQ(found[t], (99 * 100 - t * (t - 1)) / 2) << t;
}

TEST(TranslatedPtx, RunsThreadsInEitherOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process reads the variable once
  const std::vector<std::uint32_t> forward = {5, 1, 2, 3, 4, 5}, reverse = {5, 5, 4, 3, 2, 1};
  const auto numbered = [] { return run<std::uint32_t>("numbered", 6, 5); };
  const auto ends = [&](const char* order, const auto& expected) {
    setenv("TENON_STANDIN_THREADS", order, 1);
    std::exit(numbered() == expected ? 0 : 1);
  };
  EXPECT_EXIT(ends("forward", forward), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ends("reverse", reverse), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ends("sideways", forward), refusedByStandin, "expected forward or reverse");
}

TEST(TranslatedPtx, CountsInstructionsAndBytes) {
  const auto before = tenonStandinCounts();
  run<std::uint32_t>("numbered", 6, 5);
  const auto after = tenonStandinCounts();
  EXPECT_EQ(after.instructions - before.instructions, 5 * 9U);
  EXPECT_EQ(after.read - before.read, 5 * 4U);
  EXPECT_EQ(after.written - before.written, 5 * 8U);
}

TEST(TranslatedPtx, NamesFaults) {
  const auto runs = [](const char* kernel) { return [=] { run<int>(kernel, 1, 8); }; };
  EXPECT_EXIT(runs("misaligned")(), refusedByStandin,
              "not aligned: 8 bytes at 0x.*4, line [0-9]+ of machine.ptx .kernel misaligned.");
  EXPECT_EXIT(runs("misaligned_pair")(), refusedByStandin, "not aligned: 16 bytes at 0x.*8");
  EXPECT_EXIT(runs("beyond_shared")(), refusedByStandin, "leaves shared memory: 4 bytes at 0x8");
  EXPECT_EXIT(runs("divergent")(), refusedByStandin,
              "do not meet: thread 0 is at barrier 1, thread 3 has ended .kernel divergent.");
  EXPECT_EXIT(runs("divided_by_0")(), refusedByStandin, "divided by 0 .kernel divided_by_0.");
  EXPECT_EXIT(runs("unheard_of")(), refusedByStandin, "no translation of the kernel 'unheard_of'");
}

} // namespace tenon::test
