// SPDX-License-Identifier: BSD-2-Clause
#include "layer/held_bytes.hpp"
#include "layer/layer_types.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"
#include "linop/conversion.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class RepartitionSetup final : public OneInputSetup {
public:
  RepartitionSetup(const Layer& layer, const Layout& input, const Layout& output)
      : OneInputSetup(input, output),
        op_(makeRef<Conversion>(layer.comm(), input, output, layer.dataType())) {}

  std::unique_ptr<Frame> makeFrame() override { return std::make_unique<Frame>(); }
  void apply(const DTensor& x, DTensor& y, Frame&, bool) override { op_->apply(x, y); }

  void tangent(Frame&, const DTensor* dx, DTensor& dy) override {
    if (dx)
      op_->apply(*dx, dy);
    else
      zeroLocal(dy);
  }

  void adjoint(Frame&, const DTensor& dy, DTensor* dx) override {
    if (dx)
      op_->applyAdjoint(dy, *dx);
  }

  std::string describe() const override {
    const Mesh& mesh = input().mesh();
    return fmt::format("  process grid {}\n", mesh.describe()) + viewLine("input", input(), mesh) +
           viewLine("output", output(), mesh, ": " + trafficText(*op_));
  }
  Index bytes() const override { return heldBytes(op_); }

private:
  Ref<Conversion> op_;
};

} // namespace

std::unique_ptr<Setup> setUpRepartition(Layer& layer, const Layouts& inputs) {
  return std::make_unique<RepartitionSetup>(layer, inputs.front(), layer.form(inputs).output);
}

} // namespace tenon
