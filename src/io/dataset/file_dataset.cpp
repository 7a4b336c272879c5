// SPDX-License-Identifier: BSD-2-Clause
// The dataset of the C API whose samples are in files, with a reader for samples and one for
// labels. Each rank reads only its own box of each sample, independently of the others. The
// constructor is collective; everything else in this file is local.
//
// A value that is missing in the file has no number, and none is invented: reading a batch with
// such a value is an error unless the setting fill_missing gives the number that it gets. A mask
// then tells the network and its loss where it is: 1 where the file has a value, 0 where not.
#include "io/dataset/file_dataset.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/options/option_text.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {

namespace {

constexpr OptionSpec kFileOptions[] = {
    {"dataset_prefetch", OptionSpec::Flag, "false",
     "whether a thread reads the next batch of a dataset in files while the program computes"},
    {"fill_missing", OptionSpec::String, "refuse",
     "the number that elements without a value in the file get, or refuse: they are an error"},
};
const OptionRegistration kFileRegistration{{"dataset", kFileOptions}};

// to = scale * elements + shift.
template <class S>
void storeReals(const Buffer& elements, double scale, double shift, DTensor& to) {
  // The kernel computes to = scale * elements + factor * to, so the shift is stored first.
  if (shift != 0)
    fillConstant(to, shift);
  const Shape& extent = to.extent();
  const Shape strides = rowMajorStrides(extent);
  visitFloating(to.dataType(), [&]<class T>(T) {
    using Wide = std::common_type_t<S, T>;
    blockAxpby<S, T>(to.context(), to.ndim(), extent.data(), static_cast<Wide>(scale),
                     elements.data<S>(), strides.data(), static_cast<Wide>(shift != 0 ? 1 : 0),
                     to.mutableData<T>(), to.strides().data());
  });
}

// Stores the elements that a reader has read in a tensor of the network. Integers (labels of
// classes) are copied without scale and shift; readBatch() checks that int32 holds them.
void store(const BatchReader& reader, const Buffer& elements, double scale, double shift,
           DTensor& to) {
  if (to.localElements() == 0)
    return;
  if (reader.type() == TENON_FLOAT32)
    return storeReals<float>(elements, scale, shift, to);
  if (reader.type() == TENON_FLOAT64)
    return storeReals<double>(elements, scale, shift, to);
  const auto storeAs = [&]<class T>(T) {
    blockAxpby<std::int64_t, T>(to.context(), to.ndim(), to.extent().data(), 1,
                                elements.data<std::int64_t>(), rowMajorStrides(to.extent()).data(),
                                0, to.mutableData<T>(), to.strides().data());
  };
  to.dataType() == TENON_INT32 ? storeAs(std::int32_t()) : storeAs(std::int64_t());
}

// Sets the elements at these positions of this rank's array, which are row-major.
template <class T>
void setAt(const std::vector<Index>& positions, double value, DTensor& to) {
  const Shape& extent = to.extent();
  const Shape within = rowMajorStrides(extent);
  const HostView<T> elements(to);
  for (const Index position : positions) {
    Index local = 0;
    for (std::size_t d = 0; d < extent.size(); ++d)
      local += position / within[d] % extent[d] * to.strides()[d];
    elements[local] = static_cast<T>(value);
  }
}

void setElements(const std::vector<Index>& positions, double value, DTensor& to) {
  if (positions.empty())
    return;
  visitDataType(to.dataType(), [&]<class T>(T) { setAt<T>(positions, value, to); });
}

// The indices in the file of the element at this position of the local array: the sample first.
std::vector<Index> placeInFile(Index position, const std::vector<Index>& samples,
                               const DTensor& to) {
  const Shape within = rowMajorStrides(to.extent());
  std::vector<Index> indices{samples[static_cast<std::size_t>(position / within[0])]};
  for (std::size_t d = 1; d < within.size(); ++d)
    indices.push_back(to.box()[d].begin + position / within[d] % to.extent()[d]);
  return indices;
}

} // namespace

FileDataset::FileDataset(CommPtr comm, const std::string& pattern, const std::string& samples,
                         const std::string& labels)
    : Dataset(std::move(comm), kFileOptions) {
  applySettings(settings(), {});
  collectively(
      *this->comm(), "the files and the shapes of the samples",
      [&] {
        samples_.emplace(pattern, samples);
        if (!labels.empty())
          labels_.emplace(pattern, labels);
        const Shape& shape = samples_->series().shape();
        LabelKind kind;
        if (labels_)
          kind = {labels_->series().shape(), labels_->series().areIntegers()};
        if (labels_ && kind.shape[0] != shape[0])
          throw Error(TENON_ERR_FORMAT,
                      fmt::format("file '{}': '{}' has {} samples, but '{}' has {} labels", pattern,
                                  samples, shape[0], labels, kind.shape[0]));
        setShapes(shape, std::move(kind));
        return true;
      },
      [&](bool) {
        return fmt::format("{} to {} [{}] [{}]", samples_->series().firstPath(),
                           samples_->series().lastPath(), fmt::join(shape(), ","),
                           fmt::join(labelKind().shape, ","));
      });
}

std::string FileDataset::describe() const {
  const SampleSeries& series = samples_->series();
  const std::string files = series.files() == 1
                                ? fmt::format("file '{}'", series.firstPath())
                                : fmt::format("{} files, '{}' to '{}'", series.files(),
                                              series.firstPath(), series.lastPath());
  return fmt::format("{}; {}: samples {}{}{}", Dataset::describe(), files, series.describe(),
                     labels_ ? "; labels " : "", labels_ ? labels_->series().describe() : "");
}

