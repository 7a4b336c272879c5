// SPDX-License-Identifier: BSD-2-Clause
// Shell layers, whose Apply, tangent and adjoint are functions of the user (shell.hpp):
//
//   LocalShell         the kernel that calls the functions, on every rank with its local arrays
//   ShellDeclaration   what the user declares: functions, parameters, states, supported layouts
//   makeShell() ...    creation, and access to the declaration of an existing layer
//
// Conversions between layouts and the reduction of gradients, which must be the same on all ranks,
// are done by the library around the functions. A function accesses parameters, gradients and
// states through ShellDeclaration::call(), which is valid only while the function runs.
#include "layer/types/shell.hpp"

#include "sys/text/plain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

// The kernel of one set-up of a shell layer. An access to the gradient contributions of a parameter
// marks this gradient as not yet reduced, and the marks must be equal on all ranks. The kernel
// therefore accesses the gradients of all parameters in each adjoint, not only those that the
// user's function reads.
class LocalShell final : public OneInputKernel {
public:
  LocalShell(Layer& layer, const Form& form) : layer_(shellOf(layer)) {
    for (const StateForm& state : form.states)
      states_.push_back(std::make_unique<StateUse>(layer.state(state), state.use));
    call_.values.resize(layer_.declared_.size());
    call_.tangents.resize(layer_.declared_.size());
    call_.gradients.resize(layer_.declared_.size());
  }

  // All states are marked as written after the function, because the library does not know which
  // states the function has written.
  void forward(const DTensor& x, ParameterUses& uses, DTensor& y, Buffer* workspace) override {
    prepare(uses, workspace, /*tangents=*/false, /*gradients=*/false);
    run(layer_.functions_.apply, "Apply", x, y);
    for (const auto& state : states_)
      state->written();
  }
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& uses,
               DTensor& dy) override {
    prepare(uses, point.workspace, /*tangents=*/true, /*gradients=*/false);
    run(layer_.functions_.tangent, "ApplyTangent", point, dx, dy);
  }
  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& uses,
               DTensor* dx) override {
    prepare(uses, point.workspace, /*tangents=*/false, /*gradients=*/true);
    run(layer_.functions_.adjoint, "ApplyAdjoint", point, dy, dx);
  }
  std::string describe() const override { return "user-defined functions"; }

private:
  // Collects the tensors that the function can access in call_.
  void prepare(ParameterUses& uses, Buffer* workspace, bool tangents, bool gradients) {
    if (layer_.call_)
      throw Error(TENON_ERR_STATE, fmt::format("{} was called by a function of its own, while that "
                                               "runs; use another layer there",
                                               layer_.title()));
    for (std::size_t i = 0; i < uses.size(); ++i) {
      call_.values[i] = &uses[i]->value();
      call_.tangents[i] = tangents ? uses[i]->tangent() : nullptr;
      call_.gradients[i] = gradients ? &uses[i]->gradientContributions() : nullptr;
    }
    call_.states.clear();
    for (const auto& state : states_) {
      state->begin();
      call_.states.push_back(&state->value());
    }
    call_.workspace = workspace ? workspace->data<void>() : nullptr;
  }

  // Calls the user's function; `name` is the name of the call for the error if there is none.
  template <class Function, class... Args>
  void run(const Function& function, const char* name, Args&&... args) {
    if (!function)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} ({}) has no function for {}; set one before TenonLayerSetUp()",
                              layer_.title(), layer_.type(), name));
    // Resets the current call, also if the function throws.
    const struct Scope {
      ShellDeclaration& layer;
      ~Scope() { layer.call_ = nullptr; }
    } scope{layer_};
    layer_.call_ = &call_;
    function(std::forward<Args>(args)...);
  }

  ShellDeclaration& layer_;
  std::vector<std::unique_ptr<StateUse>> states_;
  ShellCall call_;
};

ShellDeclaration::~ShellDeclaration() {
  if (destroy_)
    destroy_(context_);
}

// A new context replaces and releases the previous one.
void ShellDeclaration::setContext(void* context, std::function<void(void*)> destroy) {
  if (destroy_)
    destroy_(context_);
  context_ = context;
  destroy_ = std::move(destroy);
}

void ShellDeclaration::setSaved(bool input, bool output) {
  keepsInput_ = input;
  keepsOutput_ = output;
}

void ShellDeclaration::checkDeclared(const char* kind, const std::string& name,
                                     const Shape& shape) const {
  checkPlain(fmt::format("the name of a {} of {}", kind, title()), name);
  if (shape.empty() || *std::min_element(shape.begin(), shape.end()) < 1)
    throw Error(TENON_ERR_SHAPE, fmt::format("{} \"{}\" of {} has shape [{}]; it must have "
                                             "at least 1 dimension, all of extent >= 1",
                                             kind, name, title(), fmt::join(shape, ",")));
  const auto check = [&](const auto& declared, const char* what) {
    for (const auto& other : declared)
      if (other.name == name)
        throw Error(TENON_ERR_ARG, fmt::format("{} already has a {} \"{}\"; use another name",
                                               title(), what, name));
  };
  // Parameters and states share one set of names, which identify them in files.
  check(declared_, "parameter");
  check(states_, "state");
}

