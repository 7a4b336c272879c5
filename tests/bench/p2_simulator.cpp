// SPDX-License-Identifier: BSD-2-Clause
// Prints how well predicted times of reduction programs have the order of the times that a paper
// prints (tests/placement/paper_times.hpp): Spearman's rank correlation over the rows of its
// appendix and, with -rows, each row. Nothing is timed here; reduction_test requires minimum
// correlations.
#include "placement/paper_times.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace tenon;
using test::PaperCase;

void printRows(const std::vector<PaperCase>& cases) {
  std::printf("    %-34s %21s %21s\n", "", "AllReduce, s", "fastest, s");
  std::printf("    %-34s %10s %10s %10s %10s\n", "placement", "printed", "model", "printed",
              "model");
  for (const PaperCase& one : cases)
    std::printf("    %-34s %10.2f %10.2f %10.2f %10.2f\n", one.label.c_str(), one.allReducePrinted,
                one.allReduce, one.optimalPrinted, one.optimal);
}

void print(const char* machine, const char* name, ReductionAlgorithm algorithm, bool isLong) {
  const auto cases = test::paperCases(machine, algorithm);
  std::vector<double> gain, gainPrinted;
  for (const PaperCase& one : cases) {
    gain.push_back(one.allReduce / one.optimal);
    gainPrinted.push_back(one.allReducePrinted / one.optimalPrinted);
  }
  std::printf("%-8s %-4s %4zu rows   Spearman: AllReduce %.3f, fastest %.3f, speed-up %.3f\n",
              machine, name, cases.size(),
              test::spearman(cases, &PaperCase::allReduce, &PaperCase::allReducePrinted),
              test::spearman(cases, &PaperCase::optimal, &PaperCase::optimalPrinted),
              test::spearman(gain, gainPrinted));
  if (isLong)
    printRows(cases);
}

} // namespace

int main(int argc, char** argv) {
  const bool isLong = argc > 1 && std::strcmp(argv[1], "-rows") == 0;
  for (const char* machine : {"a100x16", "v100x8"}) {
    print(machine, "ring", ReductionAlgorithm::Ring, isLong);
    print(machine, "tree", ReductionAlgorithm::Tree, isLong);
  }
}
