// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `rows`: it reshapes a field on a grid to rows, [batch, channel, y, x] -> [grid
// points, channel], in order to combine grids with meshes; or, if an output layout is set, rows to
// a field of this layout. Each rank keeps its points, in the order of its block, and nothing is
// communicated. The number of a row therefore depends on the process grid. For a field of 2 x 4
// points, split by columns over 2 ranks:
//
//   row of each point   0 1 | 4 5      rank 0 has rows 0 to 3
//                       2 3 | 6 7      rank 1 has rows 4 to 7
//
// Labels, which state what a grid axis does to the field: S0 (splits the batch) and S2, S3, ...
// (space) split the rows, S1 splits the channels, B replicates, R holds all on its root, P is a
// partial sum. declareRows() is declared in core/types.hpp.
#include "declaration/core/result_layout.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

Shape shapeOfRows(const Shape& field) {
  Index points = 1;
  for (std::size_t d = 0; d < field.size(); ++d)
    points *= static_cast<int>(d) == kChannelDim ? 1 : field[d];
  return {points, field[kChannelDim]};
}

// The layout of the rows of a field without halos; one block of rows per block of the field.
Layout rowLayoutOf(const Layout& field) {
  LayoutSpec spec{.shape = shapeOfRows(field.shape()),
                  .grid = field.gridPtr(),
                  .properties = field.properties()};
  for (Property& p : spec.properties)
    if (p.isShard())
      p = Property::shard(p.dim == kChannelDim ? 1 : 0);
  std::vector<int> axes;
  for (int d = 0; d < field.ndim(); ++d)
    if (d != kChannelDim)
      axes.insert(axes.end(), field.splitAxes(d).begin(), field.splitAxes(d).end());
  // In the order of the grid, in which positions are numbered, whatever dimensions the axes split.
  std::ranges::sort(axes);
  std::vector<Index> cuts{0};
  std::vector<int> coordinates(static_cast<std::size_t>(field.grid().axes()), 0);
  // Visits the blocks in the order of the grid axes that split rows.
  const auto addBlocks = [&](const auto& self, std::size_t a) -> void {
    if (a < axes.size()) {
      for (int coordinate = 0; coordinate < field.grid().extents()[axes[a]]; ++coordinate) {
        coordinates[axes[a]] = coordinate;
        self(self, a + 1);
      }
      return;
    }
    const int position = field.grid().positionAt(coordinates);
    Index points = 1;
    for (int d = 0; d < field.ndim(); ++d)
      points *= d == kChannelDim ? 1 : field.owned(d, field.part(position, d)).size();
    cuts.push_back(cuts.back() + points);
  };
  addBlocks(addBlocks, 0);
  spec.splitAxes = {axes, field.splitAxes(kChannelDim)};
  spec.cuts = {cuts, field.cuts(kChannelDim)};
  return Layout(std::move(spec));
}

// A strided copy between a field [batch, channel, space...] and rows [batch * space..., channel].
template <class T>
class LocalRows final : public LinearKernel {
public:
  explicit LocalRows(bool toRows) : toRows_(toRows) {}

  void map(const LocalArray& x, LocalArray& y) override { copy(x, y, toRows_); }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override { copy(dy, dx, !toRows_); }
  std::string describe() const override { return "local copy"; }

private:
  static void copy(const LocalArray& x, LocalArray& y, bool toRows) {
    if (y.elements() == 0)
      return;
    const LocalArray &field = toRows ? x : y, &rows = toRows ? y : x;
    // The common index order of the copy: [batch, space..., channel]. `inField` and `inRows` are
    // the strides of these indices in both arrays.
    Shape extent;
    Strides inField{}, inRows{};
    for (int d = 0; d < field.ndim(); ++d)
      if (d != kChannelDim) {
        inField[extent.size()] = field.strides()[d];
        extent.push_back(field.extent()[d]);
      }
    // Rows are numbered in row-major order of the batch and space of the rank's block.
    Index step = rows.strides()[0];
    for (std::size_t d = extent.size(); d-- > 0; step *= extent[d])
      inRows[d] = step;
    inField[extent.size()] = field.strides()[kChannelDim];
    inRows[extent.size()] = rows.strides()[1];
    extent.push_back(field.extent()[kChannelDim]);
    const Strides &read = toRows ? inField : inRows, &write = toRows ? inRows : inField;
    blockCombine(y.context(), Combine::Copy, static_cast<int>(extent.size()), extent.data(),
                 x.data<T>(), read.data(), y.mutableData<T>(), write.data());
  }

  bool toRows_;
};

class RowsDeclaration final : public Declaration {
public:
  RowsDeclaration() : Declaration("rows", {}) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  bool takesOutputLayout() const override { return true; }
  bool dependsOnRowDistribution() const override { return true; }

  void setOutputLayout(const Layout& field) override {
    if (field.hasHalos() || field.ndim() <= kChannelDim)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the output layout of {} must be of a field [batch, channel, ...] "
                              "without halos, but is {}; add a repartition after it to add them",
                              title(), field.describe()));
    outputLayout_ = field;
  }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (!outputLayout()) {
      if (x.size() <= kChannelDim)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} makes rows of a field [batch, channel, ...], but its input has "
                                "shape [{}]; to make a field of rows set its output layout",
                                title(), fmt::join(x, ",")));
      return shapeOfRows(x);
    }
    Shape field = outputLayout()->shape();
    const Shape rows = shapeOfRows(field);
    if (x.size() != 2 || x[0] != rows[0])
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} makes a field [{}] of {} rows, but its input has shape [{}]; pass "
                      "[{}, channels]",
                      title(), fmt::join(field, ","), rows[0], fmt::join(x, ","), rows[0]));
    field[kChannelDim] = x[1];
    return field;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table =
        elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
    for (SignatureRow& row : table)
      if (!outputLayout() && row.output.isShard())
        row.output = Property::shard(row.output.dim == kChannelDim ? 1 : 0);
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    if (!outputLayout()) {
      Form form = formLikeInput(inputs, choice);
      form.output = rowLayoutOf(form.uses.front());
      return form;
    }
    if (!choice.labels.empty())
      throw Error(TENON_ERR_OPTION, fmt::format("{} has both an output layout and the signature "
                                                "\"{}\"; set only one of them",
                                                title(), choice.labels));
    const Layout output = layoutLike(*outputLayout(), shape, title());
    const Layout use = rowLayoutOf(output);
    if (!hasSameRows(inputs.front(), use))
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the input of {} is {}, but the rows of its output layout are {}: "
                              "each rank needs those of its own block",
                              title(), inputs.front().describe(), use.describe()));
    return {.signature = Signature::following(rows({use.shape()}), use),
            .inputs = inputs,
            .uses = {use},
            .output = output};
  }

  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalRows>(at.type, /*toRows=*/!outputLayout());
  }
  std::string summary() const override {
    return outputLayout() ? "to a field " + outputLayout()->describe() : "of a field";
  }

private:
  // Whether each rank has the rows of its block; another process grid can number blocks
  // differently.
  static bool hasSameRows(const Layout& rows, const Layout& use) {
    if (rows.hasHalos())
      return false;
    if (rows.grid() == use.grid())
      return rows == use;
    const auto isSame = [&](int rank) { return rows.boxOfRank(rank) == use.boxOfRank(rank); };
    return !rows.holdsPartialSums() && !use.holdsPartialSums() &&
           std::ranges::all_of(use.grid().ranks(), isSame);
  }
};

} // namespace

std::unique_ptr<Declaration> declareRows() {
  return std::make_unique<RowsDeclaration>();
}

} // namespace tenon
