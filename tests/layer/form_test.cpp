// SPDX-License-Identifier: BSD-2-Clause
// A declaration describes a layer without MPI (its form and map list), from which the planner
// predicts operations, messages, bytes and memory. This test sets up the same layer and compares
// the prediction with what the layer has and what the log counts in Apply and adjoint, on every
// rank, for every type, all combinations of labels, and many layouts of the inputs.
#include "layer_run.hpp"

#include "declaration/core/pass.hpp"
#include "declaration/core/types.hpp"
#include "geometry/schedule/traffic.hpp"
#include "kernels/pooling/pooling.hpp"
#include "support/draws.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/view.hpp"
#include "sys/traps.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// A layer that can be set up, with the shapes of its inputs.
struct Sample {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Ref<Layer>()> make;
};

Sample sampleOf(const std::string& type, const Example& example) {
  return {type, example.inputs, [=] {
            auto layer = test::newLayer(world(), type);
            for (const auto& [name, value] : example.settings)
              layer->set(name, value);
            if (layer->declaration().settings().has("overlap") &&
                !layer->declaration().isSet("overlap"))
              layer->setText("overlap", "off");
            if (!example.target.empty())
              test::setTarget(*layer, example);
            return layer;
          }};
}

// Random examples of each type, and convolutions with properties that an example may not have: an
// output in pieces, parameters stored on the root, and boundary values as a tensor and as a
// constant.
std::vector<Sample> samples() {
  const std::vector<Index> kernel = {3, 2}, padding = {1, 0};
  const auto text = [](const char* value) { return SettingValue(std::string(value)); };
  const Example conv{{{"in_channels", Index(4)},
                      {"out_channels", Index(6)},
                      {"kernel", kernel},
                      {"padding", padding}},
                     {{4, 4, 9, 8}}};
  Example strips = conv, stored = conv, values = conv, constant = conv;
  strips.settings.emplace_back("overlap", text("on"));
  stored.settings.emplace_back("storage", text("root"));
  constant.settings.emplace_back("boundary", text("values,none"));
  values.settings.push_back(constant.settings.back());
  values.inputs.push_back({1});
  constant.settings.emplace_back("boundary_constant", 2.5);
  std::vector<Sample> all = {{"repartition", {{3, 7}}, [] {
                                return test::repartition(world(), {3, 7});
                              }}};
  for (const Example& example : {conv, strips, stored, values, constant})
    all.push_back(sampleOf("conv", example));
  for (const std::string& type : test::typesWithExamples())
    for (int seed = 0, end = test::draws(2); seed < end; ++seed) {
      ExampleDraw draw(seed);
      all.push_back(sampleOf(type, makeDeclaration(type)->example(draw)));
    }
  return all;
}

// Process grids of all ranks: one axis, and all factorizations into two.
std::vector<GridPtr> gridsOfAllRanks() {
  const int ranks = world()->size();
  std::vector<GridPtr> all = {Grid::make({ranks})};
  for (int rows = 2; rows < ranks; ++rows)
    if (ranks % rows == 0)
      all.push_back(Grid::make({rows, ranks / rows}));
  return all;
}

// All combinations of labels on a grid, such as "n,h" on two axes.
std::vector<std::string> labelsOn(const SignatureTable& table, int axes) {
  std::vector<std::string> words = {""};
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<std::string> longer;
    for (const std::string& word : words)
      for (const SignatureRow& row : table)
        longer.push_back(word + (word.empty() ? "" : ",") + row.label);
    words = std::move(longer);
  }
  return words;
}

// Layouts with B, R, P, each dimension split evenly, and the last dimension with split points that
// leave the first block empty. A second axis has the next property of this list.
Layouts layoutsOn(const GridPtr& grid, const Shape& shape) {
  Properties each = {Property::broadcast(), Property::root(), Property::partial()};
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    each.push_back(Property::shard(d));
  Layouts all;
  for (std::size_t i = 0; i < each.size(); ++i) {
    LayoutSpec spec{.shape = shape, .grid = grid, .properties = {}};
    for (int axis = 0; axis < grid->axes(); ++axis)
      spec.properties.push_back(each[(i + axis) % each.size()]);
    all.emplace_back(spec);
  }
  LayoutSpec uneven = all.back().spec();
  const int last = static_cast<int>(shape.size()) - 1;
  uneven.cuts.resize(shape.size());
  uneven.cuts[last] = {0};
  for (int part = 0; part < all.back().parts(last); ++part)
    uneven.cuts[last].push_back(
        part + 1 == all.back().parts(last) ? shape[last] : std::min<Index>(part, shape[last]));
  all.emplace_back(uneven);
  return all;
}

