// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the layers compare, y = 1 where a < b (or another relation) holds, else 0, and
// where, y = a where a condition is not 0, else b. They work element by element on contiguous
// arrays of the same shape. If an input has extent 1 in a dimension in which the output is larger,
// a first kernel (LocalBroadcast, "spread <number of the input>") repeats it to the output's shape.
//
//   compare   constant except at jumps, hence not differentiated
//   where     dy goes to the cotangent of the selected input; the other one gets 0 there
#include "kernels/elementwise/selection.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/broadcast_map.hpp"

namespace tenon {

namespace {

// Repeats an input to the shape of the output (broadcasting).
class LocalBroadcast final : public LinearKernel {
public:
  explicit LocalBroadcast(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void map(const DTensor& x, DTensor& y) override { broadcast_.spread(1, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { broadcast_.sum(1, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "spread"; }

private:
  BroadcastMap broadcast_;
};

// y = 1 where the relation holds, else 0. Not differentiated, as it is piecewise constant.
class LocalComparison final : public FixedKernel {
public:
  explicit LocalComparison(Relation relation) : relation_(relation) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      compareElements<T>(y.context(), relation_, y.localElements(), x[0]->data<T>(),
                         x[1]->data<T>(), y.mutableData<T>());
    });
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "element by element"; }

private:
  Relation relation_;
};

// y = a where the condition is not 0, else b. The cotangent of the condition is 0.
class LocalChoice final : public LocalKernel {
public:
  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    choose(*x[0], x[1], x[2], y);
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    choose(*at.x, dx[1], dx[2], dy);
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      scaleArray(0, *dx[0]);
    if (dx[1])
      choose(*at.x, &dy, nullptr, *dx[1]);
    if (dx[2])
      choose(*at.x, nullptr, &dy, *dx[2]);
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "element by element"; }

private:
  // y = a or b by the condition; a null a or b counts as zeros.
  static void choose(const DTensor& condition, const DTensor* a, const DTensor* b, DTensor& y) {
    visitFloating(y.dataType(), [&]<class T>(T) {
      selectElements<T>(y.context(), y.localElements(), condition.data<T>(),
                        a ? a->data<T>() : nullptr, b ? b->data<T>() : nullptr, y.mutableData<T>());
    });
  }
};

// The relation by its name, which is one of these: the layer's setting allows no other.
Relation relationOf(const std::string& name) {
  constexpr std::pair<const char*, Relation> kNames[] = {
      {"greater", Relation::Greater}, {"greater_equal", Relation::GreaterOrEqual},
      {"less", Relation::Less},       {"less_equal", Relation::LessOrEqual},
      {"equal", Relation::Equal},     {"not_equal", Relation::NotEqual}};
  return std::ranges::find(kNames, name, &std::pair<const char*, Relation>::first)->second;
}

// The kernel that repeats an input which is broadcast.
std::unique_ptr<LocalKernel> makeSpread(const KernelSite& at) {
  const Box y = at.form.output.boxOfRank(at.rank());
  // The name of the kernel, "spread <number>", ends with the number of the input.
  const std::size_t input = static_cast<std::size_t>(at.name().back() - '0');
  return std::make_unique<LocalBroadcast>(
      BroadcastMap(y, at.form.uses[input].boxOfRank(at.rank())));
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeCompareKernel(const KernelSite& at) {
  if (at.name() != "compare")
    return makeSpread(at);
  return std::make_unique<LocalComparison>(
      relationOf(at.layer.declaration().value<std::string>("relation")));
}

std::unique_ptr<LocalKernel> makeWhereKernel(const KernelSite& at) {
  if (at.name() != "where")
    return makeSpread(at);
  return std::make_unique<LocalChoice>();
}

} // namespace tenon
