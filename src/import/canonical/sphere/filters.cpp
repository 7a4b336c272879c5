// SPDX-License-Identifier: BSD-2-Clause
// Recognises discrete-continuous convolutions on the sphere: members of ModelBuilder. A model of
// torch-harmonics has
//
//   z = filtered(x)                        an operator of its own with lists of the filters
//   y = einsum("bgckxy,gock->bgoxy", z, weight), then a bias
//
// and transposed einsum("bgcxy,gock->bgokxy", x, weight), then filtered(). The basis of the filters
// is noted in the file by the module that has the lists as buffers; the lists are compared with the
// filters of Tenon's layers (filter_table.hpp). filtered() makes a Filter without weights; einsum()
// joins the product to it, and a sum its bias. Of a transposed convolution, einsum() notes its
// factors, which filtered() finds.
#include "import/canonical/model_builder.hpp"
#include "kernels/sphere/turned_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

FilterTable filterTable(const ModelBuilder& b, const ModelWeights& weights, const ModelValue* x,
                        const FilterLists& lists) {
  const Index rows = x->shape[static_cast<std::size_t>(x->ndim() - 2)], columns = x->shape.back();
  FilterTable table{.functions = lists.functionCount,
                    .fineRows = rows,
                    .fineColumns = columns,
                    .coarseRows = lists.outputRows,
                    .coarseColumns = lists.outputColumns,
                    .isTransposed = lists.isTransposed,
                    .entries = {}};
  if (lists.isTransposed) {
    std::swap(table.fineRows, table.coarseRows);
    std::swap(table.fineColumns, table.coarseColumns);
  }
  const std::vector<double> functions = weights.allNumbers(lists.functions->asConstant()),
                            ofRows = weights.allNumbers(lists.rows->asConstant()),
                            points = weights.allNumbers(lists.points->asConstant()),
                            values = weights.allNumbers(lists.values->asConstant());
  b.check(functions.size() == values.size() && ofRows.size() == values.size() &&
              points.size() == values.size(),
          "its lists of entries have different lengths");
  const auto index = [&](double number, Index end) {
    b.check(number >= 0 && number < double(end), "an entry of a filter is outside of its grid");
    return static_cast<std::int32_t>(number);
  };
  table.entries.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    table.entries.push_back(
        {{index(ofRows[i], table.coarseRows), index(functions[i], table.functions),
          index(points[i], table.fineRows * table.fineColumns)},
         values[i]});
  return table;
}

