// SPDX-License-Identifier: BSD-2-Clause
// Buckets of gradients while their members change: a parameter that enters another bucket, a bucket
// that one rank could not make, and gradients of which only one rank's are not finite. Afterwards
// all ranks must agree which gradients are reduced: otherwise some would start a sum that the
// others do not start, and wait for them.
#include "chain.hpp"

#include "comm/agreement/batched.hpp"
#include "layer/core/gradient_bucket.hpp"
#include "support/world.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::Chain, test::kWeight, test::world;

std::vector<GradientBucketPtr> bucketOf(const std::vector<Parameter*>& parameters) {
  std::vector<BucketCandidate> candidates;
  for (Parameter* parameter : parameters)
    candidates.push_back({parameter});
  return inOneAgreement(*world(),
                        [&] { return makeBuckets(world(), candidates, /*bytes=*/1 << 20); });
}

// Element i of this rank's contributions to a gradient is (i + n) * (rank + 1), so each rank adds
// integers.
void setGradient(Parameter& parameter, Index n) {
  DTensor& gradient = parameter.gradient();
  for (Index i = 0; i < kWeight; ++i)
    gradient.mutableData<double>()[i] = static_cast<double>((i + n) * (world()->rank() + 1));
}

void expectSum(Parameter& parameter, Index n) {
  const Index size = world()->size();
  const DTensor& sum = parameter.direction();
  for (Index i = 0; i < kWeight; ++i)
    ASSERT_EQ(sum.data<double>()[i], static_cast<double>((i + n) * size * (size + 1) / 2));
}

bool isTrueOnAll(bool onThisRank) {
  int isTrue = onThisRank ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &isTrue, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return isTrue == 1;
}

// The former bucket still sums the memory that it has in the parameter's place, but does not mark
// the parameter as reduced.
TEST(GradientBucket, LeavesAMemberToAnotherBucket) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank sums nothing";
  Chain chain(world(), 3);
  const auto first = bucketOf({&chain.weight(0), &chain.weight(1)}),
             second = bucketOf({&chain.weight(1), &chain.weight(2)});
  EXPECT_EQ(chain.weight(1).bucket(), second.front());
  for (int i = 0; i < 3; ++i)
    setGradient(chain.weight(i), i);
  first.front()->reduce();
  EXPECT_TRUE(chain.weight(0).isReduced());
  EXPECT_FALSE(chain.weight(1).isReduced());
  second.front()->reduce();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(chain.weight(i).isReduced());
    expectSum(chain.weight(i), i);
  }
}

// The last rank cannot make the bucket, and the others leave theirs. Each parameter had a reduction
// of its own, which none has afterwards, on no rank, so that its next use makes it on all.
TEST(GradientBucket, IsMadeAgainAfterOneRankHasFailed) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank sums nothing";
  Chain chain(world(), 3);
  const std::vector<Parameter*> all = {&chain.weight(0), &chain.weight(1), &chain.weight(2)};
  const bool isLast = world()->rank() == world()->size() - 1;
  for (Index round = 0; round < 2; ++round) {
    for (Parameter* parameter : all)
      parameter->prepareReduction();
    if (isLast)
      options().set("-tenon_machine_levels", "many");
    expectError(TENON_ERR_ARG, {"machine_levels is 'many'"}, [&] { bucketOf(all); });
    if (isLast)
      options().set("-tenon_machine_levels", "");
    ASSERT_TRUE(isTrueOnAll(std::ranges::all_of(all, [](const Parameter* parameter) {
      return !parameter->isInBucket() && !parameter->toDirection();
    })));
    for (int i = 0; i < 3; ++i)
      setGradient(chain.weight(i), round + i);
    expectSum(chain.weight(1), round + 1);
  }
  const auto made = bucketOf(all);
  ASSERT_EQ(made.size(), 1U);
  made.front()->reduce();
  for (int i = 0; i < 3; ++i)
    expectSum(chain.weight(i), i + 1);
}

// A step whose gradients are not finite leaves them as they were, and reduced. To find the place
// for the message, each rank reads as many gradients as it needs. These reads must not count as
// changes: otherwise the next step would reduce a gradient again on those ranks alone that have
// read it.
TEST(GradientBucket, IsKnownToAllRanksAfterAGradientOfOneWasNotFinite) {
  for (const Index bytes : {Index(0), Index(-1)}) {
    Chain chain(world(), 3);
    const Ref<Optimizer> sgd = chain.optimizer("sgd", bytes);
    chain.evaluate();
    DTensor& gradient = chain.weight(1).gradient();
    if (world()->rank() == world()->size() - 1)
      gradient.mutableData<double>()[0] = NAN;
    const auto expectRefused = [&] {
      expectError(TENON_ERR_NOT_FINITE, {"gradient of parameter '2/weight'"}, [&] { sgd->step(); });
    };
    expectRefused();
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(isTrueOnAll(chain.weight(i).isReduced())) << "parameter " << i;
    expectRefused();
  }
}

} // namespace
} // namespace tenon
