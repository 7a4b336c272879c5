// SPDX-License-Identifier: BSD-2-Clause
// Checks block diagonals: halo exchanges and adjoints of halo exchanges, of different shapes,
// element types and layouts, that are one operator on as many tensors:
//
//     | F_0          |   x_0     y_0
//     |      F_1     |   x_1  =  y_1     in one message to each rank that is sent something
//     |          F_2 |   x_2     y_2
//
// Each output must have the values that the definition of its own block gives (compareOutput()),
// and the same bits as when the block is applied by itself. The adjoint of the block diagonal is
// checked like the operator, against the adjoints of the blocks. checkBlockDiagonal() is declared
// in kinds.hpp.
#include "tools/check/kinds.hpp"
#include "tools/check/layout_make.hpp"
#include "tools/check/operators/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace tenon::tools {

namespace {

constexpr int kMaxBlocks = 4;

// A halo exchange, or its adjoint. All blocks are on one process grid: on grids with different
// orders of the ranks, the sums of two blocks may need contributions in contrary orders, which is
// an error.
Subject drawBlock(Case& c, const GridSpec& grid) {
  Subject exchange = drawHaloExchange(c, grid);
  if (c.draw.chance(60))
    return exchange;
  c.text += " (its adjoint)";
  Subject adjoint = exchange.adjoint();
  require(TenonLinearOpCreateAdjoint(exchange.op, adjoint.op.out()));
  return adjoint;
}

// Applies `op`, the block diagonal of the subjects or, with their adjoints as subjects, its
// adjoint. `blocks` are the operators that the subjects define.
void checkFields(Case& c, TenonLinearOp op, const std::vector<Subject>& subjects,
                 const std::vector<TenonLinearOp>& blocks, const std::string& direction) {
  std::deque<Field> inputs, outputs;
  std::vector<TenonDTensor> x, y;
  std::vector<Filling> fillings;
  for (const Subject& s : subjects) {
    fillings.push_back(drawFilling(c.draw, s.fromType, c.draw.chance(50)));
    const bool userX = c.draw.chance(40), userY = c.draw.chance(40);
    Field& input =
        inputs.emplace_back(makeLayout(c.comm, s.from), s.fromType, userX, c.draw, c.space);
    input.write(fill(s.from, c.position(s.from.grid), fillings.back()));
    Field& output =
        outputs.emplace_back(makeLayout(c.comm, s.to), s.toType, userY, c.draw, c.space);
    output.spoil();
    x.push_back(input);
    y.push_back(output);
  }
  require(TenonLinearOpApplyMany(op, static_cast<int>(x.size()), x.data(), y.data()));
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& s = subjects[i];
    const std::string what = fmt::format("{} of block {}: output", direction, i);
    const bool isReal = fillings[i].numbers != Numbers::Integers;
    const double magnitude = isReal ? scaleOf(valueOf(s.from, fillings[i].magnitudes())) : 0;
    compareOutput(c, s.to, outputs[i],
                  {.moved = valueOf(s.from, fillings[i]),
                   .beta = 0,
                   .before = fillings[i], // not used, since beta is 0
                   .tolerance = isReal ? roundingOf(s.toType, magnitude) : 0},
                  what);
    c.found(what, outputs[i].isGuardIntact() ? "" : ": elements around the box changed");
    const Values together = outputs[i].read();
    require(TenonLinearOpApply(blocks[i], x[i], y[i]));
    c.found(what + " against the block by itself",
            difference(together, outputs[i].read(), outputs[i].box(), 0));
  }
}

} // namespace

void checkBlockDiagonal(Case& c) {
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  std::vector<Subject> subjects, adjointSubjects;
  std::vector<LinearOp> adjoints;
  std::vector<TenonLinearOp> blocks, adjointBlocks;
  for (int count = c.draw.between(1, kMaxBlocks); count > 0; --count) {
    subjects.push_back(drawBlock(c, grid));
    adjointSubjects.push_back(subjects.back().adjoint());
    require(TenonLinearOpCreateAdjoint(subjects.back().op, adjoints.emplace_back().out()));
    blocks.push_back(subjects.back().op);
    adjointBlocks.push_back(adjoints.back());
  }
  LinearOp diagonal, adjoint;
  require(TenonLinearOpCreateBlockDiagonal(static_cast<int>(blocks.size()), blocks.data(),
                                           diagonal.out()));
  require(TenonLinearOpCreateAdjoint(diagonal, adjoint.out()));
  checkFields(c, diagonal, subjects, blocks, "forward");
  checkFields(c, adjoint, adjointSubjects, adjointBlocks, "adjoint");
  if (std::ranges::any_of(subjects, [](const Subject& s) { return isInteger(s.fromType); }))
    return;                         // the adjoint test draws real numbers
  double forward = 0, backward = 0; // <F x, y> and <x, F* y>, summed over the blocks
  require(TenonLinearOpTestAdjoint(diagonal, c.draw.upTo(1 << 20), TENON_TRUE, &forward, &backward,
                                   nullptr));
  if (forward != backward)
    c.found("adjoint identity on integers",
            fmt::format(": <F x, y> is {}, <x, F* y> is {}", forward, backward));
}

} // namespace tenon::tools
