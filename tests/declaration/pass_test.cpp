// SPDX-License-Identifier: BSD-2-Clause
// Tests of passes (declaration/core/pass.hpp), the scheduled steps of Apply, tangent and adjoint,
// on hundreds of random map lists (random_list.hpp). A strict runner (fake_run.hpp) executes the
// steps. Results are compared
//
//   with the dense Jacobian of each list, which is computed without passes
//   bit by bit between passes with overlapped communication and passes in list order
//   bit by bit between a recomputing list and one that saves, and between rounded points
//
// The last test plants faults in passes, such as a missing addition, and requires that these
// comparisons find them.
#include "fake_run.hpp"
#include "support/draws.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace tenon {
namespace {

const auto kLists = static_cast<unsigned>(test::drawsAlone(500));

using test::Cells;
using test::FakeRun;
using test::kCells;
using test::kInputs;
using test::RandomList;

struct Passes {
  Pass apply, tangent, adjoint;
};

Passes passesOf(const MapList& list, const Chosen& chosen, Order order) {
  return {applyPass(list, order), tangentPass(list, chosen, order),
          adjointPass(list, chosen, order)};
}

// The results of the passes: y, its tangent dy, the requested input cotangents dx, and gradients.
struct Results {
  Cells y, dy;
  std::vector<Cells> dx, gradients;
};

// Random vectors of numbers in [0.5, 1]: tangents of inputs, of weights, and an output cotangent.
Cells vectorOf(unsigned seed) {
  std::mt19937 random(seed);
  Cells x(kCells);
  for (double& cell : x)
    cell = std::uniform_real_distribution<double>(0.5, 1)(random);
  return x;
}
std::vector<Cells> directions(std::size_t count, unsigned seed) {
  std::vector<Cells> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(vectorOf(seed + static_cast<unsigned>(i)));
  return all;
}

Results run(const RandomList& random, const Passes& passes, bool contiguous) {
  FakeRun fake(random, contiguous);
  Results results;
  results.y = fake.apply(passes.apply);
  results.dy =
      fake.tangent(passes.tangent, directions(kInputs, 1), directions(random.weights.size(), 10));
  results.dx = fake.adjoint(passes.adjoint, vectorOf(20));
  results.gradients = fake.gradients;
  return results;
}

// The results by the dense Jacobian, a matrix with kCells columns for each input and each weight.
Results expected(const RandomList& random, const Chosen& chosen) {
  const test::Dense& y = random.dense[random.list.output()];
  Results results{y.value, Cells(kCells, 0), {}, {}};
  std::vector<Cells> blocks = directions(kInputs, 1);
  for (int i = 0; i < kInputs; ++i)
    if (!chosen[i])
      blocks[i].assign(kCells, 0);
  for (const Cells& weights : directions(random.weights.size(), 10))
    blocks.push_back(weights);
  const Cells dy = vectorOf(20);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Cells transposed(kCells, 0);
    for (int i = 0; i < kCells; ++i)
      for (int j = 0; j < kCells; ++j) {
        const double entry = y.jacobian[i][b * kCells + j];
        results.dy[i] += entry * blocks[b][j];
        transposed[j] += entry * dy[i];
      }
    if (b >= kInputs)
      results.gradients.push_back(transposed);
    else
      results.dx.push_back(chosen[b] ? transposed : test::kNothing);
  }
  return results;
}

bool near(const Cells& a, const Cells& b) {
  const NoTraps noTraps; // NaN must not trap here: it marks memory that no step may read
  for (int i = 0; i < kCells; ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-9 * (1 + std::abs(b[i]))) &&
        !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  return true;
}
bool near(const Results& got, const Results& want) {
  bool same = near(got.y, want.y) && near(got.dy, want.dy);
  for (std::size_t i = 0; i < want.dx.size(); ++i)
    same &= near(got.dx[i], want.dx[i]);
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    same &= near(got.gradients[i], want.gradients[i]);
  return same;
}

// By input: whether it has a tangent and needs a cotangent.
const std::vector<Chosen> kChoices = {{false, false}, {true, false}, {false, true}, {true, true}};

std::string describe(const RandomList& random, const Passes& passes) {
  return "apply\n" + describe(random.list, passes.apply) + "tangent\n" +
         describe(random.list, passes.tangent) + "adjoint\n" +
         describe(random.list, passes.adjoint);
}

