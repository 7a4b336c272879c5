// SPDX-License-Identifier: BSD-2-Clause
// The interface of a cost model: the seconds and bytes of a layer under a parallelization, and the
// seconds of a move between two layers for each pair of parallelizations. A parallelization is
// identified by its number on the fine grid.
#pragma once

#include "geometry/layout/layout.hpp"
#include "planner/prices/parallelization.hpp"
#include "planner/search/cost_tables.hpp"

namespace tenon {

// The parts of the seconds of a layer: kernels of both passes, and the reduction of the parameters'
// gradients.
struct LayerParts {
  double forward = 0, backward = 0, gradients = 0;
};
// The parts of the seconds of a move: of the value in Apply, and of its cotangent in the adjoint.
struct MoveParts {
  double there = 0, back = 0;
};

class CostModel {
public:
  struct Move {
    int from = 0, to = 0; // layers
  };

  CostModel(FineGrid grid, bool inputChannels)
      : grid_(std::move(grid)), parallelizations_(grid_.parallelizations(inputChannels)) {}
  virtual ~CostModel() = default;

  const FineGrid& grid() const noexcept { return grid_; }
  const std::vector<Parallelization>& parallelizations() const noexcept {
    return parallelizations_;
  }
  int numberOf(const Parallelization& parallelization) const; // -1: the model does not have this
                                                              // parallelization
  const std::vector<Move>& moves() const noexcept { return moves_; }
  // Number of planned layers, followed by the pinned ends of the network (isPinned).
  int layers() const noexcept { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }

  // Number of parallelizations, numbered from 0. A model can have more parallelizations than the
  // fine grid; those of the fine grid are first. Among plans of equal time the later
  // parallelizations are preferred, so a layer keeps the distribution of a pinned field.
  virtual int states() const { return static_cast<int>(parallelizations_.size()); }
  // Parallelizations from this number on are chosen only if they are faster: a plan does not have
  // them if it costs the same without them.
  virtual int firstExtra() const { return states(); }
  // Whether this is a pinned end of the network instead of a layer; its only parallelization is 0.
  virtual bool isPinned(int /*layer*/) const { return false; }
  // The label that splits the layer's output channels.
  virtual char channelLabel(int /*layer*/) const { return 'o'; }
  virtual std::string text(int layer, int parallelization) const;
  // The signature of the layer that was priced; empty if a layer is a row of a table.
  virtual std::string signature(int /*layer*/, int /*parallelization*/) const { return {}; }
  // Whether the output is divided evenly instead of being aligned with the windows.
  virtual bool isBalanced(int /*layer*/, int /*parallelization*/) const { return false; }
  // The layouts in which the layer reads its inputs, without halos.
  virtual std::vector<Layout> uses(int /*layer*/, int /*parallelization*/) const { return {}; }
  // Whether a layer has the same layouts under two parallelizations, such as on a fine grid and on
  // the grid of a pinned field.
  virtual bool areAlike(int /*layer*/, int parallelization, int other) const {
    return parallelization == other;
  }
  // Returns the parallelization of a text, as text() writes it or in any form that
  // parseParallelization() reads. Throws TENON_ERR_OPTION if the layer cannot have it.
  virtual int parse(int layer, const std::string& text) const;
  // The labels of the spatial dimensions that can be split, and the number of parts under a
  // parallelization.
  virtual std::string spatial(int layer) const = 0;
  virtual Parts parts(int layer, int parallelization) const = 0;
  // The reason why a layer cannot have a parallelization; "" if it can.
  virtual std::string fault(int layer, int parallelization) const = 0;
  virtual double layerSeconds(int layer, int parallelization) const = 0;
  virtual double layerBytes(int layer, int parallelization) const = 0;
  // The memory of a plan, given a parallelization for each layer; by default the sum over its
  // layers.
  virtual double planBytes(const std::vector<int>& parallelizations) const;
  // The layers that recompute their outputs for the adjoint, chosen such that the plan needs at
  // most `bytes`; with the seconds of the recomputation and the resulting bytes of the plan. If
  // `layers` is empty, no choice met the limit, and `bytes` is the least that was found.
  struct RecomputedLayers {
    std::vector<std::string> layers = {};
    double seconds = 0, bytes = 0;
  };
  virtual bool knowsRecomputation() const { return false; }
  virtual RecomputedLayers recomputedWithin(const std::vector<int>& /*parallelizations*/,
                                            double /*bytes*/) const {
    return {};
  }
  // The layers whose halos the layers before them should compute instead of an exchange, with at
  // most `depth` layers per exchange (declaration/core/halo_sharing.hpp) and within a limit in
  // bytes; with the seconds saved and the resulting bytes of the plan.
  struct SharedHalos {
    std::vector<std::string> layers = {};
    double seconds = 0, bytes = 0;
  };
  virtual SharedHalos sharedHalos(const std::vector<int>& /*parallelizations*/, Index /*depth*/,
                                  double /*bytes*/) const {
    return {};
  }
  virtual double moveSeconds(int move, int from, int to) const = 0;
  // A lower bound of moveSeconds() that costs hardly any time.
  virtual double leastMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }
  // The first move that costs the same as this one under all parallelizations.
  virtual int firstLike(int move) const { return move; }
  // Better prices for models whose prices above are lower bounds: a closer bound, and the exact
  // price. Both need more time.
  virtual double closerLayerSeconds(int layer, int parallelization) const {
    return layerSeconds(layer, parallelization);
  }
  virtual double exactLayerSeconds(int layer, int parallelization) const {
    return layerSeconds(layer, parallelization);
  }
  virtual double closerMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }
  virtual double exactMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }

  // The parts of closerLayerSeconds() and of closerMoveSeconds(), which are their sums.
  virtual LayerParts layerParts(int layer, int parallelization) const {
    return {.forward = closerLayerSeconds(layer, parallelization)};
  }
  virtual MoveParts moveParts(int move, int from, int to) const {
    return {.there = closerMoveSeconds(move, from, to)};
  }

protected:
  std::vector<std::string> names_;
  std::vector<Move> moves_;

private:
  FineGrid grid_;
  std::vector<Parallelization> parallelizations_;
};

// The precision of the prices of layers and moves.
struct Closeness {
  double (CostModel::*layer)(int, int) const;
  double (CostModel::*move)(int, int, int) const;
};
inline constexpr Closeness kMinBounds = {&CostModel::layerSeconds, &CostModel::leastMoveSeconds},
                           kLowerBounds = {&CostModel::layerSeconds, &CostModel::moveSeconds},
                           kCloserBounds = {&CostModel::closerLayerSeconds,
                                            &CostModel::closerMoveSeconds},
                           kExactPrices = {&CostModel::exactLayerSeconds,
                                           &CostModel::exactMoveSeconds};

// The parallelizations of each layer among which a search can choose.
using ParallelizationLists = std::vector<std::vector<int>>;

// All legal parallelizations of each layer. Throws TENON_ERR_SHAPE if a layer has none, with its
// name and the reason.
ParallelizationLists legalParallelizations(const CostModel& model);
CostTables tablesOf(const CostModel& model, const ParallelizationLists& parallelizations,
                    Closeness prices = kLowerBounds);
// The seconds of one plan, without tables.
double secondsOf(const CostModel& model, const std::vector<int>& plan,
                 Closeness prices = kLowerBounds);

} // namespace tenon
