// SPDX-License-Identifier: BSD-2-Clause
// Tests the reader and writer of machine descriptions: the installed files, texts that are written
// and read back, and the messages about wrong or truncated files, with file, byte and key.
#include "machine/machine_file.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/part_file.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tenon;

class MachineFile : public testing::Test {
protected:
  void SetUp() override { options().set("-tenon_machine_path", TENON_TEST_MACHINES); }
  void TearDown() override { options().clear(); }

  static std::string textOf(const std::string& name) {
    return readWholeFile(std::string(TENON_TEST_MACHINES) + "/" + name + ".json", "test file");
  }
  template <class Body>
  static void expectRefused(TenonErrorCode code, const std::string& part, Body&& body) {
    try {
      body();
      ADD_FAILURE() << "not refused; expected: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(code, error.code());
      EXPECT_NE(error.text().find(part), std::string::npos) << error.text();
    }
  }
  // The description of the A100 nodes with one part replaced.
  static void expectRefusedWith(const std::string& old, const std::string& now,
                                const std::string& part) {
    std::string text = textOf("a100x16");
    const std::size_t at = text.find(old);
    ASSERT_NE(std::string::npos, at) << old;
    text.replace(at, old.size(), now);
    expectRefused(TENON_ERR_FORMAT, part, [&] { parseMachine(text, "m.json"); });
  }
};

TEST_F(MachineFile, OfThePaperAreRead) {
  const Machine a100 = readMachine("a100x16", 2);
  EXPECT_EQ((std::vector<Level>{{"node", 2}, {"gpu", 16}}), a100.levels());
  ASSERT_EQ(2U, a100.links().size());
  EXPECT_EQ((Link{.name = "NIC",
                  .level = 0,
                  .units = 1,
                  .bandwidth = 8e9,
                  .latency = 0,
                  .rules = {{LinkRule::Leaving}}}),
            a100.links()[1]);
  const Machine v100 = readMachine("v100x8");
  EXPECT_EQ((std::vector<Level>{{"node", 4}, {"gpu", 8}}), v100.levels());
  ASSERT_EQ(3U, v100.links().size());
  EXPECT_EQ((Link{.name = "PCIe",
                  .level = 1,
                  .units = 1,
                  .bandwidth = 32e9,
                  .latency = 0,
                  .rules = {{LinkRule::Touching, 0}}}),
            v100.links()[1]);
  EXPECT_EQ((std::vector<LinkRule>{{LinkRule::Leaving}, {LinkRule::Crossing, 0, false, 1, 4}}),
            v100.links()[2].rules);
}

TEST_F(MachineFile, AreWrittenAsTheyAreRead) {
  for (const char* name : {"a100x16", "v100x8", "cpu2s", "cluster4"}) {
    const Machine machine = readMachine(name);
    EXPECT_EQ(parseMachine(tenon::textOf(machine, "about", "a test"), "m.json"), machine) << name;
  }
  KernelRates kernels{.flops = 3e10, .memory = 7e9, .call = 1e-7};
  kernels.measured = {{"strided conv", KernelPass::Adjoint, 8, 1.0 / 3, 2e-10, 3.5e-12, 0},
                      {"conv", KernelPass::Parameters, 8, 1e-11, 0, 0, 1e-300},
                      {"relu", KernelPass::Apply, 4, 0, 0.1, 0, 0}};
  const Machine rated = readMachine("cpu2s").ratedBy(
      {.overhead = 1.5e-7, .copyBandwidth = 9e9, .kernels = kernels, .space = Space::Device});
  EXPECT_EQ(parseMachine(tenon::textOf(rated, "about", "a test"), "m.json"), rated);
  EXPECT_EQ(rated.resized(0, 4).rates(), rated.rates());
}

// Files with "curves", which earlier versions wrote, are an error with advice.
TEST_F(MachineFile, WithCurvesIsRefused) {
  const std::string rate = R"({"value": 1, "unit": "1/s", "source": "a test"})",
                    text = R"({"name": "m", "about": "", "levels": [{"name": "rank",
      "size": {"value": 1, "source": "a test"}}], "links": [], "kernels": {"flops": )" +
                           rate + R"(, "memory": 1, "call": 0, "curves": []}})";
  expectRefused(TENON_ERR_FORMAT, "measure the machine again with tenon bench -machine_out",
                [&] { parseMachine(text, "m.json"); });
}

