// SPDX-License-Identifier: BSD-2-Clause
// Writes the report of `tenon import`, a text: the inputs and outputs, a list of all layers, the
// cost per rank, the receptive field, and whether the layers hold for other extents. All is
// computed on one process. For the cost, the layers' declarations compute layouts and work on a
// process grid without processes, so a laptop can predict the cost on a large machine.
//
// Class Reporter compiles the network as a set-up does (compile/program/compiled_network.hpp),
// which gives the layouts of all arrays. It adds the operations of each layer, and the messages of
// all moves of an Apply in inference, those between the kernels of a layer included. Then it visits
// the layers in order and derives the receptive field of each result from those of its inputs.
#include "import/model_report.hpp"

#include "compile/prices/listed_moves.hpp"
#include "compile/prices/pass_prices.hpp"
#include "declaration/core/types.hpp"
#include "import/lowering/sections.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tenon {

namespace {

constexpr Index kMaxReported = Index(1) << 20; // number of processes
constexpr Index kFloatBytes = 4;               // the cost is that of float32

// Formats a number of bytes: "1.5 MB".
std::string sized(double bytes) {
  for (const char* unit : {"B", "kB", "MB", "GB"}) {
    if (bytes < 1000 || unit[0] == 'G')
      return unit[0] == 'B' ? fmt::format("{:.0f} B", bytes)
                            : fmt::format("{:.1f} {}", bytes, unit);
    bytes /= 1000;
  }
  return "";
}

// Returns a word per dimension of an input: its extent, or "batch", "z", "y", "x" if that is free.
std::vector<std::string> wordsOf(const std::vector<std::optional<Index>>& shape) {
  constexpr const char* kSpace[] = {"z", "y", "x"};
  std::vector<std::string> words;
  const std::size_t rank = shape.size();
  for (std::size_t d = 0; d < rank; ++d)
    if (const std::optional<Index>& extent = shape[d])
      words.push_back(std::to_string(*extent));
    else
      words.push_back(d == 0          ? "batch"
                      : rank - d <= 3 ? kSpace[3 - (rank - d)]
                                      : fmt::format("n{}", d));
  return words;
}

// Formats "[batch, 2, y, x]" and, for a Fortran array, "(x, y, 2, batch)".
std::string bothOrders(const std::string& name, const std::vector<std::string>& words) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  return fmt::format("{}: [{}]   Fortran {}({})", name, joined(words), name, joined(reversed));
}

// Receptive field of a node's output in one spatial dimension, in elements of the network's input:
// an output depends on `before` elements before its own position and `after` behind it, and
// neighbouring outputs are `spacing` elements apart. Example: a 3-point convolution has {1, 1, 1}.
struct Sight {
  double before = 0, after = 0, spacing = 1;
};
using Sights = std::vector<Sight>;

// The network as the compiler reads it.
Network networkOf(const ImportedNetwork& imported, int inputs) {
  Network network{.nodes = {},
                  .inputs = inputs,
                  .outputs = outputValues(imported),
                  .elementBytes = kFloatBytes};
  for (const LayerDescription::Node& described : imported.graph.nodes) {
    NetworkNode& node = network.nodes.emplace_back();
    // `reads` has numbers of nodes, or -1, -2, ... for the inputs of the network. The compiler
    // counts the inputs first, then the nodes.
    for (const int name : described.reads)
      node.reads.push_back(name < 0 ? -1 - name : inputs + name);
    if (described.sameAs >= 0) {
      node.type = network.nodes[static_cast<std::size_t>(described.sameAs)].type;
      continue;
    }
    const std::shared_ptr<Declaration> type = makeDeclaration(described.layer.type);
    type->setTitle(fmt::format("layer \"{}\"", described.layer.name));
    for (const auto& [name, value] : described.layer.settings)
      type->set(name, value);
    node.halo = haloFrom(*type);
    node.type = type;
  }
  return network;
}

// Compiles the network, sums the costs per rank of its layers, and follows receptive fields through
// them. A layer's shape on the process grid is a Form: the layouts of its inputs (uses) and
// parameters, and the block of each rank.
class Reporter {
public:
  // splitOf() also creates grid_, which is declared before properties_. layoutsOf() reads both.
  Reporter(const ImportedNetwork& network, const std::vector<Shape>& inputs, Index processes)
      : network_(network), inputs_(static_cast<int>(inputs.size())),
        spatial_(std::max(static_cast<int>(inputs.front().size()) - 2, 0)),
        properties_(splitOf(inputs.front().size(), processes)),
        compiled_(networkOf(network, inputs_), layoutsOf(inputs),
                  Target::fromOptions(Space::Host)) {
    sights_.assign(inputs.size(), Sights(static_cast<std::size_t>(spatial_)));
    for (std::size_t n = 0; n < network_.graph.nodes.size(); ++n) {
      addWork(n);
      see(n);
    }
    countMessages(MovementTarget::fromOptions(static_cast<int>(processes), processes, Space::Host));
  }

