// SPDX-License-Identifier: BSD-2-Clause
// Stores measured times in memory and in the file of -tenon_device_plans_file. A line of the file
// has the format's number, the key and the times, separated by tabs, with - for a candidate that
// cannot run, and ends with a full stop. Processes share the file: each line is appended by one
// call, and one without its end, which is being written or whose process was stopped, is not read.
#include "kernels/cuda/plan_times.hpp"

#include "sys/cuda/status.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::cuda {

namespace {

constexpr const char* kFormat = "1\t";
constexpr std::string_view kEnd = " .";

using Times = std::map<std::string, MeasuredTimes>;

struct Known {
  std::mutex mutex;
  Times times;
  std::string file; // that has been read
};

Known& known() {
  static Known instance;
  return instance;
}

// The times of a line's last column. An empty list if it has another content.
std::vector<Nanoseconds> timesIn(std::string_view text) {
  std::vector<Nanoseconds> times;
  text.remove_suffix(std::min(text.size(), kEnd.size()));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    Nanoseconds time = kNever;
    if (text.substr(0, end) != "-") {
      const auto [rest, error] = std::from_chars(text.data(), text.data() + end, time);
      if (error != std::errc() || rest != text.data() + end)
        return {};
    }
    times.push_back(time);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return times;
}

// Adds the times of a file. A file that does not exist will be written.
void read(const std::string& file, Times& known) {
  struct stat found {};
  if (stat(file.c_str(), &found) != 0 && errno == ENOENT)
    return;
  std::ifstream stream(file);
  if (!S_ISREG(found.st_mode) || !stream)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot read '{}', the value of -tenon_device_plans_file", file));
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const bool hasBegin = line.starts_with(kFormat) || std::string_view(kFormat).starts_with(line);
    if (hasBegin && (stream.eof() || !line.ends_with(kEnd))) // or empty
      continue;
    const std::size_t tab = line.rfind('\t');
    const bool isLine = line.starts_with(kFormat) && tab >= std::strlen(kFormat);
    const std::vector<Nanoseconds> times =
        isLine ? timesIn(std::string_view(line).substr(tab + 1)) : std::vector<Nanoseconds>();
    if (times.empty())
      throw Error(
          TENON_ERR_FILE,
          fmt::format("line {} of '{}', the value of -tenon_device_plans_file, has no times "
                      "of plans; delete the line, or the file, which is then made again",
                      number, file));
    known.emplace(line.substr(std::strlen(kFormat), tab - std::strlen(kFormat)),
                  MeasuredTimes{times});
  }
}

void append(const std::string& file, const std::string& key,
            const std::vector<Nanoseconds>& times) {
  std::string line = kFormat + key;
  for (std::size_t i = 0; i < times.size(); ++i) {
    line += i == 0 ? '\t' : ' ';
    line += times[i] == kNever ? "-" : std::to_string(times[i]);
  }
  line.append(kEnd) += '\n';
  const int handle = open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  // A line that a process could not complete ends here: the new one must be a line of its own.
  char last = '\n';
  if (const off_t size = handle >= 0 ? lseek(handle, 0, SEEK_END) : 0;
      size > 0 && pread(handle, &last, 1, size - 1) == 1 && last != '\n')
    line.insert(line.begin(), '\n');
  const bool isWritten =
      handle >= 0 && write(handle, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (handle >= 0)
    close(handle);
  if (!isWritten)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot write '{}', the value of -tenon_device_plans_file: {}", file,
                            std::strerror(error)));
}

std::string textOf(const ArrayBox& box) {
  return fmt::format("{}/{}", fmt::join(box.extent, "x"), fmt::join(box.strides, ","));
}

std::string deviceText() {
  static const std::string text = [] {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, Device::get().number()), "cudaGetDeviceProperties");
    return fmt::format("{}, cuDNN {}", properties.name, dnn().cudnnGetVersion());
  }();
  return text;
}

// The number of candidates belongs to the key: another version of the library can have others, and
// its times must not hide those of this one.
std::string keyWith(const std::string& key, std::size_t candidates) {
  return fmt::format("{} candidates {}", key, candidates);
}

} // namespace

std::string textOf(const MeasuredGraph& measured) {
  const ConvolutionGraph& graph = measured.graph;
  return fmt::format("{}: type {} x {} w {} y {} pad {},{} stride {} dilation {} alignment {} "
                     "epilogue {} may {}{}{}{}",
                     deviceText(), int(graph.type), textOf(graph.x), textOf(graph.w),
                     textOf(graph.y), fmt::join(graph.padLow, "x"), fmt::join(graph.padHigh, "x"),
                     fmt::join(graph.stride, "x"), fmt::join(graph.dilation, "x"), graph.alignment,
                     int(measured.epilogue), int(graph.mayUseTf32),
                     int(graph.mayBeNondeterministic), int(measured.hasProducts),
                     int(measured.rounds));
}

std::optional<MeasuredTimes> knownTimes(const std::string& key, std::size_t count) {
  const std::scoped_lock lock(known().mutex);
  if (const std::string file = options().getString("", "device_plans_file"); file != known().file) {
    read(file, known().times);
    known().file = file;
  }
  const auto entry = known().times.find(keyWith(key, count));
  if (entry == known().times.end() || entry->second.times.size() != count)
    return std::nullopt;
  return entry->second;
}

void keepTimes(const std::string& key, const MeasuredTimes& measured) {
  const std::scoped_lock lock(known().mutex);
  const std::string whole = keyWith(key, measured.times.size());
  known().times[whole] = measured;
  if (const std::string file = options().getString("", "device_plans_file");
      measured.isWhole && !file.empty())
    append(file, whole, measured.times);
}

double measurementSeconds() {
  return options().getReal("", "device_plans_seconds");
}

} // namespace tenon::cuda
