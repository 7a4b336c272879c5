// SPDX-License-Identifier: BSD-2-Clause
// Poles of a globe with latitudes and longitudes. Beyond a pole the rows follow in reverse on the
// opposite meridian, so this extension of the latitudes depends on the longitudes: instead of a
// product over dimensions it is a sum of two products (withPoleTerm()). For a halo of one row on 4
// rows and 6 longitudes with mode Pole, row -1 at longitude 1 copies row 0 at longitude 4:
//
//   crossed  rows that are filled   columns
//   false    0, 1, 2, 3             x from x
//   true     -1 from 0, 4 from 3    x from x + 3, modulo 6
//
// Here are also the checks of both dimensions, and the rule that finds the longitudes. The
// functions are declared in layout.hpp.
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

bool isPeriodic(const Halo& halo) {
  return halo.low == Boundary::Periodic && halo.high == Boundary::Periodic && halo.bands.empty();
}

// The dimension of the longitudes around the poles at the ends of `dim`: the only other dimension
// that is periodic or, without a periodic one, the only other dimension. Batch and channels do not
// count.
int longitudesOf(const LayoutSpec& spec, int dim) {
  constexpr int kImageRank = 4; // [batch, channel, y, x]
  const int rank = static_cast<int>(spec.shape.size());
  std::vector<int> others, periodic;
  for (int d = rank < kImageRank ? 0 : kChannelDim + 1; d < rank; ++d) {
    if (d != dim)
      others.push_back(d);
    if (d != dim && spec.halos[d] && isPeriodic(*spec.halos[d]))
      periodic.push_back(d);
  }
  const std::vector<int>& found = periodic.empty() ? others : periodic;
  if (found.size() != 1)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halo of dimension {} of [{}] has a pole mode, but {} can have the "
                            "longitudes; give the dimension of the longitudes, and no other one, a "
                            "halo with mode periodic, of width 0 if it needs none",
                            dim, fmt::join(spec.shape, ","),
                            found.empty()
                                ? "no other dimension"
                                : fmt::format("each of the dimensions {}", fmt::join(found, ","))));
  return found.front();
}

void completePoles(LayoutSpec& spec, int dim) {
  Halo& halo = *spec.halos[dim];
  for (int d = dim + 1; d < static_cast<int>(spec.shape.size()); ++d)
    if (spec.halos[d] && spec.halos[d]->hasPole())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the halos of dimensions {} and {} have pole modes; only latitudes "
                              "have poles, longitudes are periodic",
                              dim, d));
  if (halo.longitudes < 0)
    halo.longitudes = longitudesOf(spec, dim);
  const int x = halo.longitudes;
  if (spec.halos[x] && !isPeriodic(*spec.halos[x]))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("the halo of dimension {} has boundary mode {}, which needs periodic "
                            "longitudes in dimension {}, but the halo there has modes {} and {}",
                            dim, boundaryName(isPole(halo.low) ? halo.low : halo.high), x,
                            boundaryName(spec.halos[x]->low), boundaryName(spec.halos[x]->high)));
  const auto isByChannel = [](const auto& other) { return other && !other->bands.empty(); };
  if (x == kChannelDim && std::ranges::any_of(spec.halos, isByChannel))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("boundary modes differ by channel, but dimension {} of [{}] has the "
                            "longitudes and no channels",
                            x, fmt::join(spec.shape, ",")));
  checkPoles(halo, spec.shape[dim], spec.shape[x], fmt::format("dimension {}", dim));
}

} // namespace

void completePoles(LayoutSpec& spec) {
  for (int d = 0; d < static_cast<int>(spec.shape.size()); ++d)
    if (auto& halo = spec.halos[d]; halo && halo->hasPole())
      completePoles(spec, d);
    else if (halo)
      halo->longitudes = -1;
}

bool Halo::hasPole() const {
  return isPole(low) || isPole(high) || std::ranges::any_of(bands, [](const ModeBand& band) {
           return isPole(band.low) || isPole(band.high);
         });
}

void checkPoles(const Halo& halo, Index rows, Index longitudes, const std::string& where) {
  const auto isOn = [](Boundary mode) {
    return mode == Boundary::PolePoint || mode == Boundary::PolePointVector;
  };
  if (longitudes % 2 != 0)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} needs an even number of longitudes, not {}: beyond the pole, {} "
                            "continues on the opposite meridian",
                            boundaryName(isPole(halo.low) ? halo.low : halo.high), longitudes,
                            where));
  if (rows == 1 && isOn(halo.low) && isOn(halo.high))
    throw Error(TENON_ERR_SHAPE,
                fmt::format("pole_point needs a row at each pole, but {} has one row", where));
}

bool Layout::hasPole(bool isPartial) const noexcept {
  return std::ranges::any_of(data_->margins, [&](const auto& m) {
    return m->halo && m->halo->isPartial == isPartial && m->halo->hasPole();
  });
}

Layout Layout::withPoleTerm(bool crossed) const {
  Data data = *data_;
  for (const MarginPtr& margin : data_->margins) {
    if (!margin->halo || !margin->halo->hasPole())
      continue;
    Halo rows = *margin->halo;
    rows.crossed = crossed;
    data.margins[&margin - data_->margins.data()] = shared(Margin(std::move(rows)));
    if (!crossed)
      continue;
    // The rows of the crossed term are copied from the opposite meridian: the longitudes get a
    // shift, with the boxes of their own halo if they have one, and otherwise with the owned parts.
    const int x = margin->halo->longitudes;
    Halo columns{.boxes = {},
                 .low = Boundary::Periodic,
                 .high = Boundary::Periodic,
                 .isPartial = margin->halo->isPartial};
    for (int part = 0; part < parts(x); ++part)
      columns.boxes.push_back(owned(x, part));
    if (halo(x))
      columns = *halo(x);
    columns.shift = shape()[x] / 2;
    data.margins[x] = shared(Margin(std::move(columns)));
  }
  return Layout(std::make_shared<const Data>(std::move(data)));
}

} // namespace tenon
