// SPDX-License-Identifier: BSD-2-Clause
// Tests of the memory plan (declaration/core/memory_plan.hpp), in which values share memory by
// their lifetimes. The passes of random lists (random_list.hpp) must give bitwise the results that
// they give when each value has its own memory. A planted fault, two values at one place that are
// alive at the same step, must change the results. A chain of ten kernels needs only two of its
// values at a time.
#include "fake_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test {
namespace {

// Bytes of a value: 8, 48, 16, 56, ..., so that values of different sizes compete for places.
Index bytesOf(ValueId v) {
  return 8 + v * 40 % 72;
}

// The largest number of bytes that are alive at one step, a lower bound of the plan's size.
Index mostAlive(const Pass& pass, const MemoryPlan& plan) {
  std::vector<Index> alive(pass.steps.size(), 0);
  for (const Lifetime& life : lifetimes(pass))
    for (const MemoryPlan::Place& place : plan.places)
      for (int s = life.first; place.value == life.value && s <= life.last; ++s)
        alive[s] += place.end - place.begin;
  return alive.empty() ? 0 : *std::ranges::max_element(alive);
}

struct Results {
  std::vector<Cells> all;
  bool operator==(const Results& other) const {
    return std::ranges::equal(all, other.all, [](const Cells& a, const Cells& b) {
      return std::ranges::equal(a, b,
                                [](double x, double y) { return x == y || (x != x && y != y); });
    });
  }
};

// The results of Apply, tangent and adjoint, in memory places that `plant` can change. If `shared`
// is false, each value has its own memory.
template <class Plant>
Results passesIn(const RandomList& random, bool shared, Plant&& plant) {
  FakeRun run(random, /*contiguous=*/false);
  const auto planned = [&](Pass pass) {
    MemoryPlan plan = memoryPlanOf(pass, bytesOf, 8);
    EXPECT_GE(plan.bytes, mostAlive(pass, plan));
    plant(pass, plan.places);
    run.place(shared ? plan.places : std::vector<MemoryPlan::Place>());
    return pass;
  };
  const Chosen both(kInputs, true);
  const Cells ones(kCells, 1);
  Results results;
  results.all.push_back(run.apply(planned(applyPass(random.list))));
  results.all.push_back(run.tangent(planned(tangentPass(random.list, both)),
                                    std::vector<Cells>(kInputs, ones),
                                    std::vector<Cells>(random.weights.size(), ones)));
  for (const Cells& dx : run.adjoint(planned(adjointPass(random.list, both)), ones))
    results.all.push_back(dx);
  results.all.insert(results.all.end(), run.gradients.begin(), run.gradients.end());
  return results;
}

// The same, or no results if the strict run throws because an operator would send a value that does
// not exist.
template <class Plant>
Results resultsIn(const RandomList& random, bool shared, Plant&& plant) {
  try {
    return passesIn(random, shared, plant);
  } catch (const std::logic_error&) {
    return {};
  }
}

void nothing(const Pass&, std::vector<MemoryPlan::Place>&) {}

TEST(Arena, ChangesNoResult) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const RandomList random(seed);
    const Results alone = resultsIn(random, /*shared=*/false, nothing);
    ASSERT_FALSE(alone.all.empty());
    ASSERT_TRUE(resultsIn(random, /*shared=*/true, nothing) == alone) << seed;
  }
}

// Moves a value to the place of another that is alive at the same step.
TEST(Arena, ShowsAPlantedFault) {
  int planted = 0, found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const RandomList random(seed);
    bool isPlanted = false;
    const auto plant = [&](const Pass& pass, std::vector<MemoryPlan::Place>& places) {
      const std::vector<Lifetime> lives = lifetimes(pass);
      const auto lifeOf = [&](ValueId v) { return *std::ranges::find(lives, v, &Lifetime::value); };
      for (MemoryPlan::Place& one : places)
        for (const MemoryPlan::Place& other : places) {
          const Lifetime a = lifeOf(one.value), b = lifeOf(other.value);
          if (isPlanted || a.value == b.value || a.first <= b.first || a.first >= b.last)
            continue;
          one.begin = other.begin; // written while the other still waits for its reader
          one.end = other.end;
          isPlanted = true;
        }
    };
    const bool differs = !(resultsIn(random, /*shared=*/true, plant) ==
                           resultsIn(random, /*shared=*/false, nothing));
    planted += isPlanted;
    found += differs;
    ASSERT_TRUE(isPlanted || !differs) << seed;
  }
  // Some planted faults are harmless: the value that is overwritten may not influence a result.
  EXPECT_GT(planted, 20);
  EXPECT_GT(found, planted / 2);
}

// In a chain, only a kernel's input and output are alive at a time: 100 bytes at 0 and at 128, the
// next multiple of 64.
TEST(Arena, OfAChainIsThatOfTwoNeighbours) {
  MapList list;
  ValueId last = list.input("x", someLayout());
  for (int k = 0; k < 10; ++k) {
    const ValueId next = k == 9 ? list.output("y", someLayout()) : list.value("v", someLayout());
    list.run({.name = "f", .anyStrides = true}, {last}, next);
    last = next;
  }
  const MemoryPlan plan = memoryPlanOf(
      applyPass(list), [](ValueId) { return Index(100); }, 64);
  EXPECT_EQ(plan.bytes, 128 + 100);
  EXPECT_EQ(plan.places.size(), 9u);
}

} // namespace
} // namespace tenon::test
