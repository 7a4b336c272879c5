// SPDX-License-Identifier: BSD-2-Clause
// Declares `disco` and `transposeddisco`, discrete-continuous convolutions on the sphere (Ocampo,
// Price and McEwen 2023) of fields [batch, channel, rows, columns]: filters of compact support are
// turned to each point of the output, and their integral with the field is a sum over its points,
//
//   y[n,o] = bias[o] + sum over i and k of W[o,i,k] (psi_k x[n,i])
//
// with basis functions psi_k of the filters (kernels/sphere/filter_basis.hpp) as sparse rows
// (kernels/sphere/turned_filter.hpp). `disco` maps to a grid with as many longitudes or fewer,
// `transposeddisco` by the transpose of such rows to one with as many or more.
//
// Labels, which state what an axis of the process grid splits or holds in x and y:
//
//   n      batch: no message
//   o, i   x replicated and y split by channels; x split and y a partial sum, without groups
//   g      channels, between groups: no message
//   h      rows: one exchange of the rows within the cutoff, as for a convolution
//   w      columns: x is exchanged for rows and y for columns, as filters near a pole read all
//          columns
//   B R P  all replicated; on the root; partial sums
//
// The two functions are declared in core/types.hpp.
#include "kernels/sphere/disco.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/core/windowed.hpp"
#include "declaration/sphere/disco_product.hpp"
#include "declaration/sphere/output_field.hpp"
#include "declaration/sphere/transform.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>

