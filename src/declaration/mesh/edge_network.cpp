// SPDX-License-Identifier: BSD-2-Clause
// Fused message passing on a mesh. Tensors are matrices whose rows belong to nodes or to edges. For
// each edge e from node s to node t, the fused operations are: gather the rows of t and s and the
// row of e into one row [x_t, x_s, f_e]; apply a small network (MLP) to it, which gives a message;
// and sum the messages at t. Without fusion each operation is a kernel that reads and writes the
// rows of all edges, which do not fit into the cache. Here edges are processed in blocks whose rows
// stay in the L2 cache. For each block:
//
//   forward   gather rows from nodes to edges -> MLP per edge -> sum the messages at nodes
//   adjoint   gather again instead of saving, and spread dy from nodes to edges -> adjoint of the
//             MLP -> add the cotangents of the rows to their nodes
//
// If rows are summed, a block has all edges of its nodes, in the order of the sums; otherwise edges
// are in the order of the rows that are written. Each block passes through the same kernels as
// without fusion, so forward results are bitwise the same. The adjoint adds to nodes block after
// block, once per node of a block: threads never write the same row, and the order of a sum does
// not depend on the number of threads.
#include "declaration/mesh/edge_network.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// Memory in the L2 cache for the rows of a block, in bytes.
constexpr Index kBlockBytes = Index(1) << 18;

// A range of edges, by their position in the order of processing, and the range of nodes at which
// these edges are summed. If nothing is summed, each edge counts as a node.
struct EdgeBlock {
  Index firstNode = 0, endNode = 0, first = 0, end = 0;
  Index edges() const { return end - first; }
};

// The first entry of a row; lists without `first` have one entry per row.
Index beginOf(const RowLists& lists, Index row) {
  return lists.first.empty() ? row : lists.first[row];
}

// Divides edges into blocks of whole nodes, with at least `edges` edges each except in the last.
// `sums` lists the edges of each node. Returns at least one block.
std::vector<EdgeBlock> blocksOf(const RowLists& sums, Index edges) {
  std::vector<EdgeBlock> blocks;
  Index node = 0, first = 0;
  for (Index i = 1; i <= sums.rows; ++i)
    if (const Index end = beginOf(sums, i); end - first >= edges || i == sums.rows) {
      blocks.push_back({.firstNode = node, .endNode = i, .first = first, .end = end});
      node = i;
      first = end;
    }
  if (blocks.empty())
    blocks.emplace_back();
  return blocks;
}

// Divides `count` edges into blocks of `edges` edges if nothing is summed: each edge counts as a
// node.
std::vector<EdgeBlock> blocksOf(Index count, Index edges) {
  std::vector<EdgeBlock> blocks;
  for (Index first = 0; first == 0 || first < count; first += edges) {
    const Index end = std::min(count, first + edges);
    blocks.push_back({.firstNode = first, .endNode = end, .first = first, .end = end});
  }
  return blocks;
}

// The row of an edge that the MLP reads consists of parts, for instance [target node, source node,
// features of the edge]. This is one part.
struct GatheredPart {
  InRow in{};             // where the part is in the row that the MLP reads
  bool isOfNodes = false; // rows of nodes, shared by edges: cotangents are summed
  // For each edge, in the order of processing, the row of the part's tensor that it reads.
  RowLists gathered;
  // The inverse, by which cotangents are added to the part's tensor: for each row that a block
  // reads, the edges that read it, by their position in the block. The lists of one block follow
  // those of the previous one.
  RowLists scattered;
  std::vector<Index> scatteredBegin; // first list of each block in `scattered`, then the end
};

