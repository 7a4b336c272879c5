// SPDX-License-Identifier: BSD-2-Clause
// A differentiable map between distributed tensors with named parameters.
//
// A layer is set up once for each layout of its input, or inputs; the set-ups share the parameters.
// In training mode Apply pushes what the adjoint needs on a stack of fixed depth, and ApplyAdjoint
// pops it, so a layer applied in every time step is differentiated by stepping back in time.
#pragma once

#include "layer/parameter.hpp"
#include "layer/setup.hpp"
#include "sys/failed_sets.hpp"

#include <list>

namespace tenon {

class Layer : public Object {
public:
  static constexpr const char* kClass = "Layer";

  const CommPtr& comm() const noexcept { return comm_; }
  virtual const char* type() const noexcept = 0;

  // Runs a setter; SetUp fails on all ranks if one failed on any and was not made good.
  template <class Set>
  void specify(const char* function, Set&& set) {
    failedSets_.run(function, std::forward<Set>(set));
  }
  // Settings; legal before the first set-up only.
  void setDataType(TenonDataType type);
  void setStackDepth(int depth);
  // Letters of the signature, one for each mesh axis; "" lets the layer choose.
  void setSignature(std::string letters);
  // Where parameters are stored: "use" (as the signature uses them), "root", or properties "S0,B".
  void setStorage(std::string storage);
  // "auto", "reference", "blas" or "onednn".
  void setBackend(std::string backend);
  // Of the values that SetUp draws for the parameters that it makes.
  void setSeed(std::uint64_t seed);
  // Reads -tenon_[prefix_]signature, storage, backend, stack_depth, initializer, seed.
  virtual void setFromOptions();
  // Takes the data type of the container and the stack depth for `uses` Apply calls in each of the
  // container's, and of storage, backend and initializer those that have no value of their own.
  void inheritSettings(const Layer& container, int uses = 1);
  TenonDataType dataType() const noexcept { return type_; }
  int stackDepth() const noexcept { return depth_; }

  // In inference mode Apply keeps nothing.
  virtual void setTraining(bool training);
  bool isTraining() const noexcept { return training_; }

  // Parameters gather no gradients, and optimizers leave them alone; legal at any time.
  virtual void setFrozen(bool frozen);
  bool isFrozen() const noexcept { return frozen_; }

  // Collective. Does nothing if the layer is set up for these layouts already. New parameters get
  // first values.
  void setUp(const Layouts& inputs);
  void setUp(const Layout& input) { setUp(Layouts{input}); }
  // The same without values, which the container that sets this layer up will give.
  void setUpWithoutValues(const Layouts& inputs);
  bool isSetUp() const noexcept { return !setups_.empty(); }
  // Of the set-up for these inputs.
  const Layout& outputLayout(const Layouts& inputs) const;
  const Layout& outputLayout(const Layout& input) const { return outputLayout(Layouts{input}); }
  // Of the last SetUp. Throw TENON_ERR_STATE before the first.
  const Layouts& inputLayouts() const { return latest().inputs(); }
  const Layout& inputLayout() const { return inputLayouts().front(); }
  const Layout& outputLayout() const { return latest().output(); }

  // Collective, all. The inputs' layouts choose the set-up. Output and inputs are different tensors,
  // but an input may be given twice.
  void apply(Inputs x, DTensor& y);
  void applyTangent(Inputs dx, DTensor& dy);
  void applyAdjoint(const DTensor& dy, InputCotangents dx);
  // The tangent at an earlier Apply: the one that found `level` others on the stack.
  void applyTangentAt(int level, Inputs dx, DTensor& dy);
  int stackSize() const noexcept { return static_cast<int>(stack_.size()); }
  // Of a layer with one input. dx may be null.
  void apply(const DTensor& x, DTensor& y);
  void applyTangent(const DTensor* dx, DTensor& dy);
  void applyAdjoint(const DTensor& dy, DTensor* dx);
  // Forgets the last Apply, or all that Apply has pushed.
  virtual void forgetLast();
  virtual void clearStack();

  virtual std::vector<Ref<Parameter>> parameters() const { return parameters_; }
  // Fills the parameters by global position: the same values on any partition. A container gives
  // each of its layers a stream of its own.
  enum class Fill { All, New };
  virtual void initialize(std::uint64_t seed, std::uint64_t stream, Fill fill = Fill::All);
  virtual void zeroGradients();

  // Type and settings as text: what must be the same on all ranks.
  std::string settings() const;
  // The settings, and each set-up: layouts, signature, conversions.
  virtual std::string describe() const;

protected:
  explicit Layer(CommPtr comm);
  // The settings of the layer's type, and what a view says of them.
  virtual std::string ownSettings() const { return {}; }
  virtual std::string ownSummary() const { return ownSettings(); }
  virtual std::unique_ptr<Setup> makeSetupOf(const Layouts& inputs) = 0;
  void checkBeforeSetUp(const char* call) const;
  // Throws TENON_ERR_ARG.
  void checkOneInput(const Layouts& inputs) const;
  const std::string& signature() const noexcept { return signature_; }
  const std::string& backend() const noexcept { return backend_; }
  // The layer's parameter of that name, made in its storage layout at the first call.
  Ref<Parameter> parameter(const std::string& name, const Layout& use, Index fanIn, Index fanOut);

private:
  static constexpr const char* kStorage = "use";
  static constexpr const char* kBackend = "auto";
  static constexpr const char* kInitializer = "glorot_uniform";
  struct Entry {
    std::unique_ptr<Setup> setup;
    std::vector<std::unique_ptr<Frame>> frames; // one for each level of the stack, made at set-up
    int used = 0;
    std::unique_ptr<Frame> scratch; // of inference
  };
  struct Level {
    Entry* entry;
    int frame; // of the entry's
  };
  Entry makeEntry(const Layouts& inputs);
  // layoutOf(i) is the layout of input i.
  template <class LayoutOf>
  const Entry& find(std::size_t count, LayoutOf layoutOf) const;
  [[noreturn]] void throwNoSetup(const Layouts& inputs) const;
  const Setup& latest() const;
  const Level& top() const;
  Layout storageLayout(const Layout& use) const;
  std::string brief() const;

  CommPtr comm_;
  TenonDataType type_ = TENON_FLOAT32;
  int depth_ = 1;
  bool training_ = true, frozen_ = false;
  std::uint64_t seed_ = 0;
  std::string signature_, storage_ = kStorage, backend_ = kBackend, initializer_ = kInitializer;
  FailedSets failedSets_;
  std::list<Entry> setups_; // the last one set up is at the end
  std::vector<Level> stack_;
  std::vector<Ref<Parameter>> parameters_;
};

// A layer with one input.
class OneInputLayer : public Layer {
protected:
  using Layer::Layer;
  virtual std::unique_ptr<Setup> makeSetup(const Layout& input) = 0;

private:
  std::unique_ptr<Setup> makeSetupOf(const Layouts& inputs) final;
};

} // namespace tenon
