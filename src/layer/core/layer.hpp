// SPDX-License-Identifier: BSD-2-Clause
// A differentiable map between distributed tensors with named parameters: a declaration, set up on
// the processes of a communicator.
//
// A layer is set up once for each layout of its input, or inputs; the set-ups share the parameters.
// In training mode Apply pushes what the adjoint needs on a stack of fixed depth, and ApplyAdjoint
// pops it, so a layer applied in every time step is differentiated by stepping back in time.
//
// A container has nodes: layers, each with what it reads. What is said to the container is said to
// its layers too.
#pragma once

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

namespace tenon {

// Conversions in the view of a layer: those that a tensor passes one after the other before it is
// used, of which there may be none.
using Passage = std::vector<const LinearOp*>;

// "at most 3 messages, 64 B per rank; 256 B total", of all of a passage in one Apply. Goes through
// the schedules of all ranks.
std::string trafficText(const Passage& toUse);
// "  input   [8,4] S0, used as [8,4] B: at most ...\n" on the named process grid.
std::string viewLine(const std::string& label, const Layout& layout, const Passage& toUse,
                     const Grid& named);
// The same without conversions, and with a text after the layout.
std::string viewLine(const std::string& label, const Layout& layout, const Grid& named,
                     const std::string& text = "");

class Layer final : public SettableObject {
public:
  static constexpr const char* kClass = "Layer";

  Layer(CommPtr comm, std::unique_ptr<Declaration> declaration, KernelMaker makeKernel);

  const CommPtr& comm() const noexcept { return comm_; }
  std::string_view type() const noexcept override { return declaration_->type(); }
  const Declaration& declaration() const noexcept { return *declaration_; }
  Declaration& declaration() noexcept { return *declaration_; }

  // The settings of the declaration, which may change before the first set-up only.
  const Settings& settings() const noexcept override { return declaration_->settings(); }
  void setDataType(TenonDataType type);
  void setSpace(Space space) { set("space", std::string(spaceName(space))); }
  void setStackDepth(int depth) { set("stack_depth", Index(depth)); }
  void setOutputLayout(const Layout& layout);
  // Lists of a mesh (declaration/mesh/mesh_lists.hpp); `call` is the one that sets them.
  void setList(const std::string& call, const std::string& name, EdgesPtr edges);
  void setList(const std::string& call, const std::string& name, IndexMapPtr map);
  // How the patches of its inputs are joined; of any type, since each heeds them or refuses.
  void setLinks(PatchLinksPtr links);
  // Where the layer uses its inputs, but for halos, of any batch: the grid of its signature, and
  // the cuts where the input that it reads has none for the same axes of this grid. None: on the
  // grid of its first input. Of the set-ups that follow.
  void setUses(Layouts uses);
  const Layouts& uses() const noexcept { return uses_; }
  // Those of the layers of a container too.
  void setFromOptions() override;
  TenonDataType dataType() const noexcept { return type_; }
  Space space() const noexcept { return space_; }
  int stackDepth() const noexcept { return depth_; }
  void checkBeforeSetUp(const std::string& call) const;
  // Throws TENON_ERR_STATE if the layer is at work, so that a function of the user's has called it.
  void checkIdle(std::string_view call) const;

  // Whether it runs as in training, where that makes a difference, and whether Apply keeps what
  // derivatives read, which the first call sets too. Each layer in a container runs as it was told
  // itself; what is kept is for the layer to say that is applied.
  void setTraining(bool training);
  void setRecording(bool records);
  bool isTraining() const noexcept { return training_; }
  bool isRecording() const noexcept { return records_; }

  // Parameters gather no gradients, and optimizers leave them alone; legal at any time. What is
  // constant in a container is not released with it, but by itself.
  void setFrozen(bool frozen);
  void setConstant();
  bool isConstant() const noexcept { return constant_; }
  bool isFrozen() const noexcept { return frozen_; }

  // Of a loss: what the next Apply compares with, in any layout on the input's communicator. Kept
  // by reference.
  void setTarget(Ref<DTensor> target);
  // Throws TENON_ERR_STATE if there is none.
  const DTensor& target() const;
  // Of a loss with weights: those of its terms, likewise.
  void setTargetWeights(Ref<DTensor> weights);
  const DTensor& targetWeights() const;

  // Values are counted with the container's inputs first: 0 .. inputs - 1, then one for each node.
  struct Node {
    Ref<Layer> layer;
    std::vector<int> reads;
  };
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // Of a container, before SetUp; the values that the node reads are there.
  void addNode(Ref<Layer> layer, std::vector<int> reads);
  // The same all at once, in place of those that there are, also while it is being set up.
  void setNodes(std::vector<Node> nodes);
  int inputCount() const { return declaration_->inputCount(); }
  // The value of the last node, which is the container's output where it says no others.
  int lastValue() const { return inputCount() + static_cast<int>(nodes_.size()) - 1; }
  // Of a container: the values that are its outputs. Throws TENON_ERR_ARG where a node is not
  // there.
  std::vector<int> outputValues() const;
  // The names of the inputs and outputs, as a graph says them; else x or x0, x1, ..., and y. Throws
  // TENON_ERR_STATE where their number is not known before SetUp.
  std::vector<std::string> inputNames() const;
  std::vector<std::string> outputNames() const;
  // Each layer once, in the order of its first node.
  const std::vector<Layer*>& children() const noexcept { return children_; }
  // Collective. Sets the nodes up, one after the other; the layouts of all values.
  Layouts setUpNodes(const Layouts& inputs);

