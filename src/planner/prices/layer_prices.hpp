// SPDX-License-Identifier: BSD-2-Clause
// What a layer costs under a parallelization: t_v of the cost function (cost_model.hpp). For the
// form of the layer, and of the dependents that are distributed like it,
//
//     t_v = kernels of Apply and adjoint        by their operations and bytes (kernel_cost.hpp)
//         + moves within the layer              as of the moments of a norm, or the rows of a mesh
//         + conversion dW -> reduced dW         of the gradient of each parameter
//
// Kernels and moves within the layer are those of the steps that Apply and adjoint of the layer
// take by themselves (pass_prices.hpp); the conversion of an input to its use is a move of the
// network (move_prices.hpp), which costs nothing where the layer before writes that layout.
//
// The last is the all-reduce of |W| elements in Gholami et al. (arXiv 1712.04432, Eq. 4), if all
// processes have the weights, and of |W|/P_r elements among P_c processes on their P_r x P_c grid
// (Eq. 8). Here it is the conversion from the dual of the parameter's layout to the layout.
//
// For example, with links of latency a and b bytes per second, an affine layer of 4320 float32
// weights that 2 processes share has gradients of 17,280 bytes. Reduce-scatter and all-gather each
// move half of them: 2 (a + 8640 / b) seconds, and the time to add them.
#pragma once

#include "compile/prices/conversion_prices.hpp"
#include "compile/prices/kernel_cost.hpp"
#include "compile/prices/pass_prices.hpp"
#include "declaration/core/form.hpp"
#include "planner/prices/cost_model.hpp"

#include <map>

namespace tenon {

// The rates by which a plan is priced.
struct OwnRates {
  LinkRates links;
  KernelRates kernels = {};
};

// The positions that are evaluated for a price of this precision.
Sampling samplingOf(Precision precision);

// What a layer needs under a parallelization. Kernels have their seconds; communication gets them
// when they are requested, by precision.
struct ParallelizationCost {
  // A move, and the term to which its seconds are added.
  struct Move {
    double LayerTerms::*term;
    OperatorEntry op;
    bool adjoint = false;
    Index times = 1;
  };
  LayerTerms kernels = {};
  std::vector<Move> moves = {};
  std::map<Sampling, LayerTerms> seconds = {};

  double bytes = 0;                     // of one process, that are not shared with other layers
  double temporaryBytes = 0;            // upper bound of its arrays while the layer runs
  std::vector<double> outputBytes = {}; // of each output
};

// Adds up the price of a layer from its kernels, moves and gradients.
class LayerPrices {
public:
  // Prices of a network whose elements have a size, with the adjoint if it is trained. The
  // conversions must outlive this object.
  LayerPrices(ConversionPrices& conversions, OwnRates rates, Index elementBytes, bool trains)
      : conversions_(conversions), rates_(std::move(rates)), elementBytes_(elementBytes),
        trains_(trains) {}

  // Adds the kernels of a form, and the moves that its list of maps contains.
  // `hasCotangent` tells whether the cotangents of its inputs are wanted.
  void addForm(const Declaration& declaration, const Form& form, bool hasCotangent,
               ParallelizationCost& cost) const;
  // Adds a conversion, and its adjoint if `hasCotangent`.
  void addConversion(const Layout& from, const Layout& to, bool hasCotangent,
                     ParallelizationCost& cost) const;
  // Adds the reduction of the gradient of a parameter with this layout, if training.
  void addGradient(const Layout& use, ParallelizationCost& cost) const;

  LayerTerms terms(ParallelizationCost& cost, Sampling sampling) const;

private:
  void addMovesWithin(const MapList& list, bool hasCotangent, ParallelizationCost& cost) const;

  ConversionPrices& conversions_;
  OwnRates rates_;
  Index elementBytes_;
  bool trains_;
};

} // namespace tenon
