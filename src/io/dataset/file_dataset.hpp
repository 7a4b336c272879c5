// SPDX-License-Identifier: BSD-2-Clause
// Batches for training from HDF5 and NetCDF files: samples, and labels from another variable of the
// same files. Values that are missing in the files are refused or filled, and told by masks.
#pragma once

#include "io/dataset/batch_reader.hpp"
#include "train/dataset.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon {

class FileDataset final : public Dataset {
public:
  // Collective on comm. `pattern` is a path, or a pattern that matches several files; `labels` is
  // "" for none. If a file is invalid, all ranks throw the same error.
  FileDataset(CommPtr comm, const std::string& pattern, const std::string& samples,
              const std::string& labels);
  std::string_view type() const noexcept override { return "file"; }
  std::string describe() const override;

protected:
  void applySettings(Settings after, const Settings::Names& names) override;
  void open(const Layout& x, const Layout* labels) override;
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override;
  void fillMasks(Index epoch, Index batch, DTensor* x, DTensor* labels) override;
  std::string dimension(std::size_t d, bool ofLabels) const override;

private:
  // Returns the samples of a batch of which this rank's box of the tensor has any part.
  std::vector<Index> samplesOf(Index epoch, Index batch, const DTensor& x);
  void readBatch(BatchReader& reader, const std::vector<Index>& samples, double scale, double shift,
                 DTensor& to);
  static void refuseWide(BatchReader& reader, const std::vector<Index>& samples,
                         std::span<const Index> labels, const DTensor& to);
  [[noreturn]] void refuseMissing(BatchReader& reader, const std::vector<Index>& samples,
                                  const DTensor& to) const;
  void readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels);

  bool isPrefetching_ = false;
  std::optional<double> fillMissing_; // none: missing values are an error
  std::optional<BatchReader> samples_, labels_;
};

} // namespace tenon
