// SPDX-License-Identifier: BSD-2-Clause
// Imported networks that reduce a field over all of space, and give the result to each of its
// elements: what the ranks send does not depend on the extents of space.
#include "layer/networks/model.hpp"
#include "layer/run_layer.hpp"
#include "layer/sent_in.hpp"

namespace tenon::test {
namespace {

// The messages and bytes of an Apply, and of its adjoint.
std::pair<Sent, Sent> sentBy(const std::string& file, const Layout& field) {
  const auto layer = makeModel(world());
  layer->set("path", TENON_TEST_MODELS "/" + file);
  layer->set("model_test", std::string("off"));
  layer->setDataType(TENON_FLOAT64);
  Step step(layer, field);
  EXPECT_EQ(step.y->layout(), field);
  fillValid(*step.x, 1);
  fillValid(*step.dy, 2);
  const Sent forward = sentIn([&] { step.apply(); });
  return {forward, sentIn([&] { step.adjoint(); })};
}

// On each layout the messages are those of a field of four times the size. For a split of the last
// dimension, the fields are not moved to merge the dimensions of space either.
TEST(Pooling, LeavesTheFieldWhereItIs) {
  for (const std::string split : {"S2", "S3"}) {
    SCOPED_TRACE(split);
    const auto small = sentBy("pools.f64.pt2", onWorld({2, 3, 12, 16}, split)),
               large = sentBy("pools.f64.pt2", onWorld({2, 3, 24, 32}, split));
    EXPECT_EQ(small, large);
  }
}

} // namespace
} // namespace tenon::test
