// SPDX-License-Identifier: BSD-2-Clause
// Tests the floating-point traps of a host program: disabled within a call of the library, enabled
// in the host's functions that the library calls, and restored afterwards, exception flags
// included.
#include "support/traps.hpp"

#include "sys/errors/guard.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace tenon;
using test::HostTraps;
using test::kTrapped;

volatile double zero = 0;

double raiseAll() {
  const volatile double nan = std::numeric_limits<double>::quiet_NaN(), most = 1e308;
  return 1 / zero + most * most + (nan < zero ? 1 : 0);
}

TEST(Traps, AreHeldOffInACall) {
  const HostTraps host;
#ifdef __GLIBC__
  ASSERT_TRUE(trapsExceptions());
#endif
  std::feraiseexcept(FE_INEXACT);
  double found = 0;
  EXPECT_EQ(guard("TenonCall",
                  [&] {
                    EXPECT_FALSE(trapsExceptions());
                    found = raiseAll();
                    EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
                  }),
            TENON_SUCCESS);
  EXPECT_TRUE(std::isinf(found));
  EXPECT_EQ(std::fetestexcept(kTrapped), 0);
  EXPECT_NE(std::fetestexcept(FE_INEXACT), 0);
#ifdef __GLIBC__
  EXPECT_EQ(fegetexcept(), kTrapped);
#endif
}

TEST(Traps, AreTheHostsInItsFunctions) {
  const HostTraps host;
  const bool hasTraps = trapsExceptions();
  EXPECT_EQ(guard("TenonCall",
                  [&] {
                    callUser("the function", [&] {
                      EXPECT_EQ(trapsExceptions(), hasTraps);
                      EXPECT_EQ(guard("TenonInner", [] { EXPECT_TRUE(std::isinf(raiseAll())); }),
                                TENON_SUCCESS);
                      EXPECT_EQ(trapsExceptions(), hasTraps);
                      std::feraiseexcept(FE_UNDERFLOW);
                      return TENON_SUCCESS;
                    });
                    EXPECT_FALSE(trapsExceptions());
                    raiseAll();
                    throw Error(TENON_ERR_ARG, "left by an exception");
                  }),
            TENON_ERR_ARG);
  EXPECT_EQ(trapsExceptions(), hasTraps);
  EXPECT_EQ(std::fetestexcept(kTrapped), 0);
  if (hasTraps) {
    EXPECT_NE(std::fetestexcept(FE_UNDERFLOW), 0); // the function's
  }
}

TEST(Traps, ThatTenonDidNotSetAreLeftAlone) {
  const NoTraps noTraps;
  std::feclearexcept(FE_ALL_EXCEPT);
  guard("TenonCall", [] {});
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  EXPECT_FALSE(trapsExceptions());
}

} // namespace
