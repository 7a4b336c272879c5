// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of batch, instance, group and layer normalisation. Each group of elements has a
// mean and a variance (its moments), and a group can be split over ranks. In training, the kernels
// run in this order; the middle two only if a group is split:
//
//   LocalMoments         mean and sum of squared deviations of this rank's elements of each group
//   MeanContributions    this rank's share of the mean         -- sum over ranks --> reference mean
//   MomentContributions  moments relative to the reference     -- sum over ranks --> sums
//   CombinedMoments      mean and variance of each group; updates the running statistics
//   Normalised           y = (x - mean) / sqrt(variance + epsilon) * weight + bias
//
// Only moments are communicated, and all ranks receive bitwise identical sums. In inference (or
// always, if the statistics are set to running), RunningMoments copies the running statistics in
// place of the first four kernels, without communication. The functions that make them are declared
// in core/layer_types.hpp.
#include "declaration/types/normalisation.hpp"
#include "declaration/types/transpose.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/normalisation.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/core/state_tensor.hpp"

namespace tenon {

namespace {

// The order of the running statistics among the states of the layer.
constexpr std::size_t kMean = 0, kVariance = 1;
// The order of the parameters in the list of their uses.
constexpr std::size_t kWeight = 0, kBias = 1;

// The two moments stored in a tensor [2, groups], the means before the second moments; null if the
// tensor is null.
template <class T>
Moments<const T> momentsIn(const DTensor* tensor) {
  if (!tensor)
    return {nullptr, nullptr};
  const T* first = tensor->data<T>();
  return {first, first + tensor->localElements() / 2};
}
template <class T>
Moments<T> momentsIn(DTensor* tensor) {
  if (!tensor)
    return {nullptr, nullptr};
  T* first = tensor->mutableData<T>();
  return {first, first + tensor->localElements() / 2};
}

// Moments of this rank's elements of each group.
class LocalMoments final : public OneInputKernel {
public:
  explicit LocalMoments(std::shared_ptr<RowKernels> rows) : rows_(std::move(rows)) {}

  // The moments m are the output y, so derivatives read them as at.y.
  void forward(const DTensor& x, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) { rows_->moments(x.data<T>(), momentsIn<T>(&m)); });
  }
  void tangent(const KernelPoint& at, const DTensor* dx, ParameterUses&, DTensor& dm) override {
    if (!dx)
      return scaleArray(0, dm);
    visitFloating(dm.dataType(), [&]<class T>(T) {
      rows_->momentsTangent(at.x->data<T>(), at.y->data<T>(), dx->data<T>(), momentsIn<T>(&dm));
    });
  }
  void adjoint(const KernelPoint& at, const DTensor& dm, ParameterUses&, DTensor* dx) override {
    if (dx)
      visitFloating(dm.dataType(), [&]<class T>(T) {
        rows_->momentsAdjoint(at.x->data<T>(), at.y->data<T>(), momentsIn<T>(&dm), at.adds,
                              dx->mutableData<T>());
      });
  }
  std::string describe() const override { return "moments"; }
  bool runsOnDevice() const override { return true; }
  const std::shared_ptr<RowKernels>& rows() const noexcept { return rows_; }

private:
  std::shared_ptr<RowKernels> rows_;
};

// Contributions of this rank to the means of its groups: mean of its elements times its fraction of
// the elements of the group. The sum over the ranks is the mean of the whole group.
class MeanContributions final : public FixedTensorKernel {
public:
  explicit MeanContributions(std::shared_ptr<const PartMoments> partMoments)
      : partMoments_(std::move(partMoments)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& mean, Buffer*) override {
    visitFloating(mean.dataType(), [&]<class T>(T) {
      shareOfMean(mean.context(), *partMoments_, x[0]->data<T>(), mean.mutableData<T>());
    });
  }
  std::string describe() const override { return "contributions of means"; }
  bool runsOnDevice() const override { return true; }

private:
  std::shared_ptr<const PartMoments> partMoments_;
};

