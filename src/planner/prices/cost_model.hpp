// SPDX-License-Identifier: BSD-2-Clause
// What a plan costs, whoever says so: the seconds and bytes of a layer under a parallelization, and
// the seconds of a move from one layer to another under a parallelization of each. Parallelizations
// are known by their numbers on the fine grid.
#pragma once

#include "geometry/layout/layout.hpp"
#include "planner/prices/parallelization.hpp"
#include "planner/search/cost_tables.hpp"

namespace tenon {

// The seconds of a layer and of a move, by what takes them.
struct LayerParts {
  double forward = 0, backward = 0,
         gradients = 0; // two times of kernels, and the reduction of the parameters' gradients
};
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
  int numberOf(
      const Parallelization& parallelization) const; // -1: the model has no such parallelization
  const std::vector<Move>& moves() const noexcept { return moves_; }
  // The layers that are planned, and behind them the ends of the network that are pinned
  // (isPinned).
  int layers() const noexcept { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }

  // Parallelizations are numbered from 0. A model may have more parallelizations than the fine
  // grid, whose parallelizations come first. Between plans that take equally long, the
  // parallelizations behind those are preferred, so that a layer stays where a pinned field lies.
  virtual int states() const { return static_cast<int>(parallelizations_.size()); }
  // Parallelizations from this number on are taken only where they are faster: a plan that costs
  // the same without them has none.
  virtual int firstExtra() const { return states(); }
  // Whether this is an end of the network instead of a layer; its only parallelization is 0.
  virtual bool isPinned(int /*layer*/) const { return false; }
  // The label by which the layer's output channels are split.
  virtual char channelLabel(int /*layer*/) const { return 'o'; }
  virtual std::string text(int layer, int parallelization) const;
  // The signature under which the layer lies as was priced. It is empty where a layer is a row of a
  // table.
  virtual std::string signature(int /*layer*/, int /*parallelization*/) const { return {}; }
  // Whether its output is cut in balance, where windows would cut it otherwise.
  virtual bool isBalanced(int /*layer*/, int /*parallelization*/) const { return false; }
  // The layouts in which the layer then uses its inputs, without halos.
  virtual std::vector<Layout> uses(int /*layer*/, int /*parallelization*/) const { return {}; }
  // Whether a layer is laid out the same under two parallelizations, such as on a fine grid and on
  // that of a pinned field.
  virtual bool areAlike(int /*layer*/, int parallelization, int other) const {
    return parallelization == other;
  }
  // The parallelization of a text, as text() gives it or in any form that parseParallelization()
  // reads. Throws TENON_ERR_OPTION where the layer cannot have it.
  virtual int parse(int layer, const std::string& text) const;
  // The labels of the spatial dimensions that may be split, and the parts that a parallelization
  // makes.
  virtual std::string spatial(int layer) const = 0;
  virtual Parts parts(int layer, int parallelization) const = 0;
  // Why a layer cannot have a parallelization; "" where it can.
  virtual std::string fault(int layer, int parallelization) const = 0;
  virtual double layerSeconds(int layer, int parallelization) const = 0;
  virtual double layerBytes(int layer, int parallelization) const = 0;
  // What a plan holds, a parallelization for each layer; by default the sum of its layers.
  virtual double planBytes(const std::vector<int>& parallelizations) const;
  // The layers of a plan that compute again for the adjoint what they wrote, so that the plan takes
  // no more than so many bytes; with the seconds of that, and the bytes that are left. Without
  // names the bytes are the least that was found, and too many.
  struct Again {
    std::vector<std::string> layers = {};
    double seconds = 0, bytes = 0;
  };
  virtual bool knowsRecomputation() const { return false; }
  virtual Again recomputedWithin(const std::vector<int>& /*parallelizations*/,
                                 double /*bytes*/) const {
    return {};
  }
  // The layers of a plan whose halos the layers before them had better compute, so that at most
  // `depth` layers share an exchange (declaration/core/halo_sharing.hpp), and the plan takes no
  // more than so many bytes; with the seconds that it saves, and the bytes that the plan then
  // takes.
  struct SharedHalos {
    std::vector<std::string> layers = {};
    double seconds = 0, bytes = 0;
  };
  virtual SharedHalos sharedHalos(const std::vector<int>& /*parallelizations*/, Index /*depth*/,
                                  double /*bytes*/) const {
    return {};
  }
  virtual double moveSeconds(int move, int from, int to) const = 0;
  // A lower bound of it that takes hardly any time.
  virtual double leastMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }
  // The first move that costs the same as this one under all parallelizations.
  virtual int firstLike(int move) const { return move; }
  // Better prices where those above are lower bounds: a closer bound, and the exact price. They
  // take longer to find.
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

// How closely a model looks at the prices of layers and of moves.
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

// The parallelizations of each layer that a search may choose from.
using ParallelizationLists = std::vector<std::vector<int>>;

// All legal parallelizations of each layer. Throws TENON_ERR_SHAPE naming a layer that has none,
// and what its parallelizations lack.
ParallelizationLists legalParallelizations(const CostModel& model);
CostTables tablesOf(const CostModel& model, const ParallelizationLists& parallelizations,
                    Closeness prices = kLowerBounds);
// The seconds of one plan, without tables.
double secondsOf(const CostModel& model, const std::vector<int>& plan,
                 Closeness prices = kLowerBounds);

} // namespace tenon
