// SPDX-License-Identifier: BSD-2-Clause
#include "layer/shell_layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

// One set-up of a shell. What must be the same on all ranks, which gradients wait, happens here and
// not at the user's wish.
class LocalShell final : public OneInputKernel {
public:
  explicit LocalShell(ShellLayer& layer)
      : layer_(layer), workspace_(layer.workspace_), keepsInput_(layer.keepsInput_),
        keepsOutput_(layer.keepsOutput_) {
    call_.values.resize(layer.declared_.size());
    call_.tangents.resize(layer.declared_.size());
    call_.gradients.resize(layer.declared_.size());
  }

  Index workspaceBytes() const override { return workspace_; }
  bool keepsInput() const override { return keepsInput_; }
  bool keepsOutput() const override { return keepsOutput_; }
  // The user's functions may gather something although no input wants its cotangent.
  Gradients gradients() const override { return Gradients::Within; }

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
      ShellLayer& layer;
      ShellCall* outer;
      ~Scope() { layer.call_ = outer; }
    } scope{layer_, layer_.call_};
    layer_.call_ = &call_;
    function(std::forward<Args>(args)...);
  }

  ShellLayer& layer_;
  Index workspace_;
  bool keepsInput_, keepsOutput_;
  ShellCall call_;
};

ShellLayer::ShellLayer(CommPtr comm, std::string typeName)
    : KernelLayer(std::move(comm)), typeName_(std::move(typeName)) {}

ShellLayer::~ShellLayer() {
  if (destroy_)
    destroy_(context_);
}

ShellFunctions& ShellLayer::functions() {
  checkBeforeSetUp("changing the functions");
  return functions_;
}

void ShellLayer::setContext(void* context, std::function<void(void*)> destroy) {
  if (destroy_)
    destroy_(context_);
  context_ = context;
  destroy_ = std::move(destroy);
}

void ShellLayer::setLetters(const std::string& letters) {
  checkBeforeSetUp("setting the signature");
  letters_ = parseProperties(letters);
}

void ShellLayer::setKept(bool input, bool output) {
  checkBeforeSetUp("setting what is saved");
  keepsInput_ = input;
  keepsOutput_ = output;
}

void ShellLayer::addParameter(std::string name, Shape shape, Index fanIn, Index fanOut) {
  checkBeforeSetUp("adding a parameter");
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

void ShellLayer::setWorkspace(Index bytes) {
  if (bytes < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("the workspace of {} is {} bytes; it must be >= 0", title(), bytes));
  workspace_ = bytes;
}

ShellCall& ShellLayer::call() const {
  if (!call_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("this call is allowed only inside the user functions of {}, while they run",
                    title()));
  return *call_;
}

std::string ShellLayer::ownSettings() const {
  std::string text = fmt::format(
      "letters '{}', functions {}{}{}{}, keeps {}{}", tenon::describe(letters_),
      functions_.setUp ? "s" : "-", functions_.apply ? "f" : "-", functions_.tangent ? "t" : "-",
      functions_.adjoint ? "a" : "-", keepsInput_ ? "x" : "-", keepsOutput_ ? "y" : "-");
  for (const Declared& p : declared_)
    text += fmt::format(", parameter {} [{}] of fans {} and {}", p.name, fmt::join(p.shape, ","),
                        p.fanIn, p.fanOut);
  return text;
}

KernelPlan ShellLayer::plan(const Layout& input) {
  if (!functions_.apply)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no function for Apply; set one before TenonLayerSetUp()", title()));
  SignatureTable table;
  for (const Property& p : letters_)
    table.push_back({p.describe(), p, {}, p});
  const Signature chosen(letters_.empty() ? elementwiseTable(input.rank(), false) : table, input,
                         signature(), title());
  const Layout plain = input.withoutMargins();
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&plain, d});
  const Layout use = makeLayout(input.shape(), input.meshPtr(), chosen.input(), same);
  const Layout output = functions_.setUp ? functions_.setUp(use) : use;

  KernelPlan result{chosen, use, output, {}, {}, nullptr};
  const Properties everywhere(input.mesh().axes(), Property::broadcast());
  for (const Declared& p : declared_) {
    result.parameterUses.push_back(
        makeLayout(p.shape, input.meshPtr(), everywhere, std::vector<CutSource>(p.shape.size())));
    result.parameters.push_back(parameter(p.name, result.parameterUses.back(), p.fanIn, p.fanOut));
  }
  result.kernel = std::make_unique<LocalShell>(*this);
  return result;
}

} // namespace tenon
