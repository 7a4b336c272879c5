// SPDX-License-Identifier: BSD-2-Clause
// A layer whose maps are the user's functions: local kernels, or anything that all ranks call
// together. The framework converts input and parameters, keeps what the derivatives need, and
// collects gradients.
//
// The labels on a grid axis are those that the user says his functions can do, by default S0, S1,
// ..., B and R. A parameter is used in full on every rank (B on every axis); in the adjoint each
// rank adds its contribution of the gradient. A state is used like a parameter, and what the
// function for Apply writes to it on every rank stays.
#pragma once

#include "layer/core/layer_types.hpp"
#include "layer/core/state_tensor.hpp"

#include <functional>

namespace tenon {

struct ShellFunctions {
  // Gives the output's layout for one of the input; without it the output lies as the input does.
  std::function<Layout(const Layout& input)> setUp;
  std::function<void(const DTensor& x, DTensor& y)> apply;
  std::function<void(const KernelPoint& point, const DTensor* dx, DTensor& dy)> tangent;
  std::function<void(const KernelPoint& point, const DTensor& dy, DTensor* dx)> adjoint;
};

// What the functions see of the call that they are in.
struct ShellCall {
  std::vector<const DTensor*> values, tangents; // of the parameters; a tangent may be null
  std::vector<DTensor*> gradients; // contributions to be added to, in the adjoint alone
  std::vector<DTensor*> states;
  void* workspace = nullptr; // of this level of the stack; null in inference
};

class ShellDeclaration final : public Declaration {
public:
  explicit ShellDeclaration(std::string type) : Declaration(std::move(type), {}) {}
  ~ShellDeclaration() override;

  ShellFunctions& functions() noexcept { return functions_; }
  void setContext(void* context, std::function<void(void*)> destroy);
  void* context() const noexcept { return context_; }
  // Sets the labels that the functions can do, the best first: "S0,B,R".
  void setLabels(const std::string& labels) { labels_ = parseProperties(labels); }
  // Sets which tensors of Apply the derivatives get; by default the input alone.
  void setSaved(bool input, bool output);
  void addParameter(std::string name, Shape shape, Index fanIn, Index fanOut);
  // Adds a state, which Apply carries on; at first all its elements have one value.
  void addState(std::string name, Shape shape, double initial);
  bool hasStates() const noexcept { return !states_.empty(); }
  // Sets how many bytes on this rank Apply fills for the derivatives; legal in functions().setUp
  // too.
  void setWorkspace(Index bytes);

  // Throws TENON_ERR_STATE outside the user's functions.
  ShellCall& call() const;

  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;

private:
  friend class LocalShell;
  struct Declared {
    std::string name;
    Shape shape;
    Index fanIn, fanOut;
  };
  struct DeclaredState {
    std::string name;
    Shape shape;
    double initial;
  };
  KernelEntry kernel(const Form&) const override;
  void checkDeclared(const char* kind, const std::string& name, const Shape& shape) const;
  std::string furtherText() const override;

  ShellFunctions functions_;
  void* context_ = nullptr;
  std::function<void(void*)> destroy_;
  Properties labels_;
  bool keepsInput_ = true, keepsOutput_ = false;
  Index workspace_ = 0;
  std::vector<Declared> declared_;
  std::vector<DeclaredState> states_;
  ShellCall* call_ = nullptr;
};

// A layer of a type of this name, whose functions are still to be set.
Ref<Layer> makeShell(CommPtr comm, const std::string& type);
// Throws TENON_ERR_TYPE if the layer is no shell.
ShellDeclaration& shellOf(Layer& layer);
// The declaration for a change that is legal before SetUp only. Throws likewise, and
// TENON_ERR_STATE after SetUp.
ShellDeclaration& changedShell(Layer& layer, const char* what);

} // namespace tenon
