// SPDX-License-Identifier: BSD-2-Clause
// A differentiable map between distributed tensors with named parameters. Its Declaration holds
// type and settings; the layer adds the objects that run it on the processes of a communicator.
//
// A layer is set up once for each list of input layouts; all set-ups share the parameters. While
// the layer records, Apply pushes a frame, which holds the values that the adjoint needs, on a
// stack of fixed depth, and ApplyAdjoint pops it. An adjoint through several time steps therefore
// calls ApplyAdjoint once per step, in reverse order of the Apply calls.
//
// A container is a layer that consists of other layers. Each of its nodes names a layer and the
// numbers of the values (tensors) that this layer reads. Settings of a container also apply to the
// layers in it.
//
// The life cycle; all calls but the settings are collective:
//
//   set, setFromOptions      settings, before the first set-up
//   setUp(layouts)           creates parameters, communication operators, kernels and memory
//   initialize(seed)         optional: draws the parameters again
//   apply(x, y)              y = f(x); pushes a frame on the stack (if recording)
//   applyTangent(dx, dy)     at the point of the top frame; repeatable
//   applyAdjoint(dy, dx)     at the point of the top frame, which is then popped
#pragma once

#include "compile/network/assignment.hpp"
#include "declaration/core/declaration.hpp"
#include "declaration/core/halo_sharing.hpp"
#include "declaration/mesh/mesh_lists.hpp"
#include "layer/core/argument_staging.hpp"
#include "layer/core/parameter.hpp"
#include "layer/core/setup.hpp"
#include "layer/core/state_tensor.hpp"
#include "linop/linear_op.hpp"
#include "sys/options/settable_object.hpp"

#include <functional>
#include <list>
#include <map>

namespace tenon {

// The conversions, in order, that lead from a tensor's layout to the layout in which kernels use
// the tensor. Empty if both layouts are the same. Only for the text of views.
using Passage = std::vector<const LinearOp*>;

// Text such as "at most 3 messages, 64 B per rank; 256 B total", for all conversions of a passage
// in one Apply. Evaluates the schedules of all ranks, not only this one.
std::string trafficText(const Passage& toUse);
// A line such as "  input   [8,4] S0, used as [8,4] B: at most ...\n", on the named process grid.
std::string viewLine(const std::string& label, const Layout& layout, const Passage& toUse,
                     const Grid& named);
// A line without conversions, with `text` after the layout.
std::string viewLine(const std::string& label, const Layout& layout, const Grid& named,
                     const std::string& text = "");

class Layer;
class NetworkSetUp;
// What a plan has chosen for a network.
struct Assignment {
  std::map<const Layer*, NodeChoice> layers = {}; // containers have no choice of their own
  // The layout to which the output is converted, adapted to each batch; none: the output has the
  // layout of the last layer. Not used if the network is a node of another network.
  std::optional<Layout> output = {};
  // Whether set-up reserves the memory that an adjoint needs. If not, the first Apply that records
  // allocates it.
  bool differentiates = true;
};
using AssignmentPtr = std::shared_ptr<const Assignment>;

// A layer of any type on the processes of a communicator; see above.
class Layer final : public SettableObject {
public:
  static constexpr const char* kClass = "Layer";

  Layer(CommPtr comm, std::unique_ptr<Declaration> declaration, KernelMaker makeKernel);

  const CommPtr& comm() const noexcept { return comm_; }
  std::string_view type() const noexcept override { return declaration_->type(); }
  const Declaration& declaration() const noexcept { return *declaration_; }
  Declaration& declaration() noexcept { return *declaration_; }

