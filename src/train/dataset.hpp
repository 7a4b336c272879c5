// SPDX-License-Identifier: BSD-2-Clause
// Samples served in distributed batches: what all kinds of datasets share. Every rank knows the
// order of the samples, and of a batch it gets its box alone.
#pragma once

#include "dtensor/dtensor.hpp"
#include "sys/options/settable_object.hpp"

#include <optional>
#include <string>

namespace tenon {

class Dataset : public SettableObject {
public:
  static constexpr const char* kClass = "Dataset";

  const CommPtr& comm() const noexcept { return comm_; }
  // The number of samples, then the extents of one as a batch has them.
  const Shape& shape() const noexcept { return shape_; }
  Index samples() const noexcept { return shape_[0]; }
  // They may change between any two batches.
  const Settings& settings() const noexcept override { return settings_; }

  // Collective. Batches will be x [batch, ...] and labels [batch, ...], in any layouts without
  // contributions and halos; NULL for no labels.
  void setUp(const Layout& x, const Layout* labels);
  // Tensors for a batch in a space, the samples of that type; labels are null if it is set up
  // without them.
  struct BatchTensors {
    Ref<DTensor> x, labels;
  };
  BatchTensors makeTensors(TenonDataType real, Space space) const;
  // Whole batches in an epoch; the samples left over wait for another epoch's order.
  Index batches() const;

  // Fills x (float32 or float64), and labels unless they are NULL, with batch number `batch` of an
  // epoch, both from 0. Local. Tensors on the device are filled on the host and copied.
  void getBatch(Index epoch, Index batch, DTensor& x, DTensor* labels);

protected:
  // With the settings of a kind of datasets beside those of all.
  explicit Dataset(CommPtr comm, std::span<const OptionSpec> own = {});
  void takeOver(Settings after, const Settings::Names& names) override;

  struct LabelKind {
    Shape shape; // as that of the samples; empty without labels
    bool areIntegers = true;
  };
  void setShapes(Shape samples, LabelKind labels);
  const LabelKind& labelKind() const noexcept { return labels_; }
  const std::optional<Layout>& xLayout() const noexcept { return xLayout_; }
  const std::optional<Layout>& labelLayout() const noexcept { return labelLayout_; }
  double scale() const noexcept { return scale_; }
  double shift() const noexcept { return shift_; }
  // The numbers of an epoch's samples in their order.
  const std::vector<Index>& orderOf(Index epoch);

  // For new layouts: reads what is kept in memory.
  virtual void open(const Layout& x, const Layout* labels) = 0;
  // The tensors are on the host and have the right layouts and types.
  virtual void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) = 0;

private:
  void checkLayouts(const Layout& x, const Layout* labels) const;
  void checkTensors(const DTensor& x, const DTensor* labels) const;

  CommPtr comm_;
  Shape shape_;
  LabelKind labels_;
  Settings settings_;
  // What the numbers of samples are multiplied by, and what is added; labels stay.
  double scale_ = 0, shift_ = 0;
  bool isShuffled_ = false; // by (seed, epoch); otherwise in the files' order
  std::uint64_t seed_ = 0;
  std::optional<Layout> xLayout_, labelLayout_; // once set up
  BatchTensors staged_;                         // on the host, of tensors that are on the device
  std::vector<Index> order_;
  std::optional<Index> epochOfOrder_;
};

} // namespace tenon