std::string FileDataset::dimension(std::size_t d, bool ofLabels) const {
  const auto& names = (ofLabels ? labels_ : samples_)->series().dimensions();
  return d < names.size() ? names[d] : "";
}

void FileDataset::applySettings(Settings after, const Settings::Names& names) {
  const std::string fill = after.value<std::string>("fill_missing", owner());
  const std::optional<double> number = parseReal(fill);
  if (fill != "refuse" && !number)
    throw Error(TENON_ERR_ARG, fmt::format("the setting \"fill_missing\" of {} is \"{}\"; expected "
                                           "a number, or refuse",
                                           title(), fill));
  fillMissing_ = fill == "refuse" ? std::nullopt : number;
  isPrefetching_ = after.value<bool>("dataset_prefetch", owner());
  Dataset::applySettings(std::move(after), names);
}

void FileDataset::open(const Layout& x, const Layout* labels) {
  const int rank = comm()->rank();
  const TenonDataType type = samples_->series().type();
  // The network needs real samples, so integers are converted while reading.
  samples_->setBox(x.boxOfRank(rank), type == TENON_INT64 ? TENON_FLOAT64 : type);
  if (labels)
    labels_->setBox(labels->boxOfRank(rank), labels_->series().type());
}

std::vector<Index> FileDataset::samplesOf(Index epoch, Index batch, const DTensor& x) {
  const std::vector<Index>& order = orderOf(epoch);
  const auto first = order.begin() + batch * x.layout().shape()[0];
  return {first + x.box()[0].begin, first + x.box()[0].end};
}

// Names the first missing value by its sample and its indices in the file.
void FileDataset::refuseMissing(BatchReader& reader, const std::vector<Index>& samples,
                                const DTensor& to) const {
  const std::vector<Index> indices = placeInFile(reader.missing(samples).front(), samples, to);
  const Index sample = indices[0];
  reader.series().fail(
      TENON_ERR_FORMAT, sample,
      fmt::format("element [{}] has no value ({}); set fill_missing of {} to the number that such "
                  "elements get, and get their mask by TenonDatasetGetMasks()",
                  fmt::join(indices, ","), reader.series().encodingOf(sample).describe(), title()));
}

// A label that the caller's int32 cannot hold. (Labels that are missing are 0 here.)
void FileDataset::refuseWide(BatchReader& reader, const std::vector<Index>& samples,
                             std::span<const Index> labels, const DTensor& to) {
  const auto isWide = [](Index label) { return label != static_cast<std::int32_t>(label); };
  const auto wide = std::ranges::find_if(labels, isWide);
  if (wide == labels.end())
    return;
  const Index label = *wide;
  const std::vector<Index> indices = placeInFile(wide - labels.begin(), samples, to);
  reader.series().fail(TENON_ERR_FORMAT, indices[0],
                       fmt::format("the label at [{}] is {}, which {} of type int32 cannot hold; "
                                   "pass a tensor of int64",
                                   fmt::join(indices, ","), label, to.title()));
}

void FileDataset::readBatch(BatchReader& reader, const std::vector<Index>& samples, double scale,
                            double shift, DTensor& to) {
  const Buffer& elements = reader.elements(samples);
  if (to.dataType() == TENON_INT32)
    refuseWide(reader, samples,
               {elements.data<Index>(), static_cast<std::size_t>(to.localElements())}, to);
  store(reader, elements, scale, shift, to);
  const std::vector<Index>& missing = reader.missing(samples);
  if (missing.empty())
    return;
  if (!fillMissing_)
    refuseMissing(reader, samples, to);
  if (isInteger(to.dataType()) && !fitsInto(to.dataType(), *fillMissing_))
    throw Error(TENON_ERR_ARG,
                fmt::format("the setting \"fill_missing\" of {} is {}, but labels without a value "
                            "are integers of type {}",
                            title(), *fillMissing_, dataTypeName(to.dataType())));
  setElements(missing, *fillMissing_, to);
}

void FileDataset::fill(Index epoch, Index batch, DTensor& x, DTensor* labels) {
  readBatch(*samples_, samplesOf(epoch, batch, x), scale(), shift(), x);
  if (labels)
    readBatch(*labels_, samplesOf(epoch, batch, *labels), 1, 0, *labels);
  if (isPrefetching_)
    readAhead(epoch, batch, x, labels);
}

void FileDataset::fillMasks(Index epoch, Index batch, DTensor* x, DTensor* labels) {
  const auto fillMask = [&](BatchReader& reader, DTensor& mask) {
    fillConstant(mask, 1);
    setElements(reader.missing(samplesOf(epoch, batch, mask)), 0, mask);
  };
  if (x)
    fillMask(*samples_, *x);
  if (labels)
    fillMask(*labels_, *labels);
}

void FileDataset::readAhead(Index epoch, Index batch, const DTensor& x, const DTensor* labels) {
  // After the last batch of an epoch comes the first one of the next epoch, whose order is a
  // function of its number.
  const bool isLast = batch + 1 == batches();
  if (isLast && epoch == std::numeric_limits<Index>::max())
    return;
  const Index nextEpoch = epoch + (isLast ? 1 : 0), next = isLast ? 0 : batch + 1;
  samples_->readAhead(samplesOf(nextEpoch, next, x));
  if (labels)
    labels_->readAhead(samplesOf(nextEpoch, next, *labels));
}

} // namespace tenon
