// SPDX-License-Identifier: BSD-2-Clause
// The files of a pattern as one variable. Files are ordered by the coordinate along the first
// dimension, such as time, if it has the same units in all of them, and by name otherwise:
// ocean_2001.nc with time 0 to 364 is before ocean_2002.nc with time 365 to 729. Each file has its
// own packing. At most kMaxOpen files are open at a time, since a process may have few descriptors.
//
// A pattern can match files that do not continue each other, for example a variable of depths, the
// same in each file. Therefore the first dimension must be unlimited, or have a coordinate that
// increases from file to file.
#include "io/dataset/sample_series.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr std::size_t kMaxOpen = 32;

// The paths that match, sorted by their bytes; the pattern itself if a file has this name.
std::vector<std::string> matching(const std::string& pattern) {
  struct stat status {};
  if (pattern.find_first_of("*?[") == std::string::npos || stat(pattern.c_str(), &status) == 0)
    return {pattern};
  glob_t found{};
  const int failure = glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(&globfree)> owner(&found, globfree);
  if (failure != 0)
    throw Error(failure == GLOB_NOSPACE ? TENON_ERR_MEMORY : TENON_ERR_FILE,
                fmt::format("cannot open '{}': {}", pattern,
                            failure == GLOB_NOMATCH   ? "no file matches the pattern"
                            : failure == GLOB_ABORTED ? "a folder cannot be read"
                                                      : "out of memory"));
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::ranges::sort(paths);
  return paths;
}

// What one file of a series tells, and the file unless too many are open.
struct FileFacts {
  std::string path;
  SampleFacts facts;
  std::unique_ptr<SampleFile> file;
};

bool haveCoordinate(const std::vector<FileFacts>& files) {
  return std::ranges::all_of(files, [&](const FileFacts& one) {
    return one.facts.coordinate && one.facts.coordinateUnits == files.front().facts.coordinateUnits;
  });
}

// Throws unless file b can continue file a.
void checkContinues(const std::string& variable, const FileFacts& a, const FileFacts& b) {
  const auto fail = [&](const std::string& reason) {
    throw Error(TENON_ERR_FORMAT,
                fmt::format("cannot read '{}' of files '{}' and '{}' as a series: {}", variable,
                            a.path, b.path, reason));
  };
  const auto name = [](const FileFacts& file, std::size_t d) {
    return d < file.facts.dimensions.size()
               ? fmt::format("dimension {} ({})", d, file.facts.dimensions[d])
               : fmt::format("dimension {}", d);
  };
  const Shape &before = a.facts.shape, &after = b.facts.shape;
  if (before.size() != after.size())
    fail(fmt::format("it has {} dimensions in the first and {} in the second; expected the same",
                     before.size(), after.size()));
  for (std::size_t d = 1; d < before.size(); ++d)
    if (before[d] != after[d])
      fail(fmt::format("its {} has {} elements in the first and {} in the second; files of a "
                       "series differ in the first dimension alone",
                       name(b, d), before[d], after[d]));
  if (a.facts.dimensions != b.facts.dimensions)
    fail(fmt::format("its dimensions are [{}] in the first and [{}] in the second",
                     fmt::join(a.facts.dimensions, ","), fmt::join(b.facts.dimensions, ",")));
}

