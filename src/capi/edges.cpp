// SPDX-License-Identifier: BSD-2-Clause
// TenonEdges, the edges between the nodes of one or two index maps (lists of a mesh's nodes with
// ids), and the calls that pass edges and index maps to layers. An edge leads from a source node to
// a target node; both are positions in this rank's list of nodes, in which ghosts (copies of other
// ranks' nodes) follow the owned nodes. Edges are listed in one of two ways:
//   TenonEdgesCreate()         each edge on the rank that owns its target; keys, if given, are the
//                              order in which the edges of a node are summed
//   TenonEdgesCreateShared()   on any ranks, also on several; a key identifies the edge, and each
//                              of its ranks has a share. The contribution of a rank to sums is
//                              multiplied by the weight of the edge (a matrix entry) and by the
//                              share; the shares of an edge add up to 1
// Both are collective. The lists differ between ranks. They are copied and checked inside
// collectively() (comm/agreement/agreement.hpp), after which all ranks compare their outcome: an
// invalid list on one rank is an error on all ranks.
#include "capi/layer/create.hpp"
#include "comm/layout_object.hpp"
#include "layer/networks/message_passing.hpp"
#include "linop/exchange/make_edges.hpp"
#include "linop/exchange/make_index_map.hpp"

#include <tenon/edges.h>

using namespace tenon;

namespace {

// Checked copies of the arguments of a call that creates edges.
struct EdgeArguments {
  IndexMapPtr targets, sources;
  ListedEdges listed;
  std::vector<double> shares;
};

// The arrays of such a call, each of length `count`; keys, shares and weights may be NULL.
struct EdgeLists {
  TenonInt count;
  const TenonInt *target, *source, *keys;
  const double *shares, *weights;

  EdgeArguments copied(const IndexMapObject& targets, const IndexMapObject& sources) const {
    if (targets.comm() != sources.comm())
      throw Error(TENON_ERR_ARG,
                  "targets and sources are on different communicators; create both on one");
    return {targets.map(),
            sources.map(),
            {listOf(target, count, "target"), listOf(source, count, "source"),
             keys ? listOf(keys, count, "keys") : std::vector<Index>(),
             weights ? listOf(weights, count, "weights") : std::vector<double>()},
            shares ? listOf(shares, count, "shares") : std::vector<double>()};
  }
};

// Creates the object and its handle. The allocation is collective, since it can fail on one rank.
void giveEdges(const CommPtr& comm, TenonEdges* edges, const EdgesPtr& edgeList) {
  giveHandle(edges, collectively(*comm, [&] { return makeRef<EdgesObject>(comm, edgeList); }));
}

} // namespace

TenonErrorCode TenonEdgesCreate(TenonIndexMap targets, TenonIndexMap sources, TenonInt count,
                                const TenonInt target[], const TenonInt source[],
                                const TenonInt keys[], const double weights[],
                                TenonEdges* edges) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("targets", targets, sources);
    EdgeArguments lists = collectively(*comm, [&] {
      required(edges, "edges");
      return EdgeLists{count, target, source, keys, /*shares=*/nullptr, weights}.copied(
          deref(targets, "targets"), deref(sources, "sources"));
    });
    giveEdges(comm, edges, makeEdges(comm, lists.targets, lists.sources, std::move(lists.listed)));
  });
}

TenonErrorCode TenonEdgesCreateShared(TenonIndexMap targets, TenonIndexMap sources, TenonInt count,
                                      const TenonInt target[], const TenonInt source[],
                                      const TenonInt keys[], const double shares[],
                                      const double weights[], TenonEdges* edges) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("targets", targets, sources);
    EdgeArguments lists = collectively(*comm, [&] {
      required(edges, "edges");
      // Only the key tells that two ranks list the same edge.
      if (count > 0)
        required(keys, "keys");
      return EdgeLists{count, target, source, keys, shares, weights}.copied(
          deref(targets, "targets"), deref(sources, "sources"));
    });
    giveEdges(comm, edges,
              makeSharedEdges(comm, lists.targets, lists.sources, std::move(lists.listed),
                              std::move(lists.shares)));
  });
}

// The caller passes 0 for dimension 0 of the shape: the number of edges follows from the lists.
TenonErrorCode TenonEdgesGetLayout(TenonEdges edges, int ndim, const TenonInt shape[],
                                   TenonLayout* layout) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("edges", edges);
    auto created = collectively(
        *comm, "the shape",
        [&] {
          required(layout, "layout");
          return makeRef<LayoutObject>(
              comm,
              givenRowsLayout(deref(edges, "edges").edges()->pattern(), ndim, shape, "edges"));
        },
        [](const auto& object) { return object->layout().describe(); });
    giveHandle(layout, std::move(created));
  });
}

TenonErrorCode TenonLayerSetEdges(TenonLayer layer, const char* name, TenonEdges edges) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const EdgesObject& edgesObject = deref(edges, "edges");
    checkOnComm(edgesObject, l, "edges");
    l.setList("TenonLayerSetEdges()", textOf(name, "name"), edgesObject.edges());
  });
}

TenonErrorCode TenonLayerSetIndexMap(TenonLayer layer, const char* name,
                                     TenonIndexMap map) noexcept {
  return specifyLayer(__func__, layer, [&](Layer& l) {
    const IndexMapObject& mapObject = deref(map, "map");
    checkOnComm(mapObject, l, "map");
    l.setList("TenonLayerSetIndexMap()", textOf(name, "name"), mapObject.map());
  });
}

// Combines the two networks to one message-passing layer (message_passing.hpp), for fields x of
// target nodes, s of source nodes (by default x) and f of edges:
//   m[e] = edgeNetwork(x[target of e], s[source of e], f[e])
//   y[i] = nodeNetwork(x[i], aggregate of m[e] over the edges e into node i)
TenonErrorCode TenonLayerCreateMessagePassing(TenonLayer edgeNetwork, TenonLayer nodeNetwork,
                                              int inputs, const char* aggregation,
                                              TenonLayer* layer) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("edgeNetwork", edgeNetwork, nodeNetwork);
    createCollectively(
        *comm, layer, "layer", "the layer",
        [&] {
          Layer &edges = deref(edgeNetwork, "edgeNetwork"),
                &nodes = deref(nodeNetwork, "nodeNetwork");
          if (inputs < 1 || inputs > 3)
            throw Error(TENON_ERR_ARG,
                        fmt::format("inputs is {}; pass 1 for nodes alone, and 1 more each for "
                                    "another set of sources and for features of the edges",
                                    inputs));
          return messagePassing(Ref<Layer>::share(&edges), Ref<Layer>::share(&nodes), inputs,
                                textOf(aggregation, "aggregation"));
        },
        [](const auto& network) { return network->agreedText(); });
  });
}

TenonErrorCode TenonEdgesDestroy(TenonEdges* edges) noexcept {
  return guard(__func__, [&] { destroy(edges, "edges"); });
}