  // Undoes set-ups: those that were noted are there again, and no other. Nothing is allocated to
  // undo them.
  class NewSetUps {
  public:
    // Notes the layer and those in it.
    void note(Layer& layer);
    void undo() noexcept;

  private:
    // Of a layer that was not set up.
    struct Unset {
      Settings settings;
      MeshLists lists;
      TenonDataType type;
      Space space;
      int depth;
      bool training, records, frozen;
    };
    struct Before {
      Ref<Layer> layer; // which may be gone otherwise when all ranks know of a failure
      std::vector<const Setup*> setups;
      std::size_t parameters, states;
      std::optional<Unset> unset;
    };
    std::vector<Before> before_;
  };

  // Collective. Does nothing if the layer is set up for these layouts already. New parameters get
  // first values. Within a batched agreement the set-up is valid once that is reached.
  void setUp(const Layouts& inputs);
  void setUp(const Layout& input) { setUp(Layouts{input}); }
  bool isSetUp() const noexcept { return !setups_.empty(); }
  // The form for inputs in these layouts, by the settings, with the halo that it computes, if any;
  // not of containers.
  Form form(const Layouts& inputs, bool overlap = false,
            const std::optional<Layout>& computedHalo = {}) const;
  // That of the last SetUp, but for pieces.
  Form latestForm() const;
  // The scratch that the kernels of a form will take on this rank, in this network that takes over
  // what its layers were not told: they are made to say it, without the memory. Not of containers,
  // and not collective.
  Index kernelScratch(const Form& form, const std::vector<const Layer*>& containers,
                      const MeshLists& lists);
  // Of the passes of all set-ups, those to come included, and of the parameters that there are.
  // They must outlive the layer's use, or be taken away ({}).
  void setObservers(const Observers& observers);
  // That for these inputs; it lives as long as the layer.
  Setup& setup(const Layouts& inputs) const;
  // Of the set-up for these inputs: what runs.
  const BoundMaps& maps(const Layouts& inputs) const;
  // Of the node of a container for these inputs, whose output lies like this: as they were joined.
  const BoundMaps& joinedMaps(const Layouts& inputs, const Layout& output) const;
  // Throws TENON_ERR_STATE where there are several outputs.
  const Layout& outputLayout(const Layouts& inputs) const;
  const Layout& outputLayout(const Layout& input) const { return outputLayout(Layouts{input}); }
  // Of the last SetUp. Throw TENON_ERR_STATE before the first.
  const Layouts& inputLayouts() const { return latest().inputs(); }
  const Layout& inputLayout() const { return inputLayouts().front(); }
  const Layout& outputLayout() const { return onlyOutput(latest()); }
  const Layouts& outputLayouts() const { return latest().outputs(); }

  // Collective, all. The inputs' layouts choose the set-up. Output and inputs are different
  // tensors, but an input may be given twice.
  void apply(Inputs x, Outputs y);
  void applyTangent(Inputs dx, Outputs dy);
  void applyAdjoint(OutputCotangents dy, InputCotangents dx);
  // Of a layer with one output.
  void apply(Inputs x, DTensor& y);
  void applyTangent(Inputs dx, DTensor& dy);
  void applyAdjoint(const DTensor& dy, InputCotangents dx);
  // Of inputs as for apply(), not collective. Throws TENON_ERR_NOT_FINITE if a halo that the caller
  // has filled has a value that is not a number where it is read.
  void checkGhosts(Inputs x) const;
  int stackSize() const noexcept { return static_cast<int>(stack_.size()); }
  // Of a layer with one input. dx may be null.
  void apply(const DTensor& x, DTensor& y);
  void applyTangent(const DTensor* dx, DTensor& dy);
  void applyAdjoint(const DTensor& dy, DTensor* dx);
  // Forgets the last Apply, or all that Apply has pushed.
  void forgetLast();
  void clearStack();

  // Each parameter once, those of the layers of a container too.
  std::vector<Ref<Parameter>> parameters() const;
  const std::vector<Ref<Parameter>>& ownParameters() const noexcept { return parameters_; }
  // Says before SetUp that others will reduce the gradients of the layer's own parameters
  // (GradientBuckets), which so need no reductions of their own.
  void setReducedByOthers(bool byOthers) noexcept { reducedByOthers_ = byOthers; }
  // The layer's own parameter of that form, made in its storage layout at the first call.
  Ref<Parameter> parameter(const ParameterForm& form);
  // What it carries beside parameters, likewise.
  const std::vector<Ref<StateTensor>>& ownStates() const noexcept { return states_; }
  Ref<StateTensor> state(const StateForm& form);
  // Those of the layers of a container too.
  std::vector<Ref<StateTensor>> states() const;
  // The log's event of what belongs to the layer: its name, or type.
  int event() const;
  // Fills the parameters by global position: the same values on any partition. A container gives
  // each of its layers a stream of its own.
  enum class Fill { All, New };
  void initialize(std::uint64_t seed, std::uint64_t stream, Fill fill = Fill::All);
  void zeroGradients();

