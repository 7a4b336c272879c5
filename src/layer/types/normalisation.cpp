// SPDX-License-Identifier: BSD-2-Clause
// Normalisation as kernels: the moments of what a rank has of each group, their combination, and
// the normalised rows. Only moments travel: what the parts of groups add to them is summed as any
// contributions are, so that copies have the same bits. Running moments take the place of the
// combined ones in inference, or always: then nothing travels.
#include "declaration/types/normalisation.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/kernel_context.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/normalisation.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/core/state_tensor.hpp"
#include "layer/types/transpose.hpp"

namespace tenon {

namespace {

// The moments that lie in a tensor [2, groups]; null where that is null.
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

// The moments of what this rank has of each group.
class LocalMoments final : public OneInputKernel {
public:
  explicit LocalMoments(std::shared_ptr<RowKernels> rows) : rows_(std::move(rows)) {}

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

// What this rank's part adds to the means of its groups.
class MeanContributions final : public FixedKernel {
public:
  explicit MeanContributions(std::shared_ptr<const PartMoments> of) : of_(std::move(of)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& mean, Buffer*) override {
    visitFloating(mean.dataType(), [&]<class T>(T) {
      shareOfMean(mean.context(), *of_, x[0]->data<T>(), mean.mutableData<T>());
    });
  }
  std::string describe() const override { return "contributions of means"; }
  bool runsOnDevice() const override { return true; }

private:
  std::shared_ptr<const PartMoments> of_;
};

// What it adds to their moments, counted from a mean.
class MomentContributions final : public LocalKernel {
public:
  explicit MomentContributions(std::shared_ptr<const PartMoments> of) : of_(std::move(of)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& contributions, Buffer*) override {
    visitFloating(contributions.dataType(), [&]<class T>(T) {
      shareOfMoments(contributions.context(), *of_, momentsIn<T>(x[0]), x[1]->data<T>(),
                     momentsIn<T>(&contributions));
    });
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&,
                   DTensor& contributions) override {
    if (!dx[0])
      return scaleArray(0, contributions);
    visitFloating(contributions.dataType(), [&]<class T>(T) {
      shareOfMomentsTangent(contributions.context(), *of_, at.inputs[0]->data<T>(),
                            at.inputs[1]->data<T>(), momentsIn<T>(dx[0]),
                            momentsIn<T>(&contributions));
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& contributions, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      visitFloating(contributions.dataType(), [&]<class T>(T) {
        shareOfMomentsAdjoint(contributions.context(), *of_, at.inputs[0]->data<T>(),
                              at.inputs[1]->data<T>(), momentsIn<T>(&contributions),
                              momentsIn<T>(dx[0]));
      });
  }
  std::string describe() const override { return "contributions of moments"; }
  bool runsOnDevice() const override { return true; }

private:
  std::shared_ptr<const PartMoments> of_;
};

// The moments of a group, combined from the sums over its parts, or from its only part. In training
// the running moments follow them, but not when a container computes the batch again before its
// adjoint.
class CombinedMoments final : public LocalKernel {
public:
  CombinedMoments(std::shared_ptr<const PartMoments> of, double momentum, const Sources& running)
      : of_(std::move(of)), momentum_(momentum) {
    for (const auto& source : running)
      running_.push_back(std::static_pointer_cast<StateUse>(source));
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& all, Buffer*) override {
    const bool follows = !running_.empty() && !running_[0]->isHeld();
    visitFloating(all.dataType(), [&]<class T>(T) {
      combineMoments<T>(all.context(), *of_, x.size() > 1 ? x[1]->data<T>() : nullptr,
                        momentsIn<T>(x[0]), momentsIn<T>(&all));
      const Moments<const T> now = momentsIn<T>(static_cast<const DTensor*>(&all));
      if (follows)
        followMoments<T>(all.context(), *of_, momentum_, now,
                         {running_[0]->value().template mutableData<T>(),
                          running_[1]->value().template mutableData<T>()});
    });
    if (follows)
      for (const auto& use : running_)
        use->written();
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& all) override {
    if (!dx[0])
      return scaleArray(0, all);
    visitFloating(all.dataType(), [&]<class T>(T) {
      combineMomentsTangent<T>(all.context(), *of_, firstOf<T>(at), momentsIn<T>(dx[0]),
                               momentsIn<T>(&all));
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& all, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      visitFloating(all.dataType(), [&]<class T>(T) {
        combineMomentsAdjoint<T>(all.context(), *of_, firstOf<T>(at), momentsIn<T>(&all),
                                 momentsIn<T>(dx[0]));
      });
  }
  std::string describe() const override { return "combined moments"; }
  bool runsOnDevice() const override { return true; }
  // written() tells other uses of the running moments, which a recorded step would not do.
  bool isRepeatable() const override { return running_.empty(); }

private:
  // Of the sums; null where nothing was summed.
  template <class T>
  static const T* firstOf(const KernelPoint& at) {
    return at.inputs.size() > 1 ? at.inputs[0]->data<T>() : nullptr;
  }

  std::shared_ptr<const PartMoments> of_;
  double momentum_;
  std::vector<std::shared_ptr<StateUse>> running_;
};

// The normalised rows, from x and the combined moments.
class Normalised final : public LocalKernel {
public:
  Normalised(std::shared_ptr<RowKernels> rows, double epsilon)
      : rows_(std::move(rows)), epsilon_(epsilon) {}

  void forwardMany(Inputs x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      rows_->normalise(pointOf<T>(*x[0], momentsIn<T>(x[1]), p), valueOf<T>(p, 1),
                       y.mutableData<T>());
    });
  }
  // A rectifier takes no pass over memory of its own.
  bool forwardThen(Inputs x, ParameterUses& p, const PointwiseFunction& f, DTensor& y) override {
    if (f.kind != Pointwise::Relu)
      return LocalKernel::forwardThen(x, p, f, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      rows_->normalise(pointOf<T>(*x[0], momentsIn<T>(x[1]), p), valueOf<T>(p, 1),
                       y.mutableData<T>(), T(0));
    });
    return true;
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses& p, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      rows_->normaliseTangent(pointAt<T>(at, p), dx[0] ? dx[0]->data<T>() : nullptr,
                              momentsIn<T>(dx[1]), tangentOf<T>(p, 0), tangentOf<T>(p, 1),
                              dy.mutableData<T>());
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses& p,
                   InputCotangents dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      rows_->normaliseAdjoint(pointAt<T>(at, p), dy.data<T>(),
                              {.x = dx[0] ? dx[0]->mutableData<T>() : nullptr,
                               .moments = momentsIn<T>(dx[1]),
                               .weight = gradientOf<T>(p, 0),
                               .bias = gradientOf<T>(p, 1)});
    });
  }
  std::string describe() const override { return "row by row"; }
  bool runsOnDevice() const override { return true; }

private:
  template <class T>
  NormalisePoint<T> pointOf(const DTensor& x, Moments<const T> moments, ParameterUses& p) const {
    return {x.data<T>(), moments, epsilon_, valueOf<T>(p, 0)};
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
};

// The running moments in place of those of a batch.
class RunningMoments final : public FixedKernel {
public:
  explicit RunningMoments(const Sources& running) {
    for (const auto& source : running)
      running_.push_back(std::static_pointer_cast<StateUse>(source));
  }

