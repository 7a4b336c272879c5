// SPDX-License-Identifier: BSD-2-Clause
// Images and labels from IDX files, kept in memory as bytes. A rank keeps its rows and columns of
// all images rather than whole images of some: shuffling draws any image into any batch.
#include "train/idx_dataset.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "train/idx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

} // namespace

IdxDataset::IdxDataset(CommPtr comm, const std::string& images, const std::string& labels)
    : Dataset(std::move(comm)), imagesPath_(images), labelsPath_(labels) {
  const Shape shape = collectively(*this->comm(), [&] {
    const IdxFile imageFile(images), labelFile(labels);
    checkShapes(imageFile, labelFile);
    return imageFile.shape();
  });
  setShapes({shape[0], 1, shape[1], shape[2]}, {{shape[0]}, true});
}

void IdxDataset::open(const Layout& x, const Layout* labels) {
  const int rank = comm()->rank();
  const Box box = x.boxOfRank(rank);
  // A rank without elements does not read the files at all.
  crop_ = {box[2], box[3]};
  pixels_ = elements(box) > 0 ? IdxFile(imagesPath_).readCrop(crop_) : std::vector<std::uint8_t>();
  classes_ = labels && elements(labels->boxOfRank(rank)) > 0 ? IdxFile(labelsPath_).readCrop({})
                                                             : std::vector<std::uint8_t>();
}

void IdxDataset::fill(Index epoch, Index batch, DTensor& x, DTensor* labels) {
  const std::vector<Index>& order = orderOf(epoch);
  const Index first = batch * xLayout()->shape()[0];
  visitFloating(x.dataType(), [&]<class T>(T) { fillImages<T>(order, first, x); });
  if (!labels)
    return;
  const HostView<std::int64_t> label(*labels);
  for (Index n = 0; n < labels->localElements(); ++n)
    label[n * labels->strides()[0]] = classes_[order[first + labels->box()[0].begin + n]];
}

template <class T>
void IdxDataset::fillImages(const std::vector<Index>& order, Index first, DTensor& x) const {
  const HostView<T> data(x);
  if (x.localElements() == 0)
    return;
  const Index rows = crop_[0].size(), columns = crop_[1].size();
  const T factor = static_cast<T>(scale() / 255), offset = static_cast<T>(shift());
  for (Index n = 0; n < x.extent()[0]; ++n) {
    const std::uint8_t* image =
        pixels_.data() + order[first + x.box()[0].begin + n] * rows * columns;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c)
        data[n * x.strides()[0] + r * x.strides()[2] + c * x.strides()[3]] =
            factor * static_cast<T>(image[r * columns + c]) + offset;
  }
}

} // namespace tenon
