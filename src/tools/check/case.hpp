// SPDX-License-Identifier: BSD-2-Clause
// One random configuration of `tenon check`: its random numbers, its description, and the first
// error that this rank found. After an error the configuration continues with the same calls,
// because other ranks would wait for this rank otherwise. At its end an all-reduce compares the
// findings of all ranks (check.cpp).
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
  bool isRefused = false;   // the configuration is invalid: one process and all ranks reject it
  std::uint64_t digest = 0; // of the bits that this rank has computed

  int position(const GridSpec& grid) const { return grid.positionOf(rank); }
  // Records a result of difference() in values.hpp; "" means equal. Only the first difference is
  // recorded; `what` says what was compared.
  void found(const std::string& what, const std::string& difference) {
    if (finding.empty() && !difference.empty())
      finding = what + difference;
  }
  // Adds the bits of a result to the digest, which two runs can compare.
  void computed(const Values& cells) {
    for (const double cell : cells)
      digest = hash(digest, std::bit_cast<std::uint64_t>(cell));
  }
};

// Compares copies bitwise. Ranks that pass the same `number` hold copies of the same elements; each
// compares its elements `mine` with those of the first such rank. A rank without elements passes a
// negative number. Collective.
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
  const bool isReal = mayBeReal && !isInteger(type);
  const Numbers reals = type == TENON_FLOAT32 ? Numbers::Singles : Numbers::Doubles;
  return {draw.number(), isReal ? reals : Numbers::Integers};
}

inline const char* typeText(TenonDataType type) {
  return type == TENON_FLOAT32   ? "float32"
         : type == TENON_FLOAT64 ? "float64"
         : type == TENON_INT32   ? "int32"
                                 : "int64";
}

} // namespace tenon::tools
