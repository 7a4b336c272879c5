// SPDX-License-Identifier: BSD-2-Clause
// Losses compare their input with a target. The value, of shape [1], is a sum of one contribution
// from each part of the input, P on the axes that split it. It is then converted to B, so that all
// ranks that hold the input have it; its dual is partial: seed it with 1 on coordinate 0 and 0
// elsewhere. A loss is not differentiated by its target.
//
// A loss is a sum of terms, of elements or of samples, each times its weight where there are
// weights:
//
//   sum    the sum over the global batch
//   mean   the sum divided by the number of terms, or by the sum of their weights
//
// Its maps are the input where it is used, the sources (target and weights), the sum of the
// weights, what leads to each rank's contribution, and the sum of the contributions.
#pragma once

#include "declaration/core/elementwise.hpp"

#include <string>
#include <vector>

namespace tenon {

// Reads the distance of grid points from a setting, "0.1" or "0.1,0.2,0.2": one number for each of
// `dims` dimensions, or as many as are written where dims is 0. Throws TENON_ERR_ARG, naming `who`,
// unless all are positive and there are as many as dimensions, or one.
std::vector<double> spacing(const std::string& text, int dims, const std::string& who);

inline constexpr OptionSpec kReductionSetting = {
    "loss_reduction", OptionSpec::Choice, "mean",
    "what a loss is of its terms: their mean, of weighted ones by the sum of the weights, or their "
    "sum",
    "mean|sum"};
inline constexpr OptionSpec kWeightsSetting = {
    "loss_weights", OptionSpec::Choice, "none",
    "weights of a loss's terms, of 0 where something is masked: none, one for each sample, or one "
    "for each element of the input",
    "none|sample|element"};
inline constexpr OptionSpec kLossSettings[] = {kReductionSetting, kWeightsSetting};

inline constexpr int kSamples = 0;

// A layout of shape [1] with the properties of `use`, and `split` on the axes that split it.
Layout scalarLayout(const Layout& use, Property split);
// A layout whose dimension `dim` is the samples, cut as those of `use`. Where an axis splits
// another dimension it has `others`; B and R stay.
Layout perSample(const Layout& use, const Shape& shape, Property others, int dim);
inline Layout samplesLayout(const Layout& use) {
  return perSample(use, {use.shape()[kSamples]}, Property::broadcast(), 0);
}

// The input is used as in an elementwise map that is not linear; the value replaces the output.
class Loss : public Elementwise {
public:
  // `used` is the input's name in views where it is used.
  Loss(const char* type, std::span<const OptionSpec> table, const char* used)
      : Elementwise(type, table), used_(used) {}
  bool takesTarget() const override { return true; }
  bool takesTargetWeights() const override { return text("loss_weights") != "none"; }
  // Whether a term belongs to a sample as a whole, or to an element.
  virtual bool termsAreSamples() const { return false; }

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts&) const override;

protected:
  std::string summary() const override;
  // An entry of a kernel that reads the target and the weights.
  static KernelEntry reading(const MapList& list, std::string name, Workspace workspace = {});
  static ValueId contributionValue(MapList& list, const Layout& use);
  // Adds the kernel of the type, which keeps its derivative instead of what it reads.
  ValueId addTerms(MapList& list, std::vector<ValueId> reads, ValueId sum, const Layout& use) const;
  // Whether the terms are weighted and their mean is requested.
  bool hasWeightSum() const {
    return text("loss_reduction") == "mean" &&
           text("loss_weights") != (termsAreSamples() ? "element" : "none") && takesTargetWeights();
  }

private:
  bool isLinear() const override { return false; }
  virtual void checkInput(const Shape&) const {}
  // The layout in which the input is read; it may need more than each rank's part.
  virtual Layout readLayout(const Layout& use) const { return use; }
  virtual SourceEntry target(const Layout& use) const {
    return {.name = "target", .of = SourceEntry::Of::Target, .use = use};
  }
  // Adds the kernels from z, which lies as `use` does, to this rank's contribution. `sum` is the
  // sum of the weights, or kNoValue where the divisor is the number of terms or nothing.
  virtual ValueId addContribution(MapList& list, ValueId z, ValueId sum, const Layout& use) const {
    return addTerms(list, {z}, sum, use);
  }
  ValueId addWeightSum(MapList& list, ValueId z, const Layout& use) const;

  const char* used_;
};

} // namespace tenon
