// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of separable maps, such as interpolation and adaptive pooling: a one-dimensional
// linear map (a matrix with few entries per row) per spatial dimension, applied one after the
// other, with intermediate results in scratch memory. The maps of different dimensions commute, so
// those that reduce the number of elements most are applied first. For example, from 100 x 100 to
// 10 x 200 elements, the first stage gives 10 x 100. In each stage the array is viewed as [outer,
// elements of the dimension, inner].
#include "declaration/windows/resample.hpp"
#include "declaration/core/window_layout.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/rows/axis_map.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Applies the maps of all dimensions, one stage after the other.
class LocalSeparable final : public LinearKernel {
public:
  LocalSeparable(std::vector<AxisMap> maps, const Box& x, const Box& y, TenonDataType type,
                 KernelContextPtr context)
      : maps_(std::move(maps)), context_(std::move(context)) {
    for (AxisMap& map : maps_)
      map.finish(*context_);
    std::vector<int> order;
    for (int s = 0; s < static_cast<int>(maps_.size()); ++s)
      order.push_back(s);
    std::ranges::stable_sort(order, {}, [&](int s) {
      return double(maps_[s].outputs()) / double(std::max<Index>(1, maps_[s].inputs));
    });
    // Before each stage, the array has the extents of the output in the dimensions of earlier
    // stages, and those of the input in all other dimensions.
    Shape extent = extents(x);
    Index maxElements = 0;
    for (int s : order) {
      const auto dim = extent.begin() + s + kFirstSpatial;
      Stage stage{&maps_[s], 1, 1};
      for (auto d = extent.begin(); d != dim; ++d)
        stage.outer *= *d;
      for (auto d = dim + 1; d != extent.end(); ++d)
        stage.inner *= *d;
      *dim = y[s + kFirstSpatial].size();
      maxElements = std::max(maxElements, elements(extent));
      stages_.push_back(stage);
    }
    ScratchPlan plan;
    for (Index& offset : offsets_)
      offset = type == TENON_FLOAT64 ? plan.add<double>(maxElements) : plan.add<float>(maxElements);
    context_->reserve(plan);
  }

  void map(const DTensor& x, DTensor& y) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      const T* from = x.data<T>();
      for (std::size_t i = 0; i < stages_.size(); ++i) {
        T* to = i + 1 == stages_.size() ? y.mutableData<T>() : intermediate<T>(i);
        axisMapForward(*context_, *stages_[i].map, stages_[i].outer, stages_[i].inner, from, to);
        from = to;
      }
    });
  }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T* from = dy.data<T>();
      for (std::size_t i = stages_.size(); i-- > 0;) {
        T* to = i == 0 ? dx.mutableData<T>() : intermediate<T>(i - 1);
        axisMapAdjoint(*context_, *stages_[i].map, stages_[i].outer, stages_[i].inner, from, to);
        from = to;
      }
    });
  }
  std::string describe() const override { return "one dimension after the other"; }
  bool runsOnDevice() const override { return true; }

private:
  struct Stage {
    const AxisMap* map;
    Index outer, inner; // products of the extents before and after the dimension
  };
  // The result of stage i. Two buffers suffice, since a stage reads only the result of the previous
  // one.
  template <class T>
  T* intermediate(std::size_t i) const {
    return context_->scratch<T>(offsets_[i % 2]);
  }

  std::vector<AxisMap> maps_; // by spatial dimension
  std::vector<Stage> stages_; // in the order of application
  KernelContextPtr context_;
  std::array<Index, 2> offsets_{}; // of the two buffers in the scratch memory
};

// The map from this rank's inputs to its outputs along one dimension: each output o reads inputs
// reads.first, reads.first + 1, ... with these weights. Weights are computed from global indices,
// which makes results independent of the split points.
AxisMap localMap(const Separable& layer, int dim, const Shape& in, const Shape& out,
                 Interval inputBox, Interval outputs) {
  AxisMap map;
  map.inputs = inputBox.size();
  for (Index o = outputs.begin; o < outputs.end; ++o) {
    const AxisReads reads = layer.reads(o, in[dim], out[dim]);
    map.add(reads.first - inputBox.begin, reads.weights);
  }
  return map;
}

std::unique_ptr<LocalKernel> makeSeparable(const KernelSite& at) {
  const auto& separable = static_cast<const Separable&>(at.layer.declaration());
  const Box x = at.input(), outputs = at.outputs();
  const Shape &from = at.use().shape(), &to = at.form.output.shape();
  std::vector<AxisMap> maps;
  for (int d = kFirstSpatial; d < at.use().rank(); ++d)
    maps.push_back(localMap(separable, d, from, to, x[d], outputs[d]));
  return std::make_unique<LocalSeparable>(std::move(maps), x, outputs, at.layer.dataType(),
                                          at.context());
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeAdaptiveAveragePoolingKernel(const KernelSite& at) {
  return makeSeparable(at);
}

std::unique_ptr<LocalKernel> makeResampleKernel(const KernelSite& at) {
  return makeSeparable(at);
}

} // namespace tenon