  // The settings of the declaration, which can only be changed before the first set-up.
  const Settings& settings() const noexcept override { return declaration_->settings(); }
  void setDataType(TenonDataType type);
  void setSpace(Space space) { set("space", std::string(spaceName(space))); }
  void setStackDepth(int depth) { set("stack_depth", Index(depth)); }
  void setOutputLayout(const Layout& layout);
  // Sets mesh lists (declaration/mesh/mesh_lists.hpp). `call` is the public function, for errors.
  void setList(const std::string& call, const std::string& name, EdgesPtr edges);
  void setList(const std::string& call, const std::string& name, IndexMapPtr map);
  // Sets how the patches of the inputs are joined. Allowed for any type; a type that cannot handle
  // links throws at set-up.
  void setLinks(PatchLinksPtr links);
  // Sets what a plan has chosen for this layer and, if it is a container, for the layers in it;
  // null: nothing. Later set-ups of this layer use these choices, also if it is a node of a network
  // without an assignment. If a layer in the container is set up alone, it uses its own settings.
  // Must be equal on all ranks.
  void setAssignment(AssignmentPtr assignment) { assignment_ = std::move(assignment); }
  // Reads the options of the layer and, in a container, of its layers.
  void setFromOptions() override;
  TenonDataType dataType() const noexcept { return type_; }
  Space space() const noexcept { return space_; }
  int stackDepth() const noexcept { return depth_; }
  void checkBeforeSetUp(const std::string& call) const;
  // Throws TENON_ERR_STATE if a user function that this layer runs calls the layer itself. `call`
  // is the public function, for the message.
  void checkIdle(std::string_view call) const;

  // setTraining() selects the behaviour of layers that differ between training and inference, such
  // as dropout, and sets recording to the same value. setRecording() selects whether Apply saves
  // the values that derivatives read. In a container each layer has its own training mode, but only
  // the recording mode of the layer on which apply() is called counts.
  void setTraining(bool training);
  void setRecording(bool records);
  bool isTraining() const noexcept { return training_; }
  bool isRecording() const noexcept { return records_; }

  // A frozen layer accumulates no gradients and is not updated by optimizers; can be changed at any
  // time. A constant layer in a container stays frozen when the container is unfrozen.
  void setFrozen(bool frozen);
  void setConstant();
  bool isConstant() const noexcept { return constant_; }
  bool isFrozen() const noexcept { return frozen_; }

  // Sets the target of a loss for the next Apply, in any layout on the input's communicator. The
  // tensor is stored by reference.
  void setTarget(Ref<DTensor> target);
  // Throws TENON_ERR_STATE if no target was set.
  const DTensor& target() const;
  // Sets the weights of the terms of a loss, by reference and in any layout, like the target.
  void setTargetWeights(Ref<DTensor> weights);
  const DTensor& targetWeights() const;

  // A node: a layer in a container, and the numbers of the values that it reads. With two inputs
  // and three nodes the values are 0 and 1 (the inputs) and 2, 3 and 4 (the outputs of the nodes).
  struct Node {
    Ref<Layer> layer;
    std::vector<int> reads;
  };
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // Adds a node to a container, before SetUp. The values that it reads must exist already.
  void addNode(Ref<Layer> layer, std::vector<int> reads);
  // Replaces all nodes at once; allowed also during set-up.
  void setNodes(std::vector<Node> nodes);
  int inputCount() const { return declaration_->inputCount(); }
  // The value of the last node, which is the container's output unless others are set.
  int lastValue() const { return inputCount() + static_cast<int>(nodes_.size()) - 1; }
  // The values that are the outputs of a container. Throws TENON_ERR_ARG if a node does not exist.
  std::vector<int> outputValues() const;
  // The names of inputs and outputs as set for a graph, or else x or x0, x1, ..., and y. Throws
  // TENON_ERR_STATE if their number is not known before SetUp.
  std::vector<std::string> inputNames() const;
  std::vector<std::string> outputNames() const;
  // The contained layers, each listed once, in the order of its first node.
  const std::vector<Layer*>& children() const noexcept { return children_; }

  // Undoes new set-ups after a failure: note() stores the set-ups of a layer and of the layers in
  // it, undo() removes all set-ups, passes and frames that were added since. undo() allocates no
  // memory.
  class NewSetUps {
  public:
    // Notes the state of the layer and of the layers in it.
    void note(Layer& layer);
    void undo() noexcept;

  private:
    // The state of a layer that was not set up.
    struct Unset {
      Settings settings;
      MeshLists lists;
      TenonDataType type;
      Space space;
      int depth;
      bool training, records, frozen;
    };
    struct KnownEntry { // of setups_
      const void* entry;
      bool hasPasses, hasFrames;
    };
    struct Before {     // the state of one layer at note()
      Ref<Layer> layer; // keeps the layer until all ranks know of a failure
      std::vector<KnownEntry> setups;
      std::size_t parameters, states;
      std::optional<Unset> unset;
    };
    std::vector<Before> before_;
  };

