// SPDX-License-Identifier: BSD-2-Clause
// Edges are taken in blocks whose rows stay in the second-level cache: of whole nodes, in the order
// in which they are summed, or where their rows are written as they are numbered. Each block passes
// through the kernels that it would have passed alone: so the forward results are those of the
// separate kernels bit by bit. The adjoint takes the rows of a block anew instead of keeping them,
// and adds what edges give to nodes block by block, each node of a block once: no two threads meet,
// and the order of a sum does not depend on their number.
#include "layer/mesh/edge_network.hpp"

#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer.hpp"
#include "layer/mesh/listed_kernel.hpp"
#include "layer/types/column_mlp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

// What the rows of a block take of the second-level cache.
constexpr Index kBlockBytes = Index(1) << 18;

// Some edges, by their place in the order, and the nodes at which they are summed.
struct EdgeBlock {
  Index firstNode = 0, endNode = 0, first = 0, end = 0;
  Index edges() const { return end - first; }
};

Index beginOf(const RowLists& lists, Index row) {
  return lists.first.empty() ? row : lists.first[row];
}

// Blocks of at least so many edges, but for the last, of which there is always one.
std::vector<EdgeBlock> blocksOf(const RowLists& sums, Index edges) {
  std::vector<EdgeBlock> blocks;
  Index node = 0, first = 0;
  for (Index i = 1; i <= sums.rows; ++i)
    if (const Index end = beginOf(sums, i); end - first >= edges || i == sums.rows) {
      blocks.push_back({node, i, first, end});
      node = i;
      first = end;
    }
  if (blocks.empty())
    blocks.emplace_back();
  return blocks;
}

// The same where nothing is summed: each edge stands for a node.
std::vector<EdgeBlock> blocksOf(Index all, Index edges) {
  std::vector<EdgeBlock> blocks;
  for (Index first = 0; first == 0 || first < all; first += edges) {
    const Index end = std::min(all, first + edges);
    blocks.push_back({first, end, first, end});
  }
  return blocks;
}

// A part of the rows that the network reads: where it comes from, and where its cotangent goes.
// Lists are by blocks, and know the edges by their places in these.
struct TakenPart {
  InRow in{};
  bool isSum = false; // of its cotangents; else each row has one
  RowLists taken, given;
  std::vector<Index> givenBegin; // of each block, and the end of all
};

TakenPart partOf(const ListedKernel& kernel, const std::vector<Index>& order,
                 const std::vector<EdgeBlock>& blocks) {
  TakenPart part;
  part.in = kernel.inRow();
  part.isSum = kernel.lists() != nullptr;
  part.taken.rows = static_cast<Index>(order.size());
  for (const Index edge : order)
    part.taken.index.push_back(kernel.lists() ? kernel.lists()->index[edge] : edge);
  for (const EdgeBlock& block : blocks) {
    part.givenBegin.push_back(part.given.rows);
    std::vector<Index> places(static_cast<std::size_t>(block.edges()));
    std::iota(places.begin(), places.end(), Index(0));
    const auto rowAt = [&](Index place) { return part.taken.index[block.first + place]; };
    std::ranges::stable_sort(places, {}, rowAt);
    for (const Index place : places) {
      const bool isSame =
          part.given.rows > part.givenBegin.back() && part.given.to.back() == rowAt(place);
      if (!isSame) {
        part.given.first.push_back(part.given.entries());
        part.given.to.push_back(rowAt(place));
        ++part.given.rows;
      }
      part.given.index.push_back(place);
    }
  }
  part.given.first.push_back(part.given.entries());
  part.givenBegin.push_back(part.given.rows);
  return part;
}

// What an edge network is made of, whose kernels stay those of their layers.
struct EdgeParts {
  std::vector<const ListedKernel*> taken = {};
  std::shared_ptr<LocalKernel> network;
  int contribution = -1;             // of `taken`: added to what the network gives
  const ListedKernel* sum = nullptr; // null: rows of edges are written
  Index edges = 0, further = 1;      // elements of a row that have one channel
};