// "" for buffers of the network itself.
std::string moduleOf(const FilterLists& lists) {
  const std::string& name = lists.values->asConstant().name();
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

// Equal for equal lists of a module that are read in the same way between equal grids.
std::string keyOf(const ModelValue* x, const FilterLists& lists) {
  std::string key =
      fmt::format("{} {} {} {}x{} to {}x{}", moduleOf(lists), lists.isTransposed,
                  lists.functionCount, x->shape[static_cast<std::size_t>(x->ndim() - 2)],
                  x->shape.back(), lists.outputRows, lists.outputColumns);
  for (const ModelValue* list : {lists.functions, lists.rows, lists.points, lists.values}) {
    key += fmt::format(" {}", list->asConstant().identity());
    for (const ModelConstant::Piece& piece : list->asConstant().pieces())
      key += " " + piece.text();
  }
  return key;
}

void checkFilter(const ModelBuilder& b, const ModelValue* x, const FilterLists& lists) {
  b.check(x->ndim() == (lists.isTransposed ? 5 : 4), "its field has another number of dimensions");
  const Index rows = x->shape[static_cast<std::size_t>(x->ndim() - 2)], columns = x->shape.back(),
              k = lists.functionCount;
  b.check(k > 0 && lists.outputRows > 0 && lists.outputColumns > 0 && rows > 0 && columns > 0,
          "its filters or grids are empty");
  b.checkShape({rows, columns, k});
  b.checkShape({lists.outputRows, lists.outputColumns, k});
  b.check(!lists.isTransposed || x->shape[2] == k, "its field has another number of functions");
}

// Why these lists cannot be compared with filters, if so.
struct Unusable {
  std::string what, advice;
};
std::optional<Unusable> unusable(const ModelProgram& program, const ModelValue* x,
                                 const FilterLists& lists) {
  constexpr Index kMaxPoints = std::numeric_limits<std::int32_t>::max();
  const Index rows = x->shape[static_cast<std::size_t>(x->ndim() - 2)], columns = x->shape.back();
  for (const auto& [r, c] :
       {std::pair(rows, columns), std::pair(lists.outputRows, lists.outputColumns)})
    if (r > kMaxFilterRows || c > kMaxFilterColumns || r * c > kMaxPoints)
      return Unusable{fmt::format("filters on a grid of {} x {} points on the sphere", r, c),
                      fmt::format("grids of at most {} x {}, and {} points", kMaxFilterRows,
                                  kMaxFilterColumns, kMaxPoints)};
  for (const ModelValue* list : {lists.functions, lists.rows, lists.points, lists.values})
    if (!list->isKnown())
      return Unusable{"filters on the sphere that are computed or trained",
                      "filters that are buffers"};
  const std::string module = moduleOf(lists);
  const auto basis = program.filters.find(module);
  if (basis == program.filters.end())
    return Unusable{
        fmt::format("the filters of module '{}', whose basis and cutoff are not in the file",
                    module),
        "export_model() of Tenon's export_torch.py, which writes them to the file, for filters in "
        "a basis of torch-harmonics 0.9.3"};
  if (!basis->second.why.empty())
    return Unusable{fmt::format("the filters of module '{}': {}", module, basis->second.why),
                    "filters that the layer disco has"};
  return std::nullopt;
}

ModelFilter settingsOf(const ModelFilterBasis& basis, const FilterMatch& match,
                       const FilterLists& lists) {
  ModelFilter filter{.isTransposed = lists.isTransposed,
                     .functions = lists.functionCount,
                     .kernel = {basis.kernel[0]},
                     .size = {lists.outputRows, lists.outputColumns},
                     .basis = basis.name,
                     .normalisation = match.normalisation,
                     .grid = lists.isTransposed ? match.coarseGrid : match.fineGrid,
                     .outputGrid = lists.isTransposed ? match.fineGrid : match.coarseGrid,
                     .cutoff = basis.cutoff,
                     .difference = match.difference};
  if (basis.kernel[1] > 0)
    filter.kernel.push_back(basis.kernel[1]);
  return filter;
}

} // namespace

// `weight` [outputs, inputs of a group, functions] may be null.
ModelBuilder::Value ModelBuilder::filterValue(Value x, Value weight, Index outputs, Index groups,
                                              const ModelFilter& filter) {
  ModelValue* y = make(ModelOp::Filter, weight ? ModelValues{x, weight} : ModelValues{x},
                       {x->shape[0], outputs, filter.size[0], filter.size[1]});
  y->filter = filter;
  y->groups = groups;
  return y;
}

ModelBuilder::Value ModelBuilder::filtered(Value x, const FilterLists& lists) {
  checkFilter(*this, x, lists);
  const bool isTransposed = lists.isTransposed;
  const Index batch = x->shape[0], channels = x->shape[1], k = lists.functionCount,
              rows = x->shape[static_cast<std::size_t>(x->ndim() - 2)], columns = x->shape.back();
  Shape shape = {batch, channels, lists.outputRows, lists.outputColumns};
  if (!isTransposed)
    shape.insert(shape.begin() + 2, k);
  checkShape(shape);
  if (const auto found = unusable(program(), x, lists))
    return refuse(found->what, found->advice, shape);
  const ModelFilterBasis& basis = program().filters.at(moduleOf(lists));
  const std::string key = keyOf(x, lists);
  if (!filters_.contains(key)) {
    FilterTable table = filterTable(*this, weights_, x, lists);
    filters_.emplace(key, recognisedFilter(table, basis));
  }
  const auto& [match, why] = filters_.at(key);
  if (!match)
    return refuse(fmt::format("the filters of module '{}', {}", moduleOf(lists), why),
                  "a DiscreteContinuousConvS2 or DiscreteContinuousConvTransposeS2 with its own "
                  "filters, on the grids equiangular or legendre-gauss, and inputs of its in_shape",
                  shape);
  const ModelFilter filter = settingsOf(basis, *match, lists);
  if (!isTransposed)
    return reshape(filterValue(x, nullptr, channels * k, channels, filter), shape);
  if (const auto product = weightedInputs_.find(unshaped(x)); product != weightedInputs_.end())
    if (const Value input = product->second[0], weight = product->second[1];
        input->shape[0] == batch && weight->shape[0] * weight->shape[1] == channels &&
        weight->shape[3] == k && input->shape[3] == rows && input->shape[4] == columns)
      if (const Value w = reshape(weight, {channels, weight->shape[2], k}); w->isConstant())
        return filterValue(
            reshape(input, {batch, weight->shape[0] * weight->shape[2], rows, columns}), w,
            channels, weight->shape[0], filter);
  return filterValue(reshape(x, {batch, channels * k, rows, columns}), nullptr, channels, channels,
                     filter);
}

