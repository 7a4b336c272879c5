// SPDX-License-Identifier: BSD-2-Clause
// The declaration of a layer type: its settings, its shapes and its signature table, which lists
// the ways to distribute the layer. It needs neither MPI nor a rank. For given input layouts and
// index labels, such as "n,h" for batch and rows, it makes the form: the layouts of inputs,
// parameters and output on all ranks. From the form follow the work of each rank and the list of
// maps to run:
//
//   set(...)  ->  outputShape(shapes), rows(shapes)  ->  form(layouts, labels)  ->  maps(form)
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

// A random valid use of a layer type, drawn by Declaration::example(): settings that are consistent
// with each other, and shapes and values of inputs that fit them. The tests of all types and
// `tenon check` draw examples.
struct Example {
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<Shape> inputs;
  Shape target = {}; // of a loss
  // > 0: the target holds class labels in [0, classes); 0: it holds numbers.
  Index classes = 0;
  double low = -1, high = 1; // range of the values of the inputs

  // Moves the values away from zero, where a logarithm or a quotient has no bounded derivative.
  void makePositive() {
    low = 0.5;
    high = 2;
  }
};

// Random draws that are a function of the seed.
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
  // Extents of a tensor with `least` to `most` dimensions, both included.
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

// An output of a graph: the output of node number `node`, or, if that is -1, of the node `name`.
struct NetworkOutput {
  std::string name;
  int node = -1;
};

// The name of a parameter in weight files, and its extents in them if they differ from the layer's
// by extents of 1.
struct StoredName {
  std::string name;
  std::optional<Shape> extents = {};
};
// The entry of the setting parameter_names (`names`) for one parameter, or none. Throws
// TENON_ERR_ARG if the text cannot be parsed.
std::optional<StoredName> storedName(const std::string& names, const std::string& parameter);

class ArrayKernel;
struct KernelPlace;

// The base class of the declarations of all layer types. A type must override outputShape(), rows()
// and form(); all other virtual functions have defaults.
class Declaration {
public:
  using Owner = Settings::Owner;
  virtual ~Declaration() = default;

  const std::string& type() const noexcept { return owner_.type; }
  // The name in messages, such as `layer "conv1"`.
  const std::string& title() const noexcept { return owner_.title; }
  void setTitle(std::string title) { owner_.title = std::move(title); }

  // The settings of the type, followed by the settings that all layers have.
  const Settings& settings() const noexcept { return settings_; }
  template <class T>
  T value(std::string_view name) const {
    return settings_.value<T>(name, owner_);
  }
  SettingValue get(std::string_view name) const { return settings_.get(name, owner_); }
  bool isSet(std::string_view name) const { return settings_.isSet(name, owner_); }
  // Each value is checked alone, since settings that depend on each other can be set in any order.
  // checkSettings() checks the combination of all values when a layer is set up, planned or read
  // from a file.
  void set(std::string_view name, SettingValue value);
  void setText(std::string_view name, std::string_view text);
  // Replaces all settings by those of a modified copy. If one is invalid, the old settings remain,
  // as with the setters above.
  void applySettings(Settings settings);
  // Throws TENON_ERR_ARG if settings contradict each other.
  void checkSettings() const;
  // Takes over a setting of the container that the layer is in, unless the setting was set for this
  // layer. The first form takes the container's value, if the setting was set there; the second
  // one takes a value that the caller has found, whether it was set or is a default.
  void inherit(std::string_view name, const Declaration& container);
  void inherit(std::string_view name, SettingValue value) {
    settings_.inherit(name, std::move(value));
  }
  // Replaces all settings without a check, by settings that were in use before.
  void restore(Settings settings) { settings_ = std::move(settings); }

  // ---- What a layer of the type computes.

  // The number of inputs, or -1 for one or more; and the reason for it, which is appended to the
  // error message about a different number of inputs.
  virtual int inputCount() const { return 1; }
  virtual std::string inputAdvice() const { return {}; }
  virtual Shape outputShape(const std::vector<Shape>& inputs) const = 0;
  // The signature table: one row per label, the preferred row first.
  virtual SignatureTable rows(const std::vector<Shape>& inputs) const = 0;
  // Throws TENON_ERR_SHAPE, TENON_ERR_LAYOUT or TENON_ERR_OPTION if the layer is not possible.
  virtual Form form(const Layouts& inputs, const Choice& choice) const = 0;
  // The work of one evaluation on the rank at a position of the form's grid.
  virtual Work work(const Form& form, int position) const;
  // The name under which kernel times are measured: kernels of one kind need the same time for the
  // same work. It is the type, unless settings of the type select different kernels.
  virtual std::string kernelKind() const { return type(); }
  // The maps of a form whose parameters are stored in the layouts `storage`. The default is the
  // list of one local kernel (kernel_maps.cpp).
  virtual MapList maps(const Form& form, const Layouts& storage) const;
  // A kernel of the map list on one rank (declaration/kernel). Null for types whose kernels are
  // made in the module `layer`.
  virtual std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const;
  // The layout in which a parameter with this use layout is stored, according to the setting
  // `storage`; and the storage layouts of all parameters of a form.
  Layout storageLayout(const Layout& use) const;
  Layouts storageLayouts(const Form& form) const;

