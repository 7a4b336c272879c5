// SPDX-License-Identifier: BSD-2-Clause
// Tests parts that are packed as runs of contiguous bytes (linop/carriers/packed_runs.hpp): for
// random boxes and lists of positions in arrays with random strides, the packed elements must be
// those of the definition of a region, element by element, and so must be the elements to which
// received ones are copied or added. Parts without long runs, and large ones,
// have none.
#include "linop/carriers/packed_runs.hpp"

#include "operators.hpp"
#include "support/random_layout.hpp"

#include <numeric>

namespace tenon {
namespace {

using test::LayoutDraw;
using test::world;

constexpr int kDims = 3;

// A tensor on every rank with an array of the user, whose elements are their places in the array.
struct Placed {
  Shape extent;
  std::vector<Index> strides;
  std::vector<double> array;
  Ref<DTensor> tensor;

  explicit Placed(const Shape& given) : extent(given) {
    tensor = makeRef<DTensor>(world(), test::onLine(extent, "B"), TENON_FLOAT64);
  }
  // Row-major, or with the first two dimensions exchanged, with gaps between rows.
  void place(bool isExchanged, Index gap) {
    const Index row = extent[2] + gap;
    strides = isExchanged ? std::vector<Index>{row, extent[0] * row, 1}
                          : std::vector<Index>{extent[1] * row, row, 1};
    array.resize(extent[0] * extent[1] * row);
    std::iota(array.begin(), array.end(), 0.0);
    tensor->placeArray(array.data(), strides, {0, 0, 0}, {0, 0, 0}, /*readOnly=*/false);
  }
};

// The packed elements of a region, by its definition.
std::vector<double> packed(const Placed& x, const Region& region) {
  std::vector<double> elements;
  std::array<Index, kDims> i{};
  for (i[0] = 0; i[0] < region.extent[0]; ++i[0])
    for (i[1] = 0; i[1] < region.extent[1]; ++i[1])
      for (i[2] = 0; i[2] < region.extent[2]; ++i[2]) {
        Index place = 0;
        for (int d = 0; d < kDims; ++d)
          place += (region.begin[d] + i[d] * region.step[d]) * x.strides[d];
        if (region.list) {
          const std::vector<int>& dims = region.list->dims;
          const Index entry = region.first + i[dims.front()];
          place -= i[dims.front()] * region.step[dims.front()] * x.strides[dims.front()];
          for (std::size_t d = 0; d < dims.size(); ++d)
            place += region.list->positions[entry * dims.size() + d] * x.strides[dims[d]];
        }
        elements.push_back(double(place));
      }
  return elements;
}

Region box(LayoutDraw& draw, const Shape& extent) {
  Region region;
  region.elements = 1;
  for (int d = 0; d < kDims; ++d) {
    region.extent[d] = draw.chance(40) ? extent[d] : draw.between(1, int(extent[d]));
    region.step[d] = draw.chance(15) ? -1 : 1;
    const Index last = extent[d] - region.extent[d];
    region.begin[d] = draw.upTo(int(last)) + (region.step[d] < 0 ? region.extent[d] - 1 : 0);
    region.elements *= region.extent[d];
  }
  return region;
}

// Runs of positions along the first dimension, or along the first two jointly.
Region listed(LayoutDraw& draw, const Shape& extent) {
  Region region = box(draw, extent);
  ElementList list{draw.chance(30) ? std::vector<int>{0, 1} : std::vector<int>{0}, {}, {}};
  for (Index at = 0; at < extent[0]; ++at)
    if (!draw.chance(25)) {
      list.positions.push_back(at);
      if (list.dims.size() == 2)
        list.positions.push_back(draw.upTo(int(extent[1]) - 1));
    }
  if (list.positions.empty())
    return region;
  for (int d : list.dims) {
    region.begin[d] = 0;
    region.step[d] = 1;
    region.extent[d] = 1;
  }
  region.first = draw.upTo(int(list.count()) - 1);
  region.extent[0] = draw.between(1, int(list.count() - region.first));
  region.elements = region.extent[0] * region.extent[1] * region.extent[2];
  region.list = std::make_shared<const ElementList>(std::move(list));
  return region;
}

TEST(PackedRuns, AreTheElementsOfTheRegions) {
  LayoutDraw draw(5);
  int found = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Placed x({draw.between(1, 12), draw.between(1, 4), draw.between(1, 9)});
    std::vector<Region> regions;
    Index elements = 0;
    for (int i = draw.between(1, 3); i > 0; --i)
      elements +=
          regions.emplace_back(draw.chance(50) ? box(draw, x.extent) : listed(draw, x.extent))
              .elements;
    PackedRuns runs(elements * Index(sizeof(double)));
    for (int placement = 0; placement < 6; ++placement) {
      x.place(draw.chance(30), draw.upTo(1));
      if (!runs.find(*x.tensor, regions))
        continue;
      ++found;
      std::vector<double> want;
      for (const Region& region : regions)
        std::ranges::copy(packed(x, region), std::back_inserter(want));
      for (int round = 0; round < 2; ++round) {
        std::vector<double> got(elements, -1);
        auto* const begin = reinterpret_cast<std::byte*>(got.data());
        EXPECT_TRUE(runs.find(*x.tensor, regions));
        EXPECT_EQ(runs.pack(*x.tensor, begin) - begin, elements * Index(sizeof(double)));
        ASSERT_EQ(got, want) << "trial " << trial;
      }
      // Packed elements are their places in the array, to which others are copied or added.
      for (const bool adds : {false, true}) {
        std::vector<double> values(elements), expected = x.array;
        std::iota(values.begin(), values.end(), 0.5);
        for (Index i = 0; i < elements; ++i) {
          double& target = expected[static_cast<std::size_t>(want[i])];
          target = adds ? target + values[i] : values[i];
        }
        const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
        EXPECT_EQ(runs.unpack(*x.tensor, begin, adds) - begin, elements * Index(sizeof(double)));
        ASSERT_EQ(x.array, expected) << "trial " << trial;
        std::iota(x.array.begin(), x.array.end(), 0.0);
      }
    }
  }
  EXPECT_GT(found, 200);
}

// The box of another array, whose runs are divided differently.
TEST(PackedRuns, MoveFromArrayToArray) {
  LayoutDraw draw(6);
  int moved = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Placed x({draw.between(1, 12), draw.between(1, 4), draw.between(4, 9)});
    const Region from = box(draw, x.extent);
    Placed y({from.extent[0] + draw.upTo(2), from.extent[1] + draw.upTo(1),
              from.extent[2] + draw.upTo(1)});
    Region to = from;
    to.step.fill(1);
    to.begin = {y.extent[0] - to.extent[0], y.extent[1] - to.extent[1], 0};
    x.place(draw.chance(30), draw.upTo(1));
    y.place(draw.chance(30), draw.upTo(1));
    PackedRuns ofX(from.elements * Index(sizeof(double))), ofY = ofX;
    if (!ofX.find(*x.tensor, std::span(&from, 1)) || !ofY.find(*y.tensor, std::span(&to, 1)))
      continue;
    ++moved;
    const std::vector<double> values = packed(x, from), places = packed(y, to);
    for (const bool adds : {false, true}) {
      std::vector<double> want = y.array;
      for (std::size_t i = 0; i < values.size(); ++i) {
        double& target = want[static_cast<std::size_t>(places[i])];
        target = adds ? target + values[i] : values[i];
      }
      ofY.move(*x.tensor, ofX, *y.tensor, adds);
      ASSERT_EQ(y.array, want) << "trial " << trial;
    }
  }
  EXPECT_GT(moved, 100);
}

// Runs must have 32 bytes (PackedRuns::kMinRun): four elements of a row are enough, three are not.
TEST(PackedRuns, AreNoShortOnesAndNoneOfLargeParts) {
  Placed x({6, 1, 2000});
  x.place(false, 0);
  const auto find = [&](Index rows, Index columns, Index begin) {
    Region region;
    region.extent = {rows, 1, columns};
    region.begin = {0, 0, begin};
    region.step.fill(1);
    region.elements = rows * columns;
    PackedRuns runs(region.elements * Index(sizeof(double)));
    return runs.find(*x.tensor, std::span(&region, 1));
  };
  EXPECT_TRUE(find(6, 4, 1));
  EXPECT_FALSE(find(6, 3, 1)); // Runs of 24 bytes.
  EXPECT_TRUE(find(1, 2000, 0));
  EXPECT_FALSE(find(6, 2000, 0)); // 96,000 bytes.
}

} // namespace
} // namespace tenon
