// SPDX-License-Identifier: BSD-2-Clause
// Reads this rank's box of the samples of a batch, in two ways:
//   Prefetch      a thread that reads byte ranges of the file with pread(), in advance
//   BatchReader   asks the library of the format, or takes what Prefetch has read; then decodes
//                 the stored numbers
// The thread uses neither HDF5, NetCDF nor MPI, since none can be expected to support a second
// thread. The offsets of the bytes are therefore obtained from HDF5 before. Chunked data, data of
// another type than the one requested, classic NetCDF files and series of files have no such
// offsets, and are read when requested.
#include "io/dataset/batch_reader.hpp"

#include "kernels/movement/block_copy.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace tenon {

namespace {

// Blocks all signals while it exists. A thread inherits the signal mask of its creator, so signals
// of the process are delivered to the program's other threads, which expect them.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t allSignals;
    sigfillset(&allSignals);
    pthread_sigmask(SIG_SETMASK, &allSignals, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

// Reads all of a piece. Returns the reason of a failure, or "".
std::string readPiece(int file, FilePiece piece) {
  while (piece.bytes > 0) {
    const ssize_t count =
        pread(file, piece.to, static_cast<std::size_t>(piece.bytes), piece.offset);
    // Signals are blocked, but a debugger or a stop can still interrupt a call.
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return std::strerror(errno);
    if (count == 0)
      return fmt::format("it ends before byte {}", piece.offset);
    piece.offset += count;
    piece.to += count;
    piece.bytes -= count;
  }
  return "";
}

} // namespace

Prefetch::Prefetch(const std::string& path) : file_(openRegularFile(path, "cannot open")) {}

Prefetch::~Prefetch() {
  wait();
  ::close(file_);
}

void Prefetch::start(std::vector<FilePiece> pieces) {
  wait();
  failure_.clear();
  const SignalsBlocked blocked;
  thread_ = std::thread([this, pieces = std::move(pieces)] { run(pieces); });
}

std::string Prefetch::wait() {
  // Joining also makes the bytes that the thread wrote visible to this thread.
  if (thread_.joinable())
    thread_.join();
  return failure_;
}

void Prefetch::run(const std::vector<FilePiece>& pieces) {
  for (const FilePiece& piece : pieces)
    if (failure_ = readPiece(file_, piece); !failure_.empty())
      return;
}

namespace {

constexpr const char* kBufferName = "a batch of a dataset";

// The contiguous runs of a box in a row-major array: offsets of their first elements, and their
// common length. The box [0,1) x [2,4) x [0,8) of an array [5, 6, 8] is one run of 16 elements at
// offset 16; the box [0,1) x [2,4) x [0,3) is two runs of 3 elements at offsets 16 and 24.
struct Runs {
  std::vector<Index> offsets;
  Index length = 1;
};

Runs runsOf(const Box& box, const Shape& shape) {
  Runs runs;
  std::size_t whole = box.size(); // the dimensions from this one on form one run
  // The last dimensions that are selected completely form one run with the dimension before them,
  // of which any range can be selected.
  while (whole > 0 && box[whole - 1].size() == shape[whole - 1])
    runs.length *= shape[--whole];
  if (whole > 0)
    runs.length *= box[--whole].size();
  const Shape strides = rowMajorStrides(shape);
  runs.offsets = {0};
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::vector<Index> nextOffsets;
    // The dimensions of a run contribute only the index at which the run begins.
    const Index end = d < whole ? box[d].end : box[d].begin + 1;
    for (const Index offset : runs.offsets)
      for (Index i = box[d].begin; i < end; ++i)
        nextOffsets.push_back(offset + i * strides[d]);
    runs.offsets = std::move(nextOffsets);
  }
  return runs;
}

} // namespace

BatchReader::BatchReader(const std::string& pattern, const std::string& variable)
    : series_(pattern, variable) {}

