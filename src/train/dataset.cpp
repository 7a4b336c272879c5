// SPDX-License-Identifier: BSD-2-Clause
// The common part of all data sets: checks, the order of an epoch, and tensors on a device. An
// epoch is a pass over all samples; a batch is a number of samples in one tensor, which is
// distributed over the ranks. With 10 samples and batches of 4, an epoch whose order is {7,2,9,0,
// 4,1,8,5, 3,6} has the batches {7,2,9,0} and {4,1,8,5}; samples 3 and 6 are left out.
//
// Every rank computes the same permutation from seed and epoch, so no communication is needed to
// agree on a batch. Derived classes (HDF5 files, images, ...) implement open() and fill(), which
// read this rank's box of a batch.
#include "train/dataset.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "sys/log/log.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

constexpr OptionSpec kDatasetOptions[] = {
    {"sample_scale", OptionSpec::Real, "1", "factor of the numbers of samples"},
    {"sample_shift", OptionSpec::Real, "0", "what is added to the scaled numbers of samples"},
    {"shuffle", OptionSpec::Flag, "false",
     "whether the samples have a new random order in each epoch, and not that of the file"},
    {"shuffle_seed", OptionSpec::Int, "0", "seed of the random order of samples"},
};
const OptionRegistration kDatasetRegistration{{"dataset", kDatasetOptions}};

// A batch is written by fill(), which needs each rank to have whole elements without halos.
void checkBatchLayout(const Layout& layout, const char* what) {
  if (layout.holdsPartialSums() || layout.hasHalos())
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the layout of a batch of {} is {}; use S, B and R without halos", what,
                            layout.describe()));
}

// Whether a shape is that of a batch of these samples, whatever the batch size is.
bool isBatchOf(const Shape& samples, const Shape& batchShape) {
  return batchShape.size() == samples.size() &&
         std::equal(batchShape.begin() + 1, batchShape.end(), samples.begin() + 1);
}

} // namespace

// Called by derived classes once their files are open.
void Dataset::setShapes(Shape samples, LabelKind labels) {
  shape_ = std::move(samples);
  labels_ = std::move(labels);
}

Dataset::Dataset(CommPtr comm, std::span<const OptionSpec> own)
    : SettableObject(kClass), comm_(std::move(comm)), settings_({own, kDatasetOptions}) {
  Dataset::applySettings(settings_, {});
}

// A change of shuffling invalidates the cached order.
void Dataset::applySettings(Settings after, const Settings::Names&) {
  scale_ = after.value<double>("sample_scale", owner());
  shift_ = after.value<double>("sample_shift", owner());
  isShuffled_ = after.value<bool>("shuffle", owner());
  seed_ = static_cast<std::uint64_t>(after.value<Index>("shuffle_seed", owner()));
  epochOfOrder_.reset();
  settings_ = std::move(after);
}

// `batch` is the batch size as text.
void Dataset::failShape(const Shape& batchShape, bool ofLabels, const std::string& batch) const {
  const Shape& samples = ofLabels ? labels_.shape : shape_;
  std::string different;
  for (std::size_t d = 1; d < std::min(samples.size(), batchShape.size()); ++d)
    if (const std::string name = dimension(d, ofLabels);
        !name.empty() && samples[d] != batchShape[d])
      different += fmt::format("; dimension {} ({}) has {} elements, but {} in the file", d, name,
                               batchShape[d], samples[d]);
  throw Error(TENON_ERR_SHAPE,
              fmt::format("the {} have shape [{}]; a batch of this dataset must have [{}{}{}]{}",
                          ofLabels ? "labels" : "samples", fmt::join(batchShape, ","), batch,
                          samples.size() > 1 ? "," : "",
                          fmt::join(samples.begin() + 1, samples.end(), ","), different));
}

// A batch cannot have more samples than the data set.
void Dataset::checkLayouts(const Layout& x, const Layout* labels) const {
  checkBatchLayout(x, "samples");
  if (!isBatchOf(shape_, x.shape()))
    failShape(x.shape(), /*ofLabels=*/false, "batch");
  const Index batch = x.shape()[0];
  if (batch < 1 || batch > samples())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the batch size is {1}; it must be in 1 to {0}", samples(), batch));
  if (!labels)
    return;
  if (labels_.shape.empty())
    throw Error(TENON_ERR_ARG, fmt::format("{} has no labels; pass NULL for labels", title()));
  checkBatchLayout(*labels, "labels");
  if (!isBatchOf(labels_.shape, labels->shape()) || labels->shape()[0] != batch)
    failShape(labels->shape(), /*ofLabels=*/true, fmt::format("{}", batch));
}

