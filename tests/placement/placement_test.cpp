// SPDX-License-Identifier: BSD-2-Clause
// Tests placements: parallelism matrices, which say into how many parts each level of a system
// divides each axis of a job, the numbers and coordinates of devices, and the groups of a
// reduction. The list of all matrices is compared with a search that tries every matrix, and its
// length with a formula; numbers, coordinates and groups with examples computed by hand or printed
// in the paper (Xie et al., cited in reduction/collective_rule.hpp).
#include "placement/placement_list.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace tenon {
namespace {

using Sizes = std::vector<Index>;
using Matrix = std::vector<Sizes>;

// Returns the message of the error with this code.
std::string refusalOf(const Sizes& system, const Sizes& axes, TenonErrorCode code) {
  try {
    placementsOf(system, axes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    return error.text();
  }
  return "accepted";
}

Index product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Index(1), std::multiplies<>());
}

// Returns all matrices with the right products, by trying every matrix with entries up to `most`,
// in lexicographic order.
std::vector<Matrix> allByTrying(const Sizes& system, const Sizes& axes, Index most) {
  const std::size_t levels = system.size(), entries = levels * axes.size();
  std::vector<Matrix> found;
  Sizes digits(entries, 1);
  while (true) {
    Matrix matrix;
    for (std::size_t a = 0; a < axes.size(); ++a)
      matrix.emplace_back(digits.begin() + a * levels, digits.begin() + (a + 1) * levels);
    bool fits = true;
    for (std::size_t a = 0; a < axes.size(); ++a)
      fits = fits && product(matrix[a]) == axes[a];
    for (std::size_t l = 0; l < levels; ++l) {
      Index column = 1;
      for (const Sizes& row : matrix)
        column *= row[l];
      fits = fits && column == system[l];
    }
    if (fits)
      found.push_back(matrix);
    std::size_t at = entries;
    while (at > 0 && digits[at - 1] == most)
      digits[--at] = 1;
    if (at == 0)
      return found;
    ++digits[at - 1];
  }
}

// The number of tables of non-negative integers with the given row and column sums.
Index tables(const Sizes& rows, const Sizes& columns, std::size_t row = 0) {
  if (row == rows.size())
    return std::all_of(columns.begin(), columns.end(), [](Index c) { return c == 0; });
  std::function<Index(std::size_t, Index, Sizes)> fill = [&](std::size_t column, Index rest,
                                                             Sizes open) -> Index {
    if (column == open.size())
      return rest == 0 ? tables(rows, open, row + 1) : 0;
    Index sum = 0;
    for (Index taken = 0; taken <= std::min(rest, open[column]); ++taken) {
      Sizes left = open;
      left[column] -= taken;
      sum += fill(column + 1, rest - taken, left);
    }
    return sum;
  };
  return fill(0, rows[row], columns);
}

TEST(Placement, ListsTheMatricesThatAnExhaustiveSearchFinds) {
  const std::vector<std::pair<Sizes, Sizes>> cases{
      {{4, 6}, {6, 4}},  {{2, 3, 2}, {6, 2}}, {{6, 6}, {3, 6, 2}}, {{1, 4, 3}, {12}},
      {{12}, {2, 3, 2}}, {{5, 7}, {7, 5}},    {{2, 1, 2}, {1, 4}}, {{2, 2, 2, 2}, {4, 4}}};
  for (const auto& [system, axes] : cases) {
    std::vector<Matrix> listed;
    for (const Placement& placement : placementsOf(system, axes)) {
      EXPECT_EQ(placement.system(), system);
      listed.push_back(placement.matrix());
    }
    const Index most = std::max(*std::max_element(system.begin(), system.end()), Index(1));
    EXPECT_EQ(listed, allByTrying(system, axes, most));
    EXPECT_TRUE(std::is_sorted(listed.begin(), listed.end()));
  }
}

TEST(Placement, AreTheProductOfTheTablesOfEachPrimesExponents) {
  EXPECT_EQ(placementsOf({16, 16, 16}, {16, 16, 16}).size(),
            std::size_t(tables({4, 4, 4}, {4, 4, 4})));
  // 2^3 3^2 5 as 12, 30 on two levels and 4, 9, 10 on three axes.
  EXPECT_EQ(placementsOf({12, 30}, {4, 9, 10}).size(),
            std::size_t(tables({2, 0, 1}, {2, 1}) * tables({0, 2, 0}, {1, 1}) *
                        tables({0, 0, 1}, {0, 1})));
}