void ShellDeclaration::addParameter(std::string name, Shape shape, Index fanIn, Index fanOut) {
  checkDeclared("parameter", name, shape);
  declared_.push_back(
      {.name = std::move(name), .shape = std::move(shape), .fanIn = fanIn, .fanOut = fanOut});
}

void ShellDeclaration::addState(std::string name, Shape shape, double initial) {
  checkDeclared("state", name, shape);
  states_.push_back({.name = std::move(name), .shape = std::move(shape), .initial = initial});
}

void ShellDeclaration::setWorkspace(Index bytes) {
  if (bytes < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("the workspace of {} is {} bytes; it must be >= 0", title(), bytes));
  workspace_ = bytes;
}

ShellCall& ShellDeclaration::call() const {
  if (!call_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("this call is allowed only inside the user functions of {}, while they run",
                    title()));
  return *call_;
}

// The text by which ranks check that they declare the same layer. Functions cannot be compared
// between processes, so the text has only which of them are set, with all other declarations.
std::string ShellDeclaration::furtherText() const {
  std::string text = fmt::format(
      ", labels '{}', functions {}{}{}{}, saves {}{}", tenon::describe(labels_),
      functions_.setUp ? "s" : "-", functions_.apply ? "f" : "-", functions_.tangent ? "t" : "-",
      functions_.adjoint ? "a" : "-", keepsInput_ ? "x" : "-", keepsOutput_ ? "y" : "-");
  for (const Declared& p : declared_)
    text += fmt::format(", parameter {} [{}] of fans {} and {}", p.name, fmt::join(p.shape, ","),
                        p.fanIn, p.fanOut);
  for (const DeclaredState& s : states_)
    text += fmt::format(", state {} [{}] from {}", s.name, fmt::join(s.shape, ","), s.initial);
  return text;
}

// The table of supported distributions, one row per label: x and y both have the label. Without
// labels of the user, it has the rows of elementwise layers.
SignatureTable ShellDeclaration::rows(const std::vector<Shape>& inputs) const {
  if (labels_.empty())
    return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/false);
  SignatureTable table;
  for (const Property& p : labels_)
    table.push_back({p.describe(), p, {}, p});
  return table;
}

// The layouts of all arrays of a set-up (the form), for these input layouts. Called on every rank.
Form ShellDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  if (!functions_.apply)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no function for Apply; set one before TenonLayerSetUp()", title()));
  const Layout& input = inputs.front();
  const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
  const Signature signature =
      Signature::choose(rows({input.shape()}), input, grid, choice.labels, title());
  const Layout use = makeLayoutLike(input, grid, signature.input());
  Form form{.signature = signature,
            .inputs = inputs,
            .uses = {use},
            .output = functions_.setUp ? functions_.setUp(use) : use};
  // Parameters and states are replicated, because the library does not know how a function uses
  // them.
  const Properties broadcast(grid->axes(), Property::broadcast());
  const auto replicated = [&](const Shape& shape) {
    return makeLayout(shape, grid, broadcast, std::vector<CutSource>(shape.size()));
  };
  for (const Declared& p : declared_)
    form.parameters.push_back(
        {.name = p.name, .use = replicated(p.shape), .fanIn = p.fanIn, .fanOut = p.fanOut});
  for (const DeclaredState& s : states_)
    form.states.push_back({.name = s.name, .use = replicated(s.shape), .initial = s.initial});
  return form;
}

// Gradients::Within: the adjoint must run even if no input needs a cotangent, since it can add to
// gradients.
KernelEntry ShellDeclaration::kernel(const Form&) const {
  return {.name = type(),
          .savesInputs = keepsInput_,
          .savesOutput = keepsOutput_,
          .runsOnce = hasStates(), // the functions can read states
          .gradients = Gradients::Within,
          .workspace = {workspace_}};
}

Ref<Layer> makeShell(CommPtr comm, const std::string& type) {
  const auto make = [](const KernelSite& at) -> std::unique_ptr<LocalKernel> {
    return std::make_unique<LocalShell>(at.layer, at.form);
  };
  return makeRef<Layer>(std::move(comm), std::make_unique<ShellDeclaration>(type), make);
}

// The declaration of a shell layer; throws for other types.
ShellDeclaration& shellOf(Layer& layer) {
  if (auto* shell = dynamic_cast<ShellDeclaration*>(&layer.declaration()))
    return *shell;
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} has type {}; this call needs the type shell or a type "
                          "registered with TenonLayerRegister()",
                          layer.title(), layer.type()));
}

ShellDeclaration& changedShell(Layer& layer, const char* what) {
  ShellDeclaration& shell = shellOf(layer);
  layer.checkBeforeSetUp(what);
  return shell;
}

} // namespace tenon
