// SPDX-License-Identifier: BSD-2-Clause
// Types that join rows of nodes and of edges by the lists of a mesh, of which networks on meshes are made:
//
//   gather        y[e] = [ x[target(e)], s[source(e)], f[e] ]       nodes to edges
//   segmentsum    a[i] = sum (mean, max) over e with target(e) = i of w_e m[e]    edges to nodes
//   sparsematrix  y[i] = sum over e with target(e) = i of w_e x[source(e)]
//   edgeattention y[i] = sum over e with target(e) = i of a[e] v[e],  a the softmax of s[e] over these e
//   indexmap      y = E x, an index map between two layouts, or its transpose
//
// Rows are local to a rank, which has an edge where it owns the target. What an edge reads of a node elsewhere comes
// by the index map of the nodes, E, before the kernel; its adjoint is E* after it. Sums are in the order of the edges'
// keys, so that they do not depend on the partition.
#include "declaration/mesh/edge_types.hpp"

#include "declaration/core/types.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr OptionSpec kEdges = {"edges", OptionSpec::String, "",
                               "name of the edges among those that the program hands over"};

Shape trailingOf(const Shape& shape) {
  return {shape.begin() + 1, shape.end()};
}

// In the caller's memory rows lie anyhow; where another process grid numbers them alike, they are there already.
bool holdSameRows(const Layout& a, const Layout& b) {
  if (a.shape() != b.shape() || a.hasHalos() || a.holdsPartialSums())
    return false;
  for (int rank : b.grid().ranks())
    if (a.boxOfRank(rank) != b.boxOfRank(rank))
      return false;
  return true;
}

// Whether x needs no conversion. Index maps know their own process grid, where equal layouts may have other axes of
// one process.
bool isUsedAsIs(const Layout& x, const Layout& use) {
  return x == use && x.grid() == use.grid();
}

// x as it is used.
ValueId addUsed(MapList& list, ValueId x, const Layout& use) {
  const Value given = list.values()[x];
  return isUsedAsIs(given.layout, use) ? x : list.convert(given.name + "'", x, use);
}

// The rows of nodes that the edges read, with those of other ranks if some end there.
ValueId addNodes(MapList& list, ValueId x, const Edges::End& end, const char* name) {
  if (end.isOwned)
    return list.staged(x);
  const ValueId v = list.value(name, end.nodes->rangeFor(list.values()[x].layout));
  list.applyMap(end.nodes, false, x, v);
  return v;
}

// Runs a kernel from v to rows of the end's nodes; what it gives to nodes of other ranks is added there.
void addSums(MapList& list, KernelEntry entry, ValueId v, const Edges::End& end) {
  const ValueId output = list.output();
  if (end.isOwned) {
    const ValueId y = list.stagedOutput();
    list.run(std::move(entry), {v}, y);
    return list.unstage(y);
  }
  const ValueId p = list.value("p", end.nodes->rangeFor(list.values()[output].layout).dual());
  list.run(std::move(entry), {v}, p);
  list.applyMap(end.nodes, true, p, output);
}

} // namespace

SignatureTable OfEdges::rows(const std::vector<Shape>& inputs) const {
  return {{"S0", Properties(inputs.size(), Property::shard(0)), {}, Property::shard(0)}};
}

const Edges& OfEdges::edges() const {
  const std::string name = text("edges");
  if (const EdgesPtr found = lists().edges(name))
    return *found; // the lists hold it
  throw Error(TENON_ERR_STATE,
              fmt::format("{} has no edges{}; call TenonLayerSetEdges() of it or of a network that "
                          "contains it",
                          title(), name.empty() ? "" : fmt::format(" \"{}\"", name)));
}

Form OfEdges::formOf(const Layouts& inputs, Layouts uses, Layout output,
                     const Choice& choice) const {
  std::vector<Shape> shapes;
  for (const Layout& input : inputs)
    shapes.push_back(input.shape());
  const Signature chosen =
      choice.labels.empty()
          ? Signature::following(rows(shapes), output)
          : Signature::choose(rows(shapes), output, output.gridPtr(), choice.labels, title());
  return {.signature = chosen, .inputs = inputs, .uses = std::move(uses), .output = output};
}

