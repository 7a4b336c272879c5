// SPDX-License-Identifier: BSD-2-Clause
// Training of an imported network continues from a checkpoint on fewer ranks. Three ranks train,
// write a checkpoint and continue; two ranks read it and continue. The state after reading must be
// equal, and the state after three further steps equal to 1e-10. The parameters of a model belong
// to its layers: the reader reads the network from the same model file, and all values from the
// checkpoint.
#include "training_run.hpp"

#include "dtensor/arithmetic.hpp"
#include "layer/networks/model.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

struct ModelCase {
  const char* name;
  Shape input;
  const char *properties, *optimizer;
};

// Training of a model. The loss is half the sum of squares of the output, whose cotangent is the
// output itself.
class ModelRun {
public:
  ModelRun(const CommPtr& comm, const ModelCase& c)
      : net_(makeModel(comm)), checkpoint_(makeRef<Checkpoint>(comm)) {
    net_->set("path", std::string(TENON_TEST_MODELS "/") + c.name);
    net_->setDataType(TENON_FLOAT64);
    const Layout input({.shape = c.input,
                        .grid = Grid::make({comm->size()}),
                        .properties = parseProperties(c.properties)});
    net_->setUp(input);
    optimizer_ = makeOptimizer(c.optimizer, net_);
    optimizer_->set("learning_rate", 0.001);
    if (std::string(c.optimizer) == "sgd")
      optimizer_->set("momentum", 0.9);
    x_ = makeRef<DTensor>(comm, input, TENON_FLOAT64);
    y_ = makeRef<DTensor>(comm, net_->outputLayout(), TENON_FLOAT64);
    dy_ = makeRef<DTensor>(comm, net_->outputLayout().dual(), TENON_FLOAT64);
    checkpoint_->addLayer(net_, "net");
    checkpoint_->addOptimizer(optimizer_, "optimizer");
  }

  Checkpoint& checkpoint() { return *checkpoint_; }
  test::WholeState state() { return test::wholeState(*net_, *optimizer_); }
  test::WholeState steps(int count) {
    for (int i = 0; i < count; ++i) {
      // Each step has a random stream of its own, so a run that continues draws the same inputs as
      // the one that wrote the checkpoint.
      constexpr std::uint64_t kSeed = 5, kFirstStream = 100;
      fillUniform(*x_, kSeed, kFirstStream + static_cast<std::uint64_t>(optimizer_->steps()), -1,
                  1);
      net_->apply(*x_, *y_);
      copyLocal(*y_, *dy_);
      net_->zeroGradients();
      net_->applyAdjoint(*dy_, nullptr);
      optimizer_->step();
    }
    return state();
  }

private:
  Ref<Layer> net_;
  Ref<Optimizer> optimizer_;
  Ref<DTensor> x_, y_, dy_;
  Ref<Checkpoint> checkpoint_;
};

TEST(CheckpointOfAModel, GoesOnOnFewerRanks) {
  ASSERT_EQ(world()->size(), 3);
  const SharedFolder folder("checkpoint_model");
  const ModelCase cases[] = {{"gz_circular.f64.pt2", {1, 2, 12, 8}, "S2", "sgd"},
                             {"column_normalised.f64.pt2", {10, 6}, "S0", "adam"},
                             {"with_test.pt2", {2, 3, 13, 10}, "S2", "adam"}};
  for (const ModelCase& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string path = folder / "model.h5";
    ModelRun writer(world(), c);
    const test::WholeState first = writer.state(), written = writer.steps(3);
    EXPECT_NE(first, written);
    writer.checkpoint().write(path);
    const test::WholeState expected = writer.steps(3);
    MPI_Barrier(MPI_COMM_WORLD);
    const CommPtr two = test::firstRanks(2);
    if (two) {
      ModelRun reader(two, c);
      EXPECT_NE(reader.state(), written);
      reader.checkpoint().read(path);
      EXPECT_EQ(reader.state(), written);
      const test::WholeState found = reader.steps(3);
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, numbers] : expected) {
        double largest = 1e-300;
        for (const double number : numbers)
          largest = std::max(largest, std::abs(number));
        for (std::size_t i = 0; i < numbers.size(); ++i)
          EXPECT_NEAR(found.at(name)[i], numbers[i], 1e-10 * largest) << name << " " << i;
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

} // namespace
} // namespace tenon