  // Sets up the layer for these input layouts, unless such a set-up exists. New parameters are
  // initialized. Several set-ups can share one agreement of the ranks on success (a batched
  // agreement); the set-up is valid once this agreement succeeds. Collective.
  void setUp(const Layouts& inputs);
  void setUp(const Layout& input) { setUp(Layouts{input}); }
  bool isSetUp() const noexcept { return !setups_.empty(); }
  // The form (the use layouts of all arrays, declaration/core/form.hpp) for these input layouts,
  // which follows from the settings and the choice, if there is one. `computedHalo`: the output
  // layout with a halo that the layer computes itself instead of an exchange, only for nodes. A
  // container has no form.
  Form form(const Layouts& inputs, const NodeChoice* choice = nullptr, bool inPieces = false,
            const std::optional<Layout>& computedHalo = {}) const;
  // What the layer's own assignment has for it, or null.
  const NodeChoice* choice() const { return choiceIn(assignment_.get()); }
  const AssignmentPtr& assignment() const noexcept { return assignment_; }
  // The bytes of scratch memory that the kernels of a form need on this rank if the layer is in
  // these containers (outermost first), whose settings it inherits. Kernels are created and
  // discarded to find the number. Not collective; not for containers.
  Index kernelScratch(const Form& form, const std::vector<const Layer*>& containers,
                      const MeshLists& lists);
  // Sets the observers of the passes (pass_observer.hpp) of all set-ups, including future ones, and
  // of current parameters. Observers must outlive the layer's use, or be removed with an empty
  // list.
  void setObservers(const Observers& observers);
  // The set-up for these inputs, which exists as long as the layer. A layer that was set up only as
  // a part of networks has operators and kernels, but no passes; they are made now.
  Setup& setup(const Layouts& inputs) const;
  // The map list (bound_maps.hpp) that runs in the set-up for these inputs.
  const BoundMaps& maps(const Layouts& inputs) const;
  // The layout of the only output. Throws TENON_ERR_STATE if there are several outputs.
  const Layout& outputLayout(const Layouts& inputs) const;
  const Layout& outputLayout(const Layout& input) const { return outputLayout(Layouts{input}); }
  // The layouts of the last SetUp. These throw TENON_ERR_STATE before the first one.
  const Layouts& inputLayouts() const { return latest().inputs; }
  const Layout& inputLayout() const { return inputLayouts().front(); }
  const Layout& outputLayout() const { return onlyOutput(latest()); }
  const Layouts& outputLayouts() const { return latest().outputs; }

  // Apply and its derivatives, all collective. The layouts of the inputs select the set-up. Outputs
  // and inputs must be different tensors, but one tensor can be passed for several inputs.
  void apply(Inputs x, Outputs y);
  void applyTangent(Inputs dx, Outputs dy);
  void applyAdjoint(OutputCotangents dy, InputCotangents dx);
  // Shorthands for layers with one output.
  void apply(Inputs x, DTensor& y) {
    DTensor* const tensors[] = {&y};
    apply(x, Outputs(tensors));
  }
  void applyTangent(Inputs dx, DTensor& dy) {
    DTensor* const tensors[] = {&dy};
    applyTangent(dx, Outputs(tensors));
  }
  void applyAdjoint(const DTensor& dy, InputCotangents dx) {
    const DTensor* const tensors[] = {&dy};
    applyAdjoint(OutputCotangents(tensors), dx);
  }
  // Checks the inputs of apply(); not collective. Throws TENON_ERR_NOT_FINITE if a halo that the
  // caller has filled holds a NaN that the layer would read.
  void checkGhosts(Inputs x) const;
  int stackSize() const noexcept { return static_cast<int>(stack_.size()); }
  // Shorthands for layers with one input and one output. dx can be null.
  void apply(const DTensor& x, DTensor& y) {
    const DTensor* const tensors[] = {&x};
    apply(Inputs(tensors), y);
  }
  void applyTangent(const DTensor* dx, DTensor& dy) {
    const DTensor* const tensors[] = {dx};
    applyTangent(Inputs(tensors), dy);
  }
  void applyAdjoint(const DTensor& dy, DTensor* dx) {
    DTensor* const tensors[] = {dx};
    applyAdjoint(dy, InputCotangents(tensors));
  }
  // These remove the last Apply, or all of them, from the stack.
  void forgetLast();
  void clearStack();

