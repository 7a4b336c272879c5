// SPDX-License-Identifier: BSD-2-Clause
// The use of a TenonLayer, from set-up to derivatives:
//   SetUp                                 fixes layouts, creates parameters
//   CreateOutput, ...Cotangent            tensors in the layouts of outputs and cotangents (the
//                                         derivatives of a loss with respect to an output or input)
//   Initialize, LoadWeights, SaveWeights  values of the parameters
//   Apply                                 y <- f(x)
//   ApplyTangent                          dy <- f'(x) dx
//   ApplyAdjoint                          dx <- f'(x)* dy, and adds to the parameters' gradients
//   TestAdjoint, TestTaylor               checks of the derivatives
//   Get...                                parameters, gradients and states; local
// For a layer f, f' is its Jacobian at the last x, and f'* the transpose of f'. In the three Apply
// calls, which are part of a time step, the ranks do not exchange whether one failed: an error is
// returned if there is one rank, and is fatal otherwise. In the other collective calls, an error on
// one rank is returned on all ranks. The calls are declared in tenon/layer.h.
#include "layer/core/layer.hpp"

#include "capi/layer/create.hpp"
#include "comm/agreement/agreement.hpp"
#include "comm/layout_object.hpp"
#include "dtensor/dtensor.hpp"
#include "io/ann/ann_weights.hpp"
#include "layer/derivatives/derivative_check.hpp"
#include "layer/networks/weights.hpp"
#include "sys/errors/guard.hpp"
#include "sys/random.hpp"
#include "sys/text/text.hpp"

#include <tenon/layer.h>
#include <tenon/layer_network.h>

using namespace tenon;

namespace {

// The body of a call that creates a tensor of the layer's data type in its memory space;
// layoutOf(layer) returns the layout.
template <class LayoutOf>
TenonErrorCode createTensor(const char* function, TenonLayer handle, TenonDTensor* tensor,
                            const char* name, LayoutOf layoutOf) {
  return guard(function, [&] {
    checkInitialized();
    const Layer& layer = deref(handle, "layer");
    createCollectively(
        *layer.comm(), tensor, name, "the layout",
        [&] {
          return makeRef<DTensor>(layer.comm(), layoutOf(layer), layer.dataType(), layer.space());
        },
        [](const Ref<DTensor>& created) { return created->layout().describe(); });
  });
}

// Returns parameter `number` of a layer. Throws TENON_ERR_ARG if there is none.
Parameter& parameterOf(const Layer& layer, int number) {
  const auto parameters = layer.parameters();
  if (number < 0 || number >= static_cast<int>(parameters.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("parameter index {2} is out of range: {0} has {1}, numbered from 0{3}",
                            layer.title(),
                            counted(static_cast<Index>(parameters.size()), "parameter"), number,
                            layer.isSetUp() ? "" : "; call TenonLayerSetUp() first"));
  return *parameters[number];
}

// The body of a test of derivatives at point x, which may be NULL for a random one; it calls
// test(layer, x, seed). A test need not be fast, so all ranks return an error if one has failed.
template <class Test>
auto testTogether(TenonLayer handle, TenonDTensor x, TenonInt seed, Test test) {
  checkInitialized();
  const CommPtr comm = commOf("layer", handle, x);
  agreeOnText(*comm, "seed and point",
              [&] { return fmt::format("{}, {}", seed, x ? "a given point" : "a random one"); });
  return collectively(*comm, [&] {
    return test(deref(handle, "layer"), x ? &deref(x, "x") : nullptr,
                static_cast<std::uint64_t>(seed));
  });
}

} // namespace

TenonErrorCode TenonLayerSetUp(TenonLayer layer, TenonLayout input) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer, input);
    runCollectively(*comm, [&] {
      Layer& object = deref(layer, "layer");
      const LayoutObject& layoutObject = deref(input, "input");
      if (layoutObject.comm() != object.comm())
        throw Error(TENON_ERR_ARG, fmt::format("{} and the layout of its input are on different "
                                               "communicators; create them on the same one",
                                               object.title()));
      object.setUp(layoutObject.layout());
    });
  });
}

