// SPDX-License-Identifier: BSD-2-Clause
// What a type of layers is, without MPI and without a rank: its settings, its shapes, the rows of
// its signature table, and for given inputs and index labels its form: how inputs, parameters and
// output lie on all ranks, what one rank has to compute, and the maps that run.
#pragma once

#include "declaration/core/form.hpp"
#include "declaration/core/map_list.hpp"
#include "declaration/mesh/mesh_lists.hpp"
#include "geometry/layout/box.hpp"
#include "sys/options/settings.hpp"
#include "sys/random.hpp"

#include <initializer_list>
#include <memory>

namespace tenon {

// What the tests and `tenon check` try of a type: settings that fit each other, and inputs that fit
// them, drawn from a random source.

struct Example {
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<Shape> inputs;
  Shape target = {};         // of a loss
  Index classes = 0;         // the target holds labels below this; 0: numbers
  double low = -1, high = 1; // where the numbers of the inputs lie

  // Away from zero, where a logarithm or a quotient has no bounded derivative.
  void makePositive() {
    low = 0.5;
    high = 2;
  }
};

// Draws that are a function of the seed.
class ExampleDraw {
public:
  explicit ExampleDraw(std::uint64_t seed) : seed_(seed) {}

  Index between(Index low, Index high) {
    return low + static_cast<Index>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<Index>(choices.size()) - 1)];
  }
  // Extents of a tensor with `least` to `most` dimensions.
  Shape shape(int least, int most) {
    Shape shape(static_cast<std::size_t>(between(least, most)));
    for (Index& extent : shape)
      extent = between(1, 6);
    return shape;
  }

private:
  std::uint64_t next() { return bitsAt(seed_, streamOf("example"), count_++); }
  std::uint64_t seed_, count_ = 0;
};

// An output of a graph: that of a node, which has this name if it has no number here.
struct NetworkOutput {
  std::string name;
  int node = -1;
};

// The name of a parameter in files of weights, and its extents there, where these differ by extents
// of 1.
struct StoredName {
  std::string name;
  std::optional<Shape> extents = {};
};
// What a setting parameter_names says of a parameter. Throws TENON_ERR_ARG where it cannot be read.
std::optional<StoredName> storedName(const std::string& names, const std::string& parameter);

class Declaration {
public:
  using Owner = Settings::Owner;
  virtual ~Declaration() = default;

  const std::string& type() const noexcept { return owner_.type; }
  // The name in messages, such as `layer "conv1"`.
  const std::string& title() const noexcept { return owner_.title; }
  void setTitle(std::string title) { owner_.title = std::move(title); }

  // The settings of the type, and behind them those that all layers have.
  const Settings& settings() const noexcept { return settings_; }
  template <class T>
  T value(std::string_view name) const {
    return settings_.value<T>(name, owner_);
  }
  SettingValue get(std::string_view name) const { return settings_.get(name, owner_); }
  bool isSet(std::string_view name) const { return settings_.isSet(name, owner_); }
  // A value is judged by itself here, as if no other were set: values that depend on each other may
  // come in any order, and checkSettings() judges them together when a layer is set up, planned or
  // read from a file.
  void set(std::string_view name, SettingValue value);
  void setText(std::string_view name, std::string_view text);
  // Takes all settings as they are in a copy that was changed. Where one does not fit, those before
  // stay, as with the setters above.
  void takeOver(Settings settings);
  // Throws TENON_ERR_ARG where settings do not fit each other.
  void checkSettings() const;
  void inherit(std::string_view name, const Declaration& container);
  void inherit(std::string_view name, SettingValue value) {
    settings_.inherit(name, std::move(value));
  }
  // The same without a check, for settings that were in use before.
  void restore(Settings settings) { settings_ = std::move(settings); }

  // The number of inputs, or -1 for one or more; and the reason, for the message about another
  // number of them.
  virtual int inputCount() const { return 1; }
  virtual std::string inputAdvice() const { return {}; }
  virtual Shape outputShape(const std::vector<Shape>& inputs) const = 0;
  // The signature table: a row for each label, the preferred one first.
  virtual SignatureTable rows(const std::vector<Shape>& inputs) const = 0;
  // Throws TENON_ERR_SHAPE, TENON_ERR_LAYOUT or TENON_ERR_OPTION where the layer cannot be.
  virtual Form form(const Layouts& inputs, const Choice& choice) const = 0;
  // The work of the rank at a position of the form's grid in one evaluation.
  virtual Work work(const Form& form, int position) const;
  // Kernels of one kind take the same time for the same work. The kind is the type, unless settings
  // of the type lead to different kernels.
  virtual std::string kernelKind() const { return type(); }
  // The maps of a form whose parameters are stored in these layouts: by default those of one kernel
  // (kernel_maps.cpp).
  virtual MapList maps(const Form& form, const Layouts& storage) const;
  // The layout in which a parameter with this use layout is stored, as the setting `storage` says,
  // and those of all parameters of a form.
  Layout storageLayout(const Layout& use) const;
  Layouts storageLayouts(const Form& form) const;