  // All parameters, each listed once, including those of the layers of a container.
  std::vector<Ref<Parameter>> parameters() const;
  const std::vector<Ref<Parameter>>& ownParameters() const noexcept { return parameters_; }
  // The layer's own parameter of this name. The first call creates it in its storage layout; later
  // calls, for other set-ups, only check its shape.
  Ref<Parameter> parameter(const ParameterForm& form);
  // The layer's own states, created like parameters.
  const std::vector<Ref<StateTensor>>& ownStates() const noexcept { return states_; }
  Ref<StateTensor> state(const StateForm& form);
  // All states, each listed once, including those of the layers of a container.
  std::vector<Ref<StateTensor>> states() const;
  // The log event of the layer: its name, or type.
  int event() const;
  // initialize() draws parameters by global position: the same values on any partition. A container
  // uses a different random stream for each of its layers.
  enum class Fill { All, New };
  void initialize(std::uint64_t seed, std::uint64_t stream, Fill fill = Fill::All);
  void zeroGradients();

  // The random source of random layers: the same on all ranks and for all set-ups.
  struct RandomState {
    bool isSet = false;
    std::uint64_t seed = 0, stream = 0, applied = 0; // Apply calls in training
  };
  RandomState& randomState() noexcept { return random_; }

  // Bytes allocated now on this rank: buffers of the set-ups, saved activations, and own
  // parameters.
  struct Memory {
    Index buffers = 0, saved = 0, parameters = 0;
  };
  Memory memory() const;
  // Type and settings as a text that set-up compares between ranks.
  std::string agreedText() const;
  // The text of a view: settings, then layouts, signature and conversions of each set-up.
  std::string describe() const override;

private:
  // One level of the stack, for one set-up.
  struct StackLevel {
    std::unique_ptr<Frame> frame;
    ArgumentStaging arguments; // copies of the arguments of Apply at this level
  };
  // The layer for one list of input layouts.
  struct Entry {
    Layouts inputs, outputs;
    std::optional<Layout> computedHalo; // output layout with a computed halo, for nodes only
    AssignmentPtr assignment;           // that it follows, or null
    // The layer's own list with its operators and kernels; null for a container.
    std::shared_ptr<const BoundMaps> node;
    std::string signature;  // the index labels on the process grid, for views
    std::size_t pieces = 0; // in which the output is computed; 0: in one
    // Passes and their memory; null as long as the layer is only a part of networks.
    std::unique_ptr<Setup> setup;
    Ref<Layer> repartition; // converts the output to the layout of the assignment, or null
    std::vector<StackLevel> frames;
    int used = 0;                                   // number of levels in use
    ArgumentStaging inferred, tangents, cotangents; // copies of the arguments of other calls
    const ArgumentStaging* lastApply = nullptr;     // for views
  };
  struct Level { // an element of stack_
    Entry* entry;
    int frame; // index in the entry's frames
  };
  // Set-up (layer_setup.cpp) of a layer that the user sets up; the layers in it are set up by
  // NetworkSetUp (networks/network_setup.cpp). The ranks must agree before and after.
  friend class NetworkSetUp;
  void setUpOutermost(const Layouts& inputs);
  // The subject and the content of the text that must be equal on all ranks before a set-up.
  std::string whatIsSetUp() const;
  std::string setUpText(const Layouts& inputs) const;
  // Throws if this rank cannot begin the set-up.
  void checkReady();
  // Settings (layer.cpp; checkSettings() in layer_setup.cpp). readSettings() copies settings that
  // are needed often to members.
  void checkSettings() const;
  void checkTakesLists(const std::string& call) const;
  void checkChange(const std::string& call) const override { checkBeforeSetUp(call); }
  void applySettings(Settings after, const Settings::Names& names) override;
  void readSettings();
  // Nodes of a container (networks/graph.cpp).
  void putNode(Ref<Layer> layer, std::vector<int> reads);
  void raiseLevels(Layer& layer) const;
  // Records that this layer, with the layers in it, is nested `level` deep in `container`, and
  // throws if this would be a cycle. `raised` receives each changed layer with its previous level,
  // to undo the call.
  void raiseLevel(const Layer& container, int level, std::vector<std::pair<Layer*, int>>& raised);
  // Set-up of the layers in a container (networks/network.cpp).
  void inheritSettings(const Layer& container, int uses);
  void handOn(Layer& child) const;
  // What an assignment has for this layer, or null (layer_setup.cpp).
  const NodeChoice* choiceIn(const Assignment* assignment) const;
  // Checks of arguments. `role` names the argument in errors, such as "cotangent of the input", and
  // `remedy` is what the error advises.
  void checkInputCount(std::size_t given) const;
  void checkCount(std::size_t given, std::size_t wanted, const char* what = "input") const;
  const Layout& onlyOutput(const Entry& entry) const;
  void checkGhosts(Inputs x, const Layouts& uses) const;
  void checkStream(const DTensor& tensor, const char* role) const;
  void checkArgument(const DTensor& tensor, const Layout& layout, const char* role,
                     const char* remedy = "") const;
  void checkRead(const DTensor& tensor, const Layout& layout, const char* role,
                 const char* remedy = "") const;
  // Set-ups and their frames.
  Entry* knownEntry(const Layouts& inputs, const AssignmentPtr& assignment,
                    const std::optional<Layout>& computedHalo, std::size_t pieces);
  Entry& entryFor(const Layouts& inputs, const AssignmentPtr& assignment, bool becomesLatest,
                  const std::optional<Layout>& computedHalo = {}, std::size_t pieces = 0);
  Setup& setupOf(Entry& entry);
  // Within a batched agreement: if it fails, this layer and the layers in it are again as they are
  // now.
  void undoIfFailed();
  void prepareAtSetUp(Entry& entry);
  std::vector<StackLevel> framesOf(Entry& entry);
  void checkWritten(const Entry& entry, Inputs x, Outputs y, const char* role) const;
  void draw(std::uint64_t seed, std::uint64_t stream, Fill fill);
  // Finds the set-up for the inputs of a call; layoutOf(i) is the layout of input i.
  template <class LayoutOf>
  const Entry& find(std::size_t count, LayoutOf layoutOf) const;
  Entry& entryOf(Inputs x);
  [[noreturn]] void throwNoSetup(const Layouts& inputs) const;
  const Entry& latest() const;
  const Level& top() const;
  void observeParameters(const Observers& observers);
  void dropLast();
  // Texts of views, and the value of a setting as text.
  std::string brief() const;
  std::string ownView() const;
  std::string textOf(std::string_view name) const;

