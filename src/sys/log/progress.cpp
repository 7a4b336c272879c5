// SPDX-License-Identifier: BSD-2-Clause
// Converts reports about long work to lines, at most one per second. The first report of a work
// only records its beginning: the rate excludes steps done earlier, for example before a restart.
#include "sys/log/progress.hpp"

#include "sys/errors/error.hpp"
#include "sys/errors/handler.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

namespace tenon {

namespace {

constexpr double kPause = 1; // minimum seconds between two lines

std::string durationText(double seconds) {
  const Index rounded = std::llround(seconds);
  if (rounded < 60)
    return fmt::format("{} s", rounded);
  if (rounded < 3600)
    return fmt::format("{} min {} s", rounded / 60, rounded % 60);
  return fmt::format("{} h {} min", rounded / 3600, rounded % 3600 / 60);
}

} // namespace

std::string Progress::report(const std::string& what, Index done, Index total,
                             const std::string& valueName, double value) {
  if (done < 0 || total < 0 || (total > 0 && done > total))
    throw Error(TENON_ERR_ARG,
                fmt::format("progress of '{2}' is {0} of {1} steps; the first number must be in 0 "
                            "to the second, which is 0 if the total is not known",
                            done, total, what));
  const double now = logNow();
  const auto [position, isNew] = works_.try_emplace(what);
  Work& work = position->second;
  if (isNew || done < work.last) {
    work = {done, done, now, now};
    return "";
  }
  work.last = done;
  const double seconds = now - work.begin;
  // The last step is always printed.
  if (seconds <= 0 || (now - work.shown < kPause && done != total))
    return "";
  work.shown = now;
  const double rate = static_cast<double>(done - work.first) / seconds;
  std::string line = fmt::format("{}: {}", what, done);
  if (total > 0)
    line += fmt::format(" of {}", total);
  line += fmt::format(", {:.4g} per second", rate);
  if (!valueName.empty())
    line += fmt::format(", {} {:.6g}", valueName, value);
  if (total > 0 && rate > 0)
    line += fmt::format(", {} left", durationText(static_cast<double>(total - done) / rate));
  return line + "\n";
}

void showProgress(const std::string& what, Index done, Index total, const std::string& valueName,
                  double value) {
  static std::mutex mutex;
  // Never destroyed: work can be reported while static objects are destroyed.
  static auto* progress = new Progress;
  if (processRank() != 0 || !options().getFlag("", "progress"))
    return;
  const std::lock_guard lock(mutex);
  if (const std::string line = progress->report(what, done, total, valueName, value); !line.empty())
    print(line);
}

} // namespace tenon
