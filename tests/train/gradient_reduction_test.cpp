// SPDX-License-Identifier: BSD-2-Clause
// A step of an optimizer reduces the gradients of all parameters together: in as many messages as
// one array of their size needs, to the values of one process, whichever parameters are frozen,
// destroyed, held by the caller or on other grids.
#include "chain.hpp"

#include "comm/agreement/batched.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/measure.hpp"
#include "layer/core/gradient_bucket.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"
#include "train/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::appendElements, test::Chain, test::gridOf, test::kRows, test::kWeight,
    test::kWeightBytes, test::kWidth, test::world;
using Vector = std::vector<double>;

// The sum over ranks of an array of that many elements, as a conversion by itself.
LinearOpRef sumOf(Index elements) {
  const Layout copies(
      {.shape = {elements}, .grid = gridOf(world()), .properties = {Property::broadcast()}});
  return makeConversion(world(), copies.dual(), copies, TENON_FLOAT64);
}

Index messagesOfSum(Index elements) {
  return world()->size() == 1 ? 0 : sumOf(elements)->trafficOf(world()->rank())->messages;
}

// The messages that this rank sends in a function.
template <class Work>
Index messagesIn(const Work& work) {
  static const int event = logEvent("GradientReductionTest");
  logEnable(true);
  Index messages = 0;
  {
    const LogScope scope(event);
    work();
    messages = logTotalsOfOpenScope().messages;
  }
  logEnable(false);
  return messages;
}

void expectClose(const Vector& got, const Vector& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance) << what << " " << i;
}

// The same bits on one and two ranks, where a sum has one order, and to rounding on more.
void expectAsApart(const Vector& got, const Vector& apart, const std::string& what) {
  if (world()->size() <= 2)
    EXPECT_EQ(got, apart) << what;
  else
    expectClose(got, apart, 1e-13, what);
}

// A bucket of -1 bytes has the default size, which all parameters here fit, and one of 0 bytes is
// not made: each gradient is then summed by itself. The third bucket holds two weights.
TEST(GradientReduction, SendsOneSumAndOneNormForAnyNumberOfParameters) {
  const Index normMessages = world()->size() > 1 ? 1 : 0;
  for (const int layers : {1, 3, 8, 40})
    for (const auto& [bucket, sums] :
         {std::pair(Index(-1), messagesOfSum(layers * kWeight)),
          std::pair(Index(0), layers * messagesOfSum(kWeight)),
          std::pair(2 * kWeightBytes, layers / 2 * messagesOfSum(2 * kWeight) +
                                          layers % 2 * messagesOfSum(kWeight))}) {
      Chain chain(world(), layers);
      const Ref<Optimizer> adam = chain.optimizer("adam", bucket);
      for (int step = 0; step < 2; ++step) {
        chain.evaluate();
        const Index messages = messagesIn([&] { adam->step(); });
        EXPECT_EQ(messages, sums + normMessages) << layers << " layers, bucket " << bucket;
        if (bucket == -1) { // at most a reduce-scatter and an all-gather
          EXPECT_LE(messages, 2 * (world()->size() - 1) + normMessages);
        }
      }
    }
}

TEST(GradientReduction, FollowsOneProcess) {
  const CommPtr alone = Communicator::of(MPI_COMM_SELF);
  for (const char* type : {"sgd", "adam", "adamw", "lbfgs"}) {
    const auto trained = [&](const CommPtr& comm, Index bucket) {
      Chain chain(comm, 5);
      const Ref<Optimizer> optimizer = chain.optimizer(type, bucket);
      for (int step = 0; step < 4; ++step)
        optimizer->stepWith([&] { return chain.evaluate(); });
      return chain.values();
    };
    const Vector reference = trained(alone, -1), apart = trained(world(), 0);
    for (const Index bucket : {Index(-1), kWeightBytes, 2 * kWeightBytes}) {
      const Vector together = trained(world(), bucket);
      const std::string what = fmt::format("{} {}", type, bucket);
      ASSERT_NO_FATAL_FAILURE(expectClose(together, reference, 1e-11, what));
      if (world()->size() <= 2) {
        EXPECT_EQ(together, apart) << what;
      }
      // Copies have the same bits on all ranks.
      Vector first = together;
      MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
      EXPECT_EQ(together, first) << what;
    }
  }
}

