// SPDX-License-Identifier: BSD-2-Clause
// A differentiable map between distributed tensors with named parameters.
//
// A layer is set up once for each layout of its input; the set-ups share the parameters. In
// training mode Apply pushes what the adjoint needs on a stack of fixed depth, and ApplyAdjoint
// pops it, so a layer applied in every time step is differentiated by stepping back in time.
#pragma once

#include "layer/parameter.hpp"
#include "sys/failed_sets.hpp"

#include <list>

namespace tenon {

// What one Apply leaves for its adjoint.
class Frame {
public:
  virtual ~Frame() = default;
  // Lets go of the tensors that it refers to.
  virtual void drop() noexcept {}
};

// A layer set up for one layout of its input.
class Setup {
public:
  Setup(Layout input, Layout output)
      : input_(std::move(input)), output_(std::move(output)), inputDual_(input_.dual()),
        outputDual_(output_.dual()) {}
  virtual ~Setup() = default;

  const Layout& input() const noexcept { return input_; }
  const Layout& output() const noexcept { return output_; }
  const Layout& inputDual() const noexcept { return inputDual_; }
  const Layout& outputDual() const noexcept { return outputDual_; }

  virtual std::unique_ptr<Frame> makeFrame() = 0;
  // Keeps in the frame what the adjoint needs if `training`, else uses it as scratch alone.
  virtual void apply(const DTensor& x, DTensor& y, Frame& frame, bool training) = 0;
  // dy <- J dx + (derivative in the parameters' tangents) at the frame's point. dx may be null.
  virtual void tangent(Frame& frame, const DTensor* dx, DTensor& dy) = 0;
  // dx <- J* dy; the parameters' gradients accumulate. dx may be null.
  virtual void adjoint(Frame& frame, const DTensor& dy, DTensor* dx) = 0;
  virtual std::string describe() const = 0;

private:
  Layout input_, output_, inputDual_, outputDual_;
};

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
  // Reads -tenon_[prefix_]signature, storage, backend, stack_depth, initializer.
  virtual void setFromOptions();
  // Takes the data type and the stack depth of the container, and of storage, backend and
  // initializer those that have no value of their own.
  void inheritSettings(const Layer& container);
  TenonDataType dataType() const noexcept { return type_; }
  int stackDepth() const noexcept { return depth_; }

  // In inference mode Apply keeps nothing.
  virtual void setTraining(bool training);
  bool isTraining() const noexcept { return training_; }

  // Collective. Does nothing if the layer is set up for this layout already.
  void setUp(const Layout& input);
  bool isSetUp() const noexcept { return !setups_.empty(); }
  // Of the set-up for this input.
  const Layout& outputLayout(const Layout& input) const { return find(input).setup->output(); }
  // Of the last SetUp. Throw TENON_ERR_STATE before the first.
  const Layout& inputLayout() const { return latest().input(); }
  const Layout& outputLayout() const { return latest().output(); }

  // Collective, all three. The input's layout chooses the set-up. Input and output are two tensors.
  void apply(const DTensor& x, DTensor& y);
  void applyTangent(const DTensor* dx, DTensor& dy);
  void applyAdjoint(const DTensor& dy, DTensor* dx);
  // Forgets the last Apply, or all that Apply has pushed.
  virtual void forgetLast();
  virtual void clearStack();

  virtual std::vector<Ref<Parameter>> parameters() const { return parameters_; }
  // Fills the parameters by global position: the same values on any partition. A container gives
  // each of its layers a stream of its own.
  virtual void initialize(std::uint64_t seed, std::uint64_t stream);
  virtual void zeroGradients();

  // Type and settings as text: what must be the same on all ranks.
  std::string settings() const;
  // The settings, and each set-up: layouts, signature, conversions.
  virtual std::string describe() const;

protected:
  explicit Layer(CommPtr comm);
  // The settings of the layer's type.
  virtual std::string ownSettings() const { return {}; }
  virtual std::unique_ptr<Setup> makeSetup(const Layout& input) = 0;
  void checkBeforeSetUp(const char* call) const;
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
  Entry makeEntry(const Layout& input);
  const Entry& find(const Layout& input) const;
  const Setup& latest() const;
  Entry& top();
  Layout storageLayout(const Layout& use) const;

  CommPtr comm_;
  TenonDataType type_ = TENON_FLOAT32;
  int depth_ = 1;
  bool training_ = true;
  std::string signature_, storage_ = kStorage, backend_ = kBackend, initializer_ = kInitializer;
  FailedSets failedSets_;
  std::list<Entry> setups_; // the last one set up is at the end
  std::vector<Entry*> stack_;
  std::vector<Ref<Parameter>> parameters_;
};

} // namespace tenon