TEST(Pass, IsTheDenseJacobian) {
  for (unsigned seed = 0; seed < kLists; ++seed) {
    const RandomList random(seed);
    for (const Chosen& chosen : kChoices) {
      const Results want = expected(random, chosen);
      for (bool contiguous : {true, false})
        for (Order order : {Order::Overlapped, Order::Listed}) {
          const Passes passes = passesOf(random.list, chosen, order);
          Results got;
          ASSERT_NO_THROW(got = run(random, passes, contiguous)) << "list " << seed << "\n"
                                                                 << describe(random, passes);
          ASSERT_TRUE(near(got, want)) << "list " << seed << "\n" << describe(random, passes);
        }
    }
  }
}

// In Apply a kernel can apply the elementwise function that follows it, if no derivative reads the
// value between the two. In inference, where nothing is saved, more kernels can do so.
TEST(Pass, AppliesFunctionsInTheKernelBeforeThem) {
  std::size_t ofInference = 0, ofTraining = 0;
  for (unsigned seed = 0; seed < kLists; ++seed) {
    const RandomList random(seed);
    const Pass inference = applyPass(random.list, Order::Overlapped, {}, /*keeps=*/false);
    FakeRun fake(random, /*contiguous=*/true);
    fake.place(memoryPlanOf(
                   inference, [](ValueId) { return Index(8); }, 8)
                   .places);
    ASSERT_TRUE(near(fake.apply(inference), random.dense[random.list.output()].value))
        << describe(random.list, inference);
    const auto applied = [](const Pass& pass) {
      return pass.steps.size() - std::ranges::count(pass.steps, -1, &Step::epilogue);
    };
    ofInference += applied(inference);
    ofTraining += applied(applyPass(random.list));
  }
  EXPECT_GT(40 * ofTraining, kLists) << "fewer than one function in 40 lists";
  EXPECT_GT(ofInference, ofTraining);
}

// A kernel "product" (or two, each for a part of v), followed by a function f: x -> v -> z -> y.
// The members vary the conditions under which the kernel applies f.
struct Chain {
  bool appliesFunction = true, savesInputs = false, isPart = false, restApplies = true,
       leavesParts = false, isReadTwice = false;

  Pass apply(bool keeps = true) const {
    MapList list;
    const ValueId x = list.input("x", test::someLayout()), v = list.value("v", test::someLayout()),
                  z = list.value("z", test::someLayout()), y = list.output("y", test::someLayout());
    KernelEntry product{.name = "product", .anyStrides = true, .appliesFunction = appliesFunction};
    isPart ? list.runPart(product, {x}, v) : list.run(product, {x}, v);
    product.appliesFunction = restApplies;
    if (isPart)
      list.runPart(product, {x}, v);
    list.run(
        {.name = "f", .savesInputs = savesInputs, .savesOutput = !savesInputs, .isFunction = true},
        {v}, z);
    if (isReadTwice)
      list.apply(OperatorKind::Conversion, v, y);
    list.apply(OperatorKind::Conversion, z, y);
    if (leavesParts)
      list.leaveFunctionsOfParts();
    return applyPass(list, Order::Listed, {}, keeps);
  }
  bool isApplied(bool keeps = true) const {
    const Pass pass = apply(keeps);
    const int function = isPart ? 2 : 1;
    return std::ranges::count(pass.steps, function, &Step::map) == 0 &&
           std::ranges::count(pass.steps, function, &Step::epilogue) == function;
  }
};

TEST(Pass, AppliesAFunctionInAKernelIfNothingElseReadsItsInput) {
  EXPECT_TRUE(Chain().isApplied());
  EXPECT_FALSE(Chain{.appliesFunction = false}.isApplied());
  EXPECT_TRUE(Chain{.isPart = true}.isApplied()) << "each kernel applies it to its part";
  EXPECT_FALSE((Chain{.isPart = true, .restApplies = false}.isApplied()));
  EXPECT_FALSE((Chain{.isPart = true, .leavesParts = true}.isApplied()));
  EXPECT_TRUE(Chain{.leavesParts = true}.isApplied());
  EXPECT_FALSE(Chain{.isReadTwice = true}.isApplied());
  EXPECT_FALSE(Chain{.savesInputs = true}.isApplied()) << "its derivative reads it";
  EXPECT_TRUE(Chain{.savesInputs = true}.isApplied(false));
}