// Orders the files and throws unless they form a series.
void order(const std::string& variable, std::vector<FileFacts>& files) {
  for (std::size_t i = 1; i < files.size(); ++i)
    checkContinues(variable, files[0], files[i]);
  const std::string& along =
      files[0].facts.dimensions.empty() ? "samples" : files[0].facts.dimensions[0];
  const auto fail = [&](const FileFacts& a, const FileFacts& b, const std::string& reason) {
    throw Error(TENON_ERR_FORMAT,
                fmt::format("files '{}' and '{}' do not continue each other in '{}': {}", a.path,
                            b.path, variable, reason));
  };
  if (!haveCoordinate(files)) {
    for (const FileFacts& one : files)
      if (!one.facts.canGrow)
        fail(files[0], files[1],
             fmt::format("its first dimension, {}, is not unlimited, and they lack a coordinate "
                         "variable with the same units in each file that gives their order",
                         along));
    return;
  }
  std::ranges::stable_sort(files, {},
                           [](const FileFacts& one) { return one.facts.coordinate->first; });
  for (std::size_t i = 1; i < files.size(); ++i)
    if (const double last = files[i - 1].facts.coordinate->second,
        first = files[i].facts.coordinate->first;
        !(last < first))
      fail(files[i - 1], files[i],
           fmt::format("{} ends at {} in the first and begins at {} in the second", along, last,
                       first));
}

} // namespace

SampleSeries::SampleSeries(const std::string& pattern, const std::string& variable)
    : variable_(variable) {
  std::vector<FileFacts> files;
  for (const std::string& path : matching(pattern)) {
    auto file = openSampleFile(path, variable);
    files.push_back({.path = path, .facts = file->facts(), .file = nullptr});
    if (files.size() <= kMaxOpen)
      files.back().file = std::move(file);
  }
  if (files.size() > 1)
    order(variable, files);
  facts_ = files.front().facts;
  shape_ = facts_.shape;
  shape_[0] = 0;
  bool areSame = true, arePacked = false;
  for (FileFacts& one : files) {
    areSame &= one.facts.type == facts_.type;
    arePacked |= one.facts.encoding.isPacked();
    if (one.file)
      open_.push_back(parts_.size());
    parts_.push_back({.path = one.path,
                      .begin = shape_[0],
                      .end = shape_[0] + one.facts.shape[0],
                      .encoding = one.facts.encoding,
                      .file = std::move(one.file)});
    shape_[0] = parts_.back().end;
  }
  // Packed values, and values of different types, are read as doubles; integers beyond 2^53 are
  // rounded.
  type_ = areSame && !arePacked ? facts_.type : TENON_FLOAT64;
}

std::string SampleSeries::describe() const {
  std::string text = fmt::format("'{}' [", variable_);
  for (std::size_t d = 0; d < shape_.size(); ++d)
    text += fmt::format("{}{}{}", d > 0 ? "," : "",
                        d < facts_.dimensions.size() ? facts_.dimensions[d] + "=" : "", shape_[d]);
  const std::string encoding = facts_.encoding.describe();
  return fmt::format("{}] {}{}{}", text, facts_.format, encoding.empty() ? "" : ", ", encoding);
}

std::optional<Index> SampleSeries::offset() const {
  return parts_.size() == 1 && type_ == facts_.type ? facts_.offset : std::nullopt;
}

const SampleSeries::Part& SampleSeries::partOf(Index sample) const {
  return *std::ranges::partition_point(parts_,
                                       [&](const Part& part) { return part.end <= sample; });
}

SampleSeries::Place SampleSeries::at(Index sample) {
  const auto number = static_cast<std::size_t>(&partOf(sample) - parts_.data());
  Part& part = parts_[number];
  if (!part.file) {
    if (open_.size() == kMaxOpen) {
      // The file that was opened first is closed.
      parts_[open_.front()].file.reset();
      open_.erase(open_.begin());
    }
    auto file = openSampleFile(part.path, variable_);
    // Another program can have written the file while it was closed.
    if (file->facts().shape[0] < part.end - part.begin)
      file->fail(TENON_ERR_FILE, fmt::format("it has {} samples, and had {} before",
                                             file->facts().shape[0], part.end - part.begin));
    open_.push_back(number);
    part.file = std::move(file);
  }
  return {part.file.get(), sample - part.begin};
}

void SampleSeries::fail(TenonErrorCode code, Index sample, const std::string& reason) const {
  throw Error(code, fmt::format("cannot read '{}' of file '{}': {}", variable_, partOf(sample).path,
                                reason));
}

} // namespace tenon