TEST(Placement, NumbersDevicesByLevelAndThenByAxis) {
  // Axis 0 splits node and chip, axis 1 the chip alone: device = 8 d00 + (4 d01 + d11).
  const Placement placement(Matrix{{2, 2}, {1, 4}});
  ASSERT_EQ(placement.devices(), 16);
  EXPECT_EQ(placement.coordinates(0), (Sizes{0, 0}));
  EXPECT_EQ(placement.coordinates(7), (Sizes{1, 3}));
  EXPECT_EQ(placement.coordinates(8), (Sizes{2, 0}));
  EXPECT_EQ(placement.coordinates(13), (Sizes{3, 1}));
  for (const Placement& any : placementsOf({4, 6, 3}, {6, 4, 3})) {
    std::set<Sizes> all;
    for (int device = 0; device < any.devices(); ++device)
      all.insert(any.coordinates(device));
    ASSERT_EQ(all.size(), std::size_t(any.devices())); // all coordinates differ
  }
}

TEST(Placement, ReducesAmongDevicesThatDifferInTheAxes) {
  // The paper's Figure 6: GPUs 0 ... 15 of [1 2 2 4] under [[1 1 2 2], [1 2 1 2]] along axis 1.
  const Placement figure(Matrix{{1, 1, 2, 2}, {1, 2, 1, 2}});
  EXPECT_EQ(figure.reductionHierarchy({1}), (Hierarchy{2, 2}));
  EXPECT_EQ(figure.reductionGroups({1}),
            (DeviceGroups{{0, 1, 8, 9}, {2, 3, 10, 11}, {4, 5, 12, 13}, {6, 7, 14, 15}}));
  // Its inner groups are {A0, A1}, {A2, A3} and the like.
  EXPECT_EQ(figure.lowered({1}, groupsOf({2, 2}, {.slice = 1, .form = GroupForm::InsideGroup})),
            (DeviceGroups{{0, 1}, {8, 9}, {2, 3}, {10, 11}, {4, 5}, {12, 13}, {6, 7}, {14, 15}}));
}

// The rows of a matrix are axes and its columns levels: over axes 0 and 2, each level has the
// product of both entries, such as 1 * 7, 2 * 8 and 3 * 9. Levels of one unit are left out.
TEST(Placement, SeveralAxesAreCollapsedLevelByLevel) {
  const Placement table1(Matrix{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  EXPECT_EQ(table1.reductionHierarchy({0, 2}), (Hierarchy{7, 16, 27}));
  const Placement small(Matrix{{2, 1}, {1, 2}, {1, 3}});
  EXPECT_EQ(small.reductionHierarchy({2, 0}), (Hierarchy{2, 3}));
  EXPECT_EQ(small.reductionGroups({2, 0}),
            (DeviceGroups{{0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11}}));
  EXPECT_EQ(small.reductionHierarchy({}), Hierarchy{});
  EXPECT_EQ(small.reductionGroups({}).size(), 12u);
  EXPECT_TRUE(Placement(Matrix{{1, 1}, {2, 2}}).reductionHierarchy({0}).empty());
}

TEST(Placement, RefusesWhatDoesNotFitWithTheReason) {
  EXPECT_NE(refusalOf({4, 16}, {8, 2, 3}, TENON_ERR_SHAPE).find("no placement exists"),
            std::string::npos);
  EXPECT_NE(refusalOf({4, 16}, {8, 2, 3}, TENON_ERR_SHAPE).find("48"), std::string::npos);
  EXPECT_NE(refusalOf({4, 0}, {4}, TENON_ERR_ARG).find("size of 0"), std::string::npos);
  EXPECT_NE(refusalOf({4}, {-4, -1}, TENON_ERR_ARG).find("size of -4"), std::string::npos);
  EXPECT_NE(refusalOf({}, {4}, TENON_ERR_ARG).find("levels"), std::string::npos);
  EXPECT_NE(refusalOf({4}, {}, TENON_ERR_ARG).find("axes"), std::string::npos);
  const Index huge = Index(1) << 62;
  EXPECT_NE(refusalOf({huge, huge}, {4}, TENON_ERR_ARG).find("int can count"), std::string::npos);
  EXPECT_NE(refusalOf({4}, {65536, 65536}, TENON_ERR_ARG).find("int can count"), std::string::npos);
  EXPECT_NE(refusalOf(Sizes(9, 2), Sizes(9, 2), TENON_ERR_ARG).find("more than 100000"),
            std::string::npos);
}

TEST(Placement, RefusesAWrongMatrixOrAxis) {
  EXPECT_THROW(Placement(Matrix{}), Error);
  EXPECT_THROW(Placement(Matrix{{}}), Error);
  EXPECT_THROW(Placement(Matrix{{2, 2}, {2}}), Error);
  EXPECT_THROW(Placement(Matrix{{2, 0}}), Error);
  EXPECT_THROW(Placement(Matrix{{65536, 1}, {65536, 1}}), Error);
  const Placement placement(Matrix{{2, 1}, {1, 2}});
  EXPECT_THROW(placement.reductionHierarchy({2}), Error);
  EXPECT_THROW(placement.reductionHierarchy({-1}), Error);
  EXPECT_THROW(placement.reductionGroups({1, 1}), Error);
}

} // namespace
} // namespace tenon
