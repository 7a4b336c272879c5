// SPDX-License-Identifier: BSD-2-Clause
// Samples in an HDF5 file: each rank reads its box of each sample of a batch when it is requested,
// or, with -tenon_dataset_prefetch, while the program works on the batch before.
#pragma once

#include "io/hdf5_samples.hpp"
#include "sys/memory/memory.hpp"
#include "sys/types.hpp"
#include "train/dataset.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace tenon {

// Pieces of a file read by a thread while the program computes. The thread knows nothing but a
// descriptor and positions: it calls pread(), and neither HDF5 nor MPI, which may belong to one
// thread alone. It takes no signals.

struct FilePiece {
  Index offset = 0, bytes = 0;
  std::byte* to = nullptr;
};

class Prefetch {
public:
  // Throws TENON_ERR_FILE if the file cannot be opened.
  explicit Prefetch(const std::string& path);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Begins to read; the memory of the pieces belongs to the thread until wait(), which comes first
  // if there was a start before.
  void start(std::vector<FilePiece> pieces);
  // Why it failed; "" if all was read.
  std::string wait();

private:
  void run(const std::vector<FilePiece>& pieces);

  int file_ = -1;
  std::thread thread_;
  std::string failure_; // of the thread, until it is joined
};

// A rank's share of the batches of one HDF5 dataset: the same box of each sample, one after the
// other. HDF5 reads it when it is requested, or a thread has read it before.
class BatchReader {
public:
  BatchReader(const std::string& path, const std::string& dataset);

  const Hdf5Samples& file() const noexcept { return file_; }
  // Sets the box [samples, ...] that is read from now on, whose first side counts within the batch,
  // and its data type.
  void setBox(const Box& box, TenonDataType type);
  TenonDataType type() const noexcept { return type_; }
  // The numbers of these samples, row-major.
  const Buffer& elements(const std::vector<Index>& samples);
  // Lets a thread read these samples, if the file stores them contiguously and in the type that is
  // requested. They are read in vain unless elements() asks for them next.
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
  Buffer elements_, nextElements_;
  std::vector<Index> ahead_;         // what the thread reads
  std::unique_ptr<Prefetch> thread_; // ends before the memory that it reads into
};

class Hdf5Dataset final : public Dataset {
public:
  // Collective. `labels` is "" for none. On a bad file all ranks fail alike.
  Hdf5Dataset(CommPtr comm, const std::string& path, const std::string& samples,
              const std::string& labels);
  std::string_view type() const noexcept override { return "hdf5"; }

protected:
  void takeOver(Settings after, const Settings::Names& names) override;
  void open(const Layout& x, const Layout* labels) override;
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override;

private:
  // The samples of a batch of which a box of the tensor contains something.
  std::vector<Index> samplesOf(Index epoch, Index batch, const DTensor& x);
  void readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels);

  bool isPrefetching_ = false;
  std::optional<BatchReader> samples_, labels_;
};

} // namespace tenon