void BatchReader::setBox(const Box& box, TenonDataType type) {
  if (thread_)
    thread_->wait();
  aheadSamples_.clear();
  decoded_.reset();
  box_ = box;
  type_ = type;
  Box sample = box;
  sample[0] = {0, 1};
  sampleBytes_ = tenon::elements(sample) * dataTypeSize(type);
  // Buffer for all samples of a batch, which are converted together.
  elements_ = Buffer(box[0].size() * sampleBytes_, kBufferName);
}

Box BatchReader::boxOf(Index sample) const {
  Box box = box_;
  box[0] = {sample, sample + 1};
  return box;
}

const Buffer& BatchReader::elements(const std::vector<Index>& samples) {
  decoded_.reset();
  // Use data that was read in advance if it is what is requested; otherwise read now.
  if (!takeAhead(samples))
    readNow(samples);
  decode(samples);
  return elements_;
}

const std::vector<Index>& BatchReader::missing(const std::vector<Index>& samples) {
  // The masks are found when the numbers are decoded, which usually has been done already.
  if (decoded_ != samples)
    elements(samples);
  return missing_;
}

// Replaces stored numbers by values, by the attributes in the file of each sample.
void BatchReader::decode(const std::vector<Index>& samples) {
  missing_.clear();
  const Index count = sampleBytes_ / dataTypeSize(type_);
  const auto decodeAs = [&]<class T>(T) {
    Index first = 0;
    for (const Index sample : samples) {
      series_.encodingOf(sample).decode(
          std::span(elements_.data<T>() + first, static_cast<std::size_t>(count)), first, missing_);
      first += count;
    }
  };
  if (count == 0)
    return;
  if (type_ == TENON_INT64)
    decodeAs(std::int64_t());
  else
    visitFloating(type_, decodeAs);
  decoded_ = samples;
}

void BatchReader::readNow(const std::vector<Index>& samples) {
  if (sampleBytes_ == 0)
    return;
  std::size_t offset = 0; // of the sample in the buffer, in bytes
  for (const Index sample : samples) {
    const SampleSeries::Place place = series_.at(sample);
    place.file->read(boxOf(place.sample), type_, elements_.data<std::byte>() + offset);
    offset += static_cast<std::size_t>(sampleBytes_);
  }
}

// Waits for the thread. If it has read these samples, makes them the contents of elements_ and
// returns true.
bool BatchReader::takeAhead(const std::vector<Index>& samples) {
  if (!thread_ || aheadSamples_.empty())
    return false;
  // Wait in any case: the thread writes to the buffer that may be used next.
  const std::string failure = thread_->wait();
  const bool isRequested = aheadSamples_ == samples;
  aheadSamples_.clear();
  if (!isRequested)
    return false;
  if (!failure.empty())
    series_.fail(TENON_ERR_FILE, samples.front(), failure);
  std::swap(elements_, nextElements_);
  return true;
}

// Returns the byte ranges of the file with this rank's box of these samples, to be read into
// nextElements_.
std::vector<FilePiece> BatchReader::piecesOf(const std::vector<Index>& samples) {
  const Runs runs = runsOf(boxOf(0), series_.shape());
  const Index size = dataTypeSize(type_), stride = rowMajorStrides(series_.shape())[0];
  std::vector<FilePiece> pieces;
  std::byte* to = nextElements_.data<std::byte>();
  for (const Index sample : samples)
    for (const Index offset : runs.offsets) {
      pieces.push_back({.offset = *series_.offset() + (sample * stride + offset) * size,
                        .bytes = runs.length * size,
                        .to = to});
      to += runs.length * size;
    }
  return pieces;
}

void BatchReader::readAhead(std::vector<Index> samples) {
  // Without an offset, or with a conversion, only the library of the format can read the data.
  if (!series_.offset() || type_ != series_.type() || sampleBytes_ == 0)
    return;
  if (!thread_)
    thread_ = std::make_unique<Prefetch>(series_.firstPath());
  else
    thread_->wait();
  if (nextElements_.bytes() != elements_.bytes())
    nextElements_ = Buffer(elements_.bytes(), kBufferName);
  thread_->start(piecesOf(samples));
  aheadSamples_ = std::move(samples);
}

} // namespace tenon
