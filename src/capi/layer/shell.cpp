// SPDX-License-Identifier: BSD-2-Clause
// Shell layers, whose forward map and derivatives are the user's C functions, and layer types that
// a program registers by name:
//   TenonLayerRegister(name, create)   adds a type; create() configures each new layer of it
//   ShellSetFunctions, ShellSetContext, ShellAddParameter, ...    configure a shell, before SetUp
//   ShellGetTensor, ShellGetWorkspace  tensors and memory of the current call, inside the user's
//                                      functions
// The wrappers of the user's functions are stored in the layer's declaration (the object with its
// type and settings), so the layer owns them. They refer to the layer by plain references: with
// counted ones, layer and wrappers would keep each other alive forever. The calls are declared in
// tenon/ext/layer.h.
#include "layer/types/shell.hpp"

#include "capi/layer/create.hpp"
#include "comm/agreement/batched.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "layer/core/layer_types.hpp"

#include <tenon/ext/layer.h>

using namespace tenon;

namespace {

// A borrowed handle of a tensor, or NULL if there is no tensor.
TenonDTensor borrowed(const DTensor* tensor) {
  return tensor ? handleOf<TenonDTensor>(*tensor) : nullptr;
}

// Calls the user's setUp function and returns the output layout that it creates. During a set-up,
// error exchanges of several creations are usually batched into one message. The user's function
// may use an object immediately after creating it, so batching is disabled for its calls.
Layout callSetUp(Layer& layer, TenonLayerShellSetUp function, const Layout& input) {
  const UnbatchedAgreements unbatched(*layer.comm());
  const ShellDeclaration& shell = shellOf(layer);
  const auto in = makeRef<LayoutObject>(layer.comm(), input);
  TenonLayout out = nullptr;
  callUser("the setUp function of a shell layer", [&] {
    return function(handleOf<TenonLayer>(layer), handleOf<TenonLayout>(*in), &out, shell.context());
  });
  const auto outputObject = take(out, "the output of the setUp function of a shell layer");
  if (outputObject->comm() != layer.comm())
    throw Error(TENON_ERR_ARG,
                fmt::format("the setUp function of {} returned a layout on a different "
                            "communicator than that of its input; use the same one",
                            layer.title()));
  return outputObject->layout();
}

// Wraps the user's C functions as functions on objects. A function that is NULL stays empty.
ShellFunctions wrapped(Layer& layer, const TenonLayerShellFunctions& f) {
  const TenonLayer self = handleOf<TenonLayer>(layer);
  ShellDeclaration& shell = shellOf(layer);
  ShellFunctions functions;
  if (f.setUp)
    functions.setUp = [&layer, setUp = f.setUp](const Layout& input) {
      return callSetUp(layer, setUp, input);
    };
  if (f.apply)
    functions.apply = [&shell, self, apply = f.apply](const DTensor& x, DTensor& y) {
      callUser("the apply function of a shell layer", [&] {
        return apply(self, handleOf<TenonDTensor>(x), handleOf<TenonDTensor>(y), shell.context());
      });
    };
  if (f.applyTangent)
    functions.tangent = [&shell, self, tangent = f.applyTangent](const KernelPoint& point,
                                                                 const DTensor* dx, DTensor& dy) {
      callUser("the applyTangent function of a shell layer", [&] {
        return tangent(self, borrowed(point.x), borrowed(point.y), borrowed(dx),
                       handleOf<TenonDTensor>(dy), shell.context());
      });
    };
  if (f.applyAdjoint)
    functions.adjoint = [&shell, self, adjoint = f.applyAdjoint](const KernelPoint& point,
                                                                 const DTensor& dy, DTensor* dx) {
      callUser("the applyAdjoint function of a shell layer", [&] {
        return adjoint(self, borrowed(point.x), borrowed(point.y), handleOf<TenonDTensor>(dy),
                       borrowed(dx), shell.context());
      });
    };
  return functions;
}

// The tensor of this number in a list of those of the current call. `kind` names what is numbered.
template <class Tensor>
const Tensor* numbered(const std::vector<Tensor*>& tensors, int number,
                       const ShellDeclaration& shell, const char* kind) {
  if (number < 0 || number >= static_cast<int>(tensors.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("{3} index {2} is out of range: {0} has {1} {3}s, numbered from 0",
                            shell.title(), tensors.size(), number, kind));
  return tensors[number];
}

// A tensor of the current call, null if there is none. Throws TENON_ERR_STATE if none of the user's
// functions is running.
const DTensor* tensorOf(const ShellDeclaration& shell, TenonShellTensor which, int number) {
  const ShellCall& call = shell.call();
  switch (which) {
  case TENON_SHELL_PARAMETER:
    return numbered(call.values, number, shell, "parameter");
  case TENON_SHELL_PARAMETER_TANGENT:
    return numbered(call.tangents, number, shell, "parameter");
  case TENON_SHELL_PARAMETER_GRADIENT:
    return numbered(call.gradients, number, shell, "parameter");
  case TENON_SHELL_STATE:
    return numbered(call.states, number, shell, "state");
  default:
    throw Error(TENON_ERR_ARG, fmt::format("which is {}; use a TENON_SHELL_... constant",
                                           static_cast<int>(which)));
  }
}

} // namespace

TenonErrorCode TenonLayerRegister(const char* name, TenonLayerCreator create) noexcept {
  return guard(__func__, [&] {
    const std::string type = textOf(name, "name");
    if (!create)
      throw Error(TENON_ERR_NULL, "create is NULL; pass a function");
    layerTypes().add(type, [type, create](CommPtr comm) {
      // The program's function receives the new shell as a borrowed handle and configures it.
      Ref<Layer> layer = makeShell(std::move(comm), type);
      callUser("the create function of a layer type",
               [&] { return create(handleOf<TenonLayer>(*layer)); });
      return layer;
    });
  });
}

TenonErrorCode TenonLayerShellSetFunctions(TenonLayer layer,
                                           const TenonLayerShellFunctions* functions) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    ShellDeclaration& shell = changedShell(l, "changing the functions");
    const TenonLayerShellFunctions& table = required(functions, "functions");
    if (!table.apply)
      throw Error(TENON_ERR_NULL, "functions->apply is NULL; pass a function");
    shell.functions() = wrapped(l, table);
  });
}

