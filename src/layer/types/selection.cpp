// SPDX-License-Identifier: BSD-2-Clause
// Comparisons and choices of contiguous arrays. What an input of one element stands for is written
// out first, so that the elements of all arrays lie alike.
#include "kernels/elementwise/selection.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/spread.hpp"

namespace tenon {

namespace {

class LocalSpread final : public LinearKernel {
public:
  explicit LocalSpread(SpreadOver over) : over_(std::move(over)) {}
  void map(const DTensor& x, DTensor& y) override { over_.spread(1, x, y); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { over_.sum(1, dy, dx); }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "spread"; }

private:
  SpreadOver over_;
};

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
  static void choose(const DTensor& which, const DTensor* a, const DTensor* b, DTensor& y) {
    visitFloating(y.dataType(), [&]<class T>(T) {
      selectElements<T>(y.context(), y.localElements(), which.data<T>(), a ? a->data<T>() : nullptr,
                        b ? b->data<T>() : nullptr, y.mutableData<T>());
    });
  }
};

Relation relationOf(const std::string& name) {
  constexpr std::pair<const char*, Relation> kNames[] = {
      {"greater", Relation::Greater}, {"greater_equal", Relation::GreaterOrEqual},
      {"less", Relation::Less},       {"less_equal", Relation::LessOrEqual},
      {"equal", Relation::Equal},     {"not_equal", Relation::NotEqual}};
  return std::ranges::find(kNames, name, &std::pair<const char*, Relation>::first)->second;
}

std::unique_ptr<LocalKernel> makeSpread(const KernelSite& at) {
  const Box y = at.form.output.boxOfRank(at.rank());
  const std::size_t input = static_cast<std::size_t>(at.name().back() - '0');
  return std::make_unique<LocalSpread>(SpreadOver(y, at.form.uses[input].boxOfRank(at.rank())));
}

} // namespace

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