  CommPtr comm_;
  std::unique_ptr<Declaration> declaration_;
  KernelMaker makeKernel_ = nullptr;
  TenonDataType type_ = TENON_FLOAT32;
  Space space_ = Space::Host;
  int depth_ = 1;
  bool checksGhosts_ = false;
  int level_ = 0; // largest number of nested containers around it, now or earlier
  AssignmentPtr assignment_;
  bool training_ = true, records_ = true, frozen_ = false, constant_ = false;
  bool atWork_ = false; // within a call that can run user functions
  std::vector<Node> nodes_;
  std::vector<Layer*> children_;
  Ref<DTensor> target_, targetWeights_;
  RandomState random_;
  Observers observers_;
  std::list<Entry> setups_; // the most recent one is last, new ones are in front
  std::vector<Level> stack_;
  std::vector<Ref<Parameter>> parameters_; // own, without those of children
  std::vector<Ref<StateTensor>> states_;
};

// Restores the training and recording modes of a layer and of the layers in it.
class SavedModes {
public:
  explicit SavedModes(Layer& layer) { note(layer); }
  ~SavedModes();
  SavedModes(const SavedModes&) = delete;
  SavedModes& operator=(const SavedModes&) = delete;

private:
  void note(Layer& layer);
  struct Mode {
    Layer* layer;
    bool training, records;
  };
  std::vector<Mode> modes_; // containers before their layers
};

} // namespace tenon