  // A random layer of the type for the tests and `tenon check`. Throws TENON_ERR_SUPPORT if the
  // type has no examples.
  virtual Example example(ExampleDraw& draw) const;

  // ---- Containers of layers, and graphs.

  // Whether the type contains layers.
  virtual bool contains() const { return false; }
  // Whether a network file lists the contained layers. A model does not: its own file has them.
  virtual bool hasNodesInFile() const { return contains(); }
  // The names of the inputs of a graph, and its outputs; both are empty unless they were set.
  virtual std::vector<std::string> inputNames() const { return {}; }
  virtual std::vector<NetworkOutput> networkOutputs() const { return {}; }

  // ---- Other properties, which set-up, planner and files ask for.

  // Whether the layout of the output can be set.
  virtual bool takesOutputLayout() const { return false; }
  virtual void setOutputLayout(const Layout& layout);
  const std::optional<Layout>& outputLayout() const noexcept { return outputLayout_; }
  // Whether the type uses the lists of a mesh, or can contain layers that use them.
  virtual bool takesLists() const { return contains(); }
  // Whether the output depends on which rank stores which rows, because of lists or because rows
  // are numbered block by block. A planner must not move such a layer in a network with lists.
  virtual bool dependsOnRowDistribution() const { return takesLists(); }
  // Whether the output has a halo that the layer has filled, so layers that read it need not
  // exchange it again.
  virtual bool fillsOutputHalo() const { return false; }
  const MeshLists& lists() const noexcept { return lists_; }
  MeshLists& lists() noexcept { return lists_; }
  // Whether the type computes on patches that links join (a multi-block grid) the same values as on
  // the one field that they form: point by point, or with windows that read across links.
  virtual bool joinsPatches(const std::vector<Shape>& /*inputs*/) const { return false; }
  // Throws TENON_ERR_SUPPORT if links join patches of the inputs and the type would work on each
  // patch separately.
  void checkLinks(const Layouts& inputs) const;
  // Whether kernels of the type apply operators of its map list themselves (OwnMove).
  virtual bool movesInKernels() const { return false; }
  // Why a rank cannot compute outputs outside its own block from inputs outside its block
  // (Choice::computedHalo), and why the inputs cannot be such outputs; as a clause for an error
  // message, empty if both are possible.
  virtual std::string computedHaloObstacle() const;
  // Whether a type with windows maps periodic inputs to periodic outputs: the outputs beyond either
  // end of a dimension are then those at the opposite end.
  virtual bool keepsPeriod(int /*dim*/, const Shape& /*input*/) const { return true; }
  // Whether an evaluation in training draws random numbers.
  virtual bool isRandom() const { return false; }
  // Whether an evaluation in training can change the states of the layer, such as running means.
  virtual bool changesStates() const { return true; }
  // Whether the type is a loss with a target, and whether its terms have weights.
  virtual bool takesTarget() const { return false; }
  virtual bool takesTargetWeights() const { return false; }

  // A summary for views, such as "3 -> 4 channels, kernel 3x3"; if settings that it needs are
  // missing, a list of all settings.
  std::string view() const;
  // The text that must be equal on all ranks: type, settings and all else that the form depends on.
  std::string agreedText() const;

protected:
  Declaration(std::string type, std::span<const OptionSpec> table);
  virtual std::string summary() const { return {}; }
  // Throws if the settings, as far as they are set, contradict each other. set() calls it with the
  // new value as the only setting, which checks this value alone; checkSettings() calls it with all
  // settings.
  virtual void check() const {}
  // The common first part of form() for types with several inputs: shapes, plain layouts (without
  // halos), the grid, the shape of the output and the signature.
  struct FormBeginning {
    std::vector<Shape> shapes;
    Layouts plain;
    GridPtr grid;
    Shape output;
    Signature signature;
  };
  FormBeginning beginForm(const Layouts& inputs, const Choice& choice) const;
  // A form whose first input is used in the layout of the chosen labels and whose output has the
  // same layout. A derived type starts from this form and changes what is different.
  Form formLikeInput(const Layouts& inputs, const Choice& choice) const;
  // The requirements of the kernel and the values that it saves, for types with one kernel.
  virtual KernelEntry kernel(const Form&) const { return {.name = type()}; }
  Index elementBytes() const { return text("data_type") == "float64" ? 8 : 4; }

  bool flag(std::string_view name) const { return value<bool>(name); }
  Index integer(std::string_view name) const { return value<Index>(name); }
  double real(std::string_view name) const { return value<double>(name); }
  std::string text(std::string_view name) const { return value<std::string>(name); }
  // What the form depends on besides settings and lists, for agreedText(); a shell layer, for
  // example, appends its labels.
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