  // What the tests and `tenon check` try of the type. Throws TENON_ERR_SUPPORT if the type gives
  // none.
  virtual Example example(ExampleDraw& draw) const;

  // Whether the type contains layers, and whether they stand in a network file.
  virtual bool contains() const { return false; }
  // Of a graph: the names of its inputs, and its outputs; empty where nobody has said them.
  virtual std::vector<std::string> inputNames() const { return {}; }
  virtual std::vector<NetworkOutput> networkOutputs() const { return {}; }
  virtual bool hasNodesInFile() const { return contains(); }
  // Whether the layout of the output can be set.
  virtual bool takesOutputLayout() const { return false; }
  virtual void setOutputLayout(const Layout& layout);
  const std::optional<Layout>& outputLayout() const noexcept { return outputLayout_; }
  // Whether the type works with lists of a mesh, or may contain layers that do; and the lists.
  virtual bool takesLists() const { return contains(); }
  // Whether its output depends on which rank holds which rows, by lists or since rows are numbered
  // block by block. In networks with lists a plan leaves it where it lies.
  virtual bool dependsOnPlaces() const { return takesLists(); }
  // Whether its output has a halo that it has filled, which layers that read it need not fill
  // again.
  virtual bool leavesHalo() const { return false; }
  const MeshLists& lists() const noexcept { return lists_; }
  MeshLists& lists() noexcept { return lists_; }
  // Whether the type computes on patches what it would on the field that links join them to: point
  // by point, or by windows that heed links.
  virtual bool joinsPatches(const std::vector<Shape>& /*inputs*/) const { return false; }
  // Throws TENON_ERR_SUPPORT if links join patches of the inputs and the type would work on each
  // for itself.
  void checkLinks(const Layouts& inputs) const;
  // Whether kernels of the type apply operators of its maps within themselves (OwnMove).
  virtual bool movesInKernels() const { return false; }
  // Why a rank cannot compute outputs of the type beside its own part from inputs beside its part,
  // and why its inputs cannot be such outputs, as a half sentence; empty where both can be.
  // Choice::computedHalo is for these types.
  virtual std::string whyNoComputedHalo() const;
  // Of a type with windows: whether outputs beyond either end of a dimension are those at the other
  // end where inputs are.
  virtual bool keepsPeriod(int /*dim*/, const Shape& /*input*/) const { return true; }
  // Whether an evaluation in training draws random numbers.
  virtual bool isRandom() const { return false; }
  // Whether an evaluation in training may change what the layer carries from step to step.
  virtual bool changesStates() const { return true; }
  // Whether the type compares its input with a target, and whether the terms have weights.
  virtual bool takesTarget() const { return false; }
  virtual bool takesTargetWeights() const { return false; }

  // What a view says of the layer: "3 -> 4 channels, kernel 3x3"; all settings while some are
  // missing.
  std::string view() const;
  // What must be the same on all ranks: type, settings, and whatever else the form depends on.
  std::string agreedText() const;

protected:
  Declaration(std::string type, std::span<const OptionSpec> table);
  virtual std::string summary() const { return {}; }
  // What the settings must fulfil together, as far as they are set. After a set it is asked of that
  // setting alone.
  virtual void check() const {}
  // What the form of several inputs begins with, where shapes and rows follow from those of the
  // inputs.
  struct FormBeginning {
    std::vector<Shape> shapes;
    Layouts plain;
    GridPtr grid;
    Shape output;
    Signature signature;
  };
  FormBeginning beginForm(const Layouts& inputs, const Choice& choice) const;
  // A form whose first input is used under the chosen labels and whose output lies like it; a type
  // changes in it what differs.
  Form formLikeInput(const Layouts& inputs, const Choice& choice) const;
  // What the kernel needs and keeps, for types with one kernel.
  virtual KernelEntry kernel(const Form&) const { return {.name = type()}; }
  Index elementBytes() const { return text("data_type") == "float64" ? 8 : 4; }

  bool flag(std::string_view name) const { return value<bool>(name); }
  Index integer(std::string_view name) const { return value<Index>(name); }
  double real(std::string_view name) const { return value<double>(name); }
  std::string text(std::string_view name) const { return value<std::string>(name); }
  virtual std::string furtherText() const { return {}; }

  std::optional<Layout> outputLayout_;
  MeshLists lists_;

private:
  template <class Change>
  void change(Change&& change);
  void checkChanged(const Settings& before);

  Owner owner_;
  Settings settings_;
};

} // namespace tenon
