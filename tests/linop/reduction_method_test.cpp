// SPDX-License-Identifier: BSD-2-Clause
// Tests how a conversion that sums chooses among the registered reduction methods and its own
// route. The methods are fakes, which offer sums at given prices, in place of those of higher
// modules (programs, NCCL).
#include "linop/exchange/reduction_method.hpp"

#include "operators.hpp"
#include "sys/expect_error.hpp"

namespace tenon {
namespace {

using test::onLine;
using test::world;

// Sums by one exchange, and tells who it is by the text that ranks agree on.
class Named final : public ReductionMethod {
public:
  Named(std::string name, double seconds, bool takes = true)
      : name_(std::move(name)), seconds_(seconds), takes_(takes) {}
  bool appliesTo(const ReductionTask& sum) const override {
    return sum.policy.mode != RouteMode::Chain;
  }
  std::string agreedText(const ReductionTask&) const override { return "; sums by " + name_; }
  ReductionOffer offer(const ReductionTask& sum) const override {
    request = sum.change ? sum.change->axes : std::vector<int>{};
    ReductionOffer offer{.make = {}, .seconds = seconds_, .why = name_ + " has its reasons"};
    if (takes_)
      offer.make = [sum, this] {
        made = name_;
        return makeRef<Conversion>(sum.comm, sum.from, sum.to, sum.type, sum.carrier);
      };
    return offer;
  }

  static inline std::string made;
  static inline std::vector<int> request;

private:
  std::string name_;
  double seconds_;
  bool takes_;
};

ReductionMethodRef method(const char* name, double seconds, bool takes = true) {
  return std::make_shared<Named>(name, seconds, takes);
}

LinearOpRef convert(const Layout& from, const Layout& to, std::vector<ReductionMethodRef> methods,
                    RouteMode mode = RouteMode::Auto) {
  Named::made.clear();
  Named::request.clear();
  MovementPolicy policy = test::by(RoutePolicy{.mode = mode, .rates = {}});
  policy.sums = std::move(methods);
  return makeConversion(world(), from, to, TENON_FLOAT64, policy);
}

TEST(ReductionMethod, TheCheapestOfThoseThatTakeTheSumIsMade) {
  const Layout p = onLine({6}, "P"), b = onLine({6}, "B");
  const LinearOpRef op = convert(
      p, b,
      {method("dear", 2), method("cheap", 1), method("as cheap", 1), method("none", 0, false)});
  EXPECT_EQ(Named::made, "cheap");
  EXPECT_EQ(Named::request, std::vector<int>{0});
  for (const char* text : {"  dear has its reasons\n", "  none has its reasons\n"})
    EXPECT_NE(op->describe().find(text), std::string::npos) << op->describe();
  EXPECT_NE(op->agreedText().find("; sums by dear; sums by cheap"), std::string::npos);
}

TEST(ReductionMethod, TheRouteIsTakenWhereNoMethodTakesTheSum) {
  const LinearOpRef op = convert(onLine({6}, "P"), onLine({6}, "B"), {method("none", 0, false)});
  EXPECT_EQ(Named::made, "");
  const test::Ends ends(*op, Sense::Forward, 1);
  test::setCells(*ends.x, std::vector<double>(6, 1.0));
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(test::elementsOf(*ends.y), std::vector<double>(6, world()->size()));
}

TEST(ReductionMethod, OnlyPureSumsAndTheirAdjointsAreOffered) {
  const auto on = [](const char* property) { return onLine({6, 6}, property); };
  for (const auto& [from, to] : {std::pair("B", "P"), {"S0", "S1"}, {"S0", "P"}, {"R", "P"}}) {
    convert(on(from), on(to), {method("any", 0)});
    EXPECT_TRUE(Named::request.empty()) << from << " -> " << to;
  }
  for (const auto& [from, to] :
       {std::pair("P", "B"), {"P", "S0"}, {"P", "S1"}, {"P", "R"}, {"S1", "B"}, {"R", "B"}}) {
    convert(on(from), on(to), {method("any", 0)});
    EXPECT_TRUE(!Named::request.empty() || world()->size() == 1) << from << " -> " << to;
  }
  const Layout p = on("P"), b = on("B");
  convert(p, b, {method("any", 0)}, RouteMode::Exchange);
  EXPECT_TRUE(Named::request.empty());
}

// Ranks need not agree on a method that does not look at the sum.
TEST(ReductionMethod, AMethodThatDoesNotLookIsNotAsked) {
  const LinearOpRef op =
      convert(onLine({6}, "P"), onLine({6}, "B"), {method("any", 0)}, RouteMode::Chain);
  EXPECT_TRUE(Named::request.empty());
  EXPECT_EQ(op->agreedText().find("sums by"), std::string::npos);
}

// A method may fail on one rank alone; all of them must be told, and none may wait for the others.
class FailsOnTheLast final : public ReductionMethod {
public:
  bool appliesTo(const ReductionTask&) const override { return true; }
  std::string agreedText(const ReductionTask&) const override { return ""; }
  ReductionOffer offer(const ReductionTask& sum) const override {
    if (sum.comm->rank() == sum.comm->size() - 1)
      throw Error(TENON_ERR_FILE, "no such machine");
    return {};
  }
};

TEST(ReductionMethod, AnOfferThatFailsOnOneRankFailsOnAll) {
  expectError(TENON_ERR_FILE, {"no such machine"}, [] {
    convert(onLine({6}, "P"), onLine({6}, "B"), {std::make_shared<FailsOnTheLast>()});
  });
}

} // namespace
} // namespace tenon
