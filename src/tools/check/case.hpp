// SPDX-License-Identifier: BSD-2-Clause
// One random configuration of `tenon check`: its draws, its description, and the first error that
// this rank found. An error does not end the case: it continues, so no rank waits for another, and
// the ranks compare their findings at its end.
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
  TenonMemorySpace space = TENON_MEMORY_HOST; // of the tensors under test
  std::string text = {};                      // description of the configuration
  std::string finding = {};                   // first difference found
  bool isRefused = false;                     // one process and all ranks return the same error
  std::uint64_t digest = 0;                   // of the bits that this rank has computed

  int position(const GridSpec& grid) const { return grid.positionOf(rank); }
  // Records a difference of values.hpp, or nothing if it is ""; only the first one is recorded.
  void found(const std::string& what, const std::string& difference) {
    if (finding.empty() && !difference.empty())
      finding = what + difference;
  }
  void computed(const Values& cells) {
    for (const double cell : cells)
      digest = hash(digest, std::bit_cast<std::uint64_t>(cell));
  }
};

// Compares the bits of this rank's elements with those of the first rank with the same number. A
// rank with a negative number has no copy. Collective.
void compareCopies(Case& c, int number, const Values& mine, const Box& box,
                   const std::string& what);

// A kind of configuration, which -only selects by name.
struct CaseKind {
  std::string name;
  std::function<void(Case& c)> run;
  int weight = 2; // relative frequency; 0: only if -only names it
};

inline TenonDataType drawFloating(Draw& draw) {
  return draw.chance(50) ? TENON_FLOAT32 : TENON_FLOAT64;
}

// A filling for a tensor of that type: small integers, or real numbers if allowed.
inline Filling drawFilling(Draw& draw, TenonDataType type, bool mayBeReal) {
  const bool isReal = mayBeReal && type != TENON_INT64;
  const Numbers reals = type == TENON_FLOAT32 ? Numbers::Singles : Numbers::Doubles;
  return {draw.number(), isReal ? reals : Numbers::Integers};
}

inline const char* typeText(TenonDataType type) {
  return type == TENON_FLOAT32 ? "float32" : type == TENON_FLOAT64 ? "float64" : "int64";
}

} // namespace tenon::tools
