// SPDX-License-Identifier: BSD-2-Clause
#include "io/hdf5_dataset.hpp"

#include "comm/agreement.hpp"
#include "dtensor/fill.hpp"
#include "io/hdf5_file.hpp"
#include "kernels/block_axpby.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kDatasetOptions[] = {
    {"dataset_prefetch", OptionSpec::Flag, "false",
     "whether a thread reads the next batch of an HDF5 dataset while the program computes"},
};
const OptionRegistration kDatasetRegistration{{"dataset", kDatasetOptions}};

// to = scale * numbers + shift.
template <class S>
void giveReals(const Buffer& cells, double scale, double shift, DTensor& to) {
  if (shift != 0)
    fillConstant(to, shift);
  const Shape& extent = to.extent();
  const Shape strides = rowMajorStrides(extent);
  visitFloating(to.dataType(), [&]<class T>(T) {
    using Wide = std::common_type_t<S, T>;
    blockAxpby<S, T>(to.context(), to.rank(), extent.data(), static_cast<Wide>(scale),
                     cells.data<S>(), strides.data(), static_cast<Wide>(shift != 0 ? 1 : 0),
                     to.mutableData<T>(), to.strides().data());
  });
}

void give(const BatchReader& reader, const Buffer& cells, double scale, double shift, DTensor& to) {
  if (to.localCells() == 0)
    return;
  if (reader.type() == TENON_FLOAT32)
    return giveReals<float>(cells, scale, shift, to);
  if (reader.type() == TENON_FLOAT64)
    return giveReals<double>(cells, scale, shift, to);
  blockAxpby<std::int64_t, std::int64_t>(
      to.context(), to.rank(), to.extent().data(), 1, cells.data<std::int64_t>(),
      rowMajorStrides(to.extent()).data(), 0, to.mutableData<std::int64_t>(), to.strides().data());
}

} // namespace

Hdf5Dataset::Hdf5Dataset(CommPtr comm, const std::string& path, const std::string& samples,
                         const std::string& labels)
    : Dataset(std::move(comm)) {
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

void Hdf5Dataset::setFromOptions() {
  isPrefetching_ = options().findFlag(prefix(), "dataset_prefetch").value_or(isPrefetching_);
}

void Hdf5Dataset::open(const Layout& x, const Layout* labels) {
  const int rank = comm()->rank();
  const TenonDataType type = samples_->file().type();
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
    give(reader, reader.cells(samplesOf(epoch, batch, to)), scale, shift, to);
  };
  read(*samples_, scale(), shift(), x);
  if (labels)
    read(*labels_, 1, 0, *labels);
  if (isPrefetching_)
    readAhead(epoch, batch, x, labels);
}

void Hdf5Dataset::readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels) {
  const bool isLast = batch + 1 == batches();
  const Index nextEpoch = epoch + (isLast ? 1 : 0), next = isLast ? 0 : batch + 1;
  samples_->readAhead(samplesOf(nextEpoch, next, x));
  if (labels)
    labels_->readAhead(samplesOf(nextEpoch, next, *labels));
}

} // namespace tenon
