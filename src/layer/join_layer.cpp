// SPDX-License-Identifier: BSD-2-Clause
#include "layer/join_layer.hpp"

#include "declaration/result_layout.hpp"
#include "declaration/signature.hpp"
#include "layer/join_setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

ConcatenateLayer::ConcatenateLayer(CommPtr comm, int dim) : JoinLayer(std::move(comm)), dim_(dim) {
  if (dim < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("the dimension of a concatenation is {}; it must be >= 0", dim));
}

void JoinLayer::setOutput(const Layout& pattern) {
  checkBeforeSetUp("TenonLayerSetOutputLayout()");
  if (pattern.hasMargins())
    throw Error(TENON_ERR_LAYOUT, fmt::format("the output layout of {} must not have halos, but is "
                                              "{}; add a repartition after it to add them",
                                              title(), pattern.describe()));
  output_ = pattern;
}

std::string JoinLayer::ownSettings() const {
  std::string text = dimension() < 0 ? "" : fmt::format("along dim {}", dimension());
  if (output_)
    text += fmt::format("{}output like {}", text.empty() ? "" : ", ", output_->describe());
  return text;
}

void JoinLayer::checkShapes(const Layouts& inputs) const {
  if (inputs.empty())
    throw Error(TENON_ERR_ARG, fmt::format("{} has no inputs; it needs at least 1", title()));
  Shape first = inputs.front().shape();
  const int d = dimension();
  if (d >= static_cast<int>(first.size()))
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} concatenates along dimension {}, but its input has shape [{}]",
                            title(), d, fmt::join(first, ",")));
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].shape();
    if (d >= 0 && shape.size() == first.size())
      first[d] = shape[d];
    if (shape != first)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format(
              "{} ({}) needs inputs of equal shape{}, but input {} has [{}] and input 0 has [{}]",
              title(), type(), d < 0 ? "" : fmt::format(" except in dimension {}", d), i,
              fmt::join(shape, ","), fmt::join(inputs.front().shape(), ",")));
  }
}

Layout JoinLayer::outputOf(const Layouts& inputs) const {
  Shape shape = inputs.front().shape();
  for (std::size_t i = 1; dimension() >= 0 && i < inputs.size(); ++i)
    shape[dimension()] = checkedSum(shape[dimension()], inputs[i].shape()[dimension()],
                                    "the extent of a concatenation");
  if (output_) {
    if (!signature().empty())
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("{} has both an output layout and the signature \"{}\"; set only one of them",
                      title(), signature()));
    return layoutLike(*output_, shape, title());
  }
  const Layout first = inputs.front().withoutMargins();
  const Signature chosen(elementwiseTable(first.rank(), true), first, signature(), title());
  std::vector<CutSource> same;
  for (int d = 0; d < first.rank(); ++d)
    same.push_back({&first, d});
  return makeLayout(shape, first.meshPtr(), chosen.output(), same);
}

std::unique_ptr<Setup> JoinLayer::makeSetupOf(const Layouts& inputs) {
  checkShapes(inputs);
  return std::make_unique<JoinSetup>(*this, inputs, outputOf(inputs), dimension());
}

} // namespace tenon
