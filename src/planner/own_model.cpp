// SPDX-License-Identifier: BSD-2-Clause
#include "planner/own_model.hpp"

#include "geometry/holding.hpp"
#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr Index kFirstSpatial = 2;
constexpr Index kFloatBytes = 4;
constexpr double kCopiesOfAParameter = 3; // its gradient and one state of the optimizer beside it

double there(const Layout& from, const Layout& to, const LinkRates& links, Looks looks) {
  return sameHolding(from, to) ? 0 : priceOfMove(from, to, kFloatBytes, links, looks).seconds;
}

double thereAndBack(const Layout& from, const Layout& to, const LinkRates& links, Looks looks) {
  return there(from, to, links, looks) + there(to.dual(), from.dual(), links, looks);
}

// A layout's properties on a tensor of another shape. Of features, what splits space is behind what splits
// channels.
Layout onShape(const Layout& layout, const Shape& shape) {
  LayoutSpec spec = layout.spec();
  const std::size_t rank = shape.size();
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (d < rank && spec.shape[d] == shape[d])
      continue;
    if (!spec.cuts.empty())
      spec.cuts[d].clear();
    if (d >= rank && !spec.splitAxes.empty())
      spec.splitAxes[1].insert(spec.splitAxes[1].end(), spec.splitAxes[d].begin(),
                               spec.splitAxes[d].end());
  }
  for (Property& property : spec.properties)
    if (property.isShard() && property.dim >= static_cast<int>(rank))
      property = Property::shard(1);
  spec.shape = shape;
  spec.cuts.resize(rank);
  spec.splitAxes.resize(rank);
  spec.margins.resize(rank);
  return Layout(std::move(spec));
}

std::string emptyPart(const Layout& layout, const char* what) {
  for (int d = 0; d < layout.rank(); ++d) {
    const std::vector<Index>& cuts = layout.cuts(d);
    if (std::adjacent_find(cuts.begin(), cuts.end()) != cuts.end())
      return fmt::format("dimension {} of its {} has {} elements, of which {} processes cannot all "
                         "have some",
                         d, what, layout.shape()[d], layout.parts(d));
  }
  return {};
}

} // namespace

OwnModel::OwnModel(DeclaredNetwork network, FineMesh mesh, OwnRates rates, bool inputChannels)
    : CostModel(std::move(mesh), inputChannels), network_(std::move(network)),
      rates_(std::move(rates)), grid_(Mesh::make(this->mesh().extents())) {
  for (const DeclaredLayer& layer : network_.layers)
    names_.push_back(layer.name);
  for (const DeclaredMove& move : network_.moves)
    moves_.push_back({move.from, move.to});
  addKinds();
  for (const DeclaredMove& move : network_.moves)
    ends_.push_back(endsOf(move));
}

void OwnModel::addKinds() {
  std::map<std::string, int> known;
  for (const DeclaredLayer& layer : network_.layers) {
    std::string key = fmt::format("{} {} {} {}", layer.declaration->agreedText(), layer.splitDims,
                                  layer.mostChannels, layer.readsInput);
    for (const Shape& input : layer.inputs)
      key += fmt::format(" [{}]", fmt::join(input, ","));
    for (const Follower& follower : layer.followers)
      key += fmt::format("; {} of {}", follower.declaration->agreedText(), follower.reads);
    const auto [at, isNew] = known.emplace(key, static_cast<int>(kinds_.size()));
    kindOf_.push_back(at->second);
    if (!isNew)
      continue;
    Kind kind{.layer = &layer, .rows = layer.declaration->rows(layer.inputs), .words = {}};
    for (const Word& word : words())
      kind.words.push_back(place(kind, word));
    kinds_.push_back(std::move(kind));
  }
}

std::string OwnModel::spatial(int layer) const {
  const DeclaredLayer& asked = network_.layers[layer];
  return spatialLetters(static_cast<int>(asked.inputs.front().size()) - 2, asked.splitDims);
}

