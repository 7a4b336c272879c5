// SPDX-License-Identifier: BSD-2-Clause
#include "train/dataset.hpp"

#include "comm/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "sys/log.hpp"
#include "sys/random.hpp"
#include "train/idx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace tenon {

namespace {

void checkShapes(const IdxFile& images, const IdxFile& labels) {
  if (images.shape().size() != 3)
    throw Error(
        TENON_ERR_FORMAT,
        fmt::format(
            "{}: images must have 3 dimensions (sample, row, column), but the file has shape [{}]",
            images.path(), fmt::join(images.shape(), ",")));
  if (labels.shape().size() != 1)
    throw Error(TENON_ERR_FORMAT,
                fmt::format("{}: labels must have 1 dimension, but the file has shape [{}]",
                            labels.path(), fmt::join(labels.shape(), ",")));
  if (images.shape()[0] != labels.shape()[0])
    throw Error(TENON_ERR_FORMAT,
                fmt::format("{} has {} images, but {} has {} labels; pass matching files",
                            images.path(), images.shape()[0], labels.path(), labels.shape()[0]));
}

void checkBatchLayout(const Layout& layout, const char* what) {
  if (layout.holdsAddends() || layout.hasMargins())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the layout of a batch of {} is {}; use S, B and R without halos", what,
                            layout.describe()));
}

} // namespace

IdxDataset::IdxDataset(CommPtr comm, const std::string& images, const std::string& labels)
    : Object(kClass), comm_(std::move(comm)), imagesPath_(images), labelsPath_(labels) {
  const Shape shape = collectively(*comm_, [&] {
    const IdxFile imageFile(images), labelFile(labels);
    checkShapes(imageFile, labelFile);
    return imageFile.shape();
  });
  samples_ = shape[0];
  height_ = shape[1];
  width_ = shape[2];
}

void IdxDataset::setScaling(double scale, double shift) noexcept {
  scale_ = scale;
  shift_ = shift;
}

void IdxDataset::setShuffle(bool shuffle, std::uint64_t seed) noexcept {
  shuffle_ = shuffle;
  seed_ = seed;
  orderOf_.reset();
}

void IdxDataset::setUp(const Layout& x, const Layout& labels) {
  agreeOnText(*comm_, "the layout of the batch", x.describe() + labels.describe());
  collectively(*comm_, [&] {
    checkBatchLayout(x, "images");
    checkBatchLayout(labels, "labels");
    if (x.rank() != 4 || x.shape()[1] != 1 || x.shape()[2] != height_ || x.shape()[3] != width_)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "the images have shape [{2}]; a batch of this dataset must have [batch,1,{0},{1}]",
              height_, width_, fmt::join(x.shape(), ",")));
    if (labels.rank() != 1 || labels.shape()[0] != x.shape()[0])
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the labels have shape [{1}]; this batch needs [{0}]", x.shape()[0],
                              fmt::join(labels.shape(), ",")));
    if (x.shape()[0] < 1 || x.shape()[0] > samples_)
      throw Error(TENON_ERR_SHAPE, fmt::format("the batch size is {1}; it must be in 1 to {0}",
                                               samples_, x.shape()[0]));
    const Box box = x.boxOfRank(comm_->rank());
    crop_ = {box[2], box[3]};
    pixels_ = cells(box) > 0 ? IdxFile(imagesPath_).readCrop(crop_) : std::vector<std::uint8_t>();
    classes_ = cells(labels.boxOfRank(comm_->rank())) > 0 ? IdxFile(labelsPath_).readCrop({})
                                                          : std::vector<std::uint8_t>();
    layouts_ = {x, labels};
    return true;
  });
}

Index IdxDataset::batches() const {
  if (layouts_.empty())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonDatasetSetUp() first", title()));
  return samples_ / layouts_[0].shape()[0];
}

void IdxDataset::chooseOrder(Index epoch) {
  if (orderOf_ == epoch)
    return;
  order_.resize(samples_);
  if (shuffle_)
    order_ = permutation(seed_, streamOf("shuffle") + static_cast<std::uint64_t>(epoch), samples_);
  else
    std::iota(order_.begin(), order_.end(), Index(0));
  orderOf_ = epoch;
}

void IdxDataset::getBatch(Index epoch, Index batch, DTensor& x, DTensor& labels) {
  static const int event = logEvent("DatasetGetBatch");
  const LogScope scope(event);
  if (batch < 0 || batch >= batches())
    throw Error(TENON_ERR_ARG,
                fmt::format("batch index {2} is out of range: {0} has batches 0 to {1}", title(),
                            batches() - 1, batch));
  if (epoch < 0)
    throw Error(TENON_ERR_ARG, fmt::format("epoch {} of {} is negative; epochs are counted from 0",
                                           epoch, title()));
  checkTensor(labels, layouts_[1], TENON_INT64, title(), "label tensor");
  checkTensor(x, layouts_[0], x.dataType(), title(), "image tensor");
  chooseOrder(epoch);
  const Index first = batch * layouts_[0].shape()[0];
  visitFloating(x.dataType(), [&]<class T>(T) { fillImages<T>(first, x); });
  const HostView<std::int64_t> label(labels);
  for (Index n = 0; n < labels.localCells(); ++n)
    label[n * labels.strides()[0]] = classes_[order_[first + labels.box()[0].begin + n]];
}

template <class T>
void IdxDataset::fillImages(Index first, DTensor& x) const {
  const HostView<T> data(x);
  if (x.localCells() == 0)
    return;
  const Index rows = crop_[0].size(), columns = crop_[1].size();
  const T scale = static_cast<T>(scale_ / 255), shift = static_cast<T>(shift_);
  for (Index n = 0; n < x.extent()[0]; ++n) {
    const std::uint8_t* image =
        pixels_.data() + order_[first + x.box()[0].begin + n] * rows * columns;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c)
        data[n * x.strides()[0] + r * x.strides()[2] + c * x.strides()[3]] =
            scale * static_cast<T>(image[r * columns + c]) + shift;
  }
}

} // namespace tenon
