// SPDX-License-Identifier: BSD-2-Clause
// Edges are taken in the order in which they are summed, in blocks of whole nodes whose rows stay in the second-level
// cache, and each block passes through the kernels that it would have passed alone: so the forward results are those of
// the separate kernels bit by bit. The adjoint takes the rows of a block anew instead of keeping them, and adds what
// edges give to nodes block by block, each node of a block once: no two threads meet, and the order of a sum does not
// depend on their number.
#include "layer/mesh/edge_network.hpp"

#include "layer/core/layer.hpp"
#include "layer/mesh/listed_kernel.hpp"
#include "layer/types/column_mlp.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

constexpr OptionSpec kFusionOptions[] = {
    {"fuse_rows", OptionSpec::Flag, "true",
     "do message passing by a column MLP in one kernel, over blocks of edges; false: by one kernel "
     "for each of its layers"},
};
const OptionRegistration kFusionRegistration{{"layer", kFusionOptions}};

// What the rows of a block take of the second-level cache.
constexpr Index kBlockBytes = Index(1) << 18;

// Some edges, by their place in the order of sums, and the nodes at which they are summed.
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

// A part of the rows that the network reads: where it comes from, and where its cotangent goes. Lists are by blocks, and
// know the edges by their places in these.
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

class EdgeNetwork final : public LocalKernel {
public:
  // `further` elements of a row have one channel.
  EdgeNetwork(const std::vector<const ListedKernel*>& taken, std::shared_ptr<LocalKernel> network,
              const ListedKernel& sum, Index further, Index elementBytes)
      : network_(std::move(network)), mlp_(dynamic_cast<LocalColumnMlp&>(*network_)),
        further_(further), in_(mlp_.inputs() * further), out_(mlp_.outputs() * further) {
    const RowLists& sums = *sum.lists();
    blocks_ = blocksOf(sums, std::max<Index>(1, kBlockBytes / (elementBytes * rowElements())));
    for (const ListedKernel* kernel : taken)
      parts_.push_back(partOf(*kernel, sums.index, blocks_));
    sums_ = sums;
    spread_.rows = sums.entries();
    spread_.weights = sums.weights;
    for (const EdgeBlock& block : blocks_) {
      most_ = std::max(most_, block.edges());
      for (Index place = block.first; place < block.end; ++place)
        sums_.index[place] = place - block.first;
      for (Index node = block.firstNode; node < block.endNode; ++node)
        spread_.index.insert(spread_.index.end(), beginOf(sums, node + 1) - beginOf(sums, node),
                             node);
    }
    rows_ = Buffer(most_ * rowElements() * elementBytes, "a block of edges");
  }

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      T* taken = rows_.data<T>();
      T* messages = taken + most_ * in_;
      for (const EdgeBlock& block : blocks_) {
        take(block, x, taken);
        if (block.edges() > 0)
          mlp_.forwardAt<T>(boxOf(block), rows<const T>(taken, in_), p, rows<T>(messages, out_));
        sum(block, messages, y);
      }
    });
  }

  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses& p, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      T* taken = rows_.data<T>();
      T* tangents = taken + most_ * in_;
      T* messages = tangents + most_ * in_;
      for (const EdgeBlock& block : blocks_) {
        take(block, point.inputs, taken);
        take(block, dx, tangents);
        if (block.edges() > 0)
          mlp_.tangentAt<T>(boxOf(block), rows<const T>(taken, in_), rows<const T>(tangents, in_),
                            p, rows<T>(messages, out_));
        sum(block, messages, dy);
      }
    });
  }

  // Without edges the network is asked all the same, since all ranks say alike that there are gradients.
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
      T* messages = cotangents + most_ * in_;
      const PointArray<T> wanted = isWanted ? rows<T>(cotangents, in_) : PointArray<T>{};
      for (const EdgeBlock& block : blocks_) {
        take(block, point.inputs, taken);
        combineSomeRows<T>(dy.context(), spread_, block.first, block.end, out_, dy.data<T>(), out_,
                           false, messages, out_);
        mlp_.adjointAt<T>(boxOf(block), rows<const T>(taken, in_), rows<const T>(messages, out_), p,
                          wanted);
        give(block, cotangents, dx);
      }
    });
  }

  Index bytes() const override { return rows_.bytes(); }
  std::string describe() const override {
    return fmt::format("rows taken, network and sums over blocks of up to {} edges; the network {}",
                       most_, mlp_.describe());
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
  template <class T>
  void sum(const EdgeBlock& block, const T* messages, DTensor& y) const {
    combineSomeRows<T>(y.context(), sums_, block.firstNode, block.endNode, out_, messages, out_,
                       false, y.mutableData<T>() + block.firstNode * out_, out_);
  }
  template <class T>
  void give(const EdgeBlock& block, const T* cotangents, InputCotangents dx) const {
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
  std::vector<EdgeBlock> blocks_;
  std::vector<TakenPart> parts_;
  RowLists sums_;   // of each node: its edges by their places in the block
  RowLists spread_; // of each edge: its node
  Buffer rows_;
};

} // namespace

void fuseEdgeNetworks(BoundMaps& maps) {
  if (maps.context().space() != Space::Host || !options().getFlag("", "fuse_rows"))
    return;
  // Numbers of maps change with each that is fused.
  for (std::vector<RowRun> runs; !(runs = maps.list().rowRuns()).empty();) {
    const RowRun& run = runs.front();
    const auto kernelOf = [&](int map) {
      return maps.kernel(maps.list().maps()[map].object).kernel;
    };
    std::vector<const ListedKernel*> taken;
    for (const int map : run.taken)
      taken.push_back(&dynamic_cast<const ListedKernel&>(*kernelOf(map)));
    const Map& summed = maps.list().maps()[run.summed];
    const Shape& shape = maps.list().values()[summed.x.front()].layout.shape();
    const Index further =
        std::accumulate(shape.begin() + 2, shape.end(), Index(1), std::multiplies<>());
    maps.fuse(
        run, std::make_shared<EdgeNetwork>(taken, kernelOf(run.network),
                                           dynamic_cast<const ListedKernel&>(*kernelOf(run.summed)),
                                           further, dataTypeSize(maps.dataType())));
  }
}

} // namespace tenon
