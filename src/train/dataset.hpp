// SPDX-License-Identifier: BSD-2-Clause
// Samples in distributed batches: the base class of all data sets. A batch is a tensor [batch, ...]
// whose dimension 0 enumerates samples; its layout tells which part (box) each rank holds. Every
// rank knows the order of the samples, and reads only its box of each batch.
#pragma once

#include "dtensor/dtensor.hpp"
#include "sys/options/settable_object.hpp"

#include <optional>
#include <string>

namespace tenon {

// Calls: setUp() with the layouts of a batch, makeTensors(), then getBatch() for each batch.
class Dataset : public SettableObject {
public:
  static constexpr const char* kClass = "Dataset";

  const CommPtr& comm() const noexcept { return comm_; }
  // Number of samples, then the extents of one sample in a batch.
  const Shape& shape() const noexcept { return shape_; }
  Index samples() const noexcept { return shape_[0]; }
  // Settings can change between two batches.
  const Settings& settings() const noexcept override { return settings_; }

  // Collective on comm. Sets the layouts of batches: x [batch, ...] and labels [batch, ...],
  // without partial sums (P) and halos; labels can be NULL.
  void setUp(const Layout& x, const Layout* labels);
  // Creates tensors for a batch; x has type `real`. The label tensor is null if the data set is set
  // up without labels.
  struct BatchTensors {
    Ref<DTensor> x, labels;
  };
  BatchTensors makeTensors(TenonDataType real, Space space) const;
  // Number of complete batches in an epoch; the remaining samples are not used in that epoch.
  Index batches() const;

  // Fills x (float32 or float64), and labels unless they are NULL, with a batch of an epoch, both
  // counted from 0. Local. Tensors on the device are filled on the host and copied.
  void getBatch(Index epoch, Index batch, DTensor& x, DTensor* labels);
  // Fills float32 or float64 tensors in the layouts of x and labels with 1 where getBatch() fills
  // in a value, and with 0 where it is missing. Each can be NULL. Local.
  void getMasks(Index epoch, Index batch, DTensor* x, DTensor* labels);

protected:
  // `own` are the settings of the derived class, in addition to those of all data sets.
  explicit Dataset(CommPtr comm, std::span<const OptionSpec> own = {});
  void applySettings(Settings after, const Settings::Names& names) override;

  struct LabelKind {
    Shape shape; // [samples, ...] like the samples; empty without labels
    bool areIntegers = true;
  };
  void setShapes(Shape samples, LabelKind labels);
  const LabelKind& labelKind() const noexcept { return labels_; }
  const std::optional<Layout>& xLayout() const noexcept { return xLayout_; }
  const std::optional<Layout>& labelLayout() const noexcept { return labelLayout_; }
  double scale() const noexcept { return scale_; }
  double shift() const noexcept { return shift_; }
  // Returns the indices of the samples in the order of an epoch.
  const std::vector<Index>& orderOf(Index epoch);

  // Called for new layouts: prepares reading.
  virtual void open(const Layout& x, const Layout* labels) = 0;
  // Fills tensors on the host, whose layouts and types have been checked.
  virtual void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) = 0;
  // The same for masks; without an override no value is missing.
  virtual void fillMasks(Index epoch, Index batch, DTensor* x, DTensor* labels);
  // The name of a dimension of the samples or labels, or "".
  virtual std::string dimension(std::size_t, bool /*ofLabels*/) const { return ""; }

private:
  void checkLayouts(const Layout& x, const Layout* labels) const;
  [[noreturn]] void failShape(const Shape& batchShape, bool ofLabels,
                              const std::string& batch) const;
  void checkBatch(Index epoch, Index batch) const;
  void checkTensors(const DTensor& x, const DTensor* labels) const;

  CommPtr comm_;
  Shape shape_;
  LabelKind labels_;
  Settings settings_;
  // Samples become scale * x + shift; labels are unchanged.
  double scale_ = 0, shift_ = 0;
  bool isShuffled_ = false; // by (seed, epoch); otherwise in the order of the file
  std::uint64_t seed_ = 0;
  std::optional<Layout> xLayout_, labelLayout_; // set by setUp()
  BatchTensors staged_, stagedMasks_;           // host copies of tensors on the device
  std::vector<Index> order_;
  // Epoch for which order_ has been computed.
  std::optional<Index> epochOfOrder_;
};

} // namespace tenon
