// SPDX-License-Identifier: BSD-2-Clause
// What all datasets have in common, with samples in memory: the order of an epoch, and layouts and
// batches that do not match. Datasets that are read from files are tested in tests/io.
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "train/dataset.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace tenon {
namespace {

using test::world;

// Sample n has the label n.
class Numbered final : public Dataset {
public:
  Numbered() : Dataset(world()) { setShapes({10, 1, 3, 4}, {.shape = {10}, .areIntegers = true}); }

private:
  void open(const Layout&, const Layout*) override {}
  void fill(Index epoch, Index batch, DTensor& x, DTensor* labels) override {
    const std::vector<Index>& order = orderOf(epoch);
    const Index first = batch * x.layout().shape()[0];
    for (Index n = 0; n < labels->localElements(); ++n)
      labels->mutableData<std::int64_t>()[n] =
          order[std::size_t(first + labels->box()[0].begin + n)];
  }
};

Layout layoutOf(Shape shape, const char* properties) {
  return Layout({.shape = std::move(shape),
                 .grid = Grid::make({world()->size()}),
                 .properties = parseProperties(properties)});
}

void setUp(Dataset& data, const Layout& x, const Layout& labels) {
  data.setUp(x, &labels);
}

std::vector<Index> orderWith(Index seed, Index epoch, bool shuffle = true) {
  Numbered data;
  data.set("shuffle", shuffle);
  data.set("shuffle_seed", seed);
  const Layout images = layoutOf({5, 1, 3, 4}, "S0"), labels = layoutOf({5}, "B");
  setUp(data, images, labels);
  DTensor x(world(), images, TENON_FLOAT32), label(world(), labels, TENON_INT64);
  std::vector<Index> order;
  for (Index batch = 0; batch < data.batches(); ++batch) {
    data.getBatch(epoch, batch, x, &label);
    order.insert(order.end(), label.data<std::int64_t>(), label.data<std::int64_t>() + 5);
  }
  return order;
}

TEST(Dataset, OrderDependsOnSeedAndEpochAlone) {
  const std::vector<Index> order = orderWith(1, 0);
  EXPECT_EQ(std::set<Index>(order.begin(), order.end()).size(), 10u);
  EXPECT_EQ(orderWith(1, 0), order);
  EXPECT_NE(orderWith(1, 1), order);
  EXPECT_NE(orderWith(2, 0), order);
  EXPECT_EQ(orderWith(1, 3, false), (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Dataset, RefusesLayoutsAndBatchesThatDoNotFit) {
  Numbered data;
  const Layout images = layoutOf({5, 1, 3, 4}, "S0"), labels = layoutOf({5}, "B");
  expectError(TENON_ERR_STATE, {"TenonDatasetSetUp()"}, [&] { data.batches(); });
  const auto refused = [&](TenonErrorCode code, const Layout& x, const Layout& classes) {
    expectError(code, {"batch"}, [&] { setUp(data, x, classes); });
  };
  refused(TENON_ERR_SHAPE, layoutOf({5, 1, 3, 3}, "S0"), labels);
  refused(TENON_ERR_SHAPE, images, layoutOf({4}, "B"));
  refused(TENON_ERR_SHAPE, layoutOf({11, 1, 3, 4}, "S0"), layoutOf({11}, "B"));
  // On one process P is equivalent to B, so the layout is accepted.
  if (world()->size() > 1)
    expectError(TENON_ERR_LAYOUT, {"S, B and R"}, [&] {
      setUp(data, layoutOf({5, 1, 3, 4}, "P"), labels);
    });
  setUp(data, images, labels);
  DTensor x(world(), images, TENON_FLOAT32), label(world(), labels, TENON_INT64);
  expectError(TENON_ERR_ARG, {"epoch", "-1"}, [&] { data.getBatch(-1, 0, x, &label); });
  expectError(TENON_ERR_ARG, {"0 to 1", "2"}, [&] { data.getBatch(0, 2, x, &label); });
  expectError(TENON_ERR_ARG, {"-1"}, [&] { data.getBatch(0, -1, x, &label); });
}

} // namespace
} // namespace tenon
