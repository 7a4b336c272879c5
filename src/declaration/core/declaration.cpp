// SPDX-License-Identifier: BSD-2-Clause
// What all layer types have in common: the settings kCommon, how a declaration checks settings, the
// storage layouts of parameters, and the defaults of the virtual functions. A declaration has the
// settings of one layer and derives from them and from given input layouts all that a run or a plan
// needs to know (declaration.hpp); the types in types/, windows/ and mesh/ derive from it.
//
// A value that is invalid whatever the others are is rejected when it is set; consistency of all
// values is checked when the declaration is used. Every order of setters is therefore valid.
#include "declaration/core/declaration.hpp"

#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/array_kernel.hpp"
#include "sys/errors/error.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kCommon[] = {
    {"data_type", OptionSpec::Choice, "float32", "element type of input, parameters and output",
     "float32|float64"},
    {"signature", OptionSpec::String, "",
     "signature of the layer: one index label per grid axis, separated by commas, or runs such as "
     "n2,h2-; empty: the one that does not redistribute the input"},
    {"storage", OptionSpec::String, "use",
     "storage layout of parameters: use, sharded (what several ranks use is divided among them), "
     "root, or properties such as S0,B"},
    {"backend", OptionSpec::Choice, "auto", "compute backend of the local kernels",
     "auto|reference|blas|onednn|direct|fftw|cudnn|cufft|gemm"},
    {"space", OptionSpec::Choice, "host", "memory space of input, parameters and output",
     "host|device"},
    {"stack_depth",
     OptionSpec::Int,
     "1",
     "largest number of Apply calls pending, that is, not followed by their adjoints",
     nullptr,
     {1, 1e6}},
    {"saved_type", OptionSpec::Choice, "same",
     "element type of the activations that are saved for derivatives: that of the layer, or "
     "bfloat16, to which they are rounded",
     "same|bfloat16"},
    {"recompute", OptionSpec::Flag, "false",
     "of a container: keep nothing but its inputs, and evaluate it again before its adjoint; of a "
     "layer in a network: what it writes is computed again for the adjoint, and not kept"},
    {"initializer", OptionSpec::Choice, "glorot_uniform",
     "initialization of weights (biases are zero)",
     "glorot_uniform|glorot_normal|he_uniform|he_normal"},
    {"seed", OptionSpec::Int, "0", "seed of the initial values of parameters"},
    {"parameter_names", OptionSpec::String, "",
     "names of parameters in files of weights, and their extents there, where these are others "
     "than the layer's: "
     "weight=encoder.in_proj_weight[12,4];bias=encoder.in_proj_bias"},
    {"check_ghosts", OptionSpec::Flag, "false",
     "look for values that are not numbers in halos that the caller has filled, in each Apply of "
     "this layer or network"},
};
const OptionRegistration kRegistration{{"layer", kCommon}};

void checkStorage(const std::string& storage) {
  if (storage != "use" && storage != "sharded" && storage != "root")
    parseProperties(storage);
}

} // namespace

// Parses entries such as "weight=encoder.weight;bias=encoder.bias[12]": the layer's name of a
// parameter, its name in files, and its extents there if they differ.
std::optional<StoredName> storedName(const std::string& names, const std::string& parameter) {
  std::optional<StoredName> result;
  for (const std::string& entry : names.empty() ? std::vector<std::string>() : split(names, ';')) {
    const std::size_t equals = entry.find('='), bracket = entry.find('[');
    const bool hasExtents = bracket != entry.npos;
    // What follows "="; without one, nothing, and an empty name is an error below.
    StoredName stored{entry.substr(std::min(equals, entry.size() - 1) + 1)};
    bool isGood = equals != entry.npos && equals > 0;
    if (hasExtents && isGood && bracket > equals && entry.ends_with(']')) {
      stored = {entry.substr(equals + 1, bracket - equals - 1), Shape()};
      const std::string list = entry.substr(bracket + 1, entry.size() - bracket - 2);
      for (const std::string& word : list.empty() ? std::vector<std::string>() : split(list, ',')) {
        const auto extent = parseInt(word);
        isGood = isGood && extent && *extent >= 0;
        stored.extents->push_back(extent.value_or(0));
      }
    } else {
      isGood = isGood && !hasExtents;
    }
    if (!isGood || stored.name.empty())
      throw Error(TENON_ERR_ARG,
                  fmt::format("parameter_names has \"{}\"; write a parameter, = and its name in "
                              "files, such as weight=encoder.in_proj_weight, or with its extents "
                              "there, weight=encoder.in_proj_weight[12,4]",
                              entry));
    if (entry.substr(0, equals) == parameter)
      result = std::move(stored);
  }
  return result;
}