// Sums run in the same order whether steps were moved or not.
TEST(Pass, GivesTheSameBitsMovedAndUnmoved) {
  int moved = 0;
  for (unsigned seed = 0; seed < kLists; ++seed) {
    const RandomList random(seed);
    const Passes one = passesOf(random.list, {true, true}, Order::Overlapped),
                 other = passesOf(random.list, {true, true}, Order::Listed);
    const Results a = run(random, one, /*contiguous=*/true),
                  b = run(random, other, /*contiguous=*/true);
    ASSERT_EQ(a.y, b.y) << describe(random, one);
    ASSERT_EQ(a.dx, b.dx) << describe(random, one);
    ASSERT_EQ(a.gradients, b.gradients) << describe(random, one);
    moved += one.apply.steps != other.apply.steps;
  }
  EXPECT_GT(5 * moved, kLists) << "the two orders differ in fewer than a fifth of the lists";
}

// Runs the passes, with values in shared memory if `shared`. If `rounding` is not null, the saved
// values of that list are rounded after Apply.
Results runIn(FakeRun& fake, const RandomList& random, const Passes& passes, bool shared,
              const MapList* rounding) {
  const auto place = [&](const Pass& pass) {
    if (shared)
      fake.place(memoryPlanOf(
                     pass, [](ValueId) { return Index(8); }, 8)
                     .places);
  };
  Results results;
  place(passes.apply);
  results.y = fake.apply(passes.apply);
  if (rounding)
    fake.roundPoint(*rounding);
  place(passes.tangent);
  results.dy =
      fake.tangent(passes.tangent, directions(kInputs, 1), directions(random.weights.size(), 10));
  place(passes.adjoint);
  results.dx = fake.adjoint(passes.adjoint, vectorOf(20));
  results.gradients = fake.gradients;
  return results;
}

// A list that saves roundings has steps that round and expand values, in memory that values share.
// The results are bitwise those of a list without these steps whose saved values are all rounded at
// once after Apply.
TEST(Pass, OfAListThatKeepsRoundingsIsAtTheRoundedPoint) {
  int rounds = 0, differs = 0;
  for (unsigned seed = 0; seed < kLists; ++seed)
    for (bool contiguous : {true, false}) {
      RandomList random(seed), rounding(seed);
      for (ValueId v = static_cast<ValueId>(seed % 3);
           v < static_cast<ValueId>(random.list.values().size()); v += 3) {
        random.list.exact(v);
        rounding.list.exact(v);
      }
      rounding.list.saveRounded();
      const Passes plain = passesOf(random.list, {true, true}, Order::Overlapped),
                   steps = passesOf(rounding.list, {true, true}, Order::Overlapped);
      FakeRun one(random, contiguous), exact(random, contiguous), other(rounding, contiguous);
      const Results want = runIn(one, random, plain, /*shared=*/false, &rounding.list),
                    got = runIn(other, rounding, steps, /*shared=*/true, nullptr),
                    unrounded = runIn(exact, random, plain, /*shared=*/false, nullptr);
      ASSERT_EQ(got.y, unrounded.y) << describe(rounding, steps);
      ASSERT_EQ(got.dy, want.dy) << describe(rounding, steps);
      ASSERT_EQ(got.dx, want.dx) << describe(rounding, steps);
      ASSERT_EQ(got.gradients, want.gradients) << describe(rounding, steps);
      rounds += std::ranges::count(steps.apply.steps, Do::Round, &Step::what) > 0;
      differs += got.dx != unrounded.dx;
    }
  // Of two runs per list, at least half round, and a quarter have other results by that.
  EXPECT_GT(rounds, kLists);
  EXPECT_GT(2 * differs, kLists);
}

