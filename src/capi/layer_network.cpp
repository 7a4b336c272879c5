// SPDX-License-Identifier: BSD-2-Clause
// Layers that join layers, and the calls of layers with several inputs.
#include "capi/layer_create.hpp"
#include "layer/graph_layer.hpp"
#include "layer/join_layer.hpp"
#include "layer/repartition_layer.hpp"
#include "layer/sequential_layer.hpp"
#include "layer/windowed_layer.hpp"

#include <tenon/layer_network.h>

using namespace tenon;

namespace {

// The tensors behind `count` handles, of which some may be NULL if `optional`. Room is kept here and
// not on the heap, since Apply allocates nothing.
template <class Tensor>
class Tensors {
public:
  Tensors(const TenonDTensor* handles, int count, const char* name, bool optional) : count_(count) {
    if (count < 0 || count > kMost)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the length of {} is {}; it must be in 0 to {}", name, count, kMost));
    for (int i = 0; i < count; ++i) {
      const TenonDTensor handle = (&required(handles, name))[i];
      tensors_[i] = optional && !handle ? nullptr : &deref(handle, name);
    }
  }
  std::span<Tensor* const> list() const {
    return {tensors_.data(), static_cast<std::size_t>(count_)};
  }

private:
  static constexpr int kMost = 64;
  std::array<Tensor*, kMost> tensors_;
  int count_;
};

Layouts layoutsOf(const Layer& layer, const TenonLayout* inputs, int count) {
  Layouts layouts;
  for (TenonLayout handle : listOf(inputs, count, "inputs")) {
    const std::string name = fmt::format("inputs[{}]", layouts.size());
    const LayoutObject& given = deref(handle, name.c_str());
    if (given.comm() != layer.comm())
      throw Error(
          TENON_ERR_ARG,
          fmt::format("{} and {} are on different communicators; create them on the same one",
                      layer.title(), name));
    layouts.push_back(given.layout());
  }
  return layouts;
}

// The body of a call in which all ranks take part: call(layer).
template <class Call>
TenonErrorCode applyTogether(const char* function, TenonLayer layer, Call call) {
  return guardApply(function, [&] {
    returnIfAlone(layer, [&] {
      checkInitialized();
      call(deref(layer, "layer"));
    });
  });
}

} // namespace

TenonErrorCode TenonLayerCreateRepartition(MPI_Comm comm, TenonLayout output,
                                           TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer, [&](const CommPtr& own) {
    const LayoutObject& given = deref(output, "output");
    if (given.comm() != own)
      throw Error(TENON_ERR_ARG, "output and comm are different communicators; create output on "
                                 "comm, which must hold the ranks of input and output");
    return makeRef<RepartitionLayer>(own, given.layout());
  });
}

TenonErrorCode TenonLayerCreateAdd(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<AddLayer>(own); });
}

TenonErrorCode TenonLayerCreateConcatenate(MPI_Comm comm, int dim, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [&](const CommPtr& own) { return makeRef<ConcatenateLayer>(own, dim); });
}

TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<GraphLayer>(own); });
}

TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm, TenonLayer* layer) noexcept {
  return createLayer(__func__, comm, layer,
                     [](const CommPtr& own) { return makeRef<SequentialLayer>(own); });
}

TenonErrorCode TenonLayerSequentialAdd(TenonLayer container, TenonLayer layer) noexcept {
  return specifyLayer(__func__, container, [&](Layer& l) {
    layerOf<SequentialLayer>(l, "sequential").add(Ref<Layer>::share(&deref(layer, "layer")));
  });
}

TenonErrorCode TenonLayerGraphSetInputs(TenonLayer graph, int count) noexcept {
  return specifyLayer(__func__, graph,
                      [&](Layer& l) { layerOf<GraphLayer>(l, "graph").setInputs(count); });
}

TenonErrorCode TenonLayerGraphAddNode(TenonLayer graph, TenonLayer layer, int count,
                                      const int inputs[], int* node) noexcept {
  return specifyLayer(__func__, graph, [&](Layer& l) {
    const int added =
        layerOf<GraphLayer>(l, "graph")
            .addNode(Ref<Layer>::share(&deref(layer, "layer")), listOf(inputs, count, "inputs"));
    if (node)
      *node = added;
  });
}

TenonErrorCode TenonLayerSetOutputLayout(TenonLayer layer, TenonLayout output) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    layerOf<JoinLayer>(l, "add and concatenate").setOutput(deref(output, "output").layout());
  });
}

TenonErrorCode TenonLayerGetBoundaryLayout(TenonLayer layer, TenonLayout input,
                                           TenonLayout* boundary) noexcept {
  return guard(__func__, [&] {
    Layer& l = deref(layer, "layer");
    const Layouts given = layoutsOf(l, &input, 1);
    required(boundary, "boundary");
    const auto& windowed = layerOf<WindowedLayer>(l, "convolution and pooling");
    give(boundary, makeRef<LayoutObject>(l.comm(), windowed.boundaryLayout(given.front())));
  });
}

TenonErrorCode TenonLayerSetUpMany(TenonLayer layer, int count,
                                   const TenonLayout inputs[]) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const TenonLayout first = inputs && count > 0 ? inputs[0] : nullptr;
    const CommPtr comm = commOf("layer", layer, first);
    const auto [l, layouts] = collectively(*comm, [&] {
      Layer& known = deref(layer, "layer");
      return std::pair(&known, layoutsOf(known, inputs, count));
    });
    l->setUp(layouts);
  });
}

TenonErrorCode TenonLayerApplyMany(TenonLayer layer, int count, const TenonDTensor x[],
                                   TenonDTensor y) noexcept {
  return applyTogether(__func__, layer, [&](Layer& l) {
    l.apply(Tensors<const DTensor>(x, count, "x", false).list(), deref(y, "y"));
  });
}

TenonErrorCode TenonLayerApplyTangentMany(TenonLayer layer, int count, const TenonDTensor dx[],
                                          TenonDTensor dy) noexcept {
  return applyTogether(__func__, layer, [&](Layer& l) {
    l.applyTangent(Tensors<const DTensor>(dx, count, "dx", true).list(), deref(dy, "dy"));
  });
}

TenonErrorCode TenonLayerApplyAdjointMany(TenonLayer layer, TenonDTensor dy, int count,
                                          const TenonDTensor dx[]) noexcept {
  return applyTogether(__func__, layer, [&](Layer& l) {
    l.applyAdjoint(deref(dy, "dy"), Tensors<DTensor>(dx, count, "dx", true).list());
  });
}
