// SPDX-License-Identifier: BSD-2-Clause
#include "io/batch_reader.hpp"

namespace tenon {

namespace {

constexpr const char* kBufferName = "a batch of a dataset";

// Runs of a box that lie in one piece in the array around it: offsets of their first elements, and their length.
struct Runs {
  std::vector<Index> offsets;
  Index length = 1;
};

Runs runsOf(const Box& box, const Shape& shape) {
  Runs runs;
  std::size_t whole = box.size(); // dimensions from here on are of full extent
  while (whole > 0 && box[whole - 1].size() == shape[whole - 1])
    runs.length *= shape[--whole];
  if (whole > 0)
    runs.length *= box[--whole].size();
  const Shape strides = rowMajorStrides(shape);
  runs.offsets = {0};
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::vector<Index> further;
    const Index end = d < whole ? box[d].end : box[d].begin + 1;
    for (const Index offset : runs.offsets)
      for (Index i = box[d].begin; i < end; ++i)
        further.push_back(offset + i * strides[d]);
    runs.offsets = std::move(further);
  }
  return runs;
}

} // namespace

BatchReader::BatchReader(const std::string& path, const std::string& dataset)
    : path_(path), file_(path, dataset) {}

void BatchReader::setBox(const Box& box, TenonDataType type) {
  if (thread_)
    thread_->wait();
  ahead_.clear();
  box_ = box;
  type_ = type;
  Box sample = box;
  sample[0] = {0, 1};
  sampleBytes_ = tenon::cells(sample) * dataTypeSize(type);
  cells_ = Buffer(box[0].size() * sampleBytes_, kBufferName);
}

Box BatchReader::boxOf(Index sample) const {
  Box box = box_;
  box[0] = {sample, sample + 1};
  return box;
}

const Buffer& BatchReader::cells(const std::vector<Index>& samples) {
  if (!takeAhead(samples))
    readNow(samples);
  return cells_;
}

void BatchReader::readNow(const std::vector<Index>& samples) {
  if (sampleBytes_ == 0)
    return;
  auto at = static_cast<std::size_t>(0);
  for (const Index sample : samples) {
    file_.read(boxOf(sample), type_, cells_.data<std::byte>() + at);
    at += static_cast<std::size_t>(sampleBytes_);
  }
}

bool BatchReader::takeAhead(const std::vector<Index>& samples) {
  if (!thread_ || ahead_.empty())
    return false;
  const std::string failure = thread_->wait();
  const bool isAsked = ahead_ == samples;
  ahead_.clear();
  if (!isAsked)
    return false;
  if (!failure.empty())
    file_.fail(failure);
  std::swap(cells_, nextCells_);
  return true;
}

std::vector<FilePiece> BatchReader::piecesOf(const std::vector<Index>& samples) {
  const Runs runs = runsOf(boxOf(0), file_.shape());
  const Index size = dataTypeSize(type_), stride = rowMajorStrides(file_.shape())[0];
  std::vector<FilePiece> pieces;
  std::byte* to = nextCells_.data<std::byte>();
  for (const Index sample : samples)
    for (const Index offset : runs.offsets) {
      pieces.push_back(
          {*file_.offset() + (sample * stride + offset) * size, runs.length * size, to});
      to += runs.length * size;
    }
  return pieces;
}

void BatchReader::readAhead(std::vector<Index> samples) {
  if (!file_.offset() || type_ != file_.type() || sampleBytes_ == 0)
    return;
  if (!thread_)
    thread_ = std::make_unique<Prefetch>(path_);
  else
    thread_->wait();
  if (nextCells_.bytes() != cells_.bytes())
    nextCells_ = Buffer(cells_.bytes(), kBufferName);
  thread_->start(piecesOf(samples));
  ahead_ = std::move(samples);
}

} // namespace tenon