// Contributions of this rank to the moments of its groups, relative to a given mean.
class MomentContributions final : public LocalKernel {
public:
  explicit MomentContributions(std::shared_ptr<const PartMoments> partMoments)
      : partMoments_(std::move(partMoments)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& contributions, Buffer*) override {
    visitFloating(contributions.dataType(), [&]<class T>(T) {
      shareOfMoments(contributions.context(), *partMoments_, momentsIn<T>(x[0]), x[1]->data<T>(),
                     momentsIn<T>(&contributions));
    });
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&,
                   DTensor& contributions) override {
    if (!dx[0])
      return scaleArray(0, contributions);
    visitFloating(contributions.dataType(), [&]<class T>(T) {
      shareOfMomentsTangent(contributions.context(), *partMoments_, at.inputs[0]->data<T>(),
                            at.inputs[1]->data<T>(), momentsIn<T>(dx[0]),
                            momentsIn<T>(&contributions));
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& contributions, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      visitFloating(contributions.dataType(), [&]<class T>(T) {
        shareOfMomentsAdjoint(contributions.context(), *partMoments_, at.inputs[0]->data<T>(),
                              at.inputs[1]->data<T>(), momentsIn<T>(&contributions),
                              momentsIn<T>(dx[0]));
      });
  }
  std::string describe() const override { return "contributions of moments"; }
  bool runsOnDevice() const override { return true; }

private:
  std::shared_ptr<const PartMoments> partMoments_;
};

// Mean and variance of each group, combined from the sums over all ranks (input 0) and the
// reference mean (input 1), or from the moments of this rank (input 0 alone) if it has whole
// groups. In training the running statistics are updated, except when a container recomputes a
// batch before its adjoint: that batch was counted in its first evaluation.
class CombinedMoments final : public LocalKernel {
public:
  CombinedMoments(std::shared_ptr<const PartMoments> partMoments, double momentum,
                  const Sources& running)
      : partMoments_(std::move(partMoments)), momentum_(momentum) {
    for (const auto& source : running)
      running_.push_back(std::static_pointer_cast<StateUse>(source));
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& combined, Buffer*) override {
    const bool updatesRunning = !running_.empty() && !running_[0]->isHeld();
    visitFloating(combined.dataType(), [&]<class T>(T) {
      combineMoments<T>(combined.context(), *partMoments_, x.size() > 1 ? x[1]->data<T>() : nullptr,
                        momentsIn<T>(x[0]), momentsIn<T>(&combined));
      const Moments<const T> current = momentsIn<T>(static_cast<const DTensor*>(&combined));
      if (updatesRunning)
        followMoments<T>(combined.context(), *partMoments_, momentum_, current,
                         {.mean = running_[kMean]->value().template mutableData<T>(),
                          .second = running_[kVariance]->value().template mutableData<T>()});
    });
    if (updatesRunning)
      for (const auto& use : running_)
        use->written();
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& combined) override {
    if (!dx[0])
      return scaleArray(0, combined);
    visitFloating(combined.dataType(), [&]<class T>(T) {
      combineMomentsTangent<T>(combined.context(), *partMoments_, firstSumOf<T>(at),
                               momentsIn<T>(dx[0]), momentsIn<T>(&combined));
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& combined, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      visitFloating(combined.dataType(), [&]<class T>(T) {
        combineMomentsAdjoint<T>(combined.context(), *partMoments_, firstSumOf<T>(at),
                                 momentsIn<T>(&combined), momentsIn<T>(dx[0]));
      });
  }
  std::string describe() const override { return "combined moments"; }
  bool runsOnDevice() const override { return true; }
  // written() marks other copies of the running moments as outdated, which a replay of a recorded
  // step would not do.
  bool isRepeatable() const override { return running_.empty(); }

private:
  // The first of the sums over the ranks, that is, of the means relative to the reference; null if
  // the groups are not split and there is therefore no reference (input 1).
  template <class T>
  static const T* firstSumOf(const KernelPoint& at) {
    return at.inputs.size() > 1 ? at.inputs[0]->data<T>() : nullptr;
  }

  std::shared_ptr<const PartMoments> partMoments_;
  double momentum_;
  std::vector<std::shared_ptr<StateUse>> running_;
};

// Normalised rows, from x and the combined moments.
class Normalised final : public LocalKernel {
public:
  Normalised(std::shared_ptr<RowKernels> rows, double epsilon, bool scalesChannels)
      : rows_(std::move(rows)), epsilon_(epsilon), scalesChannels_(scalesChannels) {}

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      rows_->normalise(pointOf<T>(*x[0], momentsIn<T>(x[1]), p), valueOf<T>(p, kBias),
                       y.mutableData<T>());
    });
  }
  // With running moments of one group per channel.
  bool scalesChannels() const override { return scalesChannels_; }
  void channelScaling(Inputs x, ParameterUses& p, std::span<float> scale,
                      std::span<float> shift) override {
    visitFloating(x[1]->dataType(), [&]<class T>(T) {
      const NormalisePoint<T> at{.x = nullptr,
                                 .moments = momentsIn<T>(x[1]),
                                 .epsilon = epsilon_,
                                 .weight = valueOf<T>(p, kWeight)};
      tenon::channelScaling<T>(at, valueOf<T>(p, kBias), scale, shift);
    });
  }
  // A rectifier is applied in the same pass over memory.
  bool forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f, DTensor& y) override {
    if (f.kind != Pointwise::Relu)
      return LocalKernel::forwardThen(x, p, f, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      rows_->normalise(pointOf<T>(*x[0], momentsIn<T>(x[1]), p), valueOf<T>(p, kBias),
                       y.mutableData<T>(), /*least=*/T(0));
    });
    return true;
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses& p, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      rows_->normaliseTangent(pointAt<T>(at, p), dx[0] ? dx[0]->data<T>() : nullptr,
                              momentsIn<T>(dx[1]), tangentOf<T>(p, kWeight), tangentOf<T>(p, kBias),
                              dy.mutableData<T>());
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      rows_->normaliseAdjoint(pointAt<T>(at, p), dy.data<T>(),
                              {.x = dx[0] ? dx[0]->mutableData<T>() : nullptr,
                               .moments = momentsIn<T>(dx[1]),
                               .weight = gradientOf<T>(p, kWeight),
                               .bias = gradientOf<T>(p, kBias)});
    });
  }
  std::string describe() const override { return "row by row"; }
  bool runsOnDevice() const override { return true; }