// Floating-point operations, messages and bytes of one rank in one call.
struct Count {
  double flops = 0;
  Index messages = 0, bytes = 0;

  Count& operator+=(const Count& other) {
    flops += other.flops;
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
};

void expectEqual(const Count& counted, const Count& predicted, const std::string& what) {
  EXPECT_EQ(counted.flops, predicted.flops) << what;
  EXPECT_EQ(counted.messages, predicted.messages) << what;
  EXPECT_EQ(counted.bytes, predicted.bytes) << what;
}

// The numbers that the log counts in a call on this rank.
template <class Call>
Count counted(const char* event, Call&& call) {
  logReset();
  logEnable(true);
  call();
  Count count;
  for (const EventRecord& record : logSnapshot()) {
    if (record.event == "LocalKernel")
      count.flops += record.flops;
    if (record.event != event)
      continue;
    count.messages += record.messages;
    count.bytes += record.bytes;
  }
  logEnable(false);
  return count;
}

// The messages and bytes that this rank sends in a conversion that is one exchange.
Count sent(const Layout& from, const Layout& to, Index elementBytes) {
  const Traffic traffic = countFlow(from, to, world()->rank(), Role::Source).others;
  return {0, traffic.messages, traffic.elements * elementBytes};
}

// The prediction: a layer described by its declaration alone.
class Prediction {
public:
  Prediction(const Declaration& declaration, Form form)
      : declaration_(declaration), form_(std::move(form)),
        list_(declaration.maps(form_, declaration.storageLayouts(form_))),
        work_(declaration.work(form_, form_.output.grid().position(world()->rank()))) {}

  const Form& form() const { return form_; }
  const MapList& list() const { return list_; }
  Index savedBytes() const { return list_.savedBytes(world()->rank(), kElementBytes); }

  // Includes the conversions of the parameters, which a first Apply makes, and that of the target
  // from its layout.
  Count apply(const DTensor* target) const {
    Count sum{work_.forward, 0, 0};
    for (const Map& map : list_.maps())
      if (map.kind == Map::Kind::Operator && !list_.operators()[map.object].isLocal())
        sum += sent(list_.operators()[map.object].from, list_.operators()[map.object].to,
                    kElementBytes);
    sum += withinKernels(&OwnMove::inApply);
    for (const SourceEntry& source : list_.sources())
      sum += source.storage ? sent(*source.storage, source.use, kElementBytes)
                            : sent(target->layout(), source.use, dataTypeSize(target->dataType()));
    return sum;
  }
  Count adjoint(bool wanted) const {
    Count sum{(wanted ? work_.adjoint : 0) + work_.adjointParameters, 0, 0};
    for (const tenon::Step& step :
         adjointPass(list_, Chosen(list_.inputs().size(), wanted)).steps) {
      if (step.what != Do::Begin && step.what != Do::Apply)
        continue;
      const OperatorEntry& op = list_.operators()[list_.maps()[step.map].object];
      if (!op.isLocal())
        sum += sent(op.to.dual(), op.from.dual(), kElementBytes);
    }
    if (wanted)
      sum += withinKernels(&OwnMove::inAdjoint);
    return sum;
  }

private:
  // The messages that kernels send themselves, such as the ring of attention.
  Count withinKernels(Index OwnMove::*times) const {
    Count sum;
    for (const KernelEntry& kernel : list_.kernels())
      for (const OwnMove& move : kernel.moves)
        for (Index i = 0; i < move.*times; ++i)
          sum +=
              sent(list_.operators()[move.op].from, list_.operators()[move.op].to, kElementBytes);
    return sum;
  }
  static constexpr Index kElementBytes = 4;
  const Declaration& declaration_;
  Form form_;
  MapList list_;
  Work work_;
};

// Tensors in memory of the caller, of which the layer saves copies, as savedBytes() assumes: it
// would save tensors in memory of the library by reference.
class Arrays {
public:
  explicit Arrays(const Layouts& layouts) {
    for (const Layout& layout : layouts) {
      tensors_.push_back(test::tensor(layout, TENON_FLOAT32));
      memory_.emplace_back(std::max<Index>(1, elements(layout.boxOfRank(world()->rank()))));
      tensors_.back()->placeBox(memory_.back().data(), false);
      raw_.push_back(tensors_.back().get());
    }
  }
  DTensor& one() { return *raw_.front(); }
  Inputs inputs() const { return {const_cast<const DTensor* const*>(raw_.data()), raw_.size()}; }
  InputCotangents cotangents() const { return raw_; }

private:
  std::vector<Ref<DTensor>> tensors_;
  std::vector<std::vector<float>> memory_;
  std::vector<DTensor*> raw_;
};

Layouts dualsOf(const Layouts& layouts) {
  Layouts duals;
  for (const Layout& layout : layouts)
    duals.push_back(layout.dual());
  return duals;
}

// Compares the layouts of output and parameters with the prediction.
void expectLayouts(const Layer& layer, const Prediction& predicted, const std::string& what) {
  EXPECT_EQ(predicted.form().output, layer.outputLayout()) << what;
  const auto parameters = layer.parameters();
  const Layouts storage = layer.declaration().storageLayouts(predicted.form());
  ASSERT_EQ(storage.size(), parameters.size()) << what;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    EXPECT_EQ(predicted.form().parameters[p].name, parameters[p]->name()) << what;
    EXPECT_EQ(storage[p], parameters[p]->storage()) << what;
  }
}

