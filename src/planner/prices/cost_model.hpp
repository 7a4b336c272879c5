// SPDX-License-Identifier: BSD-2-Clause
// The problem that a plan solves, and the interface of the models that state it. A network is a
// graph: layers v, and moves (u, v), the tensors that layer v reads from layer u. Each layer has a
// finite set of parallelizations. A plan x chooses one of them, x_v, for each layer, and costs
//
//     seconds(x) = sum over layers v of t_v(x_v) + sum over moves (u, v) of t_uv(x_u, x_v)
//     bytes(x)   = sum over layers v of m_v(x_v)
//
//     t_v     layerSeconds(): the layer's kernels, and the communication within it
//     t_uv    moveSeconds(): the conversion of the output of u to the layout in which v reads it,
//             and in training that of its cotangent back
//     m_v     layerBytes()
//
// The best plan is the one with the least seconds, of those within a limit of bytes. This is the
// cost function of PaSE (Elango, PaSE: Parallelization Strategies for Efficient DNN Training, IPDPS
// 2021), whose t_l and t_x are t_v and t_uv. Gholami et al. (arXiv 1712.04432, Eqs. 8 and 9)
// minimise it over plans in which all layers have the same process grid, where most t_uv are 0.
//
// For example, let two layers have two parallelizations each, t_1 = (4, 2), t_2 = (3, 3), and the
// move between them t_12 = (0 2; 1 0). The plans (0,0), (0,1), (1,0), (1,1) cost 7, 9, 6 and 5.
//
// A parallelization is identified by its number; those on the fine grid come first.
#pragma once

#include "geometry/layout/layout.hpp"
#include "planner/parallelizations/parallelization.hpp"
#include "planner/search/cost_tables.hpp"

namespace tenon {

// The precision of a price. A more precise one takes longer to compute, and is never below a less
// precise one: all but the exact price are lower bounds. In a model without bounds they are equal.
enum class Precision {
  Least, // takes hardly any time
  Lower,
  Close, // nearly always exact
  Exact
};

// The terms of the seconds of a layer: kernels and communication of both passes, and the reduction
// of the gradients of its parameters.
struct LayerTerms {
  double forward = 0, backward = 0, gradients = 0;

  double sum() const { return forward + backward + gradients; }
};
// The terms of the seconds of a move: of the value in Apply, and of its cotangent in the adjoint.
struct MoveTerms {
  double forward = 0, backward = 0;
};

// The interface of a model: layers, moves, and the costs t_v, t_uv and m_v.
class CostModel {
public:
  struct Move {
    int from = 0, to = 0; // layers
  };

  CostModel(FineGrid grid, bool inputChannels)
      : grid_(std::move(grid)), parallelizations_(grid_.parallelizations(inputChannels)) {}
  virtual ~CostModel() = default;

  const FineGrid& grid() const noexcept { return grid_; }
  // The parallelizations on the fine grid. A model can have further ones, with higher numbers, on
  // the grids of pinned fields (parallelizationCount()).
  const std::vector<Parallelization>& parallelizations() const noexcept {
    return parallelizations_;
  }
  // -1: the model does not have this parallelization.
  int numberOf(const Parallelization& parallelization) const;
  const std::vector<Move>& moves() const noexcept { return moves_; }
  // Number of planned layers, followed by the pinned ends of the network (isPinned).
  int layers() const noexcept { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }

  // ---- The parallelizations that exist, and what each of them is.

  // Number of parallelizations. Among plans of equal time those after the fine grid's are
  // preferred, which lets a layer keep the distribution of a pinned field.
  virtual int parallelizationCount() const { return static_cast<int>(parallelizations_.size()); }
  // Parallelizations from this number on divide the output evenly, and are chosen only if they are
  // faster: a plan does not have them if it costs the same without them.
  virtual int firstBalanced() const { return parallelizationCount(); }
  // The reason why a layer cannot have a parallelization; "" if it can.
  virtual std::string fault(int layer, int parallelization) const = 0;
  // Whether this is a pinned end of the network instead of a layer; its only parallelization is 0.
  virtual bool isPinned(int /*layer*/) const { return false; }
  // Whether a layer has the same layouts under two parallelizations, such as on a fine grid and on
  // the grid of a pinned field.
  virtual bool areAlike(int /*layer*/, int parallelization, int other) const {
    return parallelization == other;
  }
  // The number of parts of each dimension, the labels of the spatial dimensions that can be split,
  // and the label that splits the output channels.
  virtual Parts parts(int layer, int parallelization) const = 0;
  virtual std::string spatial(int layer) const = 0;
  virtual char channelLabel(int /*layer*/) const { return 'o'; }
  virtual std::string text(int layer, int parallelization) const;
  // Returns the parallelization of a text, as text() writes it or in any form that
  // parseParallelization() reads. Throws TENON_ERR_OPTION if the layer cannot have it.
  virtual int parse(int layer, const std::string& text) const;
  // What runs: the signature of the layer, and the layouts in which it reads its inputs, without
  // halos; empty if a layer is a row of a table. Whether its output is divided evenly instead of
  // being aligned with the windows.
  virtual std::string signature(int /*layer*/, int /*parallelization*/) const { return {}; }
  virtual std::vector<Layout> uses(int /*layer*/, int /*parallelization*/) const { return {}; }
  virtual bool isBalanced(int /*layer*/, int /*parallelization*/) const { return false; }

  // ---- What a layer or a move costs, in seconds and bytes of a process.

  virtual double layerSeconds(int layer, int parallelization, Precision precision) const = 0;
  virtual double moveSeconds(int move, int from, int to, Precision precision) const = 0;
  virtual double layerBytes(int layer, int parallelization) const = 0;
  // The first move that costs the same as this one under all parallelizations.
  virtual int firstLike(int move) const { return move; }
  // The terms of layerSeconds() and of moveSeconds() of Precision::Close.
  virtual LayerTerms layerTerms(int layer, int parallelization) const {
    return {.forward = layerSeconds(layer, parallelization, Precision::Close)};
  }
  virtual MoveTerms moveTerms(int move, int from, int to) const {
    return {.forward = moveSeconds(move, from, to, Precision::Close)};
  }

  // What is not a sum over layers, of a whole plan: a parallelization for each layer.

  // The memory of a plan; by default the sum over its layers.
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

protected:
  std::vector<std::string> names_;
  std::vector<Move> moves_;

private:
  FineGrid grid_;
  std::vector<Parallelization> parallelizations_;
};

// The parallelizations of each layer among which a search can choose.
using ParallelizationLists = std::vector<std::vector<int>>;

// All legal parallelizations of each layer. Throws TENON_ERR_SHAPE if a layer has none, with its
// name and the reason.
ParallelizationLists legalParallelizations(const CostModel& model);
CostTables tablesOf(const CostModel& model, const ParallelizationLists& parallelizations,
                    Precision precision = Precision::Lower);
// The seconds of one plan, without tables.
double secondsOf(const CostModel& model, const std::vector<int>& plan,
                 Precision precision = Precision::Lower);

} // namespace tenon
