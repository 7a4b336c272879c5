// SPDX-License-Identifier: BSD-2-Clause
// Tests plan files (plan/plan_file.hpp): a loaded plan is the one that was saved. Damaged files,
// and plans for another network, input, number of processes or machine, are refused on all ranks
// with the reason.
#include "planned_network.hpp"

#include "sys/expect_error.hpp"
#include "sys/files/part_file.hpp"

#include <filesystem>
#include <fstream>

namespace tenon::test {
namespace {

// All ranks use one file, which rank 0 removes when all have finished.
class PlanFiles : public testing::Test {
protected:
  PlanFiles() : path_(fmt::format("plan_file_test.{}.json", world()->size())) {}
  ~PlanFiles() override {
    MPI_Barrier(world()->mpi());
    if (world()->rank() == 0)
      std::filesystem::remove(path_);
  }

  void write(const std::string& text) const {
    MPI_Barrier(world()->mpi());
    if (world()->rank() == 0)
      std::ofstream(path_) << text;
    MPI_Barrier(world()->mpi());
  }
  std::string saved(const NetworkCase& c) const {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->search();
    plan->save(path_);
    return readWholeFile(path_, "plan");
  }
  void expectRefused(TenonErrorCode code, std::initializer_list<const char*> parts,
                     const Ref<LayerPlan>& plan) const {
    expectError(code, parts, [&] { plan->load(path_); });
    expectError(TENON_ERR_STATE, {"not searched"}, [&] { plan->found(); });
  }

  std::string path_;
};

// A plan sets output_cuts of a layer. The network with this setting is still the one for which the
// plan was made: saved again, the file is the same.
TEST_F(PlanFiles, KeepBalancedOutputs) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  const Ref<LayerPlan> plan = planAhead(), loaded = planOf(aheadCase(), world());
  plan->setUp();
  plan->save(path_);
  loaded->load(path_);
  loaded->setUp();
  EXPECT_TRUE(loaded->layerNamed("first").isBalanced);
  EXPECT_EQ(loaded->layerNamed("first").labels, plan->layerNamed("first").labels);
  EXPECT_EQ(loaded->layer().outputLayout(), plan->layer().outputLayout());
  loaded->save(path_ + "2");
  EXPECT_EQ(readWholeFile(path_ + "2", "plan"), readWholeFile(path_, "plan"));
  MPI_Barrier(world()->mpi());
  if (world()->rank() == 0)
    std::filesystem::remove(path_ + "2");
}

TEST_F(PlanFiles, GiveTheSamePlan) {
  for (const NetworkCase& c : networkCases()) {
    const Ref<LayerPlan> plan = planOf(c, world()), loaded = planOf(c, world());
    for (const Ref<LayerPlan>& each : {plan, loaded}) {
      each->setInput(unevenField(c.input));
      each->setOutput(unevenField(outputShapeOf(c)));
    }
    plan->set("placement", "space");
    plan->setUp();
    plan->save(path_);
    loaded->load(path_);
    loaded->setUp();
    for (const PlannedLayer& layer : plan->found().layers) {
      EXPECT_EQ(loaded->layerNamed(layer.name).labels, layer.labels);
      EXPECT_EQ(loaded->layerNamed(layer.name).runnerUpSeconds, layer.runnerUpSeconds);
    }
    EXPECT_EQ(loaded->found().seconds, plan->found().seconds);
    EXPECT_EQ(loaded->layer().outputLayout(), plan->layer().outputLayout());
    EXPECT_EQ(trained(loaded->layer(), world(), loaded->inputLayout(), 2),
              trained(plan->layer(), world(), plan->inputLayout(), 2));
  }
}

// A plan with any placement of the grid's axes can be loaded, regardless of the setting.
TEST_F(PlanFiles, OfAnyPlacementLoadWithoutTheSetting) {
  const NetworkCase c = caseNamed("lenet5");
  const auto on = [&] {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->set("processes", Index(12));
    plan->setMachine(Machine::make("two", {{"node", 2}, {"core", 6}}));
    return plan;
  };
  const Ref<LayerPlan> made = on(), loaded = on();
  made->set("placement", "all");
  made->search();
  made->save(path_);
  loaded->load(path_);
  EXPECT_EQ(loaded->found().grid->extents(), made->found().grid->extents());
  EXPECT_EQ(loaded->found().axisLevels, made->found().axisLevels);
  for (const PlannedLayer& layer : made->found().layers)
    EXPECT_EQ(loaded->layerNamed(layer.name).labels, layer.labels);
}

TEST_F(PlanFiles, AreRefusedForAnotherNetworkOrShape) {
  const NetworkCase c = caseNamed("lenet5");
  saved(c);
  NetworkCase other = caseNamed("residual");
  other.input = c.input;
  expectRefused(TENON_ERR_FORMAT, {"another network", "C1", "first"}, planOf(other, world()));
  NetworkCase larger = c;
  larger.input[0] = 16;
  expectRefused(TENON_ERR_SHAPE, {"[8,1,28,28]", "[16,1,28,28]"}, planOf(larger, world()));
  const Ref<LayerPlan> fewer = planOf(c, world());
  fewer->set("processes", Index(6));
  expectRefused(TENON_ERR_STATE, {"processes", "6"}, fewer);
  const Ref<LayerPlan> pinned = planOf(c, world());
  pinned->setInput(unevenField(c.input));
  expectRefused(TENON_ERR_LAYOUT, {"free", "S2,S3"}, pinned);
  const auto narrow =
      makeRef<LayerPlan>(readNetwork(world(), TENON_TEST_NETWORKS "/lenet5.json"), c.input[0]);
  narrow->set("input_shape", Shape{1, 28, 28});
  expectRefused(TENON_ERR_FORMAT, {"float64", "float32"}, narrow);
}

TEST_F(PlanFiles, AreRefusedForOtherLevels) {
  const NetworkCase c = caseNamed("lenet5");
  const auto on = [&](const std::vector<Index>& levels) {
    const Ref<LayerPlan> plan = planOf(c, world());
    plan->set("processes", Index(6));
    plan->setMachine(Machine::make("two", {{"node", levels[0]}, {"core", levels[1]}}));
    return plan;
  };
  const Ref<LayerPlan> made = on({2, 3});
  made->search();
  made->save(path_);
  expectRefused(TENON_ERR_STATE, {"2x3", "3x2"}, on({3, 2}));
}

// Files that end too early, with changed content, of an earlier version, or missing.
TEST_F(PlanFiles, AreRefusedWhereDamaged) {
  const NetworkCase c = caseNamed("lenet5");
  const std::string text = saved(c);
  const Ref<LayerPlan> plan = planOf(c, world());
  for (std::size_t length = 0; length + 2 < text.size(); length += text.size() / 23) {
    write(text.substr(0, length));
    expectError(TENON_ERR_FORMAT, {path_.c_str()}, [&] { plan->load(path_); });
  }
  std::string other = text;
  other.replace(other.find("\"C5\""), 4, "\"C4\"");
  write(other);
  EXPECT_THROW(plan->load(path_), Error);
  other = text;
  // A file of an earlier version has another text of the network.
  other.replace(other.find("tenon-plan-6"), 12, "tenon-plan-5");
  write(other);
  expectError(TENON_ERR_FORMAT, {path_.c_str(), "tenon-plan-5", "tenon-plan-6", "TenonPlanSave()"},
              [&] { plan->load(path_); });
  if (world()->rank() == 0)
    std::filesystem::remove(path_);
  MPI_Barrier(world()->mpi());
  expectError(TENON_ERR_FILE, {path_.c_str()}, [&] { plan->load(path_); });
  plan->setUp();
  expectError(TENON_ERR_STATE, {"TenonPlanLoad"}, [&] { plan->load(path_); });
}

// Parallelizations that a layer cannot have, and grids that these processes cannot form.
TEST_F(PlanFiles, AreRefusedWithForeignParallelizationsAndGrids) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  const NetworkCase c = caseNamed("lenet5");
  const std::string text = saved(c);
  const auto changed = [&](const std::string& key, const char* end, const char* to) {
    std::string other = text;
    const std::size_t begin = other.find(key) + key.size();
    return other.replace(begin, other.find(end, begin) - begin, to);
  };
  write(changed("\"labels\": \"", "\"", "x,y,z"));
  expectRefused(TENON_ERR_FORMAT, {path_.c_str(), "C1", "'x,y,z'"}, planOf(c, world()));
  write(changed("\"labels\": \"", "\"", "output:h"));
  expectRefused(TENON_ERR_FORMAT, {path_.c_str(), "labels", "output:h", "not pinned"},
                planOf(c, world()));
  write(changed("\"extents\": [", "]", "7"));
  expectRefused(TENON_ERR_FORMAT, {path_.c_str(), "process grid 7"}, planOf(c, world()));
  write(changed("\"extents\": [", "]", "4294967298"));
  expectRefused(TENON_ERR_FORMAT, {path_.c_str(), "is 4294967298"}, planOf(c, world()));
  write(changed("\"processes\": [", "]", "5"));
  expectRefused(TENON_ERR_FORMAT, {path_.c_str()}, planOf(c, world()));
}