// Compares what the log counts in Apply and adjoint, and the saved bytes, with the prediction.
void expectSteps(Layer& layer, const Prediction& predicted, const Layouts& inputs,
                 const std::string& what) {
  Arrays x(inputs), dx(dualsOf(inputs));
  Arrays y({layer.outputLayout()}), dy({layer.outputLayout().dual()});
  const DTensor* target = layer.declaration().takesTarget() ? &layer.target() : nullptr;
  expectEqual(counted("LayerApply", [&] { layer.apply(x.inputs(), y.one()); }),
              predicted.apply(target), what + ", apply");
  EXPECT_NE(layer.describe().find("saved activations " + sizeText(predicted.savedBytes()) + "\n"),
            std::string::npos)
      << what << ": " << predicted.savedBytes() << " B are not\n"
      << layer.describe();
  expectEqual(counted("LayerAdjoint", [&] { layer.applyAdjoint(dy.one(), dx.cotangents()); }),
              predicted.adjoint(true), what + ", adjoint");
  layer.apply(x.inputs(), y.one());
  const std::vector<DTensor*> none(inputs.size(), nullptr);
  expectEqual(counted("LayerAdjoint", [&] { layer.applyAdjoint(dy.one(), InputCotangents(none)); }),
              predicted.adjoint(false), what + ", adjoint of parameters");
}

// Predicts the layer for these inputs and labels, sets it up, and compares. If the declaration
// refuses the combination, set-up must fail with the same error.
void expectForm(const Sample& sample, const Layouts& inputs, const std::string& labels) {
  const auto layer = sample.make();
  const bool fixed = layer->declaration().outputLayout().has_value();
  if (!fixed)
    layer->setText("signature", labels);
  std::string what = sample.name + (" " + labels) + " for";
  for (const Layout& input : inputs)
    what += " " + input.describe();
  const Declaration& declaration = layer->declaration();
  const bool overlap =
      declaration.settings().has("overlap") && declaration.value<std::string>("overlap") == "on";
  std::optional<Prediction> predicted;
  try {
    predicted.emplace(
        declaration, declaration.form(inputs, {.labels = fixed ? "" : labels, .overlap = overlap}));
  } catch (const Error& refused) {
    EXPECT_TRUE(overlap) << what << ": " << refused.text();
    test::expectErrorOnAll(refused.code(), {}, [&] { layer->setUp(inputs); });
    return;
  }
  layer->setUp(inputs);
  ASSERT_NO_FATAL_FAILURE(expectLayouts(*layer, *predicted, what));
  expectSteps(*layer, *predicted, inputs, what);
}

