// SPDX-License-Identifier: BSD-2-Clause
// A rank's share of the batches of a variable in files. Each rank reads its box of each sample of a
// batch when the batch is requested or, with -tenon_dataset_prefetch, in a thread while the program
// still computes with the previous batch.
//   BatchReader   this rank's part of one variable, for the samples of a batch
//   Prefetch      the thread, which reads byte ranges
#pragma once

#include "io/dataset/sample_series.hpp"
#include "sys/memory/memory.hpp"
#include "sys/types.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace tenon {

// Bytes [offset, offset + bytes) of the file, to be stored at `to`.
struct FilePiece {
  Index offset = 0, bytes = 0;
  std::byte* to = nullptr;
};

// A thread that reads pieces of a file while the program computes. It only calls pread() on a file
// descriptor. It uses neither HDF5 nor MPI, which may support one thread only, and blocks signals.
class Prefetch {
public:
  // Throws TENON_ERR_FILE if the file cannot be opened.
  explicit Prefetch(const std::string& path);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // Starts to read. The memory of the pieces belongs to the thread until wait(), which start()
  // calls for an earlier read.
  void start(std::vector<FilePiece> pieces);
  // Waits for the thread. Returns the reason of a failure; "" if everything was read.
  std::string wait();

private:
  void run(const std::vector<FilePiece>& pieces);

  int file_ = -1;
  std::thread thread_;
  std::string failure_; // reason of a failure; belongs to the thread until it is joined
};

// A rank's share of the batches of one variable: the same box of each sample. It is read by the
// library of the format when it is requested, or by the thread in advance.
class BatchReader {
public:
  BatchReader(const std::string& pattern, const std::string& variable);

  const SampleSeries& series() const noexcept { return series_; }
  // Sets the box [samples, ...] to read from now on, and its data type. The first side of the box
  // counts samples within the batch.
  void setBox(const Box& box, TenonDataType type);
  TenonDataType type() const noexcept { return type_; }
  // Reads these samples. Returns their values, row-major; missing ones are 0.
  const Buffer& elements(const std::vector<Index>& samples);
  // Returns the positions of the missing values among the elements of these samples. They are read
  // unless they are those of the last call of elements().
  const std::vector<Index>& missing(const std::vector<Index>& samples);
  // Starts to read these samples in the thread, if the file stores them contiguously and in the
  // requested type. The result is discarded unless the next call of elements() requests the same
  // samples.
  void readAhead(std::vector<Index> samples);

private:
  Box boxOf(Index sample) const;
  // Reads samples by the library of the format, and waits for them.
  void readNow(const std::vector<Index>& samples);
  // Waits for the thread and takes what it has read, if that is these samples; otherwise discards
  // it and returns false.
  bool takeAhead(const std::vector<Index>& samples);
  void decode(const std::vector<Index>& samples);
  std::vector<FilePiece> piecesOf(const std::vector<Index>& samples);

  SampleSeries series_;
  Box box_;
  TenonDataType type_ = TENON_FLOAT64;
  Index sampleBytes_ = 0;                     // bytes of the box in one sample
  Buffer elements_;                           // of the last request
  Buffer nextElements_;                       // that the thread reads, of aheadSamples_
  std::vector<Index> missing_;                // positions in elements_
  std::optional<std::vector<Index>> decoded_; // the samples of elements_ and missing_
  std::vector<Index> aheadSamples_;           // numbers of the samples that the thread reads
  std::unique_ptr<Prefetch> thread_; // declared last: it must end before its memory is freed
};

} // namespace tenon