private:
  template <class T>
  NormalisePoint<T> pointOf(const DTensor& x, Moments<const T> moments, ParameterUses& p) const {
    return {.x = x.data<T>(),
            .moments = moments,
            .epsilon = epsilon_,
            .weight = valueOf<T>(p, kWeight)};
  }
  template <class T>
  static const T* valueOf(ParameterUses& p, std::size_t index) {
    return index < p.size() ? p[index]->value().template data<T>() : nullptr;
  }
  template <class T>
  static T* gradientOf(ParameterUses& p, std::size_t index) {
    return index < p.size() && !p[index]->isFrozen()
               ? p[index]->gradientContributions().template mutableData<T>()
               : nullptr;
  }
  template <class T>
  NormalisePoint<T> pointAt(const KernelPoint& at, ParameterUses& p) const {
    return pointOf<T>(*at.inputs[0], momentsIn<T>(at.inputs[1]), p);
  }
  template <class T>
  static const T* tangentOf(ParameterUses& p, std::size_t index) {
    const DTensor* tangent = index < p.size() ? p[index]->tangent() : nullptr;
    return tangent ? tangent->data<T>() : nullptr;
  }

  std::shared_ptr<RowKernels> rows_;
  double epsilon_;
  bool scalesChannels_;
};

// Copies the running statistics to the output in which CombinedMoments writes the moments of the
// batch.
class RunningMoments final : public FixedTensorKernel {
public:
  explicit RunningMoments(const Sources& running) {
    for (const auto& source : running)
      running_.push_back(std::static_pointer_cast<StateUse>(source));
  }