// Clipping reduces the gradients and finds their norm, so the step sends nothing more: but for a
// gradient that the caller has changed in between.
TEST(GradientReduction, IsSharedByClippingAndTheStep) {
  constexpr double kRate = 0.05, kMaximum = 1e-3;
  const Index messages = messagesOfSum(3 * kWeight) + (world()->size() > 1 ? 1 : 0);
  Chain free(world(), 3), clipped(world(), 3), changed(world(), 3);
  const Vector start = free.values();
  free.evaluate();
  free.optimizer("sgd")->step();
  const Ref<Optimizer> sgd = clipped.optimizer("sgd"), other = changed.optimizer("sgd");
  clipped.evaluate();
  double norm = 0;
  EXPECT_EQ(messagesIn([&] {
              norm = sgd->clipGradientNorm(kMaximum);
              sgd->step();
            }),
            messages);
  changed.evaluate();
  other->clipGradientNorm(kMaximum);
  scaleArray(2, changed.weight(1).gradient());
  other->step();
  Vector gradient, once, twice;
  double squares = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    gradient.push_back((start[i] - free.values()[i]) / kRate);
    squares += gradient.back() * gradient.back();
    const bool isChanged = i / kWeight == 1;
    once.push_back(start[i] - kRate * kMaximum / norm * gradient[i]);
    twice.push_back(start[i] - (isChanged ? 2 : 1) * kRate * kMaximum / norm * gradient[i]);
  }
  EXPECT_NEAR(norm, std::sqrt(squares), 1e-12);
  ASSERT_GT(norm, kMaximum);
  expectClose(clipped.values(), once, 1e-13, "clipped");
  expectClose(changed.values(), twice, 1e-13, "changed");
  changed.evaluate();
  other->clipGradientNorm(kMaximum);
  fillConstant(changed.weight(2).gradient(), NAN);
  expectError(TENON_ERR_NOT_FINITE, {"gradient"}, [&] { other->step(); });
  changed.net->zeroGradients();
  changed.evaluate();
  other->step();
}

// Parameters that were frozen at the first step are reduced together too when they are released:
// they are a second bucket. A step without a new gradient changes nothing, and a bucket whose
// members are all frozen is not reduced.
TEST(GradientReduction, LeavesOutFrozenParameters) {
  Vector apart;
  for (const Index bucket : {Index(0), Index(-1)}) {
    Chain chain(world(), 4);
    const Ref<Optimizer> sgd = chain.optimizer("sgd", bucket);
    const auto freeze = [&](std::vector<bool> frozen) {
      for (std::size_t i = 0; i < frozen.size(); ++i)
        chain.weights[i]->setFrozen(frozen[i]);
    };
    const auto messages = [&] {
      chain.evaluate();
      return messagesIn([&] { sgd->step(); });
    };
    const Index pair = messagesOfSum(2 * kWeight), ofNorm = world()->size() > 1 ? 1 : 0;
    const Vector start = chain.values();
    freeze({true, true, false, false});
    const Index first = messages();
    const Vector half = chain.values();
    EXPECT_TRUE(std::equal(start.begin(), start.begin() + 2 * kWeight, half.begin()));
    freeze({false, false, false, false});
    const Index second = messages();
    freeze({false, false, true, true});
    const Index third = messages();
    freeze({true, false, false, true});
    const Index fourth = messages();
    if (bucket == -1) {
      EXPECT_EQ(first, pair + ofNorm);
      EXPECT_EQ(second, 2 * pair + ofNorm);
      EXPECT_EQ(third, pair + ofNorm);
      EXPECT_EQ(fourth, 2 * pair + ofNorm);
    }
    const Vector before = chain.values();
    sgd->step();
    EXPECT_EQ(chain.values(), before);
    if (bucket == 0)
      apart = before;
    else
      expectAsApart(before, apart, "frozen");
  }
}

