// SPDX-License-Identifier: BSD-2-Clause
// Samples for training from an HDF5 file [samples, ...]. Three classes, in this order:
//   Prefetch      a thread that reads byte ranges of the file with pread()
//   BatchReader   this rank's box of the samples of a batch, read by HDF5 or in advance by Prefetch
//   Hdf5Dataset   the dataset of the C API, with a reader for samples and one for labels
// Each rank reads only its own box of each sample, independently of the others. The constructor of
// Hdf5Dataset is collective; everything else in this file is local.
//
// The thread uses neither HDF5 nor MPI, since neither can be expected to support a second thread.
// The offsets of the bytes are therefore obtained from HDF5 before. Chunked data, or data of
// another type than the one requested, have no such offsets, and are read by HDF5 when requested.
#include "io/hdf5_dataset.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/fill.hpp"
#include "io/hdf5_file.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/files/regular_file.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

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
  std::size_t whole = box.size(); // the indices of dimensions from this one on form one run
  // Full dimensions at the end form one run with the dimension before them, of which any part is
  // selected.
  while (whole > 0 && box[whole - 1].size() == shape[whole - 1])
    runs.length *= shape[--whole];
  if (whole > 0)
    runs.length *= box[--whole].size();
  const Shape strides = rowMajorStrides(shape);
  runs.offsets = {0};
  for (std::size_t d = 0; d < box.size(); ++d) {
    std::vector<Index> nextOffsets;
    const Index end = d < whole ? box[d].end : box[d].begin + 1;
    for (const Index offset : runs.offsets)
      for (Index i = box[d].begin; i < end; ++i)
        nextOffsets.push_back(offset + i * strides[d]);
    runs.offsets = std::move(nextOffsets);
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
  // Use data that was read in advance if it is what is requested; otherwise read now.
  if (!takeAhead(samples))
    readNow(samples);
  return elements_;
}

void BatchReader::readNow(const std::vector<Index>& samples) {
  if (sampleBytes_ == 0)
    return;
  std::size_t offset = 0; // of the sample in the buffer, in bytes
  for (const Index sample : samples) {
    file_.read(boxOf(sample), type_, elements_.data<std::byte>() + offset);
    offset += static_cast<std::size_t>(sampleBytes_);
  }
}

// Waits for the thread. If it has read these samples, makes them the contents of elements_ and
// returns true.
bool BatchReader::takeAhead(const std::vector<Index>& samples) {
  if (!thread_ || ahead_.empty())
    return false;
  // Wait in any case: the thread writes to the buffer that may be used next.
  const std::string failure = thread_->wait();
  const bool isRequested = ahead_ == samples;
  ahead_.clear();
  if (!isRequested)
    return false;
  if (!failure.empty())
    file_.fail(failure);
  std::swap(elements_, nextElements_);
  return true;
}

// Returns the byte ranges of the file with this rank's box of these samples, to be read into
// nextElements_.
std::vector<FilePiece> BatchReader::piecesOf(const std::vector<Index>& samples) {
  const Runs runs = runsOf(boxOf(0), file_.shape());
  const Index size = dataTypeSize(type_), stride = rowMajorStrides(file_.shape())[0];
  std::vector<FilePiece> pieces;
  std::byte* to = nextElements_.data<std::byte>();
  for (const Index sample : samples)
    for (const Index offset : runs.offsets) {
      pieces.push_back(
          {*file_.offset() + (sample * stride + offset) * size, runs.length * size, to});
      to += runs.length * size;
    }
  return pieces;
}

void BatchReader::readAhead(std::vector<Index> samples) {
  // Without an offset, or with a conversion, only HDF5 can read the data.
  if (!file_.offset() || type_ != file_.type() || sampleBytes_ == 0)
    return;
  if (!thread_)
    thread_ = std::make_unique<Prefetch>(path_);
  else
    thread_->wait();
  if (nextElements_.bytes() != elements_.bytes())
    nextElements_ = Buffer(elements_.bytes(), kBufferName);
  thread_->start(piecesOf(samples));
  ahead_ = std::move(samples);
}