  std::string outputs() const {
    std::string text;
    for (const NetworkOutput& output : network_.outputs)
      text += fmt::format(
          "  output {} [{}]\n", output.name,
          fmt::join(compiled_.outputOf(static_cast<std::size_t>(output.node)).shape(), ","));
    return text.empty()
               ? fmt::format("  output [{}]\n", fmt::join(compiled_.values().back().shape(), ","))
               : text;
  }
  std::string cost(Index processes) const {
    return fmt::format("on {} as {} ({}), in float32 and at most a rank:\n"
                       "  {:.3g} floating-point operations forwards, {:.3g} backwards\n"
                       "  weights {}, activations that derivatives read {}\n"
                       "  {} and {} sent in one evaluation\n",
                       counted(processes, "process", "processes"),
                       fmt::format("{}", fmt::join(grid_->extents(), "x")), describeProperties(),
                       forward_, adjoint_, sized(double(weights_ * kFloatBytes)),
                       sized(double(activations_ * kFloatBytes)), counted(messages_, "message"),
                       sized(double(elements_ * kFloatBytes)));
  }
  std::string sight() const {
    if (spatial_ == 0)
      return "";
    std::string text = "an output sees ";
    if (sights_.back().empty())
      return text + "all of space\n";
    for (int s = 0; s < spatial_; ++s) {
      const Sight& sight = sights_.back()[static_cast<std::size_t>(s)];
      text +=
          fmt::format("{}{:.0f} cells before and {:.0f} after in dimension {}", s > 0 ? ", " : "",
                      std::ceil(sight.before), std::ceil(sight.after), s + 2);
    }
    return text + (means_ > 0 ? fmt::format(", and the means of {} over all of space\n",
                                            counted(means_, "norm"))
                              : "\n");
  }

private:
  // Creates the process grid, and splits the inputs on it: their last two spatial dimensions, with
  // a grid as square as possible, or the batch if there are no spatial dimensions.
  Properties splitOf(std::size_t rank, Index processes) {
    std::vector<int> extents = {static_cast<int>(processes)};
    Properties properties = {Property::shard(rank > 2 ? static_cast<int>(rank) - 1 : 0)};
    if (rank > 3) {
      int rows = static_cast<int>(std::sqrt(double(processes)));
      while (processes % rows != 0)
        --rows;
      extents = {rows, static_cast<int>(processes / rows)};
      properties = {Property::shard(static_cast<int>(rank) - 2),
                    Property::shard(static_cast<int>(rank) - 1)};
    }
    grid_ = Grid::make(extents);
    return properties;
  }
  Layouts layoutsOf(const std::vector<Shape>& inputs) const {
    Layouts layouts;
    for (const Shape& input : inputs) {
      LayoutSpec spec{.shape = input, .grid = grid_, .properties = properties_};
      for (Property& property : spec.properties)
        if (!property.isShard() || property.dim >= static_cast<int>(input.size()))
          property = Property::broadcast();
      layouts.push_back(Layout(std::move(spec)));
    }
    return layouts;
  }
  std::string describeProperties() const {
    std::vector<std::string> words;
    for (const Property& property : properties_)
      words.push_back(property.describe());
    return joined(words, ",");
  }

  void addWork(std::size_t number) {
    const NetworkNode& node = compiled_.network().nodes[number];
    const Form& form = compiled_.nodes()[number].form.value();
    const Work work = node.type->work(form, 0); // block 0 is the largest
    forward_ += work.forward;
    adjoint_ += work.adjoint + work.adjointParameters;
    // Nodes that share the weights of another node do not count them again.
    if (network_.graph.nodes[number].sameAs < 0)
      for (const ParameterForm& parameter : form.parameters)
        weights_ += elements(parameter.use.box(0));
    activations_ += elements(form.output.box(0));
  }