// The second layer is on a grid with the ranks in reverse order. The weight and the bias of a layer
// are one sum.
TEST(GradientReduction, IsOneForEachGrid) {
  const int size = world()->size();
  std::vector<int> reversed(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    reversed[static_cast<std::size_t>(i)] = size - 1 - i;
  const Layout input(
      {.shape = {kRows, kWidth}, .grid = gridOf(world()), .properties = {Property::shard(0)}}),
      turned({.shape = {kRows, kWidth},
              .grid = Grid::make({size}, reversed),
              .properties = {Property::shard(0)}});
  Vector apart;
  for (const Index bucket : {Index(0), Index(-1)}) {
    const Ref<Layer> net = test::newLayer(world(), "sequential");
    appendLayer(*net, test::newAffine(world(), kWidth, kWidth));
    appendLayer(*net, test::newRepartition(world(), turned));
    appendLayer(*net, test::newAffine(world(), kWidth, kWidth));
    net->setDataType(TENON_FLOAT64);
    net->setUp(input);
    net->initialize(3, 0);
    DTensor x(world(), input, TENON_FLOAT64), y(world(), net->outputLayout(), TENON_FLOAT64),
        dy(world(), net->outputLayout().dual(), TENON_FLOAT64);
    fillUniform(x, /*seed=*/5, /*stream=*/1, -1, 1);
    fillConstant(dy, 0.5);
    const Ref<Optimizer> sgd = makeOptimizer("sgd", net);
    sgd->set("gradient_bucket", bucket);
    net->apply(x, y);
    net->applyAdjoint(dy, nullptr);
    const Index messages = messagesIn([&] { sgd->step(); });
    if (bucket == -1 && size > 1) {
      EXPECT_EQ(messages, 2 * messagesOfSum(kWeight + kWidth) + 1);
    }
    Vector values;
    for (const auto& p : net->parameters())
      appendElements(values, p->value());
    if (bucket == 0)
      apart = values;
    else
      expectAsApart(values, apart, "grids");
  }
}

// float32 beside float64. Element i of a rank's contributions to parameter n is the integer
// (i + n + 1) (rank + 1), so sums are exact: (i + n + 1) (1 + 2 + ... + size).
TEST(GradientReduction, IsOneForEachDataType) {
  if (world()->size() == 1)
    return;
  const Layout input(
      {.shape = {kRows, kWidth}, .grid = gridOf(world()), .properties = {Property::shard(0)}});
  std::vector<Ref<Layer>> layers;
  std::vector<Ref<Parameter>> parameters;
  std::vector<BucketCandidate> candidates;
  for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64, TENON_FLOAT32}) {
    layers.push_back(test::newAffine(world(), kWidth, kWidth));
    layers.back()->setDataType(type);
    layers.back()->setUp(input);
    for (const auto& p : layers.back()->parameters()) {
      parameters.push_back(p);
      candidates.push_back({p.get()});
      visitFloating(type, [&]<class T>(T) {
        DTensor& gradient = p->gradient();
        for (Index i = 0; i < gradient.localElements(); ++i)
          gradient.mutableData<T>()[i] = T((i + Index(parameters.size())) * (world()->rank() + 1));
      });
    }
  }
  const auto buckets =
      inOneAgreement(*world(), [&] { return makeBuckets(world(), candidates, /*bytes=*/1 << 20); });
  ASSERT_EQ(buckets.size(), 2U);
  for (const GradientBucketPtr& bucket : buckets)
    bucket->reduce();
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    EXPECT_TRUE(parameters[n]->isReduced());
    const DTensor& direction = parameters[n]->direction();
    visitFloating(direction.dataType(), [&]<class T>(T) {
      for (Index i = 0; i < direction.localElements(); ++i)
        ASSERT_EQ(direction.data<T>()[i],
                  T((i + Index(n) + 1) * world()->size() * (world()->size() + 1) / 2));
    });
  }
}