  void forwardMany(Inputs, ParameterUses&, DTensor& combined, Buffer*) override {
    visitFloating(combined.dataType(), [&]<class T>(T) {
      const Moments<T> to = momentsIn<T>(&combined);
      const auto copyTo = [&](const DTensor& statistic, T* moments) {
        arrayCombine(combined.context(), Combine::Copy, statistic.localElements(),
                     statistic.data<T>(), moments);
      };
      copyTo(running_[kMean]->value(), to.mean);
      copyTo(running_[kVariance]->value(), to.second);
    });
  }
  std::string describe() const override { return "running moments"; }
  bool runsOnDevice() const override { return true; }
  // Users can place other arrays in the running moments between calls.
  bool isRepeatable() const override { return false; }

private:
  std::vector<std::shared_ptr<StateUse>> running_;
};

// The division of this rank's array of x into rows, and the group of each row. Both follow from the
// layouts, so element counts need not be communicated. For group normalisation of a block
// [2 samples, 4 channels, 5, 5] with 2 channels per group, a row is one channel of one sample:
//
//   row (sample, channel)   0 (0,0)   1 (0,1)   2 (0,2)   3 (0,3)   4 (1,0) ...   of length 25
//   group                   0         0         1         1         2
class RowGeometry {
public:
  RowGeometry(const Normalisation& layer, const Form& form, int position)
      : use_(layer.inOrder(form.uses.front())), dimensions_(layer.dimensions(use_.shape())),
        x_(use_.box(position)), groups_(layer.momentLayouts(use_).all.box(position)) {
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (!dimensions_[d].isReduced())
        rowDims_ = d + 1;
    if (!form.parameters.empty())
      weights_ = layer.weighted(use_.shape()).first < static_cast<int>(rowDims_)
                     ? RowWeights::OfRow
                     : RowWeights::OfPosition;
  }

  // A row is one index in each dimension up to the last one that distinguishes groups, with all
  // elements of the dimensions after it. It is contiguous and belongs to one group.
  RowGroups rows() const {
    RowGroups rows;
    rows.groups = groupCount();
    rows.rows = rows.groups > 0 ? 1 : 0; // no rows if the layout stores nothing on this rank
    rows.length = 1;
    rows.weights = weights_;
    for (std::size_t d = 0; d < x_.size(); ++d)
      (d < rowDims_ ? rows.rows : rows.length) *= x_[d].size();
    for (Index r = 0; r < rows.rows; ++r) {
      Shape index(rowDims_);
      Index rest = r;
      for (std::size_t d = rowDims_; d-- > 0;) {
        index[d] = rest % x_[d].size();
        rest /= x_[d].size();
      }
      rows.groupOf.push_back(groupOf(index));
      if (weights_ == RowWeights::OfRow)
        rows.weightOf.push_back(index[1]); // the channel
    }
    return rows;
  }

  // For each group, the number of its elements on this rank, followed by its number of elements on
  // all ranks.
  PartMoments part(KernelContext& context) const {
    const Index groups = groupCount();
    Box whole;
    for (const Index extent : use_.shape())
      whole.push_back({0, extent});
    std::vector<double> counts;
    for (const Box& box : {x_, whole})
      for (Index group = 0; group < groups; ++group)
        counts.push_back(elementsOf(group, box));
    return {.groups = groups, .counts = ReadList<double>(context, std::move(counts))};
  }

private:
  // The moments are a tensor [2, groups...], with mean and second moment along dimension 0; the
  // dimensions that enumerate groups begin with 1.
  Index groupCount() const {
    Index count = 1;
    for (std::size_t g = 1; g < groups_.size(); ++g)
      count *= groups_[g].size();
    return groups_.front().empty() ? 0 : count;
  }
  Index groupOf(const Shape& index) const {
    Index group = 0;
    std::size_t g = 1;
    for (std::size_t d = 0; d < rowDims_; ++d)
      if (!dimensions_[d].isReduced()) {
        const Index block = (x_[d].begin + index[d]) / dimensions_[d].block;
        group = group * groups_[g].size() + block - groups_[g].begin;
        ++g;
      }
    return group;
  }
  // Number of elements of a group in a box of x.
  double elementsOf(Index group, const Box& box) const {
    double count = 1;
    std::size_t g = groups_.size();
    for (std::size_t d = dimensions_.size(); d-- > 0;) {
      if (dimensions_[d].isReduced()) {
        count *= double(box[d].size());
        continue;
      }
      --g;
      const Index block = dimensions_[d].block, extent = groups_[g].size();
      const Index begin = (groups_[g].begin + group % extent) * block;
      group /= extent;
      count *= double(intersect(box[d], {begin, begin + block}).size());
    }
    return count;
  }