  // Adds the largest numbers over the ranks for each move of one evaluation. All nodes run in
  // inference: without the maps of training, and without saved values (`keeps`). Operators that use
  // lists (index maps, linked halos) are left out, since their messages do not follow from layouts.
  void countMessages(const MovementTarget& target) {
    const MapList& list = compiled_.list();
    // At least one flag, because an empty list means that all nodes are in training.
    const InInference all(static_cast<std::size_t>(std::max(1, list.nodes())), true);
    const Pass apply = applyPass(list, compiled_.order(), all, /*keeps=*/false);
    for (const PassMove& move : movesOf(compiled_, list, apply)) {
      if (move.op.isLocal() || goesByLists(move.op))
        continue;
      const Traffic largest = movementOf(move.op, kFloatBytes, target).mostSent(Role::Source);
      messages_ += move.times * largest.messages;
      elements_ += move.times * largest.elements;
    }
  }

  // -- receptive fields

  // Returns a setting with one number per spatial dimension; `otherwise` is the default.
  std::vector<Index> numbersOf(const LayerDescription& layer, std::string_view name,
                               Index otherwise) const {
    std::vector<Index> numbers = {otherwise};
    for (const auto& [key, value] : layer.settings)
      if (key == name)
        numbers =
            std::holds_alternative<Index>(value)
                ? std::vector<Index>(static_cast<std::size_t>(spatial_), std::get<Index>(value))
                : std::get<std::vector<Index>>(value);
    numbers.resize(static_cast<std::size_t>(spatial_),
                   numbers.empty() ? otherwise : numbers.back());
    return numbers;
  }

  // Computes the receptive field of a node's result from those of its inputs.
  void see(std::size_t number) {
    const LayerDescription& layer = network_.layer(static_cast<int>(number));
    const Layouts& reads = compiled_.nodes()[number].inputs;
    Sights sights(static_cast<std::size_t>(spatial_));
    // Begins with nothing, and takes the largest field of all inputs. (The spacing of an input can
    // be less than the default of 1.)
    for (Sight& sight : sights)
      sight = {.before = 0, .after = 0, .spacing = 0};
    // A constant does not depend on the input.
    bool isBounded = spatial_ > 0;
    if (isBounded && layer.type == "constant")
      return sights_.push_back(sights);
    for (const int value : compiled_.network().nodes[number].reads) {
      const Sights& inputSights = sights_[static_cast<std::size_t>(value)];
      isBounded = isBounded && !inputSights.empty();
      for (std::size_t s = 0; isBounded && s < sights.size(); ++s)
        sights[s] = {std::max(sights[s].before, inputSights[s].before),
                     std::max(sights[s].after, inputSights[s].after),
                     std::max(sights[s].spacing, inputSights[s].spacing)};
    }
    const std::string& type = layer.type;
    // Layers of these types read all of space, or their outputs are not on the spatial grid.
    if (type == "globalaveragepooling" || type == "adaptiveaveragepooling" ||
        type == "spectralconv" || type == "sphericalconv" || type.ends_with("disco") ||
        type == "matmul" || type == "attention" || type == "flatten" || type == "transpose" ||
        (type == "softmax" && reads.front().ndim() > 2) ||
        (type == "reduce" && !keepsSpace(layer)) ||
        compiled_.outputOf(number).ndim() != spatial_ + 2)
      isBounded = false;
    if (type == "instancenorm" || type == "groupnorm")
      ++means_;
    for (std::size_t s = 0; isBounded && s < sights.size(); ++s)
      sights[s] = widened(layer, reads.front(), sights[s], s);
    sights_.push_back(isBounded ? sights : Sights());
  }

  // Whether a reduction leaves all spatial dimensions.
  static bool keepsSpace(const LayerDescription& layer) {
    for (const auto& [key, value] : layer.settings)
      if (key == "dims")
        for (const Index dim : std::get<std::vector<Index>>(value))
          if (dim >= 2)
            return false;
    return true;
  }