class EdgeNetwork final : public LocalKernel {
public:
  EdgeNetwork(const EdgeParts& parts, Index elementBytes)
      : network_(parts.network), mlp_(dynamic_cast<LocalColumnMlp&>(*network_)),
        further_(parts.further), in_(mlp_.inputs() * further_), out_(mlp_.outputs() * further_),
        contribution_(parts.contribution), sums_(parts.sum != nullptr) {
    const Index atLeast = std::max<Index>(1, kBlockBytes / (elementBytes * rowElements()));
    std::vector<Index> order(static_cast<std::size_t>(parts.edges));
    std::iota(order.begin(), order.end(), Index(0));
    if (sums_) {
      order = parts.sum->lists()->index;
      blocks_ = blocksOf(*parts.sum->lists(), atLeast);
      listSums(*parts.sum->lists());
    } else {
      blocks_ = blocksOf(parts.edges, atLeast);
    }
    for (const ListedKernel* kernel : parts.taken)
      parts_.push_back(partOf(*kernel, order, blocks_));
    for (const EdgeBlock& block : blocks_)
      most_ = std::max(most_, block.edges());
    rows_ = Buffer(most_ * rowElements() * elementBytes, "a block of edges");
  }

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* taken = rows_.data<T>();
      for (const EdgeBlock& block : blocks_) {
        T* messages = messagesOf(block, y, taken + most_ * in_);
        take(block, x, taken);
        if (block.edges() > 0)
          mlp_.forwardAt<T>(boxOf(block), rows<const T>(taken, in_), p, rows<T>(messages, out_));
        give(block, taken, messages, y);
      }
    });
  }

  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      T* taken = rows_.data<T>();
      T* tangents = taken + most_ * in_;
      for (const EdgeBlock& block : blocks_) {
        T* messages = messagesOf(block, dy, tangents + most_ * in_);
        take(block, point.inputs, taken);
        take(block, dx, tangents);
        if (block.edges() > 0)
          mlp_.tangentAt<T>(boxOf(block), rows<const T>(taken, in_), rows<const T>(tangents, in_),
                            p, rows<T>(messages, out_));
        give(block, tangents, messages, dy);
      }
    });
  }

  // Without edges the network is asked all the same, since all ranks say alike that there are
  // gradients.
  void adjointMany(const KernelPoint& point, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) override {
    bool isWanted = false;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      isWanted |= dx[k] != nullptr;
      if (dx[k] && parts_[k].isSum)
        scaleArray(0, *dx[k]);
    }
    visitFloating(dy.dataType(), [&]<class T>(T) {
      T* taken = rows_.data<T>();
      T* cotangents = taken + most_ * in_;
      const PointArray<T> wanted = isWanted ? rows<T>(cotangents, in_) : PointArray<T>{};
      for (const EdgeBlock& block : blocks_) {
        const T* messages = cotangentsOf(block, dy, cotangents + most_ * in_);
        take(block, point.inputs, taken);
        mlp_.adjointAt<T>(boxOf(block), rows<const T>(taken, in_), rows<const T>(messages, out_), p,
                          wanted);
        if (contribution_ >= 0 && dx[contribution_])
          addRows(dy, block, messages, out_, cotangents + parts_[contribution_].in.begin, in_);
        giveBack(block, cotangents, dx);
      }
    });
  }

  Index bytes() const override { return rows_.bytes(); }
  std::string describe() const override {
    return fmt::format("rows taken, network{} over blocks of up to {} edges; the network {}",
                       sums_ ? " and sums" : ", rows of edges written", most_, mlp_.describe());
  }