Declaration::Declaration(std::string type, std::span<const OptionSpec> table)
    : owner_{"the layer", std::move(type)}, settings_({table, kCommon}) {
  // Every declaration of a type registers the option table of the type; registering a table again
  // has no effect.
  registerOptions({owner_.type.empty() ? "layer" : owner_.type.c_str(), table});
}

namespace {

// Exchanges two groups of settings, and exchanges them back at the end of its lifetime.
class Exchanged {
public:
  Exchanged(Settings& a, Settings& b) noexcept : a_(a), b_(b) { std::swap(a_, b_); }
  ~Exchanged() { std::swap(a_, b_); }
  Exchanged(const Exchanged&) = delete;
  Exchanged& operator=(const Exchanged&) = delete;

private:
  Settings& a_;
  Settings& b_;
};

} // namespace

// Applies a change to the settings, and restores them if a changed value is invalid.
template <class Change>
void Declaration::change(Change&& change) {
  const Settings before = settings_;
  try {
    change();
    checkStorage(text("storage"));
    storedName(text("parameter_names"), "");
    checkChanged(before);
  } catch (...) {
    settings_ = before;
    throw;
  }
}

// Checks each changed value without the others: these are swapped out and back instead of copied,
// because a caller that sets the entries of a file one by one holds references to them.
void Declaration::checkChanged(const Settings& before) {
  for (std::size_t i = 0; i < settings_.entries().size(); ++i) {
    const std::optional<SettingValue>&newValue = settings_.entries()[i].value,
          &oldValue = before.entries()[i].value;
    if (!newValue || (oldValue && settingText(*newValue) == settingText(*oldValue)))
      continue;
    Settings singleSetting = settings_.only(settings_.entries()[i].spec->name);
    const Exchanged exchanged(settings_, singleSetting);
    check();
  }
}

void Declaration::checkSettings() const {
  checkStorage(text("storage"));
  check();
}

void Declaration::set(std::string_view name, SettingValue value) {
  change([&] { settings_.set(name, std::move(value), owner_); });
}

void Declaration::setText(std::string_view name, std::string_view text) {
  change([&] { settings_.setText(name, text, owner_); });
}

void Declaration::applySettings(Settings settings) {
  change([&] { settings_ = std::move(settings); });
}

void Declaration::inherit(std::string_view name, const Declaration& container) {
  settings_.inherit(name, container.settings_);
}

Declaration::FormBeginning Declaration::beginForm(const Layouts& inputs,
                                                  const Choice& choice) const {
  FormInputs formInputs(inputs, choice);
  Shape output = outputShape(formInputs.shapes);
  Signature signature = Signature::choose(rows(formInputs.shapes), formInputs.plain,
                                          formInputs.grid, choice.labels, title());
  return {.shapes = std::move(formInputs.shapes),
          .plain = std::move(formInputs.plain),
          .grid = std::move(formInputs.grid),
          .output = std::move(output),
          .signature = std::move(signature)};
}

Form Declaration::formLikeInput(const Layouts& inputs, const Choice& choice) const {
  const Layout& input = inputs.front();
  const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
  const Signature signature =
      Signature::choose(rows({input.shape()}), input, grid, choice.labels, title());
  Layout use = makeLayoutLike(input, grid, signature.input());
  if (choice.computedHalo)
    use = withHalosOf(*choice.computedHalo, use);
  return {.signature = signature, .inputs = inputs, .uses = {use}, .output = use};
}