Layout OfEdges::useOf(const Layout& input, const Layout& pattern, const char* what) const {
  if (input.shape()[0] == pattern.shape()[0]) {
    const Layout use = rowsLayout(pattern, trailingOf(input.shape()));
    if (isUsedAsIs(input, use))
      return input;
    if (holdSameRows(input, use))
      return use;
  }
  throw Error(TENON_ERR_LAYOUT,
              fmt::format("an input of {} is {}, but its {} are {}, with further dimensions that "
                          "are not divided; pass rows that lie as the lists of the edges say, or "
                          "add a repartition",
                          title(), input.describe(), what, pattern.describe()));
}

// --- gather

namespace {

constexpr OptionSpec kGather[] = {kEdges,
                                  {"ends", OptionSpec::Choice, "both",
                                   "the ends of an edge whose rows are read",
                                   "both|source|target"}};

} // namespace

GatherDeclaration::GatherDeclaration() : OfEdges("gather", kGather) {}

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
    Shape further = inputs[parts[k].input];
    const bool fits = shape.size() >= 2 && further.size() == shape.size() &&
                      std::equal(shape.begin() + 2, shape.end(), further.begin() + 2);
    if (!fits)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("{} joins rows along dimension 1, but its inputs have shapes [{}] "
                              "and [{}]; pass inputs [rows, channels, ...] that differ in "
                              "dimensions 0 and 1 alone",
                              title(), fmt::join(inputs[parts.front().input], ","),
                              fmt::join(further, ",")));
    shape[1] = checkedSum(shape[1], further[1], "the channels of gathered rows");
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
  return formOf(inputs, uses, rowsLayout(edges().pattern(), trailingOf(shape)), choice);
}

MapList GatherDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    list.input(form.inputs.size() == 1 ? "x" : fmt::format("x{}", i), form.inputs[i]);
  list.output("y", form.output);
  std::vector<ValueId> used;
  for (std::size_t i = 0; i < form.inputs.size(); ++i)
    used.push_back(addUsed(list, list.inputs()[i], form.uses[i]));
  // What travels is named first, so that it travels while the rest is gathered.
  const std::vector<Part> parts = this->parts(form.inputs.size());
  std::vector<ValueId> reads(parts.size());
  for (const bool travels : {true, false})
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const Edges::End* end = parts[k].end;
      if (travels != (end && !end->isOwned))
        continue;
      const ValueId x = used[parts[k].input];
      // Both ends read one array of owned nodes and ghosts.
      const bool isThere = travels && k > 0 && parts[0].end->nodes == end->nodes &&
                           parts[0].input == parts[k].input && !parts[0].end->isOwned;
      reads[k] = isThere ? reads[0] : end ? addNodes(list, x, *end, "v") : list.staged(x);
    }
  const ValueId y = list.stagedOutput();
  for (const bool travels : {false, true})
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (travels != (parts[k].end && !parts[k].end->isOwned))
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

std::string GatherDeclaration::summary() const {
  const std::string ends = text("ends");
  return fmt::format("{} of {}", ends == "both" ? "both ends" : ends + "s", edges().describe());
}

// --- segmentsum

namespace {

constexpr OptionSpec kSegmentSum[] = {
    kEdges,
    {"at", OptionSpec::Choice, "target", "the end of the edges at which rows are summed",
     "target|source"},
    {"aggregation", OptionSpec::Choice, "sum", "what is made of the rows of a node's edges",
     "sum|mean|max"}};

} // namespace

SegmentSumDeclaration::SegmentSumDeclaration() : OfEdges("segmentsum", kSegmentSum) {}

