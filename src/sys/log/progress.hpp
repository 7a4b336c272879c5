// SPDX-License-Identifier: BSD-2-Clause
// Progress reports of long work: a line at most once per second, and one at the end. The rate is
// measured from the first report, which prints nothing. For example, report("training", 120, 1000,
// "loss", 0.31) returns "training: 120 of 1000, 14.2 per second, loss 0.31, 1 min 2 s left".
#pragma once

#include "sys/types.hpp"

#include <map>
#include <string>

namespace tenon {

class Progress {
public:
  // The line to print now, or "". `what` names the work; `total` = 0 means unknown, and valueName
  // "" means that there is no value. If `done` decreases, the work has restarted. Times are read
  // from the clock of the log.
  std::string report(const std::string& what, Index done, Index total, const std::string& valueName,
                     double value);

private:
  struct Work {
    Index first = 0, last = 0;   // steps done at the first and at the last report
    double begin = 0, shown = 0; // times of the first report and of the last line
  };
  std::map<std::string, Work> works_; // by name
};

// Prints the reports on rank 0 if -tenon_progress is set.
void showProgress(const std::string& what, Index done, Index total, const std::string& valueName,
                  double value);

} // namespace tenon