void Dataset::setUp(const Layout& x, const Layout* labels) {
  agreeOnText(*comm_, "the layout of the batch, and the settings of the dataset", [&] {
    checkSets();
    return fmt::format("{}{}; {}", x.describe(), labels ? labels->describe() : " without labels",
                       settings_.describe());
  });
  collectively(*comm_, [&] {
    checkLayouts(x, labels);
    // The data set is not set up for any layout until all ranks have read what they need.
    xLayout_.reset();
    labelLayout_.reset();
    open(x, labels);
    return true;
  });
  xLayout_ = x;
  labelLayout_ = labels ? std::optional(*labels) : std::nullopt;
}

Index Dataset::batches() const {
  if (!xLayout_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonDatasetSetUp() first", title()));
  return samples() / xLayout_->shape()[0];
}

Dataset::BatchTensors Dataset::makeTensors(TenonDataType real, Space space) const {
  BatchTensors tensors{makeRef<DTensor>(comm_, *xLayout_, real, space), {}};
  if (labelLayout_)
    tensors.labels =
        makeRef<DTensor>(comm_, *labelLayout_, labels_.areIntegers ? TENON_INT64 : real, space);
  return tensors;
}

// Element i of the result is the number of the sample in place i of the epoch.
const std::vector<Index>& Dataset::orderOf(Index epoch) {
  // Compute the permutation once per epoch, not once per batch.
  if (epochOfOrder_ == epoch)
    return order_;
  order_.resize(static_cast<std::size_t>(samples()));
  if (isShuffled_)
    order_ = permutation(seed_, streamOf("shuffle") + static_cast<std::uint64_t>(epoch), samples());
  else
    std::iota(order_.begin(), order_.end(), Index(0));
  epochOfOrder_ = epoch;
  return order_;
}

// Integer labels are int64, or int32 in a tensor of the program; others can have any real type.
void Dataset::checkTensors(const DTensor& x, const DTensor* labels) const {
  if (labels && !labelLayout_)
    throw Error(TENON_ERR_STATE, fmt::format("{} is set up without labels; pass their layout to "
                                             "TenonDatasetSetUp()",
                                             title()));
  if (labels && !labels_.areIntegers)
    checkFloating(labels->dataType(), "a tensor of labels that are no integers");
  if (labels)
    checkTensor(*labels, *labelLayout_,
                labels_.areIntegers && !isInteger(labels->dataType()) ? TENON_INT64
                                                                      : labels->dataType(),
                title(), "label tensor");
  checkFloating(x.dataType(), "a tensor of samples");
  checkTensor(x, *xLayout_, x.dataType(), title(), "tensor of samples");
}

void Dataset::checkBatch(Index epoch, Index batch) const {
  if (batch < 0 || batch >= batches())
    throw Error(TENON_ERR_ARG,
                fmt::format("batch index {2} is out of range: {0} has batches 0 to {1}", title(),
                            batches() - 1, batch));
  if (epoch < 0)
    throw Error(TENON_ERR_ARG, fmt::format("epoch {} of {} is negative; epochs are counted from 0",
                                           epoch, title()));
}

// Device tensors are filled in a host copy, which is reused.
void Dataset::getBatch(Index epoch, Index batch, DTensor& x, DTensor* labels) {
  static const int event = logEvent("DatasetGetBatch");
  const LogScope scope(event);
  checkBatch(epoch, batch);
  checkTensors(x, labels);
  DTensor& filled = likeInSpace(x, x.comm(), Space::Host, staged_.x);
  DTensor* filledLabels =
      labels ? &likeInSpace(*labels, labels->comm(), Space::Host, staged_.labels) : nullptr;
  fill(epoch, batch, filled, filledLabels);
  if (&filled != &x)
    copyLocal(filled, x);
  if (filledLabels != labels)
    copyLocal(*filledLabels, *labels);
}

void Dataset::fillMasks(Index, Index, DTensor* x, DTensor* labels) {
  for (DTensor* mask : {x, labels})
    if (mask)
      fillConstant(*mask, 1);
}

void Dataset::getMasks(Index epoch, Index batch, DTensor* x, DTensor* labels) {
  checkBatch(epoch, batch);
  if (labels && !labelLayout_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is set up without labels, which have no mask then", title()));
  const auto onHost = [&](DTensor* mask, const std::optional<Layout>& layout, const char* what,
                          Ref<DTensor>& staged) -> DTensor* {
    if (!mask)
      return nullptr;
    checkFloating(mask->dataType(), "the mask of a batch");
    checkTensor(*mask, *layout, mask->dataType(), title(), what);
    return &likeInSpace(*mask, mask->comm(), Space::Host, staged);
  };
  DTensor* filled = onHost(x, xLayout_, "mask of samples", stagedMasks_.x);
  DTensor* filledLabels = onHost(labels, labelLayout_, "mask of labels", stagedMasks_.labels);
  fillMasks(epoch, batch, filled, filledLabels);
  if (filled != x)
    copyLocal(*filled, *x);
  if (filledLabels != labels)
    copyLocal(*filledLabels, *labels);
}

} // namespace tenon