// Ranks destroy an optimizer and a layer at different times. What is left of the bucket goes on,
// and the caller can hold a gradient in it for longer than the layer.
TEST(GradientReduction, GoesOnWithoutALayerThatWasDestroyed) {
  Chain chain(world(), 2);
  Ref<Optimizer> first = chain.optimizer("sgd"), second;
  chain.evaluate();
  first->step();
  chain.evaluate();
  const Ref<Layer> shared = chain.weights[0];
  second = makeOptimizer("sgd", shared);
  second->set("learning_rate", 0.25);
  Vector want, got, before;
  for (const double g : Vector(chain.weight(0).reducedGradient()->data<double>(),
                               chain.weight(0).reducedGradient()->data<double>() + kWeight))
    want.push_back(-0.25 * g);
  appendElements(before, chain.weight(0).value());
  const Ref<DTensor> held = chain.weight(1).exposeGradient();
  Vector heldBefore, heldAfter;
  appendElements(heldBefore, *held);
  const auto destroy = [&] {
    first = {};
    chain.net = {};
    chain.weights.clear();
  };
  if (world()->rank() % 2 == 0)
    destroy();
  second->step();
  if (world()->rank() % 2 == 1)
    destroy();
  appendElements(got, shared->parameters()[0]->value());
  for (std::size_t i = 0; i < want.size(); ++i)
    want[i] += before[i];
  expectClose(got, want, 1e-14, "the layer that is left");
  second = {};
  appendElements(heldAfter, *held);
  EXPECT_EQ(heldAfter, heldBefore);
}

TEST(GradientReduction, LeavesAGradientThatTheCallerHolds) {
  Chain chain(world(), 3), plain(world(), 3);
  const Ref<DTensor> held = chain.weight(1).exposeGradient();
  const double* const address = std::as_const(*held).data<double>();
  const Ref<Optimizer> sgd = chain.optimizer("sgd"), apart = plain.optimizer("sgd", 0);
  for (int step = 0; step < 2; ++step) {
    chain.evaluate();
    plain.evaluate();
    scaleArray(3, chain.weight(1).gradient());
    scaleArray(3, plain.weight(1).gradient());
    const Index messages = messagesIn([&] { sgd->step(); });
    apart->step();
    if (world()->size() > 1) {
      EXPECT_EQ(messages, messagesOfSum(2 * kWeight) + messagesOfSum(kWeight) + 1);
    }
    EXPECT_EQ(std::as_const(*held).data<double>(), address);
    expectAsApart(chain.values(), plain.values(), "held");
  }
}

TEST(GradientReduction, TakesTheMemoryOfTheGradients) {
  Chain chain(world(), 6);
  const Ref<Optimizer> sgd = chain.optimizer("sgd");
  chain.evaluate();
  sgd->step();
  const LinearOpRef sum = sumOf(6 * kWeight);
  if (world()->size() > 1) {
    DTensor x(world(), sum->domain(), TENON_FLOAT64), y(world(), sum->range(), TENON_FLOAT64);
    sum->apply(x, y);
  }
  Index held = 0, arrays = world()->size() > 1 ? 3 : 2; // value, gradient, and its sum
  for (const auto& p : chain.net->parameters())
    held += p->bytes();
  EXPECT_EQ(held, 6 * arrays * kWeightBytes + (world()->size() > 1 ? sum->bufferBytes() : 0));
}

TEST(GradientReduction, HasASizeUntilTheFirstStep) {
  Chain chain(world(), 2);
  const Ref<Optimizer> sgd = chain.optimizer("sgd", 64);
  sgd->set("gradient_bucket", Index(0));
  chain.evaluate();
  sgd->step();
  sgd->set("gradient_bucket", Index(0));
  expectError(TENON_ERR_STATE, {"gradient_bucket", "after its first step"},
              [&] { sgd->set("gradient_bucket", Index(-1)); });
  sgd->set("learning_rate", 0.5);
}

} // namespace
} // namespace tenon
