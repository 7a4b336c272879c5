// SPDX-License-Identifier: BSD-2-Clause
// Normalisation: y = (x - mean) / sqrt(variance + epsilon) * weight + bias. Mean and variance are
// taken over a group of elements:
//
//   batchnorm     a channel, over batch and space; in inference, and in training if the setting
//                 `statistics` is "running", the running statistics are used instead
//   instancenorm  a channel of a sample, over space; on a globe elements can count by their area
//   groupnorm     several channels of a sample, over these and space
//   layernorm     the dimensions of `shape`, which are the last ones or begin at `dim`
//
// Where grid axes split groups, two small sums over these axes combine the moments of the blocks:
//
//   m   mean and second moment of this rank's elements of each group
//   r   the mean over all blocks, weighted with element counts             (sum 1)
//   s   the moments of all blocks relative to r, added up                  (sum 2)
//   M   mean and variance of the groups, from s and r
//
// Element counts follow from the layouts; empty blocks contribute nothing. The adjoint needs one
// sum over these axes.
//
// Labels per grid axis: n batch, c channels, S2, S3, ... split space; for layernorm S0, S1, ...
// split a dimension; B replicated, R on the root alone.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/sphere/area.hpp"

namespace tenon {

class Normalisation : public Declaration {
public:
  using Declaration::Declaration;
  // An order of the dimensions of x in which its normalised rows are contiguous. The functions
  // below refer to x in this order.
  virtual std::vector<Index> order(int rank) const;
  // The division of a dimension of x into groups: every `block` consecutive elements form a group,
  // or, if 0, the dimension is reduced (all elements are in the same group).
  struct Dimension {
    Index block = 1;
    bool isReduced() const { return block == 0; }
  };
  virtual std::vector<Dimension> dimensions(const Shape& x) const = 0;
  // The dimensions that the parameters weight and bias have: the first one, and their number.
  virtual std::pair<int, int> weighted(const Shape& x) const = 0;
  double epsilon() const { return real("epsilon"); }
  // The weights by area of the elements of x, if there are any.
  virtual std::optional<AreaRows> area(const Shape& /*x*/) const { return std::nullopt; }

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;

  // The layout of x with its dimensions in order(), which the kernels use.
  Layout inOrder(const Layout& use) const;

  // The layouts of the moments, in the terms of the algorithm above. Contributions are the partial
  // sums before a sum.
  struct MomentLayouts {
    Layout parts;                        // m: [2 * number of blocks, groups...], stacked by rank
    Layout meanContributions, reference; // r before and after sum 1: [1, groups...]
    Layout contributions, all;           // s before and after sum 2: [2, groups...]
    bool isSummed;                       // whether ranks share groups
  };
  MomentLayouts momentLayouts(const Layout& use) const;
  // Adds the maps from u, which is x in order(), to `all`, the moments M. The kernel that computes
  // M also updates the running statistics `running`, if there are any.
  static void addMomentsOfBatch(MapList& list, const MomentLayouts& layouts, ValueId u,
                                const std::vector<int>& running, ValueId all);
  // The same with weights by area (area_moments.cpp).
  static void addMomentsByArea(MapList& list, const MomentLayouts& layouts, ValueId u, ValueId all);

protected:
  virtual void checkInput(const Shape& x) const = 0;
  // When running statistics are used.
  enum class Follows { Never, InInference, Always };
  virtual Follows follows() const { return Follows::Never; }
};

} // namespace tenon