namespace {

constexpr OptionSpec kHdf5Options[] = {
    {"dataset_prefetch", OptionSpec::Flag, "false",
     "whether a thread reads the next batch of an HDF5 dataset while the program computes"},
};
const OptionRegistration kHdf5Registration{{"dataset", kHdf5Options}};

// to = scale * elements + shift.
template <class S>
void storeReals(const Buffer& elements, double scale, double shift, DTensor& to) {
  // The kernel computes to = scale * elements + factor * to, so the shift is stored first.
  if (shift != 0)
    fillConstant(to, shift);
  const Shape& extent = to.extent();
  const Shape strides = rowMajorStrides(extent);
  visitFloating(to.dataType(), [&]<class T>(T) {
    using Wide = std::common_type_t<S, T>;
    blockAxpby<S, T>(to.context(), to.rank(), extent.data(), static_cast<Wide>(scale),
                     elements.data<S>(), strides.data(), static_cast<Wide>(shift != 0 ? 1 : 0),
                     to.mutableData<T>(), to.strides().data());
  });
}

// Stores the elements that a reader has read in a tensor of the network. Integers (labels of
// classes) are copied without scale and shift.
void store(const BatchReader& reader, const Buffer& elements, double scale, double shift,
           DTensor& to) {
  if (to.localElements() == 0)
    return;
  if (reader.type() == TENON_FLOAT32)
    return storeReals<float>(elements, scale, shift, to);
  if (reader.type() == TENON_FLOAT64)
    return storeReals<double>(elements, scale, shift, to);
  blockAxpby<std::int64_t, std::int64_t>(
      to.context(), to.rank(), to.extent().data(), 1, elements.data<std::int64_t>(),
      rowMajorStrides(to.extent()).data(), 0, to.mutableData<std::int64_t>(), to.strides().data());
}

} // namespace

Hdf5Dataset::Hdf5Dataset(CommPtr comm, const std::string& path, const std::string& samples,
                         const std::string& labels)
    : Dataset(std::move(comm), kHdf5Options) {
  applySettings(settings(), {});
  collectively(
      *this->comm(), "the shapes of the samples",
      [&] {
        requireHdf5();
        samples_.emplace(path, samples);
        if (!labels.empty())
          labels_.emplace(path, labels);
        const Shape& shape = samples_->file().shape();
        if (labels_ && labels_->file().shape()[0] != shape[0])
          throw Error(TENON_ERR_FORMAT,
                      fmt::format("file '{}': '{}' has {} samples, but '{}' has {} labels", path,
                                  samples, shape[0], labels, labels_->file().shape()[0]));
        setShapes(shape, labels_ ? LabelKind{labels_->file().shape(), labels_->file().areIntegers()}
                                 : LabelKind{});
        return true;
      },
      [&](bool) {
        return fmt::format("[{}] [{}]", fmt::join(shape(), ","), fmt::join(labelKind().shape, ","));
      });
}

void Hdf5Dataset::applySettings(Settings after, const Settings::Names& names) {
  isPrefetching_ = after.value<bool>("dataset_prefetch", owner());
  Dataset::applySettings(std::move(after), names);
}

void Hdf5Dataset::open(const Layout& x, const Layout* labels) {
  const int rank = comm()->rank();
  const TenonDataType type = samples_->file().type();
  // The network needs real samples, so HDF5 converts integers while reading.
  samples_->setBox(x.boxOfRank(rank), type == TENON_INT64 ? TENON_FLOAT64 : type);
  if (labels)
    labels_->setBox(labels->boxOfRank(rank), labels_->file().type());
}

std::vector<Index> Hdf5Dataset::samplesOf(Index epoch, Index batch, const DTensor& x) {
  const std::vector<Index>& order = orderOf(epoch);
  const auto first = order.begin() + batch * x.layout().shape()[0];
  return {first + x.box()[0].begin, first + x.box()[0].end};
}

void Hdf5Dataset::fill(Index epoch, Index batch, DTensor& x, DTensor* labels) {
  const auto read = [&](BatchReader& reader, double scale, double shift, DTensor& to) {
    store(reader, reader.elements(samplesOf(epoch, batch, to)), scale, shift, to);
  };
  read(*samples_, scale(), shift(), x);
  if (labels)
    read(*labels_, 1, 0, *labels);
  if (isPrefetching_)
    readAhead(epoch, batch, x, labels);
}

void Hdf5Dataset::readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels) {
  // After the last batch of an epoch comes the first one of the next epoch, whose order is a
  // function of its number.
  const bool isLast = batch + 1 == batches();
  if (isLast && epoch == std::numeric_limits<Index>::max())
    return;
  const Index nextEpoch = epoch + (isLast ? 1 : 0), next = isLast ? 0 : batch + 1;
  samples_->readAhead(samplesOf(nextEpoch, next, x));
  if (labels)
    labels_->readAhead(samplesOf(nextEpoch, next, *labels));
}

} // namespace tenon