// Parallelization, signature and layouts of a layer describe the same distribution, and a reader
// compares them. Here one of them is changed.
TEST_F(PlanFiles, AreRefusedIfTheyContradictThemselves) {
  if (world()->size() == 1)
    GTEST_SKIP() << "needs two ranks";
  const NetworkCase c = caseNamed("lenet5");
  const std::string text = saved(c);
  // The text with another value of a key in the first layer.
  const auto changed = [&](const std::string& key, const std::string& to) {
    std::string other = text;
    const std::string before = "\"" + key + "\": \"";
    const std::size_t begin = other.find(before) + before.size(), end = other.find('"', begin);
    EXPECT_NE(other.substr(begin, end - begin), to);
    return other.replace(begin, end - begin, to);
  };
  const int axes = static_cast<int>(planOf(c, world())->search().grid->extents().size());
  const auto onAll = [&](const std::string& one) {
    std::string all = one;
    for (int axis = 1; axis < axes; ++axis)
      all += "," + one;
    return all;
  };
  const std::string path = path_; // in all messages
  write(changed("signature", onAll("i")));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0].signature", "C1", "does not mean"},
                planOf(c, world()));
  write(changed("signature", ""));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0].signature", "C1", "does not mean"},
                planOf(c, world()));
  write(changed("properties", onAll("B")));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0].uses", "C1", "would use input 0"},
                planOf(c, world()));
  write(changed("properties", onAll("S7")));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0].uses[0]", "S7"}, planOf(c, world()));
  write(changed("name", "C2"));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0].name", "C2", "C1"}, planOf(c, world()));
  // A parallelization with its signature, but with the layouts of the one before.
  std::string other = changed("signature", onAll("i"));
  const std::string parallelization = axes == 1 ? "i" : fmt::format("i{}", axes),
                    key = "\"labels\": \"";
  const std::size_t begin = other.find(key) + key.size();
  write(other.replace(begin, other.find('"', begin) - begin, parallelization));
  expectRefused(TENON_ERR_FORMAT, {path.c_str(), "layers[0]", "C1"}, planOf(c, world()));
}

} // namespace
} // namespace tenon::test