TenonErrorCode TenonLayerShellSetContext(TenonLayer layer, void* context,
                                         TenonLayerShellDestroyer destroy) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    shellOf(l).setContext(context,
                          [destroy](void* userContext) { callDestroyer(destroy, userContext); });
  });
}

TenonErrorCode TenonLayerShellGetContext(TenonLayer layer, void** context) noexcept {
  return guard(__func__,
               [&] { required(context, "context") = shellOf(deref(layer, "layer")).context(); });
}

TenonErrorCode TenonLayerShellSetLabels(TenonLayer layer, const char* labels) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    changedShell(l, "setting the signature").setLabels(textOf(labels, "labels"));
  });
}

TenonErrorCode TenonLayerShellSetSaved(TenonLayer layer, TenonBool input,
                                       TenonBool output) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    changedShell(l, "setting what is saved").setSaved(input != TENON_FALSE, output != TENON_FALSE);
  });
}

TenonErrorCode TenonLayerShellAddParameter(TenonLayer layer, const char* name, int rank,
                                           const TenonInt shape[], TenonInt fanIn,
                                           TenonInt fanOut) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    changedShell(l, "adding a parameter")
        .addParameter(textOf(name, "name"), listOf(shape, rank, "shape"), fanIn, fanOut);
  });
}

TenonErrorCode TenonLayerShellAddState(TenonLayer layer, const char* name, int rank,
                                       const TenonInt shape[], double initial) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    changedShell(l, "adding a state")
        .addState(textOf(name, "name"), listOf(shape, rank, "shape"), initial);
  });
}

TenonErrorCode TenonLayerShellSetWorkspace(TenonLayer layer, TenonInt bytes) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) { shellOf(l).setWorkspace(bytes); });
}

TenonErrorCode TenonLayerShellGetTensor(TenonLayer layer, TenonShellTensor which, int index,
                                        TenonDTensor* tensor) noexcept {
  return guard(__func__, [&] {
    const ShellDeclaration& shell = shellOf(deref(layer, "layer"));
    required(tensor, "tensor") = borrowed(tensorOf(shell, which, index));
  });
}

TenonErrorCode TenonLayerShellGetWorkspace(TenonLayer layer, void** workspace) noexcept {
  return guard(__func__, [&] {
    required(workspace, "workspace") = shellOf(deref(layer, "layer")).call().workspace;
  });
}
