// SPDX-License-Identifier: BSD-2-Clause
// Samples from an HDF5 file: a thread that reads bytes, a reader of one dataset, and the dataset
// that serves batches. The thread calls pread() at positions that HDF5 told before, because neither
// HDF5 nor MPI can be expected to bear a second thread; where the data are chunked or of another
// type there are no such positions, and HDF5 reads when it is asked.
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

// Blocks all signals while it lives. A thread inherits the mask of the one that starts it, so that
// the signals of the process go to the other threads, whose program expects them.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
  sigset_t before_{};
};

// Reads a piece whole; returns why it could not, or "".
std::string readPiece(int file, FilePiece piece) {
  while (piece.bytes > 0) {
    const ssize_t got = pread(file, piece.to, static_cast<std::size_t>(piece.bytes), piece.offset);
    // The thread blocks signals, but a debugger or a stop can interrupt a call all the same.
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return std::strerror(errno);
    if (got == 0)
      return fmt::format("it ends before byte {}", piece.offset);
    piece.offset += got;
    piece.to += got;
    piece.bytes -= got;
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
  // Joining is also what makes the bytes of the thread visible here.
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

// The runs of a box that are contiguous in the array around it: offsets of their first elements,
// and their length.
struct Runs {
  std::vector<Index> offsets;
  Index length = 1;
};

Runs runsOf(const Box& box, const Shape& shape) {
  Runs runs;
  std::size_t whole = box.size(); // dimensions from here on are of full extent
  // Whole dimensions at the end make one run with the dimension before them, whatever part of that
  // is taken.
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
  sampleBytes_ = tenon::elements(sample) * dataTypeSize(type);
  // All samples of a batch, since a whole batch is converted at once.
  elements_ = Buffer(box[0].size() * sampleBytes_, kBufferName);
}

Box BatchReader::boxOf(Index sample) const {
  Box box = box_;
  box[0] = {sample, sample + 1};
  return box;
}

const Buffer& BatchReader::elements(const std::vector<Index>& samples) {
  // What was read ahead is used if it is what is requested now; any other order of calls reads at
  // once.
  if (!takeAhead(samples))
    readNow(samples);
  return elements_;
}

void BatchReader::readNow(const std::vector<Index>& samples) {
  if (sampleBytes_ == 0)
    return;
  auto at = static_cast<std::size_t>(0);
  for (const Index sample : samples) {
    file_.read(boxOf(sample), type_, elements_.data<std::byte>() + at);
    at += static_cast<std::size_t>(sampleBytes_);
  }
}

bool BatchReader::takeAhead(const std::vector<Index>& samples) {
  if (!thread_ || ahead_.empty())
    return false;
  // The thread is waited for in any case: it writes into the buffer that may be used next.
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
  // Without a position, or with a conversion, only HDF5 can read.
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

// to = scale * numbers + shift.
template <class S>
void giveReals(const Buffer& elements, double scale, double shift, DTensor& to) {
  // The kernel computes scale * numbers + factor * what is there already, so that the shift is put
  // there first.
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

void give(const BatchReader& reader, const Buffer& elements, double scale, double shift,
          DTensor& to) {
  if (to.localElements() == 0)
    return;
  if (reader.type() == TENON_FLOAT32)
    return giveReals<float>(elements, scale, shift, to);
  if (reader.type() == TENON_FLOAT64)
    return giveReals<double>(elements, scale, shift, to);
  blockAxpby<std::int64_t, std::int64_t>(
      to.context(), to.rank(), to.extent().data(), 1, elements.data<std::int64_t>(),
      rowMajorStrides(to.extent()).data(), 0, to.mutableData<std::int64_t>(), to.strides().data());
}

} // namespace

Hdf5Dataset::Hdf5Dataset(CommPtr comm, const std::string& path, const std::string& samples,
                         const std::string& labels)
    : Dataset(std::move(comm), kHdf5Options) {
  takeOver(settings(), {});
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

void Hdf5Dataset::takeOver(Settings after, const Settings::Names& names) {
  isPrefetching_ = after.value<bool>("dataset_prefetch", owner());
  Dataset::takeOver(std::move(after), names);
}

void Hdf5Dataset::open(const Layout& x, const Layout* labels) {
  const int rank = comm()->rank();
  const TenonDataType type = samples_->file().type();
  // Samples are real numbers for the network, so HDF5 converts integers while it reads.
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
    give(reader, reader.elements(samplesOf(epoch, batch, to)), scale, shift, to);
  };
  read(*samples_, scale(), shift(), x);
  if (labels)
    read(*labels_, 1, 0, *labels);
  if (isPrefetching_)
    readAhead(epoch, batch, x, labels);
}

void Hdf5Dataset::readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels) {
  // Behind an epoch's last batch comes the first one of the next epoch, whose order is a function
  // of its number.
  const bool isLast = batch + 1 == batches();
  if (isLast && epoch == std::numeric_limits<Index>::max())
    return;
  const Index nextEpoch = epoch + (isLast ? 1 : 0), next = isLast ? 0 : batch + 1;
  samples_->readAhead(samplesOf(nextEpoch, next, x));
  if (labels)
    labels_->readAhead(samplesOf(nextEpoch, next, *labels));
}

} // namespace tenon