// Called by einsum(): "bgckxy,gock->bgoxy" with any labels, for a constant weight; else null.
ModelBuilder::Value ModelBuilder::filterProduct(const std::string& equation,
                                                const ModelValues& factors) {
  if (factors.size() != 2 || factors[0]->ndim() != 6 || factors[1]->ndim() != 4)
    return nullptr;
  const Value sums = factors[0], weight = factors[1], plain = unshaped(sums);
  if (plain->op != ModelOp::Filter || plain->inputs.size() != 1 || plain->filter->isTransposed)
    return nullptr;
  const auto labels = labelsOf(equation, sums, weight);
  if (!labels)
    return nullptr;
  const std::string &x = labels->x, &w = labels->w;
  const Index batch = plain->shape[0], groups = weight->shape[0], out = weight->shape[1],
              in = weight->shape[2], k = plain->filter->functions, rows = plain->shape[2],
              columns = plain->shape[3];
  if (w[0] != x[1] || w[2] != x[2] || w[3] != x[3] ||
      labels->y != std::string{x[0], x[1], w[1], x[4], x[5]} ||
      sums->shape != Shape{batch, groups, in, k, rows, columns} || weight->shape[3] != k)
    return nullptr;
  const Value stored = reshape(weight, {groups * out, in, k});
  if (!stored->isConstant())
    return nullptr;
  return reshape(filterValue(plain->inputs[0], stored, groups * out, groups, *plain->filter),
                 {batch, groups, out, rows, columns});
}

// Called by einsum(): notes "bgcxy,gock->bgokxy".
void ModelBuilder::noteWeightedInput(const std::string& equation, const ModelValues& factors,
                                     Value result) {
  if (factors.size() != 2 || factors[0]->ndim() != 5 || factors[1]->ndim() != 4)
    return;
  const auto labels = labelsOf(equation, factors[0], factors[1]);
  if (!labels)
    return;
  const std::string &x = labels->x, &w = labels->w;
  if (w[0] == x[1] && w[2] == x[2] && labels->y == std::string{x[0], x[1], w[1], w[3], x[3], x[4]})
    weightedInputs_[unshaped(result)] = {factors[0], factors[1]};
}

// Called for sums: the bias of a convolution, one number for each channel. A layer trains its bias
// like its weight. separateBiases() undoes this for one that is read without its bias too.
ModelBuilder::Value ModelBuilder::biasedFilter(Value y, Value bias) {
  if (y->op != ModelOp::Filter || y->inputs.size() != 2 || !bias->isConstant() ||
      elements(bias->shape) != y->shape[1] || broadcast(y->shape, bias->shape) != y->shape ||
      bias->ndim() < 3 || bias->shape[static_cast<std::size_t>(bias->ndim() - 3)] != y->shape[1] ||
      bias->asConstant().isFixed() != y->inputs[1]->asConstant().isFixed())
    return nullptr;
  const Value b = reshape(bias, {y->shape[1]});
  if (!b->isConstant())
    return nullptr;
  ModelValue* result = make(ModelOp::Filter, {y->inputs[0], y->inputs[1], b}, y->shape);
  result->filter = y->filter;
  result->groups = y->groups;
  biased_[result] = {y, bias};
  return result;
}

// Of a convolution that is read with a bias and without, or with two, makes sums: two layers would
// have its weight. Called once all outputs are known, by computePairs().
void ModelBuilder::separateBiases() {
  const std::set<Value> needed = neededValues(graph_);
  std::map<Value, int> readers; // of the convolution without a bias
  for (const auto& [result, terms] : biased_)
    if (needed.contains(result))
      readers[terms[0]] += needed.contains(terms[0]) ? 2 : 1;
  for (ModelValue& v : graph_.values)
    if (const auto found = biased_.find(&v);
        found != biased_.end() && readers[found->second[0]] > 1) {
      v.op = ModelOp::Add;
      v.inputs = found->second;
      v.filter.reset();
      v.groups = 1;
    }
}

} // namespace tenon