// `order` lists the edges in the order of processing.
GatheredPart partOf(const ListedKernel& kernel, const std::vector<Index>& order,
                    const std::vector<EdgeBlock>& blocks) {
  GatheredPart part;
  part.in = kernel.inRow();
  part.isOfNodes = kernel.lists() != nullptr;
  part.gathered.rows = static_cast<Index>(order.size());
  for (const Index edge : order)
    part.gathered.index.push_back(kernel.lists() ? kernel.lists()->index[edge] : edge);
  for (const EdgeBlock& block : blocks) {
    part.scatteredBegin.push_back(part.scattered.rows);
    std::vector<Index> places(static_cast<std::size_t>(block.edges()));
    std::iota(places.begin(), places.end(), Index(0));
    const auto rowAt = [&](Index place) { return part.gathered.index[block.first + place]; };
    std::ranges::stable_sort(places, {}, rowAt);
    for (const Index place : places) {
      const bool isSame = part.scattered.rows > part.scatteredBegin.back() &&
                          part.scattered.rowOfList.back() == rowAt(place);
      if (!isSame) {
        part.scattered.first.push_back(part.scattered.entries());
        part.scattered.rowOfList.push_back(rowAt(place));
        ++part.scattered.rows;
      }
      part.scattered.index.push_back(place);
    }
  }
  part.scattered.first.push_back(part.scattered.entries());
  part.scatteredBegin.push_back(part.scattered.rows);
  return part;
}

// Rows of edges in the memory of a block, as the array [edges, channels, further elements] on which
// the network works.
template <class T>
class BlockRows {
public:
  BlockRows(T* first, Index edges, Index channels, Index perChannel, KernelContext& context)
      // LocalArray takes memory that can be written; cotangents of messages are only read.
      : extent_{edges, channels, perChannel}, strides_{channels * perChannel, perChannel, 1},
        memory_{const_cast<Element*>(first),
                dataTypeOf<Element>(),
                {extent_.data(), std::size_t(perChannel == 1 ? 2 : 3)},
                strides_.data(),
                &context},
        array_(memory_) {}
  BlockRows(const BlockRows&) = delete;
  BlockRows& operator=(const BlockRows&) = delete;
  LocalArray& array() { return array_; }
  Arrays arrays() const { return {&array_, 1}; }

private:
  using Element = std::remove_const_t<T>;
  std::array<Index, 3> extent_, strides_;
  LocalArray::Memory memory_;
  LocalArray array_;
};

// The fused kernel. Its inputs are the tensors from which rows are gathered, one per part of the
// MLP's input; its output are sums at nodes, or messages as rows of edges.
template <class T>
class EdgeNetwork final : public ArrayKernel {
public:
  explicit EdgeNetwork(const EdgeParts& parts)
      : network_(parts.network), inputs_(parts.inputs), outputs_(parts.outputs),
        elementsPerChannel_(parts.elementsPerChannel), inputRow_(inputs_ * elementsPerChannel_),
        messageRow_(outputs_ * elementsPerChannel_), contribution_(parts.contribution),
        sumsAtNodes_(parts.sum != nullptr) {
    const Index minEdges = std::max<Index>(1, kBlockBytes / (kElementBytes * rowElements()));
    std::vector<Index> order(static_cast<std::size_t>(parts.edges));
    std::iota(order.begin(), order.end(), Index(0));
    if (sumsAtNodes_) {
      order = parts.sum->lists()->index;
      blocks_ = blocksOf(*parts.sum->lists(), minEdges);
      listNodesAndEdges(*parts.sum->lists());
    } else {
      blocks_ = blocksOf(parts.edges, minEdges);
    }
    for (const ListedKernel* kernel : parts.gathered)
      gatheredParts_.push_back(partOf(*kernel, order, blocks_));
    for (const EdgeBlock& block : blocks_)
      maxEdges_ = std::max(maxEdges_, block.edges());
    blockMemory_ = Buffer(maxEdges_ * rowElements() * kElementBytes, "a block of edges");
  }

  void forward(Arrays x, KernelParameters p, LocalArray& y, Buffer*) override {
    T* gathered = blockMemory_.data<T>();
    for (const EdgeBlock& block : blocks_) {
      T* messages = messagesOf(block, y, gathered + maxEdges_ * inputRow_);
      gatherRows(block, x, y.context(), gathered);
      if (block.edges() > 0)
        network_->forward(inputRows(block, gathered, y.context()).arrays(), p,
                          messageRows(block, messages, y.context()).array(), nullptr);
      sumMessages(block, gathered, messages, y);
    }
  }