namespace tenon {

namespace {

constexpr OptionSpec kDisco[] = {
    kInChannelsSetting,
    kOutChannelsSetting,
    {"kernel", OptionSpec::Ints, nullptr,
     "numbers of basis functions of a filter: of linear, rings and sectors (1 if there is one "
     "number); of harmonic and morlet, frequencies along rows and columns; of zernike, degrees "
     "(one number); of fourierbessel, zeros of J_0 and the highest order",
     nullptr, atLeast(1)},
    {"basis", OptionSpec::Choice, "linear",
     "basis functions of filters: hats by rings and sectors, harmonics under Hann's window "
     "(morlet: not normalised), Zernike's polynomials, or Bessel functions that vanish at the "
     "cutoff",
     "linear|harmonic|morlet|zernike|fourierbessel"},
    {"cutoff", OptionSpec::Real, "0",
     "radius of filters as an angle in radians, also beyond pi; 0: the largest distance between "
     "neighbouring rows of the grid with fewer longitudes"},
    {"normalisation", OptionSpec::Choice, "nodal",
     "scale of basis functions: nodal, sum of absolute values times quadrature weights 1 for each "
     "row of the output; modal, the same without the mean of each anisotropic function; mean, "
     "nodal on average over the rows; support, area of the support; geometric, half the area of "
     "the cap; none",
     "nodal|modal|mean|support|geometric|none"},
    kSphereGridSetting,
    kOutputGridSetting,
    kOutputFieldSetting,
    kFirstRowSetting,
    kGroupsSetting,
    kBiasSetting};

// The split points of a dimension of the output at those of the input: for rows, the part of the
// nearest row of the input has an output; else, a part of the same size.
std::vector<Index> outputCuts(const std::vector<Index>& cuts, Index outputs) {
  std::vector<Index> moved;
  for (const Index cut : cuts)
    moved.push_back(cuts.back() > 0 ? cut * outputs / cuts.back() : cut);
  moved.back() = outputs;
  return moved;
}
std::vector<Index> outputCuts(const std::vector<Index>& cuts, const std::vector<double>& inputs,
                              const std::vector<double>& outputs) {
  std::vector<Index> moved;
  for (const Index cut : cuts) {
    if (cut == 0 || cut == cuts.back()) {
      moved.push_back(cut == 0 ? 0 : static_cast<Index>(outputs.size()));
      continue;
    }
    // With equal grids the rows of the output are those of the input, and none is between them.
    const double between = (inputs[cut - 1] + inputs[cut]) / 2;
    moved.push_back(std::ranges::lower_bound(outputs, between) - outputs.begin());
  }
  return moved;
}

class Disco final : public Declaration {
public:
  explicit Disco(bool isTransposed)
      : Declaration(isTransposed ? "transposeddisco" : "disco", kDisco),
        isTransposed_(isTransposed) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkSphereField(*this, x, text("grid"));
    checkInputChannels(*this, x);
    const Shape y = outputFieldOf(*this, x);
    checkSphereField(*this, y, outputGridOf(*this));
    for (const Shape& field : {x, y})
      if (field[kRowDim] > kMaxFilterRows || field[kColumnDim] > kMaxFilterColumns)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} has a field of {} x {} points; at most {} x {} are possible, "
                                "since filters have a list for each row",
                                title(), field[kRowDim], field[kColumnDim], kMaxFilterRows,
                                kMaxFilterColumns));
    const Index fine = (isTransposed_ ? y : x)[kColumnDim],
                coarse = (isTransposed_ ? x : y)[kColumnDim];
    if (coarse == 0 || fine % coarse != 0)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} maps {} columns to {}, but {} must be a multiple of the other "
                              "number, since filters are turned by whole columns; set size",
                              title(), x[kColumnDim], y[kColumnDim],
                              isTransposed_ ? "the output's" : "the input's"));
    if (real("cutoff") == 0 && (isTransposed_ ? x : y)[kRowDim] < 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} has no cutoff and one row of latitude, which has no distance to "
                              "another one; set cutoff",
                              title()));
    return y;
  }

  // The properties of x, of weight and bias, and of y.
  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = {{"n", shardOf(0), {kCopies, kCopies}, shardOf(0)}};
    if (integer("groups") > 1) {
      table.push_back({"g", shardOf(1), {shardOf(0), shardOf(0)}, shardOf(1)});
    } else {
      table.push_back({"o", kCopies, {shardOf(0), shardOf(0)}, shardOf(1)});
      table.push_back({"i", shardOf(1), {shardOf(1), kOnRoot}, kSums});
    }
    table.push_back({"h", shardOf(kRowDim), {kCopies, kCopies}, shardOf(kRowDim)});
    table.push_back({"w", shardOf(kColumnDim), {kCopies, kCopies}, shardOf(kColumnDim)});
    table.push_back({"B", kCopies, {kCopies, kCopies}, kCopies});
    table.push_back({"R", kOnRoot, {kOnRoot, kOnRoot}, kOnRoot});
    table.push_back({"P", kSums, {kCopies, kOnRoot}, kSums});
    if (!flag("bias"))
      for (SignatureRow& row : table)
        row.parameters.pop_back();
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    Layout use = form.uses.front();
    if (integer("groups") > 1)
      use = cutAtMultiples(use, kChannelDim, inOfGroup());
    form.output = outputOf(use, shape, form.signature.output());
    form.parameters.push_back(
        {.name = "weight",
         .use = makeLayout({shape[1], inOfGroup(), functions()}, use.gridPtr(),
                           form.signature.parameter(0), {{&form.output, 1}, {&use, 1}, {}}),
         .fanIn = inOfGroup() * functions(),
         .fanOut = outOfGroup() * functions()});
    if (flag("bias"))
      form.parameters.push_back(
          {.name = "bias",
           .use = makeLayout({shape[1]}, use.gridPtr(), form.signature.parameter(1),
                             {{&form.output, 1}})});
    form.uses.front() = withHalo(inRows(use), inRows(form.output));
    if (haveSameMemory(inRows(form.output), form.output))
      checkFilledHalo(inputs.front(), form.uses.front(), title());
    return form;
  }

  MapList maps(const Form& form, const Layouts& storage) const override {
    const Layout output = inRows(form.output);
    if (haveSameMemory(output, form.output))
      return Declaration::maps(form, storage);
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    KernelEntry entry = kernel(form);
    addParameterSources(list, form, storage, entry);
    const ValueId u = addUse(list, x, "u", form.uses.front(), /*anyStrides=*/false),
                  f = list.value("f", output);
    list.run(std::move(entry), {u}, f);
    list.apply(OperatorKind::Conversion, f, list.output());
    return list;
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .savesInputs = true, .gradients = Gradients::Separate};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeDiscoProduct(
        at, shapeOf(at.form, at.reads().boxOfRank(at.rank), at.writes().boxOfRank(at.rank)),
        isTransposed_);
  }
  Work work(const Form& form, int position) const override {
    const double flops =
        shapeOf(form, form.uses.front().box(position), inRows(form.output).box(position)).flops();
    return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
  }
  std::string summary() const override {
    return fmt::format(
        "{} -> {} channels{}, {} {} in {}", integer("in_channels"), integer("out_channels"),
        integer("groups") > 1 ? fmt::format(" in {} groups", integer("groups")) : "", text("basis"),
        fmt::join(value<std::vector<Index>>("kernel"), "x"),
        real("cutoff") > 0 ? fmt::format("{:.4g} rad", real("cutoff")) : "the distance of rows");
  }
  Example example(ExampleDraw& draw) const override {
    const Index coarseColumns = draw.between(3, 6),
                fineColumns = coarseColumns * draw.between(1, 2), groups = draw.between(1, 2),
                inputs = groups * draw.between(1, 2);
    const bool isZernike = draw.chance(20);
    std::vector<Index> kernel = {draw.between(1, 3)};
    if (!isZernike)
      kernel.push_back(draw.between(1, 3));
    return {
        {{"in_channels", inputs},
         {"out_channels", groups * draw.between(1, 2)},
         {"groups", groups},
         {"kernel", kernel},
         {"basis", std::string(isZernike ? "zernike" : draw.of({"linear", "harmonic", "morlet"}))},
         {"cutoff", 0.3 * double(draw.between(1, 4))},
         {"normalisation", std::string(draw.of({"nodal", "modal", "mean", "none"}))},
         {"grid", std::string(draw.of({"gauss", "poles", "cells"}))},
         {"output_grid", std::string(draw.of({"gauss", "poles", "cells"}))},
         {"size",
          std::vector<Index>{draw.between(3, 7), isTransposed_ ? fineColumns : coarseColumns}},
         {"first_row", std::string(draw.of({"north", "south"}))},
         {"bias", draw.chance(60)}},
        {{draw.between(1, 3), inputs, draw.between(3, 7),
          isTransposed_ ? coarseColumns : fineColumns}}};
  }

