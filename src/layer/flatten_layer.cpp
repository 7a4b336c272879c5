// SPDX-License-Identifier: BSD-2-Clause
#include "layer/flatten_layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// Row-major memory stays as it is.
class LocalCopy final : public OneInputKernel {
public:
  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override { copy(&x, y); }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    copy(dx, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      copy(&dy, *dx);
  }
  std::string describe() const override { return "local copy"; }

private:
  static void copy(const DTensor* x, DTensor& y) {
    visitFloating(y.dataType(), [&]<class T>(T) {
      if (x)
        std::copy_n(x->data<T>(), x->localCells(), y.mutableData<T>());
      else
        std::fill_n(y.mutableData<T>(), y.localCells(), T(0));
    });
  }
};

} // namespace

KernelPlan FlattenLayer::plan(const Layout& input) {
  if (input.rank() < 2)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has shape [{1}], but {0} needs [batch,channel,...]", title(),
                            fmt::join(input.shape(), ",")));
  const Layout plain = input.withoutMargins();
  SignatureTable table = elementwiseTable(2, true);
  table[0].letter = "n";
  table[1].letter = "c";
  Signature chosen(table, input, signature(), title());
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&plain, d});
  const Layout use = makeLayout(input.shape(), input.meshPtr(), chosen.input(), same);

  Index perChannel = 1;
  for (int d = 2; d < input.rank(); ++d)
    perChannel *= input.shape()[d];
  LayoutSpec spec{.shape = {input.shape()[0], input.shape()[1] * perChannel},
                  .mesh = input.meshPtr(),
                  .properties = chosen.output()};
  spec.splitAxes = {use.splitAxes(0), use.splitAxes(1)};
  spec.cuts = {use.cuts(0), use.cuts(1)};
  for (Index& cut : spec.cuts[1])
    cut *= perChannel;
  return {chosen, use, Layout(std::move(spec)), {}, {}, std::make_unique<LocalCopy>()};
}

} // namespace tenon