char OwnModel::channelLabel(int layer) const {
  for (const SignatureRow& row : kinds_[kindOf_[layer]].rows)
    if (row.output == Property::shard(1))
      return row.letter == "g" ? 'g' : 'o';
  return 'o';
}

Parts OwnModel::parts(int layer, int word) const {
  return mesh().parts(words()[word], network_.layers[layer].splitDims);
}

// Null where the table has none.
const SignatureRow* OwnModel::rowOf(const Kind& kind, const Word& word, int axis) const {
  const int inner = mesh().axes() - word.space;
  const bool isSum = axis >= word.batch && axis < inner && word.channel == 'i';
  Property output = Property::partial();
  if (axis < word.batch)
    output = Property::shard(0);
  else if (axis >= inner)
    output = Property::shard(static_cast<int>(
        kFirstSpatial + (mesh().axes() - 1 - axis) % std::max(1, kind.layer->splitDims)));
  else if (!isSum)
    output = Property::shard(1);
  for (const SignatureRow& row : kind.rows)
    if (row.output == output && (!isSum || row.inputs.front() == Property::shard(1)))
      return &row;
  return nullptr;
}

// An input as it is used, but for halos.
Layout OwnModel::inputLayout(const Kind& kind, const Word& word,
                             const std::vector<const SignatureRow*>& rows,
                             std::size_t input) const {
  LayoutSpec spec{.shape = kind.layer->inputs[input], .mesh = grid_, .properties = {}};
  spec.splitAxes.resize(spec.shape.size());
  for (int axis = 0; axis < mesh().axes(); ++axis) {
    const Properties& inputs = rows[axis]->inputs;
    const Property property = inputs[std::min(input, inputs.size() - 1)];
    spec.properties.push_back(property);
    if (!property.isShard())
      continue;
    std::vector<int>& axes = spec.splitAxes[property.dim];
    const bool isFromLast = axis >= mesh().axes() - word.space;
    axes.insert(isFromLast ? axes.begin() : axes.end(), axis);
  }
  return Layout(std::move(spec));
}

OwnModel::Placed OwnModel::place(const Kind& kind, const Word& word) const {
  Placed placed;
  try {
    placed.fault = addForm(kind, word, placed);
    if (placed.fault.empty()) {
      addCosts(*kind.layer, placed);
      follow(*kind.layer, placed);
    }
  } catch (const Error& error) {
    placed.fault = error.text();
  }
  return placed;
}

// Gives the reason if there is none.
std::string OwnModel::addForm(const Kind& kind, const Word& word, Placed& placed) const {
  const DeclaredLayer& layer = *kind.layer;
  std::vector<const SignatureRow*> rows;
  std::vector<std::string> letters;
  for (int axis = 0; axis < mesh().axes(); ++axis) {
    const bool isSpace = axis >= mesh().axes() - word.space;
    rows.push_back(isSpace && layer.splitDims == 0 ? nullptr : rowOf(kind, word, axis));
    if (!rows.back())
      return isSpace ? "it must have all of space" : "it has no such label";
    letters.push_back(rows.back()->letter + (isSpace && word.space > 1 ? "-" : ""));
  }
  const Index channels = mesh().parts(word, layer.splitDims).channels;
  if (channels > layer.mostChannels)
    return fmt::format("{} output channels have no {} parts", layer.mostChannels, channels);
  Layouts inputs;
  for (std::size_t input = 0; input < layer.inputs.size(); ++input) {
    inputs.push_back(inputLayout(kind, word, rows, input));
    if (const std::string fault = emptyPart(inputs.back(), "input"); !fault.empty())
      return fault;
  }
  placed.signature = joined(letters, ",");
  placed.form = layer.declaration->form(inputs, {.mesh = grid_, .letters = placed.signature});
  for (const ParameterForm& parameter : placed.form->parameters)
    if (const std::string fault = emptyPart(parameter.use, "weights"); !fault.empty())
      return fault;
  return emptyPart(placed.form->output, "output");
}