  // The receptive field in dimension s after a layer that reads a field with receptive field
  // `sight`.
  Sight widened(const LayerDescription& layer, const Layout& input, Sight sight,
                std::size_t s) const {
    const std::string& type = layer.type;
    const bool isPool = type == "maxpooling" || type == "averagepooling";
    const auto number = [&](std::string_view name, Index otherwise) {
      return double(numbersOf(layer, name, otherwise)[s]);
    };
    if (type == "conv" || isPool) {
      const double k = number("kernel", 1), low = number("padding", 0);
      const double span = (k - 1) * number("dilation", 1);
      sight.before += low * sight.spacing;
      sight.after += (span - low) * sight.spacing;
      sight.spacing *= number("stride", isPool ? static_cast<Index>(k) : 1);
    } else if (type == "pad") {
      // Output i is input i - padding, so the field moves down by the padding.
      sight.before += number("padding", 0) * sight.spacing;
      sight.after -= number("padding", 0) * sight.spacing;
    } else if (type == "transposedconv") {
      // Output o reads the inputs (o + low - (k - 1)) / step to (o + low) / step, and its own
      // position is o / step.
      const double k = number("kernel", 1), low = number("padding", 0), step = number("stride", 1);
      sight.before += std::max(0.0, std::ceil((k - 1 - low) / step)) * sight.spacing;
      sight.after += std::max(0.0, std::floor(low / step)) * sight.spacing;
      sight.spacing /= step;
    } else if (type == "pixelshuffle") {
      sight.spacing /= number("upscale", 1);
    } else if (type == "resample") {
      const bool isLinear =
          std::any_of(layer.settings.begin(), layer.settings.end(), [](const auto& setting) {
            return setting.first == "method" && std::get<std::string>(setting.second) == "linear";
          });
      const double reach = isLinear ? 1 : 0;
      sight.before += reach * sight.spacing;
      sight.after += reach * sight.spacing;
      const double n = double(std::max(input.shape()[s + 2], Index(1)));
      sight.spacing /=
          number("scale_factor", 0) > 0 ? number("scale_factor", 1) : number("size", 1) / n;
    }
    return sight;
  }

  const ImportedNetwork& network_;
  int inputs_, spatial_;
  GridPtr grid_;
  Properties properties_; // how the inputs are distributed, one per axis of the grid
  CompiledNetwork compiled_;
  std::vector<Sights> sights_; // one per value; an empty entry: the value depends on all of space
  // Sums over all layers, for the rank with the largest block.
  double forward_ = 0, adjoint_ = 0;    // floating-point operations
  Index weights_ = 0, activations_ = 0; // elements that are stored
  Index messages_ = 0, elements_ = 0;   // messages, and elements in them
  Index means_ = 0;                     // norms over all of space
};

std::string settingsText(const LayerDescription& layer) {
  std::string text;
  for (const auto& [name, value] : layer.settings)
    if (name != "parameter_names")
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, settingText(value));
  return text;
}

// Imports the model again with all free extents doubled, and reports whether the layers are the
// same: if so, the imported network is valid for other extents.
std::string freedom(const ImportedNetwork& network, const ModelProgram& program,
                    const ByteSource& file, const std::vector<Shape>& inputs) {
  std::vector<Shape> larger = inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t d = 0; d < inputs[i].size(); ++d)
      if (!program.inputs[i].shape[d])
        larger[i][d] *= 2;
  try {
    const ImportedNetwork largerNetwork = importNetwork(program, file, larger);
    const auto& nodes = network.graph.nodes;
    const auto isAlike = [](const auto& a, const auto& b) {
      return a.layer.type == b.layer.type && a.reads == b.reads;
    };
    // Dimensions of extent 1 do not matter in a permutation or a reshape, so extents can change
    // layers.
    if (!std::ranges::equal(nodes, largerNetwork.graph.nodes, isAlike)) {
      std::vector<std::string> words;
      for (std::size_t i = 0; i < larger.size(); ++i)
        words.push_back(
            fmt::format(" -extents {}={}", program.inputs[i].name, fmt::join(larger[i], ",")));
      return fmt::format("at twice these extents it has other layers:{}\n", fmt::join(words, ""));
    }
    std::vector<std::string> differ;
    for (int n = 0; n < std::ssize(nodes); ++n)
      if (settingsText(network.layer(n)) != settingsText(largerNetwork.layer(n)))
        differ.push_back(network.layer(n).name);
    if (differ.empty())
      return "the layers are the same for all extents\n";
    return fmt::format("settings of these layers hold for these extents only: {}\n",
                       joined(differ));
  } catch (const Error& error) {
    return fmt::format("at twice these extents it is refused: {}\n", error.text());
  }
}

// A line for each layer, with the operation of the file from which it was made.
std::string listOfLayers(const ImportedNetwork& network) {
  std::size_t wide = 4; // width of the column of names
  for (const auto& node : network.graph.nodes)
    wide = std::max(wide, node.layer.name.size());
  std::string text;
  for (const ImportedNetwork::Row& row : network.rows) {
    const LayerDescription& layer = network.layer(row.node);
    std::string line = fmt::format("{:4} {:<{}}  {:<14} {}", row.node, layer.name, wide, layer.type,
                                   settingsText(layer));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    text += fmt::format("       of {}{}{}\n", row.label, row.where.empty() ? "" : ": " + row.where,
                        row.remark.empty() ? "" : " (" + row.remark + ")");
  }
  return text;
}

} // namespace

