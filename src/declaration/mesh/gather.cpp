// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `gather` of graph networks, which copies rows of nodes to edges and joins them
// along dimension 1:
//
//   y[e] = [ x[target(e)], s[source(e)], f[e] ]
//
// x and s have a row of channels per node and can be the same input; f has a row of features per
// edge and is optional.
//
// Edges and nodes are distributed over ranks by lists that the program hands over. If an edge of
// this rank ends at a node of another rank, the rows of such nodes (ghosts) are first received by
// an index map. maps() lists these exchanges first, to overlap with the copies of local rows. There
// is one kernel per part of y. declareGather() is declared in core/types.hpp.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/mesh/edge_declaration.hpp"
#include "declaration/mesh/row_kernels.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kGather[] = {kEdgesSetting,
                                  {"ends", OptionSpec::Choice, "both",
                                   "the ends of an edge whose rows are read",
                                   "both|source|target"}};

// Copies each row to its part of a wider row: y[i, begin + c] = x[i, c].
template <class T>
class PlacedRows final : public ListedKernel {
public:
  PlacedRows(Index rows, const InRow& in) : ListedKernel(in), rows_(rows) {}

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    copy(y.context(), x[0].data<T>(), in_.inner, y.mutableData<T>() + in_.begin, in_.step);
  }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters p, LocalArray& dy) override {
    if (dx[0])
      return forward(dx, p, dy, nullptr);
    zero(rows_, dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      copy(dy.context(), dy.data<T>() + in_.begin, in_.step, dx[0].mutableData<T>(), in_.inner);
  }
  std::string describe() const override { return "rows of edges"; }

private:
  void copy(KernelContext& context, const T* x, Index stepX, T* y, Index stepY) const {
    const Index extent[] = {rows_, in_.inner}, read[] = {stepX, 1}, write[] = {stepY, 1};
    if (rows_ * in_.inner > 0)
      blockCombine(context, Combine::Copy, 2, extent, x, read, y, write);
  }

  Index rows_;
};

// y[e] = [ x[target(e)], s[source(e)], f[e] ], joined along dimension 1.
class GatherDeclaration final : public EdgeDeclaration {
public:
  GatherDeclaration() : EdgeDeclaration("gather", kGather) {}
  // -1: one or more inputs.
  int inputCount() const override { return -1; }
  std::string inputAdvice() const override;
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;
  std::string summary() const override;

private:
  // A part of each output row, and the name of the kernel that writes it.
  struct Part {
    const char* name;
    const Edges::End* end; // null: features of the edges
    int input;
  };
  // The parts in the order in which they are joined.
  std::vector<Part> parts(std::size_t inputs) const;
};

} // namespace

std::string GatherDeclaration::inputAdvice() const {
  return "; it reads the nodes' rows, those of targets before those of sources where they are two "
         "sets, and rows of the edges if there are any";
}

std::vector<GatherDeclaration::Part> GatherDeclaration::parts(std::size_t inputs) const {
  const Edges& edges = this->edges();
  const std::string ends = text("ends");
  std::vector<Part> parts;
  if (ends != "source")
    parts.push_back({"targets", &edges.end(EdgeEnd::Target), 0});
  if (ends != "target")
    parts.push_back(
        {"sources", &edges.end(EdgeEnd::Source), ends == "both" && edges.joinsTwoSets() ? 1 : 0});
  // Both ends read one input if the edges join nodes of the same set.
  const auto nodes = static_cast<std::size_t>(parts.back().input) + 1;
  if (inputs != nodes && inputs != nodes + 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} reads {} of nodes and possibly one of edges, but has {}", title(),
                            counted(static_cast<Index>(nodes), "input"), inputs));
  if (inputs > nodes)
    parts.push_back({"features", nullptr, static_cast<int>(nodes)});
  return parts;
}