// The prediction counts the messages of single exchanges, so conversions must not take other
// routes.
class FormsByExchange : public testing::Test {
protected:
  FormsByExchange() { options().set("-tenon_conversion_route", "exchange"); }
  ~FormsByExchange() override { options().set("-tenon_conversion_route", "auto"); }
};

// On one axis, each combination of labels is tested with two of the layouts; which ones depends on
// the combination and on the number of ranks. On two axes, five combinations are tested, with one
// layout each.
TEST_F(FormsByExchange, AreTheSetUpLayers) {
  const NoTraps noTraps; // the inputs are zeros, whose reciprocals are infinite
  for (const Sample& sample : samples())
    for (const GridPtr& grid : gridsOfAllRanks()) {
      std::vector<Layouts> layouts; // by input
      for (const Shape& shape : sample.inputs)
        layouts.push_back(layoutsOn(grid, shape));
      const SignatureTable table = sample.make()->declaration().rows(sample.inputs);
      const std::vector<std::string> words = labelsOn(table, grid->axes());
      const std::size_t cases =
          test::draws(grid->axes() == 1 ? 2 * static_cast<int>(words.size()) : 5);
      for (std::size_t c = 0; c < cases; ++c) {
        Layouts inputs;
        for (std::size_t i = 0; i < layouts.size(); ++i)
          inputs.push_back(layouts[i][(c + i + world()->size()) % layouts[i].size()]);
        ASSERT_NO_FATAL_FAILURE(expectForm(sample, inputs, words[c * words.size() / cases]));
      }
    }
}

// The declaration computes the size of the workspace without the kernels of the backends, which
// must need the same.
TEST(FormsOfMaxima, SayTheWorkspaceThatKernelsFill) {
  for (const Index stride : {1, 2}) {
    const auto pooling = makeDeclaration("maxpooling");
    pooling->set("kernel", std::vector<Index>{2});
    pooling->set("stride", std::vector<Index>{stride});
    const Form form = pooling->form({onWorld({3, 4, 8}, "B")}, {});
    const MapList list = pooling->maps(form, {});
    const PoolingShape shape{.planes = 3 * 4,
                             .window = {.rank = 1,
                                        .in = {8},
                                        .out = {form.output.shape()[2]},
                                        .kernel = {2},
                                        .stride = {stride},
                                        .dilation = {1},
                                        .padLow = {0},
                                        .padEnd = {8}},
                             .mode = PoolingMode::Max};
    for (const Backend backend : {Backend::Reference, Backend::Blas, Backend::Auto})
      EXPECT_EQ(list.kernels()[0].workspace.bytesOfRank(world()->rank()),
                makePooling<float>(shape, backend)->workspaceBytes());
  }
}

// The layer can have another process grid than its input.
TEST_F(FormsByExchange, MayLieOnAnotherGrid) {
  const auto conv = makeDeclaration("conv");
  conv->set("in_channels", Index(3));
  conv->set("out_channels", Index(8));
  conv->set("kernel", std::vector<Index>{3, 3});
  const Layout input(
      {.shape = {16, 3, 32, 32}, .grid = Grid::make({6}), .properties = {Property::shard(2)}});
  const GridPtr other = Grid::make({2, 4});
  const Form form = conv->form({input}, {.grid = other, .labels = "n,o"});
  EXPECT_EQ(form.output.grid(), *other);
  EXPECT_EQ(form.output.properties(), parseProperties("S0,S1"));
  EXPECT_EQ(form.uses[0].properties(), parseProperties("S0,B"));
  EXPECT_EQ(form.parameters[0].use.properties(), parseProperties("B,S0"));
  EXPECT_THROW(conv->form({input}, {.grid = other}),
               Error); // without labels the choice of grid is ambiguous
  // The map list then has a conversion to the other grid, on which each of eight processes saves
  // its part of x.
  const MapList list = conv->maps(form, conv->storageLayouts(form));
  ASSERT_EQ(list.operators().size(), 1U);
  EXPECT_EQ(list.operators()[0].from, input);
  EXPECT_EQ(list.operators()[0].to, form.uses[0]);
  EXPECT_EQ(list.savedBytes(7, 4), 4 * 16 * 3 * 32 * 32 / 2);
}

} // namespace
} // namespace tenon