void OwnModel::addCosts(const DeclaredLayer& layer, Placed& placed) const {
  const Form& form = *placed.form;
  placed.seconds = kernelSeconds(layer, form) + inputSeconds(layer, form);
  double kept = double(form.output.mostOwnedCells());
  for (const Layout& use : form.uses)
    kept += double(use.mostOwnedCells());
  for (const ParameterForm& parameter : form.parameters) {
    placed.seconds += there(parameter.use.dual(), parameter.use, rates_.links, Looks::First);
    kept += kCopiesOfAParameter * double(parameter.use.mostOwnedCells());
  }
  placed.bytes = kFloatBytes * kept;
}

// What follows converts its input where it must, and keeps its output.
void OwnModel::follow(const DeclaredLayer& layer, Placed& placed) const {
  placed.outputs = {placed.form->output};
  for (const Follower& follower : layer.followers) {
    const Layout read = placed.outputs[follower.reads];
    const Form form = follower.declaration->form({read}, {});
    const Work work = follower.declaration->work(form, 0);
    placed.seconds += thereAndBack(read, form.uses.front(), rates_.links, Looks::First) +
                      (work.forward + work.adjoint) / rates_.flops;
    placed.bytes += kFloatBytes * double(form.output.mostOwnedCells());
    placed.outputs.push_back(form.output);
  }
}

// At position 0, whose parts are the largest.
double OwnModel::kernelSeconds(const DeclaredLayer& layer, const Form& form) const {
  const Work work = layer.declaration->work(form, 0);
  return (work.forward + work.adjointParameters + (layer.readsInput ? 0 : work.adjoint)) /
         rates_.flops;
}

double OwnModel::inputSeconds(const DeclaredLayer& layer, const Form& form) const {
  const Layout& use = form.uses.front();
  return layer.readsInput && use.hasMargins()
             ? there(use.withoutMargins(), use, rates_.links, Looks::First)
             : 0;
}

OwnModel::Ends OwnModel::endsOf(const DeclaredMove& move) {
  Ends ends;
  for (std::size_t word = 0; word < words().size(); ++word) {
    const Placed& source = kinds_[kindOf_[move.from]].words[word];
    const Placed& target = kinds_[kindOf_[move.to]].words[word];
    ends.sources.push_back(source.fault.empty()
                               ? numberOfLayout(onShape(source.outputs[move.output], move.shape))
                               : -1);
    ends.targets.push_back(target.fault.empty()
                               ? numberOfLayout(onShape(target.form->uses[move.input], move.shape))
                               : -1);
  }
  return ends;
}

int OwnModel::numberOfLayout(Layout layout) {
  std::vector<int>& alike = layoutsLike_[{layout.shape(), describe(layout.properties())}];
  for (int known : alike)
    if (layouts_[known] == layout)
      return known;
  alike.push_back(static_cast<int>(layouts_.size()));
  layouts_.push_back(std::move(layout));
  return alike.back();
}

double OwnModel::price(Prices& known, int move, int from, int to, Looks looks) const {
  const int source = ends_[move].sources[from], target = ends_[move].targets[to];
  const auto [at, isNew] = known.emplace(std::uint64_t(source) << 32 | std::uint64_t(target), 0.0);
  if (isNew)
    at->second = thereAndBack(layouts_[source], layouts_[target], rates_.links, looks);
  return at->second;
}

double OwnModel::moveSeconds(int move, int from, int to) const {
  return price(prices_, move, from, to, Looks::First);
}

double OwnModel::exactMoveSeconds(int move, int from, int to) const {
  return price(exactPrices_, move, from, to, Looks::All);
}

// A sample of the positions mostly has one that is dearer, where there is one.
double OwnModel::closerMoveSeconds(int move, int from, int to, double known) const {
  const double sampled = price(sampledPrices_, move, from, to, Looks::Sampled);
  return sampled > known * (1 + kCostRounding) ? sampled : exactMoveSeconds(move, from, to);
}

} // namespace tenon
