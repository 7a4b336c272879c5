// SPDX-License-Identifier: BSD-2-Clause
// A rank's share of the batches of one HDF5 dataset: the same box of each of the samples asked for, one after the
// other, by HDF5 when they are asked for, or by a thread before (prefetch.hpp).
#pragma once

#include "io/hdf5_samples.hpp"
#include "io/prefetch.hpp"
#include "sys/memory.hpp"

namespace tenon {

class BatchReader {
public:
  BatchReader(const std::string& path, const std::string& dataset);

  const Hdf5Samples& file() const noexcept { return file_; }
  // From now on of a box [samples, ...] whose first side counts within the batch, as numbers of a type.
  void setBox(const Box& box, TenonDataType type);
  TenonDataType type() const noexcept { return type_; }
  // The numbers of these samples, row-major.
  const Buffer& cells(const std::vector<Index>& samples);
  // Lets a thread read these, where their data lie in one piece as they are asked for; cells() is to
  // ask for them next, else they are read in vain.
  void readAhead(std::vector<Index> samples);

private:
  Box boxOf(Index sample) const;
  void readNow(const std::vector<Index>& samples);
  bool takeAhead(const std::vector<Index>& samples);
  std::vector<FilePiece> piecesOf(const std::vector<Index>& samples);

  std::string path_;
  Hdf5Samples file_;
  Box box_;
  TenonDataType type_ = TENON_FLOAT64;
  Index sampleBytes_ = 0; // of the box
  Buffer cells_, nextCells_;
  std::vector<Index> ahead_;         // what the thread reads
  std::unique_ptr<Prefetch> thread_; // ends before the memory that it reads into
};

} // namespace tenon