private:
  // Of a row of the network's input, its cotangent or tangent, and of its output.
  Index rowElements() const { return 2 * in_ + out_; }
  PointBox boxOf(const EdgeBlock& block) const {
    return further_ == 1 ? PointBox{1, {block.edges()}} : PointBox{2, {block.edges(), further_}};
  }
  template <class T>
  PointArray<T> rows(T* first, Index inner) const {
    return {first, {inner, 1}, further_};
  }

  void listSums(const RowLists& sums) {
    sum_ = sums;
    spread_.rows = sums.entries();
    spread_.weights = sums.weights;
    for (const EdgeBlock& block : blocks_) {
      for (Index place = block.first; place < block.end; ++place)
        sum_.index[place] = place - block.first;
      for (Index node = block.firstNode; node < block.endNode; ++node)
        spread_.index.insert(spread_.index.end(), beginOf(sums, node + 1) - beginOf(sums, node),
                             node);
    }
  }

  // Where the rows of a block's edges go: to the output itself unless they are summed.
  template <class T>
  T* messagesOf(const EdgeBlock& block, DTensor& y, T* buffer) const {
    return sums_ ? buffer : y.mutableData<T>() + block.first * out_;
  }
  template <class T>
  const T* cotangentsOf(const EdgeBlock& block, const DTensor& dy, T* buffer) const {
    if (!sums_)
      return dy.data<T>() + block.first * out_;
    combineSomeRows<T>(dy.context(), spread_, block.first, block.end, out_, dy.data<T>(), out_,
                       false, buffer, out_);
    return buffer;
  }

  // An absent tangent is zero.
  template <class T>
  void take(const EdgeBlock& block, Inputs x, T* rows) const {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const InRow& in = parts_[k].in;
      if (x[k])
        combineSomeRows<T>(x[k]->context(), parts_[k].taken, block.first, block.end, in.inner,
                           x[k]->data<T>(), in.inner, false, rows + in.begin, in_);
      else
        for (Index e = 0; e < block.edges(); ++e)
          std::fill_n(rows + in.begin + e * in_, in.inner, T(0));
    }
  }
  // What the network has made of the rows taken, and those of the contribution.
  template <class T>
  void give(const EdgeBlock& block, const T* taken, T* messages, DTensor& y) const {
    if (contribution_ >= 0)
      addRows(y, block, taken + parts_[contribution_].in.begin, in_, messages, out_);
    if (sums_)
      combineSomeRows<T>(y.context(), sum_, block.firstNode, block.endNode, out_, messages, out_,
                         false, y.mutableData<T>() + block.firstNode * out_, out_);
  }
  template <class T>
  void addRows(const DTensor& tensor, const EdgeBlock& block, const T* from, Index stepFrom, T* to,
               Index stepTo) const {
    const Index extent[] = {block.edges(), out_}, read[] = {stepFrom, 1}, write[] = {stepTo, 1};
    if (block.edges() > 0)
      blockCombine(tensor.context(), Combine::Add, 2, extent, from, read, to, write);
  }
  template <class T>
  void giveBack(const EdgeBlock& block, const T* cotangents, InputCotangents dx) const {
    const auto number = static_cast<std::size_t>(&block - blocks_.data());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const TakenPart& part = parts_[k];
      if (dx[k])
        combineSomeRows<T>(dx[k]->context(), part.given, part.givenBegin[number],
                           part.givenBegin[number + 1], part.in.inner, cotangents + part.in.begin,
                           in_, part.isSum, dx[k]->mutableData<T>(), part.in.inner);
    }
  }

  std::shared_ptr<LocalKernel> network_;
  LocalColumnMlp& mlp_;
  Index further_, in_, out_, most_ = 0;
  int contribution_;
  bool sums_;
  std::vector<EdgeBlock> blocks_;
  std::vector<TakenPart> parts_;
  RowLists sum_;    // of each node: its edges by their places in the block
  RowLists spread_; // of each edge: its node
  Buffer rows_;
};

} // namespace

std::shared_ptr<LocalKernel> makeEdgeNetwork(const BoundMaps& maps, int network,
                                             const FusedRows& rows) {
  const auto listedOf = [&](int kernel) {
    return &dynamic_cast<const ListedKernel&>(*maps.kernel(kernel).kernel);
  };
  const Layout& given = maps.list().values()[rows.given].layout;
  EdgeParts parts{.network = maps.kernel(network).kernel,
                  .contribution = rows.contribution,
                  .edges = given.boxOfRank(maps.layer().comm()->rank())[0].size(),
                  .further = std::accumulate(given.shape().begin() + 2, given.shape().end(),
                                             Index(1), std::multiplies<>())};
  for (const int kernel : rows.taken)
    parts.taken.push_back(listedOf(kernel));
  if (rows.summed >= 0)
    parts.sum = listedOf(rows.summed);
  return std::make_shared<EdgeNetwork>(parts, dataTypeSize(maps.dataType()));
}

} // namespace tenon