  void tangent(const SavedArrays& point, Arrays dx, KernelParameters p, LocalArray& dy) override {
    T* gathered = blockMemory_.data<T>();
    T* tangents = gathered + maxEdges_ * inputRow_;
    for (const EdgeBlock& block : blocks_) {
      T* messages = messagesOf(block, dy, tangents + maxEdges_ * inputRow_);
      gatherRows(block, point.inputs, dy.context(), gathered);
      gatherRows(block, dx, dy.context(), tangents);
      if (block.edges() > 0)
        network_->tangent({inputRows(block, gathered, dy.context()).arrays()},
                          inputRows(block, tangents, dy.context()).arrays(), p,
                          messageRows(block, messages, dy.context()).array());
      sumMessages(block, tangents, messages, dy);
    }
  }

  void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters p,
               WrittenArrays dx) override {
    bool isWanted = false;
    for (std::size_t k = 0; k < gatheredParts_.size(); ++k) {
      isWanted |= bool(dx[k]);
      if (dx[k] && gatheredParts_[k].isOfNodes)
        setZero(dx[k]);
    }
    T* gathered = blockMemory_.data<T>();
    T* cotangents = gathered + maxEdges_ * inputRow_;
    for (const EdgeBlock& block : blocks_) {
      const T* messages = cotangentsOf(block, dy, cotangents + maxEdges_ * inputRow_);
      gatherRows(block, point.inputs, dy.context(), gathered);
      if (block.edges() > 0) {
        BlockRows<T> wanted = inputRows(block, cotangents, dy.context());
        LocalArray dRows = isWanted ? wanted.array() : LocalArray();
        network_->adjoint({inputRows(block, gathered, dy.context()).arrays()},
                          messageRows(block, messages, dy.context()).array(), p, {&dRows, 1});
      }
      if (contribution_ >= 0 && dx[contribution_])
        addRows(dy, block, messages, messageRow_,
                cotangents + gatheredParts_[contribution_].in.begin, inputRow_);
      scatterCotangents(block, cotangents, dx);
    }
  }

  Index bytes() const override { return blockMemory_.bytes(); }
  std::string describe() const override {
    return fmt::format("rows taken, network{} over blocks of up to {} edges; the network {}",
                       sumsAtNodes_ ? " and sums" : ", rows of edges written", maxEdges_,
                       network_->describe());
  }