std::string Declaration::computedHaloObstacle() const {
  return fmt::format("layers of type {} work on each part as a whole, or on all parts together",
                     type());
}

std::unique_ptr<ArrayKernel> Declaration::makeKernel(const KernelPlace&) const {
  return nullptr;
}

Work Declaration::work(const Form&, int) const {
  return {};
}

Example Declaration::example(ExampleDraw&) const {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{} has type \"{}\", which gives no examples", title(), type()));
}

namespace {

// Splits the longest dimension over the axes on which the parameter is replicated, since that
// dimension has the most even blocks. On the other axes it is split or on the root already.
Layout sharded(const Layout& plain) {
  const auto& shape = plain.shape();
  const int longest =
      static_cast<int>(std::max_element(shape.begin(), shape.end()) - shape.begin());
  LayoutSpec spec{.shape = shape, .grid = plain.gridPtr(), .properties = plain.properties()};
  for (Property& p : spec.properties)
    if (p.isBroadcast())
      p = Property::shard(longest);
  return Layout(std::move(spec));
}

} // namespace

// Kernels read a parameter in its use layout. Stored "sharded", a weight that 4 ranks use has a
// quarter on each of them, which saves memory and is gathered before each use.
Layout Declaration::storageLayout(const Layout& use) const {
  Layout plain = use.withoutHalos();
  const std::string storage = text("storage");
  if (storage == "use")
    return plain;
  if (storage == "sharded")
    return sharded(plain);
  LayoutSpec spec{.shape = plain.shape(), .grid = plain.gridPtr(), .properties = {}};
  spec.properties = storage == "root" ? Properties(plain.grid().axes(), Property::root())
                                      : parseProperties(storage);
  for (const Property& p : spec.properties)
    if (p.isPartial())
      throw Error(TENON_ERR_OPTION,
                  fmt::format("parameters of {} cannot be stored as \"{}\": partial sums cannot be "
                              "updated by an optimizer; use S<dim>, B or R",
                              title(), storage));
  return Layout(std::move(spec));
}

Layouts Declaration::storageLayouts(const Form& form) const {
  Layouts layouts;
  for (const ParameterForm& parameter : form.parameters)
    layouts.push_back(storageLayout(parameter.use));
  return layouts;
}

void Declaration::setOutputLayout(const Layout&) {
  throw Error(
      TENON_ERR_TYPE,
      fmt::format("{} has type {}, whose output layout follows from its signature; only add "
                  "and concatenate, and repartition, take one",
                  title(), type()));
}

std::string Declaration::view() const {
  try {
    // A summary reads settings that are possibly not set yet, and a view of an unfinished layer
    // must not fail.
    return summary();
  } catch (const Error&) {
    return settings_.describe();
  }
}

// A field can consist of patches (the entries of the batch) that links join. A type that computes
// across the whole of each patch, such as a transform in space, would give other values than on the
// joined field.
void Declaration::checkLinks(const Layouts& inputs) const {
  const PatchLinksPtr& links = lists_.links();
  if (!links || contains())
    return;
  std::vector<Shape> shapes;
  for (const Layout& input : inputs)
    shapes.push_back(input.shape());
  // Other inputs need not be on patches, such as one number per channel.
  const bool areOnPatches = std::ranges::any_of(shapes, [&](const Shape& shape) {
    return static_cast<int>(shape.size()) == links->spatialRank() + 2 &&
           shape.front() == links->patches();
  });
  if (areOnPatches && !joinsPatches(shapes))
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} ({}) works on each patch for itself, but links join the patches to "
                            "one field; use layers that work point by point, batch normalisation "
                            "and windows with boundary mode \"linked\", or hand the links to those "
                            "layers alone and not to the network",
                            title(), type()));
}

std::string Declaration::agreedText() const {
  std::string text = fmt::format("{}: {}", type(), settings_.describe());
  if (outputLayout_)
    text += ", output like " + outputLayout_->describe();
  return text + lists_.describe() + furtherText();
}

} // namespace tenon
