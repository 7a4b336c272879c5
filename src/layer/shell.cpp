// SPDX-License-Identifier: BSD-2-Clause
#include "layer/shell.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

// One set-up of a shell. What must be the same on all ranks, which gradients wait, happens here and
// not at the user's wish.
class LocalShell final : public OneInputKernel {
public:
  explicit LocalShell(ShellDeclaration& layer) : layer_(layer) {
    call_.values.resize(layer.declared_.size());
    call_.tangents.resize(layer.declared_.size());
    call_.gradients.resize(layer.declared_.size());
  }

  void forward(const DTensor& x, ParameterUses& uses, DTensor& y, Buffer* workspace) override {
    prepare(uses, workspace, false, false);
    run(layer_.functions_.apply, "Apply", x, y);
  }
  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& uses,
               DTensor& dy) override {
    prepare(uses, point.workspace, true, false);
    run(layer_.functions_.tangent, "ApplyTangent", point, dx, dy);
  }
  void adjoint(const KernelPoint& point, const DTensor& dy, ParameterUses& uses,
               DTensor* dx) override {
    prepare(uses, point.workspace, false, true);
    run(layer_.functions_.adjoint, "ApplyAdjoint", point, dy, dx);
  }
  std::string describe() const override { return "user-defined functions"; }

private:
  void prepare(ParameterUses& uses, Buffer* workspace, bool tangents, bool gradients) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      call_.values[i] = &uses[i]->value();
      call_.tangents[i] = tangents ? uses[i]->tangent() : nullptr;
      call_.gradients[i] = gradients ? &uses[i]->gradientAddends() : nullptr;
    }
    call_.workspace = workspace ? workspace->data<void>() : nullptr;
  }

  template <class Function, class... Args>
  void run(const Function& function, const char* name, Args&&... args) {
    if (!function)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} ({}) has no function for {}; set one before TenonLayerSetUp()",
                              layer_.title(), layer_.type(), name));
    struct Scope {
      ShellDeclaration& layer;
      ShellCall* outer;
      ~Scope() { layer.call_ = outer; }
    } scope{layer_, layer_.call_};
    layer_.call_ = &call_;
    function(std::forward<Args>(args)...);
  }

  ShellDeclaration& layer_;
  ShellCall call_;
};

ShellDeclaration::~ShellDeclaration() {
  if (destroy_)
    destroy_(context_);
}

void ShellDeclaration::setContext(void* context, std::function<void(void*)> destroy) {
  if (destroy_)
    destroy_(context_);
  context_ = context;
  destroy_ = std::move(destroy);
}

void ShellDeclaration::setKept(bool input, bool output) {
  keepsInput_ = input;
  keepsOutput_ = output;
}

void ShellDeclaration::addParameter(std::string name, Shape shape, Index fanIn, Index fanOut) {
  if (shape.empty() || *std::min_element(shape.begin(), shape.end()) < 1)
    throw Error(TENON_ERR_SHAPE, fmt::format("parameter \"{}\" of {} has shape [{}]; it must have "
                                             "at least 1 dimension, all of extent >= 1",
                                             name, title(), fmt::join(shape, ",")));
  for (const Declared& other : declared_)
    if (other.name == name)
      throw Error(TENON_ERR_ARG, fmt::format("{} already has a parameter \"{}\"; use another name",
                                             title(), name));
  declared_.push_back({std::move(name), std::move(shape), fanIn, fanOut});
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

std::string ShellDeclaration::furtherText() const {
  std::string text = fmt::format(
      ", labels '{}', functions {}{}{}{}, saves {}{}", tenon::describe(letters_),
      functions_.setUp ? "s" : "-", functions_.apply ? "f" : "-", functions_.tangent ? "t" : "-",
      functions_.adjoint ? "a" : "-", keepsInput_ ? "x" : "-", keepsOutput_ ? "y" : "-");
  for (const Declared& p : declared_)
    text += fmt::format(", parameter {} [{}] of fans {} and {}", p.name, fmt::join(p.shape, ","),
                        p.fanIn, p.fanOut);
  return text;
}

SignatureTable ShellDeclaration::rows(const std::vector<Shape>& inputs) const {
  if (letters_.empty())
    return elementwiseTable(static_cast<int>(inputs.front().size()), false);
  SignatureTable table;
  for (const Property& p : letters_)
    table.push_back({p.describe(), p, {}, p});
  return table;
}

Form ShellDeclaration::form(const Layouts& inputs, const Choice& choice) const {
  if (!functions_.apply)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no function for Apply; set one before TenonLayerSetUp()", title()));
  const Layout& input = inputs.front();
  const MeshPtr mesh = choice.mesh ? choice.mesh : input.meshPtr();
  const Signature chosen =
      Signature::choose(rows({input.shape()}), input, mesh, choice.letters, title());
  const Layout use = makeLayoutLike(input, mesh, chosen.input());
  Form form{.signature = chosen,
            .inputs = inputs,
            .uses = {use},
            .output = functions_.setUp ? functions_.setUp(use) : use};
  const Properties everywhere(mesh->axes(), Property::broadcast());
  for (const Declared& p : declared_)
    form.parameters.push_back(
        {p.name, makeLayout(p.shape, mesh, everywhere, std::vector<CutSource>(p.shape.size())),
         p.fanIn, p.fanOut});
  return form;
}

// The user's functions may gather something although no input wants its cotangent.
KernelEntry ShellDeclaration::kernel(const Form&) const {
  return {.name = type(),
          .keepsInputs = keepsInput_,
          .keepsOutput = keepsOutput_,
          .gradients = Gradients::Within,
          .workspace = {workspace_}};
}

void declareShell(Layer& layer, const std::string& type) {
  layer.declare(std::make_unique<ShellDeclaration>(type), [](Layer& self, const Layouts& inputs) {
    return setUpKernel(self, inputs, [](Layer& own, const Form&, const Layout&, const Box&) {
      return std::unique_ptr<LocalKernel>(std::make_unique<LocalShell>(shellOf(own)));
    });
  });
}

ShellDeclaration& shellOf(Layer& layer) {
  if (auto* shell = dynamic_cast<ShellDeclaration*>(&layer.declaration()))
    return *shell;
  throw Error(TENON_ERR_TYPE,
              fmt::format("{} has type {}; this call needs type shells (TenonLayerCreateShell, "
                          "TenonLayerRegister)",
                          layer.title(), layer.type()));
}

ShellDeclaration& changedShell(Layer& layer, const char* what) {
  ShellDeclaration& shell = shellOf(layer);
  layer.checkBeforeSetUp(what);
  return shell;
}

} // namespace tenon