private:
  // Elements of memory per edge: a row of the MLP's input, the cotangent or tangent of this row,
  // and a row of the output.
  Index rowElements() const { return 2 * inputRow_ + messageRow_; }
  // The rows that the network reads, and those that it writes.
  template <class U>
  BlockRows<U> inputRows(const EdgeBlock& block, U* first, KernelContext& context) const {
    return {first, block.edges(), inputs_, elementsPerChannel_, context};
  }
  template <class U>
  BlockRows<U> messageRows(const EdgeBlock& block, U* first, KernelContext& context) const {
    return {first, block.edges(), outputs_, elementsPerChannel_, context};
  }

  // Sets edgesOfNodes_ and nodesOfEdges_ from the lists of the sums.
  void listNodesAndEdges(const RowLists& sums) {
    edgesOfNodes_ = sums;
    nodesOfEdges_.rows = sums.entries();
    nodesOfEdges_.weights = sums.weights;
    for (const EdgeBlock& block : blocks_) {
      for (Index place = block.first; place < block.end; ++place)
        edgesOfNodes_.index[place] = place - block.first;
      for (Index node = block.firstNode; node < block.endNode; ++node)
        nodesOfEdges_.index.insert(nodesOfEdges_.index.end(),
                                   beginOf(sums, node + 1) - beginOf(sums, node), node);
    }
  }

  // The array for the messages (rows of the MLP's output) of a block: `buffer` if they are summed,
  // otherwise their place in the output y.
  T* messagesOf(const EdgeBlock& block, LocalArray& y, T* buffer) const {
    return sumsAtNodes_ ? buffer : y.mutableData<T>() + block.first * messageRow_;
  }
  // The cotangents of a block's messages: the row of dy of each edge's node, copied to `buffer`, or
  // the rows of dy themselves if messages are not summed.
  const T* cotangentsOf(const EdgeBlock& block, const LocalArray& dy, T* buffer) const {
    if (!sumsAtNodes_)
      return dy.data<T>() + block.first * messageRow_;
    combineSomeRows<T>(dy.context(), nodesOfEdges_, block.first, block.end, messageRow_,
                       dy.data<T>(), messageRow_,
                       /*adds=*/false, buffer, messageRow_);
    return buffer;
  }

  // Gathers the rows of a block. A missing tangent is zero.
  void gatherRows(const EdgeBlock& block, Arrays x, KernelContext& context, T* rows) const {
    const Index steps[] = {inputRow_, 1};
    for (std::size_t k = 0; k < gatheredParts_.size(); ++k) {
      const InRow& in = gatheredParts_[k].in;
      const Index extent[] = {block.edges(), in.inner};
      if (x[k])
        combineSomeRows<T>(context, gatheredParts_[k].gathered, block.first, block.end, in.inner,
                           x[k].data<T>(), in.inner, /*adds=*/false, rows + in.begin, inputRow_);
      else if (block.edges() > 0)
        fillBlock(context, 2, extent, T(0), rows + in.begin, steps);
    }
  }
  // Adds the contribution (a gathered part that is added to the MLP's output, such as a residual
  // connection) to the messages, and sums the messages at the nodes.
  void sumMessages(const EdgeBlock& block, const T* gathered, T* messages, LocalArray& y) const {
    if (contribution_ >= 0)
      addRows(y, block, gathered + gatheredParts_[contribution_].in.begin, inputRow_, messages,
              messageRow_);
    if (sumsAtNodes_)
      combineSomeRows<T>(y.context(), edgesOfNodes_, block.firstNode, block.endNode, messageRow_,
                         messages, messageRow_,
                         /*adds=*/false, y.mutableData<T>() + block.firstNode * messageRow_,
                         messageRow_);
  }
  void addRows(const LocalArray& array, const EdgeBlock& block, const T* from, Index stepFrom,
               T* to, Index stepTo) const {
    const Index extent[] = {block.edges(), messageRow_}, read[] = {stepFrom, 1},
                write[] = {stepTo, 1};
    if (block.edges() > 0)
      blockCombine(array.context(), Combine::Add, 2, extent, from, read, to, write);
  }
  // Adds the cotangents of a block's gathered rows to dx; rows of edges are written instead.
  void scatterCotangents(const EdgeBlock& block, const T* cotangents, WrittenArrays dx) const {
    const auto number = static_cast<std::size_t>(&block - blocks_.data());
    for (std::size_t k = 0; k < gatheredParts_.size(); ++k) {
      const GatheredPart& part = gatheredParts_[k];
      if (dx[k])
        combineSomeRows<T>(dx[k].context(), part.scattered, part.scatteredBegin[number],
                           part.scatteredBegin[number + 1], part.in.inner,
                           cotangents + part.in.begin, inputRow_, part.isOfNodes,
                           dx[k].mutableData<T>(), part.in.inner);
    }
  }

  static constexpr Index kElementBytes = sizeof(T);

  std::shared_ptr<ArrayKernel> network_;
  Index inputs_, outputs_; // channels of the network
  // Elements of a row: per channel; of the row that the MLP reads; and of the row that it writes.
  Index elementsPerChannel_, inputRow_, messageRow_;
  Index maxEdges_ = 0; // of a block
  int contribution_;
  bool sumsAtNodes_; // otherwise messages are the rows of the output
  std::vector<EdgeBlock> blocks_;
  std::vector<GatheredPart> gatheredParts_;
  RowLists edgesOfNodes_; // for each node: its edges, by position in the block
  RowLists nodesOfEdges_; // for each edge: its node
  // The rows of a block, one array after the other: those that the MLP reads; in a derivative their
  // tangents or cotangents; and those that it writes, or their cotangents, if messages are summed.
  Buffer blockMemory_;
};

} // namespace

std::unique_ptr<ArrayKernel> makeEdgeNetwork(TenonDataType type, const EdgeParts& parts) {
  return makeTyped<EdgeNetwork>(type, parts);
}

} // namespace tenon