  // What random layers draw from: the same on all ranks and for all set-ups.
  struct RandomState {
    bool isSet = false;
    std::uint64_t seed = 0, stream = 0, applied = 0; // Apply calls in training
  };
  RandomState& randomState() noexcept { return random_; }

  // Allocated now on this rank: what its set-ups hold beside what Apply keeps; that; and its own
  // parameters.
  struct Memory {
    Index buffers = 0, saved = 0, parameters = 0;
  };
  Memory memory() const;
  // Type and settings as text: what must be the same on all ranks.
  std::string agreedText() const;
  // The settings, and each set-up: layouts, signature, conversions.
  std::string describe() const override;

private:
  // Of one level of the stack.
  struct StackLevel {
    std::unique_ptr<Frame> frame;
    ArgumentStaging arguments; // of the Apply
  };
  struct Entry {
    std::unique_ptr<Setup> setup;
    std::optional<Layout>
        computedHalo; // the output with the halo that it computes, which only nodes do
    std::vector<StackLevel> frames;
    int used = 0;
    ArgumentStaging inferred, tangents, cotangents; // arguments of the other calls
    const ArgumentStaging* lastApply = nullptr;
  };
  struct Level {
    Entry* entry;
    int frame; // of the entry's
  };
  // A container gives its nodes their values and runs their maps; what a node needs to be applied
  // by itself is made when it is.
  enum class Role { Alone, Node };
  void setUpAs(const Layouts& inputs, Role role, const std::optional<Layout>& computedHalo = {});
  // What ranks agree on. Throws if this one cannot begin.
  std::string whatIsSetUp() const;
  std::string setUpText(const Layouts& inputs);
  void checkSettings() const;
  void checkTakesLists(const std::string& call) const;
  void checkChange(const std::string& call) const override { checkBeforeSetUp(call); }
  void takeOver(Settings after, const Settings::Names& names) override;
  void readSettings();
  void putNode(Ref<Layer> layer, std::vector<int> reads);
  void putBelow(Layer& layer) const;
  // The layer, and what it contains, comes to lie in a container; `moved` gets the levels before.
  void moveBelow(const Layer& container, int level, std::vector<std::pair<Layer*, int>>& moved);
  void inheritSettings(const Layer& container, int uses);
  const Setup& setUpChild(Layer& child, const Layouts& inputs,
                          const std::optional<Layout>& computedHalo);
  void handOn(Layer& child) const;
  std::optional<HaloSharing> sharedHalos() const;
  void checkInputCount(const Layouts& inputs) const;
  void checkCount(std::size_t given, std::size_t wanted, const char* what = "input") const;
  const Layout& onlyOutput(const Setup& setup) const;
  void checkGhosts(Inputs x, const Layouts& uses) const;
  void checkStream(const DTensor& tensor, const char* role) const;
  void checkArgument(const DTensor& tensor, const Layout& layout, const char* role,
                     const char* remedy = "") const;
  void checkRead(const DTensor& tensor, const Layout& layout, const char* role,
                 const char* remedy = "") const;
  Entry makeEntry(const Layouts& inputs, Role role, const std::optional<Layout>& computedHalo);
  std::vector<StackLevel> framesOf(Entry& entry);
  void checkWritten(const Entry& entry, Inputs x, Outputs y, const char* role) const;
  void draw(std::uint64_t seed, std::uint64_t stream, Fill fill);
  // layoutOf(i) is the layout of input i.
  template <class LayoutOf>
  const Entry& find(std::size_t count, LayoutOf layoutOf) const;
  Entry& entryOf(Inputs x);
  [[noreturn]] void throwNoSetup(const Layouts& inputs) const;
  const Setup& latest() const;
  const Level& top() const;
  void observeParameters(const Observers& observers);
  void dropLast();
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
  int level_ = 0; // in so many containers within each other it lies, or lay, at most
  Layouts uses_;
  bool reducedByOthers_ = false;
  bool training_ = true, records_ = true, frozen_ = false, constant_ = false;
  bool atWork_ = false; // in a call that may run functions of the user's
  std::vector<Node> nodes_;
  std::vector<Layer*> children_;
  Ref<DTensor> target_, targetWeights_;
  RandomState random_;
  Observers observers_;
  std::list<Entry> setups_; // the last one set up is at the end
  std::vector<Level> stack_;
  std::vector<Ref<Parameter>> parameters_; // its own
  std::vector<Ref<StateTensor>> states_;
};

// Puts back how a layer and those in it run.
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
