// SPDX-License-Identifier: BSD-2-Clause
// One variable in a series of files, whose samples follow each other along the first dimension. A
// single file is a series of one.
#pragma once

#include "io/dataset/sample_file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

class SampleSeries {
public:
  // `pattern` is the path of a file, or a pattern with * ? [ ] that matches several. Not
  // collective. Throws the errors of openSampleFile(), TENON_ERR_FILE if nothing matches, and
  // TENON_ERR_FORMAT if the files do not form a series.
  SampleSeries(const std::string& pattern, const std::string& variable);

  // The number of samples of all files, then the extents of a sample.
  const Shape& shape() const noexcept { return shape_; }
  // The type that holds all values, after unpacking.
  TenonDataType type() const noexcept { return type_; }
  bool areIntegers() const noexcept { return type_ == TENON_INT64; }
  std::size_t files() const noexcept { return parts_.size(); }
  const std::string& firstPath() const noexcept { return parts_.front().path; }
  const std::string& lastPath() const noexcept { return parts_.back().path; }
  // Names of the variable and its dimensions, format, units and packing, for a view.
  std::string describe() const;
  const std::vector<std::string>& dimensions() const noexcept { return facts_.dimensions; }

  // SampleFacts::offset of the only file, if its stored numbers have type(); otherwise nothing.
  std::optional<Index> offset() const;

  // The file with a sample, which is opened if it is closed, and the sample's number in it.
  struct Place {
    SampleFile* file;
    Index sample;
  };
  Place at(Index sample);
  const Encoding& encodingOf(Index sample) const { return partOf(sample).encoding; }
  // Throws an error with the names of the variable and of the file with this sample.
  [[noreturn]] void fail(TenonErrorCode code, Index sample, const std::string& reason) const;

private:
  struct Part {
    std::string path;
    Index begin = 0, end = 0; // numbers of its samples in the series
    Encoding encoding;
    std::unique_ptr<SampleFile> file; // null while it is closed
  };
  const Part& partOf(Index sample) const;

  std::string variable_;
  SampleFacts facts_; // of the first file
  Shape shape_;
  TenonDataType type_ = TENON_FLOAT64;
  std::vector<Part> parts_;
  std::vector<std::size_t> open_; // the parts that are open, that last opened at the end
};

} // namespace tenon