TenonErrorCode TenonLayerGetOutputLayout(TenonLayer layer, int index,
                                         TenonLayout* output) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    const Layout& layout = oneOf(l, l.outputLayouts(), index, "output");
    required(output, "output");
    giveHandle(output, makeRef<LayoutObject>(l.comm(), layout));
  });
}

TenonErrorCode TenonLayerCreateOutput(TenonLayer layer, int index, TenonDTensor* y) noexcept {
  return createTensor(__func__, layer, y, "y",
                      [&](const Layer& l) { return oneOf(l, l.outputLayouts(), index, "output"); });
}

TenonErrorCode TenonLayerCreateOutputCotangent(TenonLayer layer, int index,
                                               TenonDTensor* dy) noexcept {
  return createTensor(__func__, layer, dy, "dy", [&](const Layer& l) {
    return oneOf(l, l.outputLayouts(), index, "output").dual();
  });
}

TenonErrorCode TenonLayerCreateInputCotangent(TenonLayer layer, int index,
                                              TenonDTensor* dx) noexcept {
  return createTensor(__func__, layer, dx, "dx", [&](const Layer& l) {
    return oneOf(l, l.inputLayouts(), index, "input").dual();
  });
}

TenonErrorCode TenonLayerInitialize(TenonLayer layer, TenonInt seed) noexcept {
  return guard(__func__, [&] {
    deref(layer, "layer").initialize(static_cast<std::uint64_t>(seed), streamOf("parameters"));
  });
}

TenonErrorCode TenonLayerGetParameterCount(TenonLayer layer, int* count) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    required(count, "count") = static_cast<int>(l.parameters().size());
  });
}

TenonErrorCode TenonLayerGetParameter(TenonLayer layer, int index,
                                      TenonDTensor* parameter) noexcept {
  return guard(__func__, [&] {
    Parameter& p = parameterOf(deref(layer, "layer"), index);
    required(parameter, "parameter");
    // expose(): the caller can write the values at any time, so uses of them convert them again.
    giveHandle(parameter, p.expose());
  });
}

TenonErrorCode TenonLayerGetParameterGradient(TenonLayer layer, int index,
                                              TenonDTensor* gradient) noexcept {
  return guard(__func__, [&] {
    Parameter& p = parameterOf(deref(layer, "layer"), index);
    required(gradient, "gradient");
    // The sum over ranks of a gradient that the user can access is a separate message. It is not
    // packed into one message (bucket) with other gradients.
    giveHandle(gradient, p.exposeGradient());
  });
}

TenonErrorCode TenonLayerGetReducedGradient(TenonLayer layer, int index,
                                            TenonDTensor* gradient) noexcept {
  return guard(__func__, [&] {
    Parameter& p = parameterOf(deref(layer, "layer"), index);
    required(gradient, "gradient");
    giveHandle(gradient, p.reducedGradient());
    p.changeGradient(); // the caller can write to it, so the reduction is no longer valid
  });
}

TenonErrorCode TenonLayerGetParameterTangent(TenonLayer layer, int index,
                                             TenonDTensor* tangent) noexcept {
  return guard(__func__, [&] {
    Parameter& p = parameterOf(deref(layer, "layer"), index);
    required(tangent, "tangent");
    giveHandle(tangent, Ref<DTensor>::share(&p.tangent()));
  });
}

TenonErrorCode TenonLayerGetStateCount(TenonLayer layer, int* count) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    required(count, "count") = static_cast<int>(l.states().size());
  });
}