Shape GatherDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  const std::vector<Part> parts = this->parts(inputs.size());
  Shape shape = inputs[parts.front().input];
  shape[0] = edges().pattern().shape()[0];
  for (std::size_t k = 1; k < parts.size(); ++k) {
    Shape other = inputs[parts[k].input];
    const bool fits = shape.size() >= 2 && other.size() == shape.size() &&
                      std::equal(shape.begin() + 2, shape.end(), other.begin() + 2);
    if (!fits)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} joins rows along dimension 1, but its inputs have shapes [{}] "
                              "and [{}]; pass inputs [rows, channels, ...] that differ in "
                              "dimensions 0 and 1 alone",
                              title(), fmt::join(inputs[parts.front().input], ","),
                              fmt::join(other, ",")));
    shape[1] = checkedSum(shape[1], other[1], "the channels of gathered rows");
  }
  return shape;
}

Form GatherDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  std::vector<Shape> shapes;
  for (const Layout& input : inputs)
    shapes.push_back(input.shape());
  Layouts uses = inputs;
  for (const Part& part : parts(inputs.size()))
    uses[part.input] = part.end ? useOf(inputs[part.input], part.end->nodes->from(), "nodes")
                                : useOf(inputs[part.input], edges().pattern(), "edges");
  const Shape shape = outputShape(shapes);
  return formOf(inputs, uses, rowsLayout(edges().pattern(), rowShape(shape)), choice);
}

MapList GatherDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    list.input(form.inputs.size() == 1 ? "x" : fmt::format("x{}", i), form.inputs[i]);
  list.output("y", form.output);
  std::vector<ValueId> used;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    used.push_back(addUsed(list, list.inputs()[i], form.uses[i]));
  // Add the exchanges first, which then overlap with the local copies.
  const std::vector<Part> parts = this->parts(form.inputs.size());
  std::vector<ValueId> reads(parts.size());
  // A part is exchanged if some edge ends at a node of another rank.
  for (const bool isExchanged : {true, false})
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Edges::End* end = parts[k].end;
      if (isExchanged != (end && !end->isOwned))
        continue;
      const ValueId x = used[parts[k].input];
      // If both ends are nodes of one set, they share the array of owned nodes and ghosts.
      const bool isShared = isExchanged && k > 0 && parts[0].end->nodes == end->nodes &&
                            parts[0].input == parts[k].input && !parts[0].end->isOwned;
      reads[k] = isShared ? reads[0] : end ? addNodes(list, x, *end, "v") : list.staged(x);
    }
  // Kernels that read local rows are first, and run while the exchanged rows arrive.
  const ValueId y = list.stagedOutput();
  for (const bool isExchanged : {false, true})
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (isExchanged != (parts[k].end && !parts[k].end->isOwned))
        continue;
      KernelEntry entry{.name = parts[k].name,
                        .addsCotangent = parts[k].end != nullptr,
                        .rows = parts[k].end ? RowWork::Taken : RowWork::Placed};
      if (parts.size() == 1)
        list.run(std::move(entry), {reads[k]}, y);
      else
        list.runPart(std::move(entry), {reads[k]}, y);
    }
  list.unstage(y);
  return list;
}

// An output row is the concatenation of all parts; a kernel writes the part with its name, which
// begins after all earlier parts.
std::unique_ptr<ArrayKernel> GatherDeclaration::makeKernel(const KernelPlace& at) const {
  InRow in{.inner = elementsOfRow(at.reads(), at.rank),
           .begin = 0,
           .step = elementsOfRow(at.writes(), at.rank)};
  const Edges::End* end = nullptr;
  for (const Part& part : parts(at.form.inputs.size())) {
    end = part.end;
    if (part.name == at.name())
      break;
    in.begin += elementsOfRow(at.form.uses[part.input], at.rank);
  }
  if (!end)
    return makeTyped<PlacedRows>(at.type, edges().count(), in);
  RowEntries entries = entriesOf(edges());
  entries.weights = nullptr; // weights are for sums only
  entries.from = end->at.data();
  return makeCombinedRows(at.type, *at.context, rowCount(at.reads(), at.rank), edges().count(),
                          entries, in, "rows of nodes");
}

std::string GatherDeclaration::summary() const {
  const std::string ends = text("ends");
  return fmt::format("{} of {}", ends == "both" ? "both ends" : ends + "s", edges().describe());
}

std::unique_ptr<Declaration> declareGather() {
  return std::make_unique<GatherDeclaration>();
}

} // namespace tenon
