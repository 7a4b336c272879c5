// SPDX-License-Identifier: BSD-2-Clause
// tenon/hosts/amrex.hpp with a stand-in for AMReX: boxes with and without their ghost cells, on
// ranks with two boxes, one or none.
#include "capi/thrown.hpp"

#include <AMReX_MultiFab.H>

#include <tenon/hosts/amrex.hpp>

namespace {

constexpr int kWidth = 4, kHeight = 3, kComponents = 2, kGhosts = 1;

// A row of boxes; the last rank has none if there are others.
amrex::MultiFab row(int rank, int size, int lastWidth) {
  std::vector<int> own;
  std::vector<amrex::Box> boxes;
  for (int r = 0, k = 0; r < std::max(1, size - 1); ++r)
    for (int i = 0; i < 2 - r % 2; ++i, ++k) {
      const int width = r == 0 && i == 0 ? lastWidth : kWidth;
      boxes.push_back(amrex::Box({{k * kWidth, 0}}, {{k * kWidth + width - 1, kHeight - 1}}));
      if (r == rank)
        own.push_back(k);
    }
  return amrex::MultiFab(boxes, own, kComponents, kGhosts);
}

double value(int x, int y, int component) {
  return 1000 * component + 30 * y + x;
}

void boxes(tenon::Ghosts ghosts, int rank, int size) {
  amrex::MultiFab field = row(rank, size, kWidth);
  const int margin = ghosts == tenon::Ghosts::Included ? kGhosts : 0;
  for (const int k : field.IndexArray())
    for (int c = 0; c < kComponents; ++c)
      for (int y = -kGhosts; y < kHeight + kGhosts; ++y)
        for (int x = -kGhosts; x < kWidth + kGhosts; ++x)
          field[k]({{k * kWidth + x, y}}, c) = value(k * kWidth + x, y, c);
  const tenon::Layout layout = tenon::boxLayout(MPI_COMM_WORLD, field, ghosts);
  const TenonInt ny = kHeight + 2 * margin, nx = kWidth + 2 * margin;
  const std::vector<TenonInt> shape = layout.shape();
  CHECK(shape[1] == kComponents && shape[2] == ny && shape[3] == nx);
  tenon::DTensor t(layout, TENON_FLOAT64);
  const auto placed = tenon::placeBoxes(t, field);
  t.gatherArrays();
  {
    const auto values = t.array<double>();
    CHECK(values.size() == std::size_t(field.local_size() * kComponents * ny * nx));
    std::ptrdiff_t i = 0;
    for (const int k : field.IndexArray())
      for (int c = 0; c < kComponents; ++c)
        for (int y = -margin; y < kHeight + margin; ++y)
          for (int x = -margin; x < kWidth + margin; ++x, ++i) {
            CHECK(values[i] == value(k * kWidth + x, y, c));
            values[i] = -values[i];
          }
  }
  t.scatterArrays();
  for (const int k : field.IndexArray())
    for (int y = -kGhosts; y < kHeight + kGhosts; ++y)
      for (int x = -kGhosts; x < kWidth + kGhosts; ++x) {
        const bool isElement =
            y >= -margin && y < kHeight + margin && x >= -margin && x < kWidth + margin;
        CHECK(field[k]({{k * kWidth + x, y}}, 1) ==
              (isElement ? -1 : 1) * value(k * kWidth + x, y, 1));
      }
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  boxes(tenon::Ghosts::Included, rank, size);
  boxes(tenon::Ghosts::Omitted, rank, size);
  amrex::MultiFab uneven = row(rank, size, kWidth - 1);
  CHECK(isOfWrongLength([&] { tenon::boxLayout(MPI_COMM_WORLD, uneven, tenon::Ghosts::Omitted); }));
}
