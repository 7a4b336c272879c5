// SPDX-License-Identifier: BSD-2-Clause
// What a plan costs, whoever says so: the seconds and bytes of a layer under a word, and the seconds of a
// move from one layer to another under a word of each. Words are known by their numbers on the fine mesh.
#pragma once

#include "planner/cost_tables.hpp"
#include "planner/word.hpp"

namespace tenon {

class CostModel {
public:
  struct Move {
    int from = 0, to = 0; // layers
  };

  CostModel(FineMesh mesh, bool inputChannels)
      : mesh_(std::move(mesh)), words_(mesh_.words(inputChannels)) {}
  virtual ~CostModel() = default;

  const FineMesh& mesh() const noexcept { return mesh_; }
  const std::vector<Word>& words() const noexcept { return words_; }
  int numberOf(const Word& word) const; // -1: the model has no such word
  const std::vector<Move>& moves() const noexcept { return moves_; }
  int layers() const noexcept { return static_cast<int>(names_.size()); }
  const std::vector<std::string>& names() const noexcept { return names_; }

  // The label of splits of the output channels.
  virtual char channelLabel(int /*layer*/) const { return 'o'; }
  std::string text(int layer, int word) const;
  // The word as the signature of the layer, which then lies as was priced; "" where a layer is a row of a
  // table.
  virtual std::string signature(int /*layer*/, int /*word*/) const { return {}; }
  // What text() gives, or more (parseWord). Throws TENON_ERR_OPTION where the layer cannot have it.
  int parse(int layer, const std::string& text) const;
  // The labels of the spatial dimensions that may be split, and the parts that a word makes.
  virtual std::string spatial(int layer) const = 0;
  virtual Parts parts(int layer, int word) const = 0;
  // Why a layer cannot have a word; "" where it can.
  virtual std::string fault(int layer, int word) const = 0;
  virtual double layerSeconds(int layer, int word) const = 0;
  virtual double layerBytes(int layer, int word) const = 0;
  virtual double moveSeconds(int move, int from, int to) const = 0;
  // Where moveSeconds() is a lower bound, the truth, which may take longer to find.
  virtual double exactMoveSeconds(int move, int from, int to) const {
    return moveSeconds(move, from, to);
  }
  // A lower bound above `known`, or the truth.
  virtual double closerMoveSeconds(int move, int from, int to, double /*known*/) const {
    return exactMoveSeconds(move, from, to);
  }

protected:
  std::vector<std::string> names_;
  std::vector<Move> moves_;

private:
  FineMesh mesh_;
  std::vector<Word> words_;
};

// The words of each layer that a search may choose from.
using WordLists = std::vector<std::vector<int>>;

// All that are legal. Throws TENON_ERR_SHAPE naming a layer that has none, and what its words lack.
WordLists legalWords(const CostModel& model);
CostTables tablesOf(const CostModel& model, const WordLists& words);
// Of one plan, without tables.
double secondsOf(const CostModel& model, const std::vector<int>& plan);

} // namespace tenon
