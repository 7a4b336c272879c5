// SPDX-License-Identifier: BSD-2-Clause
// Labelled images in two IDX files. Every rank keeps of the images the part of space that its
// batches hold; a rank without a part keeps nothing.
#pragma once

#include "train/dataset.hpp"

namespace tenon {

class IdxDataset final : public Dataset {
public:
  // Collective: opens and checks both files. Images [samples, height, width] of unsigned bytes,
  // labels [samples]. On a bad file all ranks fail alike. A batch of images is [batch, 1, height,
  // width], and takes the pixel p as scale * p / 255 + shift.
  IdxDataset(CommPtr comm, const std::string& images, const std::string& labels);

  std::string_view type() const noexcept override { return "idx"; }

protected:
  void open(const Layout& x, const Layout* labels) override;
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override;

private:
  template <class T>
  void fillImages(const std::vector<Index>& order, Index first, DTensor& x) const;

  std::string imagesPath_, labelsPath_;
  Box crop_; // rows and columns that this rank keeps
  std::vector<std::uint8_t> pixels_, classes_;
};

} // namespace tenon
