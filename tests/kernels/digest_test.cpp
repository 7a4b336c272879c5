// SPDX-License-Identifier: BSD-2-Clause
// digestBlock() compared with the definition in movement/digest.hpp, element by element: for boxes
// of any split of an array, whose digests are added, and for another order of storage.
#include "kernels/movement/digest.hpp"

#include "host_context.hpp"
#include "sys/random.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon {
namespace {

using test::hostContext;

template <class T>
std::vector<T> drawnElements(Index n) {
  std::vector<T> x;
  for (Index i = 0; i < n; ++i)
    x.push_back(static_cast<T>(1000 * normalAt(1, 2, static_cast<std::uint64_t>(i))));
  return x;
}

// The definition of the header.
template <class T>
std::uint64_t definedDigest(const std::vector<T>& x) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x[i], sizeof(T)); // little-endian: the lower half
    std::uint64_t z = bits + 0x9E3779B97F4A7C15ULL * (i + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    sum += z ^ (z >> 31);
  }
  return sum;
}

template <class T>
void checkDigestSplits() {
  const Index rows = 13, columns = 29;
  const auto x = drawnElements<T>(rows * columns);
  const std::uint64_t want = definedDigest(x);
  const Index strides[] = {columns, 1};
  for (const Index cut : {0, 4, 13})
    for (const Index side : {0, 1, 28}) {
      std::uint64_t sum = 0;
      for (const auto& [row, height] : {std::pair(Index(0), cut), std::pair(cut, rows - cut)})
        for (const auto& [column, width] :
             {std::pair(Index(0), side), std::pair(side, columns - side)}) {
          const Index extent[] = {height, width}, first = row * columns + column;
          sum +=
              digestBlock<T>(hostContext(), 2, extent, x.data() + first, strides, first, strides);
        }
      EXPECT_EQ(sum, want) << cut << ", " << side;
    }
  // The same values in column-major order.
  std::vector<T> turned(x.size());
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      turned[c * rows + r] = x[r * columns + c];
  const Index extent[] = {rows, columns}, other[] = {1, rows};
  EXPECT_EQ(digestBlock<T>(hostContext(), 2, extent, turned.data(), other, 0, strides), want);
}

TEST(Digest, IsThatOfTheDefinitionForAnySplit) {
  checkDigestSplits<float>();
  checkDigestSplits<double>();
  checkDigestSplits<std::int64_t>();
}

} // namespace
} // namespace tenon