// A rounded value is expanded before a derivative reads it, once for consecutive steps of a map.
TEST(Pass, ExpandsOnceForTheStepsOfAMap) {
  MapList list;
  const ValueId x = list.input("x", test::someLayout());
  const ValueId u = list.convert("u", x, test::someLayout());
  const ValueId y = list.output("y", test::someLayout());
  list.run({.name = "square",
            .savesInputs = true,
            .savesOutput = true,
            .anyStrides = true,
            .gradients = Gradients::Separate},
           {u, u}, y);
  list.saveRounded();
  EXPECT_EQ(describe(list, applyPass(list)),
            "     0 apply     conversion x -> u\n"
            "     1 round     u -> ~u\n"
            "     2 kernel    square u, u -> y\n"
            "     3 round     y -> ~y\n"
            "       u [4] B, steps 0 to 2\n"
            "       ~u [4] B, steps 1 to 1, kept in bfloat16\n"
            "       ~y [4] B, steps 3 to 3, kept in bfloat16, in the user's array if contiguous\n");
  EXPECT_EQ(describe(list, adjointPass(list, {true})),
            "     0 expand    ~u -> u\n"
            "     1 expand    ~y -> y\n"
            "     2 adjoint   square* d.y -> d.u, d.u+\n"
            "     3 add       d.u+ +> d.u\n"
            "     4 begin     conversion* d.u -> d.x\n"
            "     5 gradients square* d.y -> 0 +> gradients\n"
            "     6 end       conversion* \n"
            "       d.u [4] P, steps 2 to 6\n"
            "       d.u+ [4] P, steps 2 to 3\n"
            "       u [4] B, steps 0 to 5\n"
            "       y [4] B, steps 1 to 5\n");
}

// A network of two nodes, of which none, one or both recompute their values for the adjoint, has
// bitwise the results of the network that saves all values. Recomputed values share memory, and a
// value that the list does not save is NaN for the derivatives.
RandomList twice(unsigned seed);

TEST(Pass, RunsAgainToTheSameBits) {
  const auto draws = static_cast<unsigned>(test::drawsAlone(300));
  unsigned again = 0, fewer = 0;
  for (unsigned seed = 0; seed < draws; ++seed)
    for (int nodes = 1; nodes < 4; ++nodes) {
      const RandomList kept = twice(seed);
      RandomList random = twice(seed);
      random.list.recompute({(nodes & 1) != 0, (nodes & 2) != 0});
      const auto count = [](const MapList& list, bool Value::*what) {
        return std::ranges::count(list.values(), true, what);
      };
      again += count(random.list, &Value::recomputed) > 0;
      fewer += count(random.list, &Value::saved) < count(kept.list, &Value::saved);
      for (bool contiguous : {true, false})
        for (Order order : {Order::Overlapped, Order::Listed}) {
          const Passes plain = passesOf(kept.list, {true, true}, order),
                       steps = passesOf(random.list, {true, true}, order);
          FakeRun one(kept, contiguous), other(random, contiguous);
          const Results want = runIn(one, kept, plain, /*shared=*/true, nullptr);
          Results got;
          ASSERT_NO_THROW(got = runIn(other, random, steps, /*shared=*/true, nullptr))
              << describe(random, steps);
          ASSERT_EQ(got.y, want.y) << describe(random, steps);
          ASSERT_EQ(got.dy, want.dy) << describe(random, steps);
          ASSERT_EQ(got.dx, want.dx) << describe(random, steps);
          ASSERT_EQ(got.gradients, want.gradients) << describe(random, steps);
        }
    }
  // Of three lists per draw, at least two ninths recompute values, and as many save fewer values.
  EXPECT_GT(3 * again, 2 * draws);
  EXPECT_GT(3 * fewer, 2 * draws);
}

// The network R(R(x0, x1), x1) of one random layer R used twice with the same kernels and weights,
// and its Jacobian by the chain rule.
RandomList twice(unsigned seed) {
  RandomList joined(seed);
  const test::Dense first = joined.dense[joined.list.output()];
  const RandomList again(seed, {first.value, joined.inputs[1]});
  MapList list;
  const ValueId x0 = list.input("x0", test::someLayout()),
                x1 = list.input("x1", test::someLayout());
  const ValueId v = list.value("v", test::someLayout()), y = list.output("y", test::someLayout());
  const JoinedObjects objects = list.join(joined.list, {x0, x1}, v);
  list.join(joined.list, {v, x1}, y, &objects);
  joined.list = list;
  joined.dense.resize(list.values().size());
  test::Dense& total = joined.dense[y] = again.dense[again.list.output()];
  const test::Matrix second = total.jacobian;
  for (int i = 0; i < kCells; ++i)
    for (std::size_t c = 0; c < second[i].size(); ++c) {
      total.jacobian[i][c] = c < kCells ? 0 : second[i][c];
      for (int j = 0; j < kCells; ++j)
        total.jacobian[i][c] += second[i][j] * first.jacobian[j][c];
    }
  return joined;
}