private:
  Index inOfGroup() const { return integer("in_channels") / integer("groups"); }
  Index outOfGroup() const { return integer("out_channels") / integer("groups"); }
  FilterBasisKind basis() const { return filterBasisNamed(text("basis")); }
  // Both numbers of the kernel.
  std::array<Index, 2> kernelNumbers() const {
    const auto numbers = value<std::vector<Index>>("kernel");
    if (numbers.size() == 2)
      return {numbers[0], numbers[1]};
    return {numbers[0], basis() == FilterBasisKind::Linear ? 1 : numbers[0]};
  }
  Index functions() const {
    const auto [radial, angular] = kernelNumbers();
    return filterBasisSize(basis(), radial, angular);
  }

  void check() const override {
    checkOutputSettings(*this, integer("groups"));
    if (const double cutoff = real("cutoff"); !(cutoff >= 0 && cutoff <= kMaxFilterCutoff))
      throw Error(TENON_ERR_ARG, fmt::format("cutoff of {} is {}; set an angle in radians up to "
                                             "4 pi, or 0 for the distance of rows",
                                             title(), cutoff));
    if (!isSet("kernel"))
      return;
    const auto numbers = value<std::vector<Index>>("kernel");
    const auto count = static_cast<Index>(numbers.size());
    const Index most = text("basis") == "zernike" ? 1 : 2;
    if (count < 1 || count > most)
      throw Error(TENON_ERR_ARG,
                  fmt::format("kernel of {} has {}, but basis {} needs {}", title(),
                              counted(count, "number"), text("basis"),
                              most == 1 ? "one, the number of degrees" : "one or two"));
    if (std::ranges::max(numbers) > kMaxFilterKernel)
      throw Error(TENON_ERR_ARG, fmt::format("kernel of {} is {}; set numbers of at most {}",
                                             title(), fmt::join(numbers, "x"), kMaxFilterKernel));
  }

  // Both grids of an input and its output. They are stored, since a plan asks for the work of many
  // blocks of the same fields.
  std::shared_ptr<const FilterGrids> gridsOf(const Shape& input, const Shape& output) const {
    const SphereMesh x{sphereGridNamed(text("grid")), input[kRowDim], input[kColumnDim]},
        y{sphereGridNamed(outputGridOf(*this)), output[kRowDim], output[kColumnDim]};
    const auto [radial, angular] = kernelNumbers();
    TurnedFilterShape shape{.fine = isTransposed_ ? y : x,
                            .coarse = isTransposed_ ? x : y,
                            .basis = basis(),
                            .radial = radial,
                            .angular = angular,
                            .cutoff = real("cutoff"),
                            .norm = filterNormNamed(text("normalisation")),
                            .isTransposed = isTransposed_,
                            .southFirst = text("first_row") == "south"};
    if (shape.cutoff == 0)
      shape.cutoff = largestRowDistance(shape.coarse);
    if (!grids_ || !(grids_->shape() == shape))
      grids_ = std::make_shared<const FilterGrids>(shape);
    return grids_;
  }

  DiscoShape shapeOf(const Form& form, const Box& from, const Box& to) const {
    const Box &fine = isTransposed_ ? to : from, &coarse = isTransposed_ ? from : to;
    DiscoShape shape{.grids = gridsOf(form.uses.front().shape(), form.output.shape()),
                     .batch = to[0].size(),
                     .fineChannels = fine[1].size(),
                     .coarseChannels = coarse[1].size(),
                     .groups = 1,
                     .fine = {fine[kRowDim].begin, fine[kRowDim].end},
                     .coarse = {coarse[kRowDim].begin, coarse[kRowDim].end}};
    if (integer("groups") > 1) {
      shape.groups = from[1].size() / inOfGroup();
      shape.fineChannels = isTransposed_ ? outOfGroup() : inOfGroup();
      shape.coarseChannels = isTransposed_ ? inOfGroup() : outOfGroup();
    }
    return shape;
  }

  // The output has the split points of the input, between the rows nearest to them.
  Layout outputOf(const Layout& use, const Shape& shape, const TensorSignature& requested) const {
    LayoutSpec spec =
        makeLayout(shape, use.gridPtr(), requested, {{&use, 0}, {&use, 1}, {}, {}}).spec();
    if (integer("groups") > 1 && spec.cuts[1].size() > 2) {
      spec.splitAxes[1] = use.splitAxes(1);
      spec.cuts[1] = use.cuts(1);
      for (Index& cut : spec.cuts[1])
        cut = cut / inOfGroup() * outOfGroup();
    }
    for (const int dim : {kRowDim, kColumnDim})
      spec.splitAxes[dim] = use.splitAxes(dim);
    spec.cuts[kRowDim] = rowCuts(use, shape);
    spec.cuts[kColumnDim] = outputCuts(use.cuts(kColumnDim), shape[kColumnDim]);
    return Layout(std::move(spec));
  }
  std::vector<Index> rowCuts(const Layout& input, const Shape& output) const {
    const auto grids = gridsOf(input.shape(), output);
    return outputCuts(input.cuts(kRowDim), isTransposed_ ? grids->coarse() : grids->fine(),
                      isTransposed_ ? grids->fine() : grids->coarse());
  }

  // The layout of a field as the kernel reads or writes it, in which axes that split columns split
  // rows.
  static Layout inRows(const Layout& field) {
    const Properties rows = replaced(field.properties(), shardOf(kColumnDim), shardOf(kRowDim));
    if (rows == field.properties())
      return field;
    return makeLayout(field.shape(), field.gridPtr(), rows,
                      {{&field, 0}, {&field, 1}, {&field, 2}, {&field, 3}});
  }

  // The input in whole columns with the rows that each block of the output reads.
  Layout withHalo(const Layout& plain, const Layout& output) const {
    const auto grids = gridsOf(plain.shape(), output.shape());
    const std::vector<CircleRange> reads =
        isTransposed_ ? rowsWithin(grids->fine(), grids->coarse(), grids->shape().cutoff)
                      : grids->within();
    LayoutSpec spec = plain.spec();
    Halo halo;
    bool isNeeded = false;
    for (int part = 0; part < plain.parts(kRowDim); ++part) {
      const Interval owned = plain.owned(kRowDim, part), rows = output.owned(kRowDim, part);
      Interval box;
      if (!rows.empty())
        box = {reads[rows.begin].begin, reads[rows.end - 1].end};
      isNeeded |= !box.empty() && (box.begin < owned.begin || box.end > owned.end);
      halo.boxes.push_back(box);
    }
    if (isNeeded)
      spec.halos[kRowDim] = std::move(halo);
    return Layout(std::move(spec));
  }

  bool isTransposed_;
  mutable std::shared_ptr<const FilterGrids> grids_;
};

} // namespace

std::unique_ptr<Declaration> declareDiscreteContinuous() {
  return std::make_unique<Disco>(/*isTransposed=*/false);
}
std::unique_ptr<Declaration> declareTransposedDiscreteContinuous() {
  return std::make_unique<Disco>(/*isTransposed=*/true);
}

} // namespace tenon