  Layout use_;
  std::vector<Normalisation::Dimension> dimensions_;
  Box x_;                   // this rank's box of x, with its dimensions in order
  Box groups_;              // its box of the moments [2, groups...]
  std::size_t rowDims_ = 0; // the dimensions of x that enumerate rows; the others are within a row
  RowWeights weights_ = RowWeights::None;
};

// Makes the kernel with the name that the declaration (declaration/types/normalisation.cpp) gives
// it: moments, means, contributions, combine, running, or the type of the layer for Normalised.
// Names that begin with "area" are those of area_moments.cpp; "order" and "order back" transpose x
// and y if the reduced dimensions are not the last ones. LocalMoments and Normalised share one
// RowKernels object, which has the list of rows and groups.
std::unique_ptr<LocalKernel> makeNormalisation(const KernelSite& at) {
  const auto& declaration = static_cast<const Normalisation&>(at.layer.declaration());
  if (at.name().starts_with("order")) {
    std::vector<Index> permutation = declaration.order(at.form.uses.front().ndim()),
                       inverse(permutation.size());
    for (std::size_t d = 0; d < permutation.size(); ++d)
      inverse[permutation[d]] = static_cast<Index>(d);
    return onTensors(makeTransposition(at.type, at.name() == "order" ? std::move(permutation)
                                                                     : std::move(inverse)),
                     at.list.kernels()[at.number]);
  }
  if (at.name().starts_with("area"))
    return onTensors(declaration.makeKernel(at), at.list.kernels()[at.number]);
  const RowGeometry geometry(declaration, at.form, at.form.uses.front().grid().position(at.rank));
  const KernelContextPtr context = at.context;
  const auto elementCounts = [&] {
    return std::make_shared<const PartMoments>(geometry.part(*context));
  };
  // The running moments are the last sources, after parameters that need a conversion.
  const Sources running(at.sources.end() - static_cast<std::ptrdiff_t>(at.form.states.size()),
                        at.sources.end());
  if (at.name() == "running")
    return std::make_unique<RunningMoments>(running);
  if (at.name() == "means")
    return std::make_unique<MeanContributions>(elementCounts());
  if (at.name() == "contributions")
    return std::make_unique<MomentContributions>(elementCounts());
  if (at.name() == "combine")
    return std::make_unique<CombinedMoments>(
        elementCounts(), running.empty() ? 0 : declaration.value<double>("momentum"), running);
  std::shared_ptr<RowKernels> rows;
  for (const BoundKernel& earlier : at.made)
    if (const auto* moments = dynamic_cast<const LocalMoments*>(earlier.kernel.get()))
      rows = moments->rows();
  if (!rows)
    rows = std::make_shared<RowKernels>(geometry.rows(), context);
  if (at.name() == "moments")
    return std::make_unique<LocalMoments>(std::move(rows));
  return std::make_unique<Normalised>(std::move(rows), declaration.epsilon(),
                                      /*scalesChannels=*/at.layer.type() == "batchnorm");
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeBatchNormKernel(const KernelSite& at) {
  return makeNormalisation(at);
}

std::unique_ptr<LocalKernel> makeInstanceNormKernel(const KernelSite& at) {
  return makeNormalisation(at);
}

std::unique_ptr<LocalKernel> makeGroupNormKernel(const KernelSite& at) {
  return makeNormalisation(at);
}

std::unique_ptr<LocalKernel> makeLayerNormKernel(const KernelSite& at) {
  return makeNormalisation(at);
}

} // namespace tenon