TEST(Pass, OfJoinedListsIsTheDenseJacobian) {
  for (unsigned seed = 0; seed < kLists; ++seed) {
    const RandomList random = twice(seed);
    EXPECT_EQ(random.list.nodes(), 2);
    for (const Chosen& chosen : kChoices)
      for (bool contiguous : {true, false})
        for (Order order : {Order::Overlapped, Order::Listed}) {
          const Passes passes = passesOf(random.list, chosen, order);
          Results got;
          ASSERT_NO_THROW(got = run(random, passes, contiguous)) << "list " << seed << "\n"
                                                                 << describe(random, passes);
          ASSERT_TRUE(near(got, expected(random, chosen))) << "list " << seed << "\n"
                                                           << describe(random, passes);
        }
  }
}

// Faults. Each changes one pass at the first suitable step, and returns false if there is none.
using Fault = std::function<bool(const MapList&, Pass&)>;

template <class Where, class Change>
bool atFirst(Pass& pass, Where where, Change change) {
  for (std::size_t s = 0; s < pass.steps.size(); ++s)
    if (where(pass.steps[s])) {
      change(s);
      return true;
    }
  return false;
}
bool isOperator(const MapList& list, const Step& step) {
  return step.map >= 0 && list.maps()[step.map].kind == Map::Kind::Operator;
}
bool dropped(Pass& pass, Do what) {
  return atFirst(
      pass, [&](const Step& step) { return step.what == what; },
      [&](std::size_t s) { pass.steps.erase(pass.steps.begin() + static_cast<long>(s)); });
}
bool isIn(const std::vector<ValueId>& values, ValueId v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

bool overwritesInsteadOfAdding(const MapList&, Pass& pass) {
  return atFirst(
      pass, [](const Step& step) { return step.adds && step.what != Do::End; },
      [&](std::size_t s) {
        for (Step& step : pass.steps)
          if (step.map == pass.steps[s].map && &step != &pass.steps[s])
            step.adds = false;
        pass.steps[s].adds = false;
      });
}
bool addsInsteadOfWriting(const MapList& list, Pass& pass) {
  return atFirst(
      pass, [&](const Step& step) { return isOperator(list, step) && !step.adds; },
      [&](std::size_t s) {
        const int map = pass.steps[s].map;
        for (Step& step : pass.steps)
          step.adds |= step.map == map;
      });
}
bool lacksAContribution(const MapList&, Pass& pass) {
  return dropped(pass, Do::Add);
}
bool lacksAZero(const MapList&, Pass& pass) {
  return dropped(pass, Do::Zero);
}
bool lacksACopy(const MapList&, Pass& pass) {
  return dropped(pass, Do::Copy);
}
// Moves an End after the first step that reads its result.
bool endsTooLate(const MapList& list, Pass& pass) {
  for (std::size_t s = 0; s < pass.steps.size(); ++s) {
    if (pass.steps[s].what != Do::End || !isOperator(list, pass.steps[s]))
      continue;
    for (std::size_t r = s + 1; r < pass.steps.size(); ++r)
      if (isIn(pass.steps[r].reads, pass.steps[s].writes[0])) {
        std::rotate(pass.steps.begin() + static_cast<long>(s),
                    pass.steps.begin() + static_cast<long>(s) + 1,
                    pass.steps.begin() + static_cast<long>(r) + 1);
        return true;
      }
  }
  return false;
}
// Moves a Begin before the step that writes its operand.
bool beginsTooEarly(const MapList& list, Pass& pass) {
  for (std::size_t s = 1; s < pass.steps.size(); ++s) {
    if (pass.steps[s].what != Do::Begin || !isOperator(list, pass.steps[s]))
      continue;
    for (std::size_t w = s; w-- > 0;)
      if (isIn(pass.steps[w].writes, pass.steps[s].reads[0])) {
        std::rotate(pass.steps.begin() + static_cast<long>(w),
                    pass.steps.begin() + static_cast<long>(s),
                    pass.steps.begin() + static_cast<long>(s) + 1);
        return true;
      }
  }
  return false;
}
bool sourceEndsTooLate(const MapList& list, Pass& pass) {
  return atFirst(
      pass,
      [&](const Step& step) {
        return step.what == Do::Forward &&
               !list.kernels()[list.maps()[step.map].object].sources.empty();
      },
      [&](std::size_t s) {
        const int source = list.kernels()[list.maps()[pass.steps[s].map].object].sources[0];
        for (std::size_t e = 0; e < s; ++e)
          if (pass.steps[e].what != Do::Begin &&
              list.maps()[pass.steps[e].map].kind == Map::Kind::Source &&
              list.maps()[pass.steps[e].map].object == source)
            return std::swap(pass.steps[e], pass.steps[s]);
      });
}
// Lets a contribution to a cotangent use the memory of the cotangent.
bool standsInAnArrayInUse(const MapList&, Pass& pass) {
  return atFirst(
      pass,
      [&](const Step& step) {
        return step.what == Do::Add && pass.values[step.writes[0]].place == Value::Place::Argument;
      },
      [&](std::size_t s) {
        pass.values[pass.steps[s].reads[0]].sharesMemoryOf = pass.steps[s].writes[0];
      });
}
bool isNotTransposed(const MapList& list, Pass& pass) {
  return atFirst(
      pass, [&](const Step& step) { return isOperator(list, step) && step.adjoint; },
      [&](std::size_t s) {
        const int map = pass.steps[s].map;
        for (Step& step : pass.steps)
          step.adjoint &= step.map != map;
      });
}
bool lacksGradients(const MapList&, Pass& pass) {
  return dropped(pass, Do::AdjointParameters);
}
bool forgetsThePoint(const MapList&, Pass& pass) {
  bool any = false;
  for (Value& value : pass.values)
    any |= std::exchange(value.saved, false);
  return any;
}

struct FaultCase {
  const char* name;
  Fault plant;
  Pass Passes::*where; // the pass that is changed
  bool contiguous;     // as of FakeRun: if false, arguments are copied
};

// Lists with odd seeds have all derivatives; the others have each of the four choices in turn. At
// most a tenth of the planted faults may remain unnoticed: a contribution can be zero.
TEST(Pass, ShowsPlantedFaults) {
  const FaultCase cases[] = {
      {"a sum overwritten in Apply", overwritesInsteadOfAdding, &Passes::apply, true},
      {"a sum overwritten in the tangent", overwritesInsteadOfAdding, &Passes::tangent, true},
      {"a sum overwritten in the adjoint", overwritesInsteadOfAdding, &Passes::adjoint, true},
      {"an addition to nothing in Apply", addsInsteadOfWriting, &Passes::apply, true},
      {"an addition to nothing in the adjoint", addsInsteadOfWriting, &Passes::adjoint, true},
      {"a missing contribution", lacksAContribution, &Passes::adjoint, true},
      {"a missing zero", lacksAZero, &Passes::adjoint, true},
      {"a missing copy in Apply", lacksACopy, &Passes::apply, false},
      {"a missing copy in the adjoint", lacksACopy, &Passes::adjoint, false},
      {"a late end in Apply", endsTooLate, &Passes::apply, true},
      {"a late end in the adjoint", endsTooLate, &Passes::adjoint, true},
      {"an early beginning in Apply", beginsTooEarly, &Passes::apply, true},
      {"an early beginning in the adjoint", beginsTooEarly, &Passes::adjoint, true},
      {"late weights", sourceEndsTooLate, &Passes::apply, true},
      {"two shares in one array", standsInAnArrayInUse, &Passes::adjoint, true},
      {"a forward operator in the adjoint", isNotTransposed, &Passes::adjoint, true},
      {"missing gradients", lacksGradients, &Passes::adjoint, true},
      {"a point that was not kept", forgetsThePoint, &Passes::apply, true},
  };
  for (const FaultCase& fault : cases) {
    int planted = 0, missed = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
      const RandomList random(seed);
      const Chosen& chosen = kChoices[seed % 2 ? 3 : seed / 2 % 4];
      Passes passes = passesOf(random.list, chosen, Order::Overlapped);
      if (!fault.plant(random.list, passes.*fault.where))
        continue;
      ++planted;
      try {
        missed += near(run(random, passes, fault.contiguous), expected(random, chosen));
      } catch (const std::logic_error&) { // found by the strict run
      }
    }
    EXPECT_GT(planted, 3) << fault.name;
    EXPECT_LE(10 * missed, planted)
        << fault.name << ", planted " << planted << " times, missed " << missed << " times";
  }
}

} // namespace
} // namespace tenon
