// SPDX-License-Identifier: BSD-2-Clause
// Labelled images in two IDX files, served in batches. Every rank knows the order of the samples
// and keeps of the images only the part of space that its batches hold; a rank without a part keeps
// nothing.
#pragma once

#include "dtensor/dtensor.hpp"

#include <optional>
#include <string>

namespace tenon {

class IdxDataset : public Object {
public:
  static constexpr const char* kClass = "Dataset";
  // Collective: opens and checks both files. Images [samples, height, width] of unsigned bytes,
  // labels [samples]. On a bad file all ranks fail alike.
  IdxDataset(CommPtr comm, const std::string& images, const std::string& labels);

  Index samples() const noexcept { return samples_; }
  Index height() const noexcept { return height_; }
  Index width() const noexcept { return width_; }
  const CommPtr& comm() const noexcept { return comm_; }

  // A batch takes the pixel p as scale * p / 255 + shift; the default is p / 255.
  void setScaling(double scale, double shift) noexcept;
  // Shuffled by (seed, epoch); otherwise in the files' order.
  void setShuffle(bool shuffle, std::uint64_t seed) noexcept;
  // Collective. Batches will be x [batch, 1, height, width] and labels [batch], in any layouts
  // without addends and margins. Reads what this rank's part needs.
  void setUp(const Layout& x, const Layout& labels);
  // Whole batches in an epoch; the samples left over wait for another epoch's order.
  Index batches() const;

  // Fills x (float32 or float64) and labels (int64) with batch number `batch` of an epoch, both from
  // 0. Local.
  void getBatch(Index epoch, Index batch, DTensor& x, DTensor& labels);

private:
  void chooseOrder(Index epoch);
  template <class T>
  void fillImages(Index first, DTensor& x) const;

  CommPtr comm_;
  std::string imagesPath_, labelsPath_;
  Index samples_ = 0, height_ = 0, width_ = 0;
  double scale_ = 1, shift_ = 0;
  bool shuffle_ = false;
  std::uint64_t seed_ = 0;

  std::vector<Layout> layouts_; // of x and labels, once set up
  Box crop_;                    // rows and columns that this rank keeps
  std::vector<std::uint8_t> pixels_, classes_;
  std::vector<Index> order_;
  std::optional<Index> orderOf_; // epoch
};

} // namespace tenon
