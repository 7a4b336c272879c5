// SPDX-License-Identifier: BSD-2-Clause
// A shell layer is a layer whose operation the user defines by functions, like PETSc's shell
// matrices. The functions can be local kernels or collective operations. The library converts input
// and parameters to the layouts in which the functions read them, saves the tensors that the
// derivatives need, and reduces gradients. Order of the calls:
//
//   makeShell(), functions(), setLabels(), ...   the user, through the C API
//   setUp function                               the library, in SetUp
//   apply, tangent and adjoint function          the library, in Apply, ApplyTangent, ApplyAdjoint
//   call()                                       these functions, for parameters, gradients, states
//
// A label describes how the input is distributed over one axis of the process grid: split along
// dimension n (Sn), replicated (B), or on one rank (R). The user declares the labels that the
// functions support; the default is S0, S1, ..., B and R. Parameters are replicated on all ranks,
// and in the adjoint each rank adds its contribution to their gradients. States are replicated too;
// the value that the apply function writes to a state must be the same on all ranks.
#pragma once

#include "layer/core/layer_types.hpp"
#include "layer/core/state_tensor.hpp"

#include <functional>

namespace tenon {

// The user's functions. A null function is not available.
struct ShellFunctions {
  // Returns the output layout for an input layout; if null, the output has the layout of the input.
  std::function<Layout(const Layout& input)> setUp;
  std::function<void(const DTensor& x, DTensor& y)> apply;
  std::function<void(const KernelPoint& point, const DTensor* dx, DTensor& dy)> tangent;
  std::function<void(const KernelPoint& point, const DTensor& dy, DTensor* dx)> adjoint;
};

// The tensors that a function can access during its call.
struct ShellCall {
  std::vector<const DTensor*> values, tangents; // of the parameters; a tangent can be null
  std::vector<DTensor*> gradients;              // contributions to be added to, in adjoints only
  std::vector<DTensor*> states;
  void* workspace = nullptr; // of the current level of the stack; null in inference
};

// The declaration of a shell layer, which holds the user's functions.
class ShellDeclaration final : public Declaration {
public:
  explicit ShellDeclaration(std::string type) : Declaration(std::move(type), {}) {}
  ~ShellDeclaration() override;

  ShellFunctions& functions() noexcept { return functions_; }
  void setContext(void* context, std::function<void(void*)> destroy);
  void* context() const noexcept { return context_; }
  // Sets the labels that the functions support, the preferred one first: "S0,B,R".
  void setLabels(const std::string& labels) { labels_ = parseProperties(labels); }
  // Sets which tensors of Apply are passed to the derivatives; by default only the input.
  void setSaved(bool input, bool output);
  void addParameter(std::string name, Shape shape, Index fanIn, Index fanOut);
  // Adds a state, which Apply updates; `initial` is the initial value of all elements.
  void addState(std::string name, Shape shape, double initial);
  bool hasStates() const noexcept { return !states_.empty(); }
  // Sets the size in bytes, on this rank, of the workspace that Apply fills for the derivatives.
  // It can also be set within functions().setUp.
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

// Creates a layer with this type name, whose functions must still be set.
Ref<Layer> makeShell(CommPtr comm, const std::string& type);
// Throws TENON_ERR_TYPE if the layer is not a shell.
ShellDeclaration& shellOf(Layer& layer);
// The declaration, for a change that is only allowed before SetUp. Throws like shellOf(), and
// TENON_ERR_STATE after SetUp.
ShellDeclaration& changedShell(Layer& layer, const char* what);

} // namespace tenon
