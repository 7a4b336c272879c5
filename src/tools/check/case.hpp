// SPDX-License-Identifier: BSD-2-Clause
// One random configuration of `tenon check`: its draws, its description, and the first thing that
// this rank found wrong. A finding ends nothing: the case goes on, so that no rank waits for
// another, and the ranks compare their findings at its end.
#pragma once

#include "tools/check/draw.hpp"
#include "tools/check/values.hpp"

#include <bit>
#include <functional>

namespace tenon::tools {

struct Case {
  MPI_Comm comm;
  int rank, ranks;
  Draw draw;
  TenonMemorySpace space = TENON_MEMORY_HOST; // of the tensors under check
  std::string text = {};                      // the configuration
  std::string finding = {};                   // what differed first
  bool isRefused = false;                     // one process and all ranks refuse it alike
  std::uint64_t digest = 0;                   // of the bits that this rank has computed

  int position(const GridSpec& grid) const { return grid.positionOf(rank); }
  // Notes a difference of values.hpp, or "" for none; the first one counts.
  void found(const std::string& what, const std::string& difference) {
    if (finding.empty() && !difference.empty())
      finding = what + difference;
  }
  void computed(const Values& cells) {
    for (const double cell : cells)
      digest = hash(digest, std::bit_cast<std::uint64_t>(cell));
  }
};

// Compares the bits of what this rank holds in a tensor with those of the first rank with the same
// number. A rank with a negative number holds no copy. Collective.
void compareCopies(Case& c, int number, const Values& mine, const Box& box,
                   const std::string& what);

// A kind of configurations, by which -only chooses.
struct CaseKind {
  std::string name;
  std::function<void(Case& c)> run;
  int weight = 2; // how often it is drawn; 0: only where -only names it
};

inline TenonDataType drawFloating(Draw& draw) {
  return draw.chance(50) ? TENON_FLOAT32 : TENON_FLOAT64;
}

// A filling for a tensor of that type: small integers, or any numbers if it may be real.
inline Filling drawFilling(Draw& draw, TenonDataType type, bool mayBeReal) {
  const bool isReal = mayBeReal && type != TENON_INT64;
  const Numbers reals = type == TENON_FLOAT32 ? Numbers::Singles : Numbers::Doubles;
  return {draw.number(), isReal ? reals : Numbers::Integers};
}

inline const char* typeText(TenonDataType type) {
  return type == TENON_FLOAT32 ? "float32" : type == TENON_FLOAT64 ? "float64" : "int64";
}

} // namespace tenon::tools
