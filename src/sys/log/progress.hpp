// SPDX-License-Identifier: BSD-2-Clause
// How far long work has come: a line at most once a second, and one at the end. The rate is that
// since the work's first report, which therefore prints nothing.
#pragma once

#include "sys/types.hpp"

#include <map>
#include <string>

namespace tenon {

class Progress {
public:
  // The line to print now, or "". `what` names the work; a `total` of 0 means that it is not known,
  // and valueName "" that there is no value. Work whose `done` goes back has begun again. Time is
  // that of the clock of the log.
  std::string report(const std::string& what, Index done, Index total, const std::string& valueName,
                     double value);

private:
  struct Work {
    Index first = 0, last = 0;
    double begin = 0, shown = 0;
  };
  std::map<std::string, Work> works_;
};

// Prints the reports of the process with rank 0 if -tenon_progress.
void showProgress(const std::string& what, Index done, Index total, const std::string& valueName,
                  double value);

} // namespace tenon