  void forwardMany(Inputs, ParameterUses&, DTensor& all, Buffer*) override {
    visitFloating(all.dataType(), [&]<class T>(T) {
      const Moments<T> to = momentsIn<T>(&all);
      const auto put = [&](const DTensor& from, T* moments) {
        arrayCombine(all.context(), Combine::Copy, from.localElements(), from.data<T>(), moments);
      };
      put(running_[0]->value(), to.mean);
      put(running_[1]->value(), to.second);
    });
  }
  std::string describe() const override { return "running moments"; }
  bool runsOnDevice() const override { return true; }
  // Users may place other arrays in the running moments between calls.
  bool isRepeatable() const override { return false; }

private:
  std::vector<std::shared_ptr<StateUse>> running_;
};

// How the local array of x consists of rows, and to which group each of them belongs. It all
// follows from the layouts, so that numbers of elements need not be sent.
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
                     : RowWeights::OfPlace;
  }

  // A row is one index of each dimension up to the last that distinguishes groups, and all of what
  // lies behind: so it belongs to one group, and is contiguous.
  RowGroups rows() const {
    RowGroups rows;
    rows.groups = groupCount();
    rows.rows = rows.groups > 0 ? 1 : 0; // off the root there are none
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
        rows.weightOf.push_back(index[1]);
    }
    return rows;
  }