TenonErrorCode TenonLayerGetState(TenonLayer layer, int index, TenonDTensor* state) noexcept {
  return guard(__func__, [&] {
    const Layer& l = deref(layer, "layer");
    const std::vector<Ref<StateTensor>> states = l.states();
    if (index < 0 || index >= static_cast<int>(states.size()))
      throw Error(TENON_ERR_ARG, fmt::format("there is no state {}; {} has {}", index, l.title(),
                                             counted(static_cast<Index>(states.size()), "state")));
    required(state, "state");
    giveHandle(state, Ref<DTensor>::share(&states[index]->value()));
    states[index]->valueChanged(); // the caller can write to it from now on
  });
}

TenonErrorCode TenonLayerLoadWeights(TenonLayer layer, const char* path, const char* map) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    runCollectively(
        *comm, [&] { loadWeights(deref(layer, "layer"), textOf(path, "path"), textOrEmpty(map)); });
  });
}

TenonErrorCode TenonLayerSaveWeights(TenonLayer layer, const char* path) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("layer", layer);
    runCollectively(*comm, [&] {
      const std::string file = broadcastText(*comm, textOf(path, "path"), 0);
      isAnnPath(file) ? saveAnn(deref(layer, "layer"), file)
                      : saveWeights(deref(layer, "layer"), file);
    });
  });
}

TenonErrorCode TenonLayerApply(TenonLayer layer, TenonDTensor x, TenonDTensor y) noexcept {
  return guardApply(
      __func__,
      [&] {
        Layer& l = derefToApply(layer, "layer");
        const DTensor* const input = &deref(x, "x");
        l.apply({&input, 1}, deref(y, "y"));
      },
      isAlone(layer));
}

TenonErrorCode TenonLayerApplyTangent(TenonLayer layer, TenonDTensor dx, TenonDTensor dy) noexcept {
  return guardApply(
      __func__,
      [&] {
        Layer& l = derefToApply(layer, "layer");
        const DTensor* const input = dx ? &deref(dx, "dx") : nullptr;
        l.applyTangent({&input, 1}, deref(dy, "dy"));
      },
      isAlone(layer));
}

TenonErrorCode TenonLayerApplyAdjoint(TenonLayer layer, TenonDTensor dy, TenonDTensor dx) noexcept {
  return guardApply(
      __func__,
      [&] {
        Layer& l = derefToApply(layer, "layer");
        const DTensor& outputCotangent = deref(dy, "dy");
        // Without dx only the gradients of the parameters are computed.
        DTensor* const inputCotangent = dx ? &deref(dx, "dx") : nullptr;
        l.applyAdjoint(outputCotangent, {&inputCotangent, 1});
      },
      isAlone(layer));
}

TenonErrorCode TenonLayerClearStack(TenonLayer layer) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").clearStack(); });
}

TenonErrorCode TenonLayerZeroGradients(TenonLayer layer) noexcept {
  return guard(__func__, [&] { deref(layer, "layer").zeroGradients(); });
}

TenonErrorCode TenonLayerTestAdjoint(TenonLayer layer, TenonDTensor x, TenonInt seed,
                                     double* tangent, double* adjoint, double* relative) noexcept {
  return guard(__func__, [&] {
    const LayerAdjointResult result = testTogether(layer, x, seed, checkLayerAdjoint);
    if (tangent)
      *tangent = result.tangentPairing;
    if (adjoint)
      *adjoint = result.adjointPairing;
    if (relative)
      *relative = result.relativeError;
  });
}

TenonErrorCode TenonLayerTestTaylor(TenonLayer layer, TenonDTensor x, TenonInt seed, double* order,
                                    double* remainder) noexcept {
  return guard(__func__, [&] {
    const LayerTaylorResult result = testTogether(layer, x, seed, checkLayerTaylor);
    if (order)
      *order = result.order;
    if (remainder)
      *remainder = result.remainder;
  });
}

TenonErrorCode TenonLayerDestroy(TenonLayer* layer) noexcept {
  return guard(__func__, [&] { destroy(layer, "layer"); });
}