const Edges::End& SegmentSumDeclaration::end() const {
  const Edges::End& end = edges().end(text("at") == "source" ? EdgeEnd::Source : EdgeEnd::Target);
  if (!end.isOwned && (isMaximum() || (isMean() && !end.totals)))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has aggregation \"{}\" at nodes of which other ranks have edges "
                            "too; only sums are added between ranks, so list each edge on the "
                            "rank that owns that end, or use \"sum\"",
                            title(), text("aggregation")));
  return end;
}

Shape SegmentSumDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  Shape shape = inputs.front();
  shape[0] = end().nodes->from().shape()[0];
  return shape;
}

Form SegmentSumDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Layout use = useOf(inputs.front(), edges().pattern(), "edges");
  return formOf(inputs, {use}, rowsLayout(end().nodes->from(), trailingOf(use.shape())), choice);
}

MapList SegmentSumDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  list.output("y", form.output);
  const bool isMaximum = this->isMaximum();
  KernelEntry entry{.name = text("aggregation"),
                    .addsCotangent = !isMaximum,
                    .rows = isMaximum ? RowWork::Other : RowWork::Summed};
  if (isMaximum)
    entry.workspace = {.bytes = sizeof(Index), .elementsOf = form.output};
  addSums(list, std::move(entry), list.staged(addUsed(list, x, form.uses.front())), end());
  return list;
}

std::string SegmentSumDeclaration::summary() const {
  return fmt::format("{} at {}s of {}", text("aggregation"), text("at"), edges().describe());
}

// --- sparsematrix

namespace {

constexpr OptionSpec kSparseMatrix[] = {kEdges};

} // namespace

SparseMatrixDeclaration::SparseMatrixDeclaration() : OfEdges("sparsematrix", kSparseMatrix) {}

Shape SparseMatrixDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  Shape shape = inputs.front();
  shape[0] = edges().end(EdgeEnd::Target).nodes->from().shape()[0];
  return shape;
}

Form SparseMatrixDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Layout use = useOf(inputs.front(), edges().end(EdgeEnd::Source).nodes->from(), "columns");
  return formOf(inputs, {use},
                rowsLayout(edges().end(EdgeEnd::Target).nodes->from(), trailingOf(use.shape())),
                choice);
}

MapList SparseMatrixDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  list.output("y", form.output);
  const ValueId v =
      addNodes(list, addUsed(list, x, form.uses.front()), edges().end(EdgeEnd::Source), "v");
  addSums(list, {.name = "matrix", .addsCotangent = true}, v, edges().end(EdgeEnd::Target));
  return list;
}

std::string SparseMatrixDeclaration::summary() const {
  return edges().describe();
}

// --- edgeattention

namespace {

constexpr OptionSpec kEdgeAttention[] = {kEdges};

} // namespace

EdgeAttentionDeclaration::EdgeAttentionDeclaration() : OfEdges("edgeattention", kEdgeAttention) {}

std::string EdgeAttentionDeclaration::inputAdvice() const {
  return "; it reads scores [edges, heads] and values [edges, channels, ...]";
}

Shape EdgeAttentionDeclaration::outputShape(const std::vector<Shape>& inputs) const {
  const Shape &scores = inputs[0], &values = inputs[1];
  if (scores.size() != 2 || values.size() < 2 || scores[0] != values[0] || scores[1] < 1 ||
      values[1] % scores[1] != 0)
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format("{} needs scores [edges, heads] and values [edges, channels, ...] whose "
                    "channels are a multiple of the heads, but its inputs have shapes [{}] "
                    "and [{}]",
                    title(), fmt::join(scores, ","), fmt::join(values, ",")));
  Shape shape = values;
  shape[0] = edges().end(EdgeEnd::Target).nodes->from().shape()[0];
  return shape;
}

Form EdgeAttentionDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  const Edges::End& end = edges().end(EdgeEnd::Target);
  if (!end.isOwned)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has a softmax over the edges of a node, of which other ranks have "
                            "some too; list each edge on the rank that owns its target "
                            "(TenonEdgesCreate())",
                            title()));
  const Shape shape = outputShape({inputs[0].shape(), inputs[1].shape()});
  const Layouts uses = {useOf(inputs[0], edges().pattern(), "edges"),
                        useOf(inputs[1], edges().pattern(), "edges")};
  return formOf(inputs, uses, rowsLayout(end.nodes->from(), trailingOf(shape)), choice);
}

