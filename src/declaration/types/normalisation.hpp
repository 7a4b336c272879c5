// SPDX-License-Identifier: BSD-2-Clause
// Normalisation: y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with the mean and
// variance of
//
//   batchnorm     a channel, over batch and space; in inference running ones, and in training
//                 too with fixed statistics
//   instancenorm  a channel of a sample, over space
//   groupnorm     some channels of a sample, over these and space
//   layernorm     the dimensions of `shape`, the last ones or those from `dim` on
//
// Each rank computes mean and second moment of what it holds of a group. They are combined with the
// numbers of elements, which follow from the layouts, by two sums over the grid axes that split
// groups; empty parts contribute nothing. The adjoint has one sum over these axes.
//
// Labels on a grid axis: n batch, c channels, S2, S3, ... space; of layernorm S0, S1, ...; B, R.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

class Normalisation : public Declaration {
public:
  using Declaration::Declaration;
  // The order of the dimensions of x in which its rows are contiguous. The functions below speak of
  // x in this order.
  virtual std::vector<Index> order(int rank) const;
  // How a dimension of x falls into groups: every `block` elements together are in a group of their
  // own, or, with 0, all elements are in the same.
  struct Dimension {
    Index block = 1;
    bool isReduced() const { return block == 0; }
  };
  virtual std::vector<Dimension> dimensions(const Shape& x) const = 0;
  // The first dimension of those that have weights, and the number of them.
  virtual std::pair<int, int> weighted(const Shape& x) const = 0;
  double epsilon() const { return real("epsilon"); }

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;

  // The layout of x that the kernels work in.
  Layout inOrder(const Layout& use) const;

  // The layouts of the moments of x, in that layout. Each rank has the moments of its part of
  // the groups; they are summed on all ranks that share groups, if any do.
  struct MomentLayouts {
    Layout parts;                        // [2 parts, groups...], each rank its own
    Layout meanContributions, reference; // [1, groups...]
    Layout contributions, all;           // [2, groups...]
    bool isSummed;
  };
  MomentLayouts momentLayouts(const Layout& use) const;
  static void addMomentsOfBatch(MapList& list, const MomentLayouts& layouts, ValueId u,
                                const std::vector<int>& running, ValueId all);

protected:
  virtual void checkInput(const Shape& x) const = 0;
  // When the statistics are running ones.
  enum class Follows { Never, InInference, Always };
  virtual Follows follows() const { return Follows::Never; }
};

} // namespace tenon
