// SPDX-License-Identifier: BSD-2-Clause
// What a plan costs, whoever says so: the seconds and bytes of a layer under a word, and the seconds of a
// move from one layer to another under a word of each. Words are known by their numbers on the fine grid.
#pragma once

#include "geometry/layout.hpp"
#include "planner/prices/word.hpp"
#include "planner/search/cost_tables.hpp"

namespace tenon {

// What seconds are made of.
struct LayerParts {
  double forward = 0, backward = 0,
         gradients = 0; // kernels, and the sums of the parameters' gradients
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
      : grid_(std::move(grid)), words_(grid_.words(inputChannels)) {}
  virtual ~CostModel() = default;

  const FineGrid& grid() const noexcept { return grid_; }
  const std::vector<Word>& words() const noexcept { return words_; }
  int numberOf(const Word& word) const; // -1: the model has no such word
  const std::vector<Move>& moves() const noexcept { return moves_; }
  // Those behind the layers that are planned are ends of the network that are where they are (isPinned).
  int layers() const noexcept { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }

  // Words are numbered from 0; a model may have more than those of the fine grid, which come first. Where
  // plans take equally long, those behind are preferred: a layer stays where a pinned field lies.
  virtual int states() const { return static_cast<int>(words_.size()); }
  // Whether it is no layer, but an end of the network whose only word is 0.
  virtual bool isPinned(int /*layer*/) const { return false; }
  // The label of splits of the output channels.
  virtual char channelLabel(int /*layer*/) const { return 'o'; }
  virtual std::string text(int layer, int word) const;
  // The word as the signature of the layer, which then lies as was priced; "" where a layer is a row of a
  // table.
  virtual std::string signature(int /*layer*/, int /*word*/) const { return {}; }
  // Where it then uses its inputs, but for halos.
  virtual std::vector<Layout> uses(int /*layer*/, int /*word*/) const { return {}; }
  // What text() gives, or more (parseWord). Throws TENON_ERR_OPTION where the layer cannot have it.
  virtual int parse(int layer, const std::string& text) const;
  // The labels of the spatial dimensions that may be split, and the parts that a word makes.
  virtual std::string spatial(int layer) const = 0;
  virtual Parts parts(int layer, int word) const = 0;
  // Why a layer cannot have a word; "" where it can.
  virtual std::string fault(int layer, int word) const = 0;
  virtual double layerSeconds(int layer, int word) const = 0;
  virtual double layerBytes(int layer, int word) const = 0;
  virtual double moveSeconds(int move, int from, int to) const = 0;
  // Where moveSeconds() is a lower bound, a better one, and the truth, which take longer to find.
  virtual double closerMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }
  virtual double exactMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }

  // They add up to layerSeconds() and closerMoveSeconds().
  virtual LayerParts layerParts(int layer, int word) const {
    return {.forward = layerSeconds(layer, word)};
  }
  virtual MoveParts moveParts(int move, int from, int to) const {
    return {.there = closerMoveSeconds(move, from, to)};
  }

protected:
  std::vector<std::string> names_;
  std::vector<Move> moves_;

private:
  FineGrid grid_;
  std::vector<Word> words_;
};

// The words of each layer that a search may choose from.
using WordLists = std::vector<std::vector<int>>;

// All that are legal. Throws TENON_ERR_SHAPE naming a layer that has none, and what its words lack.
WordLists legalWords(const CostModel& model);
CostTables tablesOf(const CostModel& model, const WordLists& words);
// Of one plan, without tables.
using MoveSeconds = double (CostModel::*)(int, int, int) const;
double secondsOf(const CostModel& model, const std::vector<int>& plan,
                 MoveSeconds move = &CostModel::moveSeconds);

} // namespace tenon