// The description with rates, with one part replaced.
TEST_F(MachineFile, WrongRatesAreRefused) {
  KernelRates kernels;
  kernels.measured = {{"conv", KernelPass::Adjoint, 8, 0.5, 0.25, 0, 0}};
  const std::string text = tenon::textOf(
      readMachine("cpu2s").ratedBy(
          {.overhead = 1, .copyBandwidth = 1, .kernels = kernels, .space = Space::Device}),
      "about", "a test");
  const auto refused = [&](const std::string& old, const std::string& now, const char* why) {
    std::string wrong = text;
    const std::size_t at = wrong.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    wrong.replace(at, old.size(), now);
    expectRefused(TENON_ERR_FORMAT, why, [&] { parseMachine(wrong, "m.json"); });
  };
  refused("adjoint", "backward", "expected apply, adjoint or parameters");
  refused("float64", "float16", "expected float32 or float64");
  refused("\"flop\": 0.5", "\"flop\": -0.5", "flop: is -0.5; it must be >= 0");
  refused("\"column\"", "\"columns\"", "unknown key");
  refused("\"copy_bandwidth\"", "\"copies\"", "unknown key");
  refused("\"device\"", "\"gpu\"", "expected host or device");
}

TEST_F(MachineFile, OfProcessorsAreRead) {
  EXPECT_EQ(32, readMachine("cpu2s").devices());
  EXPECT_EQ(256, readMachine("cluster4", 8).devices());
  EXPECT_TRUE(readMachine("cpu2s").links()[1].rules[0].each);
}

TEST_F(MachineFile, MayBeAPath) {
  EXPECT_EQ(readMachine("cpu2s"), readMachine(std::string(TENON_TEST_MACHINES) + "/cpu2s.json"));
  expectRefused(TENON_ERR_FILE, "cannot read machine description './cpu2s.json'",
                [] { readMachine("./cpu2s.json"); });
  expectRefused(TENON_ERR_FILE, "known are: a100x16, cluster4, cpu2s, v100x8",
                [] { readMachine("b200x8"); });
}

TEST_F(MachineFile, HasNodesToCount) {
  expectRefused(TENON_ERR_ARG, "no level 'node'", [] { readMachine("cpu2s", 3); });
  expectRefused(TENON_ERR_ARG, "level 'node' has size 0", [] { readMachine("a100x16", 0); });
}

TEST_F(MachineFile, NamesFileKeyAndByteOfAFault) {
  expectRefusedWith(
      "\"levels\"", "\"lewels\"",
      "lewels: unknown key; did you mean 'levels'? Allowed keys are name, about, levels");
  expectRefusedWith("\"about\"", "\"name2\"", "unknown key");
  expectRefusedWith("{\"value\": 4, ", "{\"value\": 0, ",
                    "levels[0].size.value: is 0; it must be an integer >= 1");
  expectRefusedWith("{\"value\": 4, ", "{\"value\": 4.5, ", "levels[0].size.value: is 4.5");
  expectRefusedWith("{\"value\": 4, ", "{", "levels[0].size: has no key 'value'");
  expectRefusedWith("\"value\": 270e9", "\"value\": \"fast\"",
                    "links[0].bandwidth.value: is the text \"fast\"; it must be a number");
  expectRefusedWith("\"value\": 270e9", "\"value\": -1", "is -1; it must be > 0");
  expectRefusedWith("\"unit\": \"B/s\"", "\"unit\": \"Gb/s\"",
                    "links[0].bandwidth.unit: is \"Gb/s\"; expected \"B/s\"");
  expectRefusedWith("\"level\": \"gpu\"", "\"level\": \"cpu\"",
                    "links[0].level: there is no level 'cpu' before this; known are: node, gpu");
  expectRefusedWith("\"touching\"", "\"all\"",
                    "links[0].rules[0].groups: is \"all\"; expected one of touching, filling");
  expectRefusedWith(
      "\"groups\": \"touching\"", "\"groups\": \"touching\", \"unless\": \"NIC\"",
      "links[0].rules[0].unless: there is no link 'NIC' before this; known are: none");
  expectRefusedWith("\"groups\": \"touching\"", "\"groups\": \"crossing\"",
                    "'between' is required with groups \"crossing\"");
  expectRefusedWith("\"name\": \"NIC\"", "\"name\": \"NVSwitch port\"",
                    "links[1]: link 1 has the name 'NVSwitch port'");
  expectRefusedWith("\"rules\": [{\"groups\": \"touching\"}]", "\"rules\": []",
                    "link 'NVSwitch port' has no rule");
}

TEST_F(MachineFile, HalfWrittenIsRefusedAtEachLength) {
  const std::string whole = textOf("v100x8");
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7)
    expectRefused(TENON_ERR_FORMAT, "file 'm.json', byte ",
                  [&] { parseMachine(whole.substr(0, length), "m.json"); });
}

} // namespace