MapList EdgeAttentionDeclaration::maps(const Form& form, const Layouts&) const {
  MapList list;
  const ValueId s = list.input("s", form.inputs[0]), v = list.input("v", form.inputs[1]);
  list.output("y", form.output);
  const ValueId a = list.value("a", form.uses[0]);
  list.run({.name = "softmax", .keepsOutput = true}, {list.staged(addUsed(list, s, form.uses[0]))},
           a);
  const ValueId y = list.stagedOutput();
  list.run({.name = "weigh", .keepsInputs = true}, {a, list.staged(addUsed(list, v, form.uses[1]))},
           y);
  list.unstage(y);
  return list;
}

std::string EdgeAttentionDeclaration::summary() const {
  return edges().describe();
}

// --- indexmap

namespace {

constexpr OptionSpec kIndexMap[] = {
    {"index_map", OptionSpec::String, "",
     "name of the index map among those that the program hands over"},
    {"transposed", OptionSpec::Flag, "false",
     "the transpose, which adds elements to those that they were made from"}};

class IndexMapping final : public Declaration {
public:
  IndexMapping() : Declaration("indexmap", kIndexMap) {}
  bool takesLists() const override { return true; }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), true);
  }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const IndexMapPtr map = this->map();
    const auto [from, to] = map->layoutsOf(withoutJoint(*map, inputs.front()));
    return (flag("transposed") ? from : to).shape();
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    if (!choice.labels.empty())
      throw Error(TENON_ERR_OPTION,
                  fmt::format("{} does not take a signature, but \"{}\" was set; its layouts are "
                              "those of its map",
                              title(), choice.labels));
    const Layout& input = inputs.front();
    const Layout output = outputFor(input);
    return {.signature = Signature::following(rows({input.shape()}), output),
            .inputs = inputs,
            .uses = {input},
            .output = output};
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const ValueId x = list.input("x", form.inputs.front());
    list.applyMap(map(), flag("transposed"), x, list.output("y", form.output));
    return list;
  }
  std::string summary() const override {
    return fmt::format("{}{}", flag("transposed") ? "transpose of " : "", map()->describe());
  }

private:
  IndexMapPtr map() const {
    const std::string name = text("index_map");
    if (IndexMapPtr found = lists().map(name))
      return found;
    throw Error(TENON_ERR_STATE,
                fmt::format("{} has no index map{}; call TenonLayerSetIndexMap() of it or of a "
                            "network that contains it",
                            title(), name.empty() ? "" : fmt::format(" \"{}\"", name)));
  }
  Layout outputFor(const Layout& input) const {
    const IndexMapPtr map = this->map();
    if (!flag("transposed"))
      return map->rangeFor(input);
    const Layout domain = map->domainFor(input.dual());
    return domain.dual();
  }
  // The extents of tensors for layoutsOf().
  static Shape withoutJoint(const IndexMap& map, Shape shape) {
    for (int d : map.jointDims())
      shape[static_cast<std::size_t>(d)] = 0;
    return shape;
  }
};

} // namespace

std::unique_ptr<Declaration> declareGather() {
  return std::make_unique<GatherDeclaration>();
}

std::unique_ptr<Declaration> declareSegmentSum() {
  return std::make_unique<SegmentSumDeclaration>();
}

std::unique_ptr<Declaration> declareSparseMatrix() {
  return std::make_unique<SparseMatrixDeclaration>();
}

std::unique_ptr<Declaration> declareEdgeAttention() {
  return std::make_unique<EdgeAttentionDeclaration>();
}

std::unique_ptr<Declaration> declareIndexMapping() {
  return std::make_unique<IndexMapping>();
}

} // namespace tenon
