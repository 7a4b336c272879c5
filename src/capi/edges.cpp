// SPDX-License-Identifier: BSD-2-Clause
// Edges of meshes, and lists handed to layers. As with index maps the lists of a rank are its own
// matter, and are copied and checked in bodies whose failure on one rank is one of all.
#include "capi/layer/create.hpp"
#include "comm/layout_object.hpp"
#include "layer/networks/message_passing.hpp"
#include "linop/exchange/make_edges.hpp"
#include "linop/exchange/make_index_map.hpp"

#include <tenon/edges.h>

using namespace tenon;

namespace {

// What a call that creates edges was given.
struct GivenEdges {
  IndexMapPtr targets, sources;
  ListedEdges listed;
  std::vector<double> shares;
};

struct EdgeLists {
  TenonInt count;
  const TenonInt *target, *source, *keys;
  const double *shares, *weights;

  GivenEdges copied(const IndexMapObject& there, const IndexMapObject& here) const {
    if (there.comm() != here.comm())
      throw Error(TENON_ERR_ARG,
                  "targets and sources are on different communicators; create both on one");
    return {there.map(),
            here.map(),
            {listOf(target, count, "target"), listOf(source, count, "source"),
             keys ? listOf(keys, count, "keys") : std::vector<Index>(),
             weights ? listOf(weights, count, "weights") : std::vector<double>()},
            shares ? listOf(shares, count, "shares") : std::vector<double>()};
  }
};

void giveEdges(const CommPtr& comm, TenonEdges* edges, const EdgesPtr& made) {
  give(edges, collectively(*comm, [&] { return makeRef<EdgesObject>(comm, made); }));
}

} // namespace

TenonErrorCode TenonEdgesCreate(TenonIndexMap targets, TenonIndexMap sources, TenonInt count,
                                const TenonInt target[], const TenonInt source[],
                                const TenonInt keys[], const double weights[],
                                TenonEdges* edges) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("targets", targets, sources);
    GivenEdges given = collectively(*comm, [&] {
      required(edges, "edges");
      return EdgeLists{count, target, source, keys, nullptr, weights}.copied(
          deref(targets, "targets"), deref(sources, "sources"));
    });
    giveEdges(comm, edges, makeEdges(comm, given.targets, given.sources, std::move(given.listed)));
  });
}

TenonErrorCode TenonEdgesCreateShared(TenonIndexMap targets, TenonIndexMap sources, TenonInt count,
                                      const TenonInt target[], const TenonInt source[],
                                      const TenonInt keys[], const double shares[],
                                      const double weights[], TenonEdges* edges) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("targets", targets, sources);
    GivenEdges given = collectively(*comm, [&] {
      required(edges, "edges");
      if (count > 0)
        required(keys, "keys");
      return EdgeLists{count, target, source, keys, shares, weights}.copied(
          deref(targets, "targets"), deref(sources, "sources"));
    });
    giveEdges(comm, edges,
              makeSharedEdges(comm, given.targets, given.sources, std::move(given.listed),
                              std::move(given.shares)));
  });
}

TenonErrorCode TenonEdgesGetLayout(TenonEdges edges, int ndim, const TenonInt shape[],
                                   TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("edges", edges);
    auto made = collectively(
        *comm, "the shape",
        [&] {
          required(layout, "layout");
          return makeRef<LayoutObject>(
              comm,
              givenRowsLayout(deref(edges, "edges").edges()->pattern(), ndim, shape, "edges"));
        },
        [](const auto& one) { return one->layout().describe(); });
    give(layout, std::move(made));
  });
}

TenonErrorCode TenonLayerSetEdges(TenonLayer layer, const char* name, TenonEdges edges) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const EdgesObject& given = deref(edges, "edges");
    checkOnComm(given, l, "edges");
    l.setList("TenonLayerSetEdges()", textOf(name, "name"), given.edges());
  });
}

TenonErrorCode TenonLayerSetIndexMap(TenonLayer layer, const char* name,
                                     TenonIndexMap map) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const IndexMapObject& given = deref(map, "map");
    checkOnComm(given, l, "map");
    l.setList("TenonLayerSetIndexMap()", textOf(name, "name"), given.map());
  });
}

TenonErrorCode TenonLayerCreateMessagePassing(TenonLayer edgeNetwork, TenonLayer nodeNetwork,
                                              int inputs, const char* aggregation,
                                              TenonLayer* layer) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("edgeNetwork", edgeNetwork, nodeNetwork);
    createTogether(
        *comm, layer, "layer", "the layer",
        [&] {
          Layer &f = deref(edgeNetwork, "edgeNetwork"), &g = deref(nodeNetwork, "nodeNetwork");
          if (inputs < 1 || inputs > 3)
            throw Error(TENON_ERR_ARG,
                        fmt::format("inputs is {}; pass 1 for nodes alone, and 1 more each for "
                                    "another set of sources and for features of the edges",
                                    inputs));
          return messagePassing(Ref<Layer>::share(&f), Ref<Layer>::share(&g), inputs,
                                textOf(aggregation, "aggregation"));
        },
        [](const auto& made) { return made->agreedText(); });
  });
}

TenonErrorCode TenonEdgesDestroy(TenonEdges* edges) noexcept {
  return guard(__func__, [&] { destroy(edges, "edges"); });
}