// An extent is, in order of preference: given by the user, fixed in the file, that of the file's
// test, that of the example at export, 1 for the batch and 64 for other dimensions.
std::vector<Shape> extentsOfRun(const ModelProgram& program,
                                const std::vector<std::pair<std::string, Shape>>& givenExtents) {
  constexpr Index kCells = 64;
  std::vector<std::string> names;
  for (const ModelInput& input : program.inputs)
    names.push_back(input.name);
  for (const auto& [name, shape] : givenExtents)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(TENON_ERR_ARG,
                  fmt::format("the model has no input '{}'; it has {}", name, joined(names)));
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const ModelInput& input = program.inputs[i];
    Shape shape, testShape = program.test ? program.test->inputs[i].shape : Shape();
    for (std::size_t d = 0; d < input.shape.size(); ++d) {
      const auto exampleExtent = d < input.example.size() ? input.example[d] : std::nullopt;
      const Index defaultExtent = exampleExtent.value_or(d == 0 ? 1 : kCells);
      shape.push_back(input.shape[d].value_or(d < testShape.size() ? testShape[d] : defaultExtent));
    }
    if (input.shape.empty())
      shape = {1}; // a number
    for (const auto& [name, extents] : givenExtents)
      if (name == input.name) {
        if (extents.size() != shape.size())
          throw Error(TENON_ERR_SHAPE, fmt::format("input '{}' has {} dimensions, but {} are given",
                                                   name, shape.size(), extents.size()));
        shape = extents;
      }
    shapes.push_back(shape);
  }
  return shapes;
}

std::string reportModel(const std::string& name, const ModelProgram& program,
                        const ByteSource& file, const std::vector<Shape>& inputs, Index processes) {
  if (processes < 1 || processes > kMaxReported)
    throw Error(TENON_ERR_ARG, fmt::format("the number of processes is {}; it must be in 1 to {}",
                                           processes, kMaxReported));
  const ImportedNetwork network = importNetwork(program, file, inputs);
  const Reporter reporter(network, inputs, processes);
  const bool isOnnx = program.format == ModelProgram::Format::Onnx;
  std::string text =
      fmt::format("{}: {}, {}, {}\n", name,
                  isOnnx ? fmt::format("ONNX, opset {}", program.version)
                  : program.format == ModelProgram::Format::Ann ? "MOM6's layout"
                                                                : "PyTorch",
                  counted(static_cast<Index>(program.operations.size()), "operation"),
                  program.test ? "with a test" : "without a test");
  if (program.test && !program.test->about.empty())
    text += fmt::format("  {}\n", program.test->about);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    text += fmt::format("  input  {}   here [{}]\n",
                        bothOrders(program.inputs[i].name, wordsOf(program.inputs[i].shape)),
                        fmt::join(inputs[i], ","));
  text += reporter.outputs();
  for (const std::string& line : network.normalisations)
    text += fmt::format("  {}\n", line);
  Index numbers = 0, fixed = 0;
  for (const ImportedNetwork::Parameter& parameter : network.parameters) {
    const bool isFixed =
        network.graph.nodes[static_cast<std::size_t>(parameter.node)].layer.frozen ||
        parameter.name.starts_with("running_"); // the statistics of a batch norm
    (isFixed ? fixed : numbers) += parameter.value.elements();
  }
  text += listOfLayers(network);
  text += fmt::format("{} parameters, and {} constants that are not trained{}\n", numbers, fixed,
                      isOnnx ? "; from ONNX: weights may be folded" : "");
  if (!program.rounded.empty())
    text += fmt::format(
        "the file has numbers of the model's source in float32 ({:.8g}), in which its results are "
        "exact to 1e-7; a .pt2 has them in float64\n",
        fmt::join(program.rounded, ", "));
  text += reporter.sight() + reporter.cost(processes) + freedom(network, program, file, inputs);
  if (!program.test)
    text += program.format == ModelProgram::Format::Ann
                ? fmt::format("{}\n", adviceOnTest(program.format))
                : "share/tenon/export_torch.py writes a test into the file, which shows at SetUp "
                  "that it is computed as in PyTorch\n";
  return text + fmt::format("all {} operations were imported, as {}\n", program.operations.size(),
                            counted(static_cast<Index>(network.graph.nodes.size()), "layer"));
}

} // namespace tenon