  // How many elements of each group this rank has, and how many there are.
  PartMoments part(KernelContext& context) const {
    const Index groups = groupCount();
    Box whole;
    for (const Index extent : use_.shape())
      whole.push_back({0, extent});
    std::vector<double> counts;
    for (const Box& held : {x_, whole})
      for (Index group = 0; group < groups; ++group)
        counts.push_back(elementsOf(group, held));
    return {groups, ReadList<double>(context, std::move(counts))};
  }

private:
  // The dimensions of the groups begin at 1 in the box of moments, whose first one is the two
  // moments.
  Index groupCount() const {
    Index count = 1;
    for (std::size_t g = 1; g < groups_.size(); ++g)
      count *= groups_[g].size();
    return groups_.front().empty() ? 0 : count;
  }
  Index groupOf(const Shape& index) const {
    Index place = 0;
    std::size_t g = 1;
    for (std::size_t d = 0; d < rowDims_; ++d)
      if (!dimensions_[d].isReduced()) {
        const Index block = (x_[d].begin + index[d]) / dimensions_[d].block;
        place = place * groups_[g].size() + block - groups_[g].begin;
        ++g;
      }
    return place;
  }
  // The number of elements of a group in a box of x.
  double elementsOf(Index group, const Box& held) const {
    double count = 1;
    std::size_t g = groups_.size();
    for (std::size_t d = dimensions_.size(); d-- > 0;) {
      if (dimensions_[d].isReduced()) {
        count *= double(held[d].size());
        continue;
      }
      --g;
      const Index block = dimensions_[d].block, extent = groups_[g].size();
      const Index begin = (groups_[g].begin + group % extent) * block;
      group /= extent;
      count *= double(intersect(held[d], {begin, begin + block}).size());
    }
    return count;
  }

  Layout use_;
  std::vector<Normalisation::Dimension> dimensions_;
  Box x_, groups_;
  std::size_t rowDims_ = 0;
  RowWeights weights_ = RowWeights::None;
};

// Makes the kernels of the list, by name. Those of rows share them.
std::unique_ptr<LocalKernel> makeNormalisation(const KernelSite& at) {
  const auto& declaration = static_cast<const Normalisation&>(at.layer.declaration());
  if (at.name().starts_with("order")) {
    std::vector<Index> from = declaration.order(at.form.uses.front().rank()), back(from.size());
    for (std::size_t d = 0; d < from.size(); ++d)
      back[from[d]] = static_cast<Index>(d);
    return makeTransposition(at.name() == "order" ? std::move(from) : std::move(back));
  }
  const RowGeometry geometry(declaration, at.form, at.form.uses.front().grid().position(at.rank()));
  const KernelContextPtr context = at.context();
  const auto part = [&] { return std::make_shared<const PartMoments>(geometry.part(*context)); };
  // The running moments are the last sources, behind parameters that need a conversion.
  const Sources running(at.sources.end() - static_cast<std::ptrdiff_t>(at.form.states.size()),
                        at.sources.end());
  if (at.name() == "running")
    return std::make_unique<RunningMoments>(running);
  if (at.name() == "means")
    return std::make_unique<MeanContributions>(part());
  if (at.name() == "contributions")
    return std::make_unique<MomentContributions>(part());
  if (at.name() == "combine")
    return std::make_unique<CombinedMoments>(
        part(), running.empty() ? 0 : declaration.value<double>("momentum"), running);
  std::shared_ptr<RowKernels> rows;
  for (const BoundKernel& made : at.made)
    if (const auto* moments = dynamic_cast<const LocalMoments*>(made.kernel.get()))
      rows = moments->rows();
  if (!rows)
    rows = std::make_shared<RowKernels>(geometry.rows(), context);
  if (at.name() == "moments")
    return std::make_unique<LocalMoments>(std::move(rows));
  return std::make_unique<Normalised>(std::move(rows), declaration.epsilon());
}

} // namespace

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
