// SPDX-License-Identifier: BSD-2-Clause
// Samples in an HDF5 file: each rank reads its box of each sample of a batch when it is asked for, or, with
// -tenon_dataset_prefetch, while the program works on the batch before.
#pragma once

#include "io/batch_reader.hpp"
#include "train/dataset.hpp"

namespace tenon {

class Hdf5Dataset final : public Dataset {
public:
  // Collective. `labels` is "" for none. On a bad file all ranks fail alike.
  Hdf5Dataset(CommPtr comm, const std::string& path, const std::string& samples,
              const std::string& labels);
  // Reads -tenon_[prefix_]dataset_prefetch.
  void setFromOptions() override;

protected:
  void open(const Layout& x, const Layout* labels) override;
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override;

private:
  // Those of a batch of which a box contains something.
  std::vector<Index> samplesOf(Index epoch, Index batch, const DTensor& x);
  void readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels);

  bool isPrefetching_ = false;
  std::optional<BatchReader> samples_, labels_;
};

} // namespace tenon
