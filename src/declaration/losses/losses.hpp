// SPDX-License-Identifier: BSD-2-Clause
// Base of losses, which compare their input with a target. The value has shape [1] and is the sum
// of one contribution per block of the input: a partial sum (P) on the axes that split the input. A
// conversion to B then replicates the value on all ranks that hold the input. The dual of the
// value, with which an adjoint starts, is a partial sum: set it to 1 on the rank at coordinate 0
// and to 0 elsewhere. There is no derivative with respect to the target.
//
// A loss combines terms, one per element or one per sample, each times its weight if there are
// weights:
//
//   sum    the sum over the global batch
//   mean   the sum divided by the number of terms, or by the sum of their weights
//
// Losses of fields on a globe can weight the elements by their area too (area.hpp); a weight is
// then the product of both.
//
// Its map list: convert the input to its use layout, bring target and weights (sources) to theirs,
// sum the weights, compute each rank's contribution, and sum the contributions.
#pragma once

#include "declaration/core/elementwise.hpp"
#include "declaration/sphere/area.hpp"

#include <string>
#include <vector>

namespace tenon {

// Parses the spacing of grid points, "0.1" or "0.1,0.2,0.2": one number for all or each of `dims`
// dimensions, or any number of them if dims is 0. Throws TENON_ERR_ARG, naming `who`, if a number
// is not positive or their count is wrong.
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
// Of losses of fields in space.
inline constexpr OptionSpec kFieldLossSettings[] = {kReductionSetting, kWeightsSetting,
                                                    kAreaSetting, kAreaDimSetting};

inline constexpr int kSamples = 0; // the dimension that counts samples

// A layout of shape [1] with the properties of `use`, except for `split` on axes that split it.
Layout scalarLayout(const Layout& use, Property split);
// A layout whose dimension `dim` counts samples, split like those of `use`. On axes that split
// another dimension of `use` it has the property `others`; B and R remain.
Layout perSample(const Layout& use, const Shape& shape, Property others, int dim);
inline Layout samplesLayout(const Layout& use) {
  return perSample(use, {use.shape()[kSamples]}, Property::broadcast(), 0);
}

// The input is used as in a nonlinear elementwise map; the output is the value instead.
class Loss : public Elementwise {
public:
  // `used` is the name, in views, of the input in its use layout.
  Loss(const char* type, std::span<const OptionSpec> table, const char* used)
      : Elementwise(type, table), used_(used) {}
  bool takesTarget() const override { return true; }
  bool takesTargetWeights() const override { return text("loss_weights") != "none"; }
  // Whether there is one term per sample, instead of one per element of termsLayout().
  virtual bool termsAreSamples() const { return false; }
  // Whether blocks along this dimension of the input have different terms, not parts of the same.
  virtual bool splitsTerms(int dim) const { return !termsAreSamples() || dim == kSamples; }
  // The layout of the terms, if the input is read in the layout `use`: one for each element of the
  // input, or fewer.
  virtual Layout termsLayout(const Layout& use) const { return use.withoutHalos(); }
  // The rows of the terms, with their weights by area, for an input of this shape; none without
  // such weights. Throws TENON_ERR_SHAPE if the shape has no rows there.
  virtual std::optional<AreaRows> areaOfTerms(const Shape& x) const;

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts&) const override;

protected:
  std::string summary() const override;
  // A kernel entry that reads the target and the weights.
  static KernelEntry reading(const MapList& list, std::string name, Workspace workspace = {});
  static ValueId contributionValue(MapList& list, const Layout& use);
  // Adds the type's main kernel, which saves its derivative instead of the arrays that it reads.
  ValueId addTerms(MapList& list, std::vector<ValueId> reads, ValueId sum, const Layout& use) const;
  // Whether the mean of weighted terms is requested, which needs the sum of the weights. Weights of
  // elements are within the terms of a loss that has one term per sample, and do not count.
  bool hasWeightSum() const {
    return text("loss_reduction") == "mean" &&
           text("loss_weights") != (termsAreSamples() ? "element" : "none") && takesTargetWeights();
  }

private:
  bool isLinear() const override { return false; }
  virtual void checkInput(const Shape&) const {}
  // The layout in which the input is read; it can have a halo.
  virtual Layout readLayout(const Layout& use) const { return use; }
  virtual SourceEntry target(const Layout& use) const {
    return {.name = "target", .of = SourceEntry::Of::Target, .use = use};
  }
  // Adds the kernels that compute this rank's contribution from z, which has layout `use`. `sum` is
  // the sum of the weights, or kNoValue if the divisor is the number of terms or 1.
  virtual ValueId addContribution(MapList& list, ValueId z, ValueId sum, const Layout& use) const {
    return addTerms(list, {z}, sum, use);
  }
  ValueId addWeightSum(MapList& list, ValueId z, const Layout& use) const;

  const char* used_;
};

} // namespace tenon
