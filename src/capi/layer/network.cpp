// SPDX-License-Identifier: BSD-2-Clause
// Containers (sequential, graph), and the calls for layers with several inputs and outputs, such as
// TenonLayerApplyMany(). An evaluation must not allocate memory, so the lists of its tensors are
// arrays on the stack, with a maximum length. It exchanges messages without comparing the arguments
// of the ranks, so its errors are fatal if there are several ranks (guardApply()). The calls are
// declared in tenon/layer_network.h.
#include "layer/networks/network.hpp"

#include "capi/layer/create.hpp"
#include "capi/tensors.hpp"
#include "comm/layout_object.hpp"
#include "declaration/core/windowed.hpp"
#include "dtensor/dtensor.hpp"

#include <tenon/layer_network.h>
#include <tenon/layer_types.h>

#include <optional>

using namespace tenon;

namespace {

// Returns the layouts behind `count` handles. Throws unless all are on the layer's communicator.
Layouts layoutsOf(const Layer& layer, const TenonLayout* inputs, int count) {
  Layouts layouts;
  for (TenonLayout handle : listOf(inputs, count, "inputs")) {
    const std::string name = fmt::format("inputs[{}]", layouts.size());
    const LayoutObject& layoutObject = deref(handle, name.c_str());
    if (layoutObject.comm() != layer.comm())
      throw Error(
          TENON_ERR_ARG,
          fmt::format("{} and {} are on different communicators; create them on the same one",
                      layer.title(), name));
    layouts.push_back(layoutObject.layout());
  }
  return layouts;
}

// The layout of the second input, which holds boundary values. Throws TENON_ERR_STATE if the layer
// does not have one; a boundary constant is a single number and is not an input.
Layout boundaryLayout(const Layer& layer, const Layout& input) {
  const auto* windowed = dynamic_cast<const Windowed*>(&layer.declaration());
  if (!windowed)
    throw Error(TENON_ERR_TYPE, fmt::format("{} has type {}; this call needs type convolution and "
                                            "pooling",
                                            layer.title(), layer.type()));
  const std::optional<UserValues> values = windowed->userValues();
  if (!values || values->constant)
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} does not have a second input for boundary values: {}", layer.title(),
            values ? "it has a boundary constant"
                   : "no side has boundary mode \"values\"; set it with TenonLayerSetBoundary()"));
  return layer.form({input}, layer.choice()).uses.front();
}

// The body of an evaluation: call(layer).
template <class Call>
TenonErrorCode guardApplyMany(const char* function, TenonLayer layer, Call call) {
  return guardApply(
      function, [&] { call(derefToApply(layer, "layer")); }, isAlone(layer));
}

} // namespace

TenonErrorCode TenonLayerSequentialAdd(TenonLayer container, TenonLayer layer) noexcept {
  return specifyLayer(__func__, container,
                      [&](Layer& l) { appendLayer(l, Ref<Layer>::share(&deref(layer, "layer"))); });
}

TenonErrorCode TenonLayerGraphAddNode(TenonLayer graph, TenonLayer layer, int count,
                                      const int inputs[], int* node) noexcept {
  return specifyLayer(__func__, graph, [&](Layer& l) {
    const int number =
        addGraphNode(l, Ref<Layer>::share(&deref(layer, "layer")), listOf(inputs, count, "inputs"));
    if (node)
      *node = number;
  });
}

TenonErrorCode TenonLayerSetOutputLayout(TenonLayer layer, TenonLayout output) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const LayoutObject& layoutObject = deref(output, "output");
    if (layoutObject.comm() != l.comm())
      throw Error(TENON_ERR_ARG,
                  fmt::format("output and {} are on different communicators; create output on that "
                              "of the layer, which must hold the ranks of input and output",
                              l.title()));
    l.setOutputLayout(layoutObject.layout());
  });
}

TenonErrorCode TenonLayerGetBoundaryLayout(TenonLayer layer, TenonLayout input,
                                           TenonLayout* boundary) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    const Layouts inputs = layoutsOf(l, &input, 1);
    required(boundary, "boundary");
    giveHandle(boundary, makeRef<LayoutObject>(l.comm(), boundaryLayout(l, inputs.front())));
  });
}

TenonErrorCode TenonLayerSetUpMany(TenonLayer layer, int count,
                                   const TenonLayout inputs[]) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    // If the layer's handle is invalid, commOf() takes the communicator of the first input.
    const TenonLayout first = inputs && count > 0 ? inputs[0] : nullptr;
    const CommPtr comm = commOf("layer", layer, first);
    runCollectively(*comm, [&] {
      Layer& object = deref(layer, "layer");
      object.setUp(layoutsOf(object, inputs, count));
    });
  });
}

TenonErrorCode TenonLayerApplyMany(TenonLayer layer, int inputs, const TenonDTensor x[],
                                   int outputs, const TenonDTensor y[]) noexcept {
  return guardApplyMany(__func__, layer, [&](Layer& l) {
    l.apply(Tensors<const DTensor>(x, inputs, "x", /*optional=*/false).list(),
            Tensors<DTensor>(y, outputs, "y", /*optional=*/false).list());
  });
}

TenonErrorCode TenonLayerApplyTangentMany(TenonLayer layer, int inputs, const TenonDTensor dx[],
                                          int outputs, const TenonDTensor dy[]) noexcept {
  return guardApplyMany(__func__, layer, [&](Layer& l) {
    l.applyTangent(Tensors<const DTensor>(dx, inputs, "dx", /*optional=*/true).list(),
                   Tensors<DTensor>(dy, outputs, "dy", /*optional=*/false).list());
  });
}

TenonErrorCode TenonLayerApplyAdjointMany(TenonLayer layer, int outputs, const TenonDTensor dy[],
                                          int inputs, const TenonDTensor dx[]) noexcept {
  return guardApplyMany(__func__, layer, [&](Layer& l) {
    l.applyAdjoint(Tensors<const DTensor>(dy, outputs, "dy", /*optional=*/true).list(),
                   Tensors<DTensor>(dx, inputs, "dx", /*optional=*/true).list());
  });
}

TenonErrorCode TenonLayerGetInputCount(TenonLayer layer, int* count) noexcept {
  return guard(__func__, [&] {
    required(count, "count") = static_cast<int>(deref(layer, "layer").inputNames().size());
  });
}

TenonErrorCode TenonLayerGetOutputCount(TenonLayer layer, int* count) noexcept {
  return guard(__func__, [&] {
    required(count, "count") = static_cast<int>(deref(layer, "layer").outputNames().size());
  });
}

TenonErrorCode TenonLayerGetInputName(TenonLayer layer, int input, char name[], TenonInt length,
                                      TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    copyText(oneOf(l, l.inputNames(), input, "input"), {name, length, needed}, "name");
  });
}

TenonErrorCode TenonLayerGetOutputName(TenonLayer layer, int output, char name[], TenonInt length,
                                       TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    copyText(oneOf(l, l.outputNames(), output, "output"), {name, length, needed}, "name");
  });
}
