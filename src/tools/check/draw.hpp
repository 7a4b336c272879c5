// SPDX-License-Identifier: BSD-2-Clause
// Random draws that are a function of (seed, case) only: a case can be repeated without the
// preceding ones, and every rank draws the same values. The n-th number is a hash of the case's key
// and n (the finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::tools {

// A bijection that mixes all bits of x, and a hash of two numbers.
inline std::uint64_t hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline std::uint64_t hash(std::uint64_t key, std::uint64_t x) {
  return hash(hash(key) ^ x);
}

class Draw {
public:
  Draw(std::uint64_t seed, std::uint64_t number) : key_(hash(seed, number)) {}

  // A random number: of 64 bits; in 0 ... n; in low ... high; true in `percent` of 100 cases.
  std::uint64_t number() { return hash(key_, count_++); }
  int upTo(int n) { return static_cast<int>(number() % static_cast<std::uint64_t>(n + 1)); }
  int between(int low, int high) { return low + upTo(high - low); }
  bool chance(int percent) { return upTo(99) < percent; }

  // One of the choices, all equally likely.
  template <class T>
  T of(const std::vector<T>& choices) {
    return choices[upTo(static_cast<int>(choices.size()) - 1)];
  }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[upTo(static_cast<int>(i) - 1)]);
  }

private:
  std::uint64_t key_;       // of seed and case
  std::uint64_t count_ = 0; // how many numbers have been drawn
};

} // namespace tenon::tools
