// SPDX-License-Identifier: BSD-2-Clause
// The common part of types with spherical harmonic transforms (transform.hpp): checks of shapes,
// whose messages name the numbers that do not fit, and the kernels of the four steps, which call
// kernels/sphere on this rank's arrays. All of them are linear and save nothing.
#include "declaration/sphere/transform.hpp"

#include "declaration/core/windowed.hpp"
#include "kernels/sphere/circles.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// Operations of a fast Fourier transform of each line of a box of a field, as a whole number for
// each line, so sums in any order are equal.
double circleFlops(const Box& field, Index columns) {
  const double lines = double(elements(field)) / double(std::max<Index>(field[3].size(), 1));
  return lines * std::round(2.5 * double(columns) * std::log2(double(columns)));
}

SphereBlock blockOf(const Box& circles, const Box& coefficients) {
  return {circles[2].begin,  circles[2].size(),     circles[3].begin,
          circles[3].size(), coefficients[3].begin, coefficients[3].size()};
}

// Between this rank's columns of circles and their orders.
template <class T>
class LocalCircles final : public LinearKernel {
public:
  LocalCircles(const KernelPlace& at, bool isSynthesis, const Layout& field, const Layout& circles)
      : isSynthesis_(isSynthesis) {
    const Box columns = field.boxOfRank(at.rank), orders = circles.boxOfRank(at.rank);
    lines_ = columns[0].size() * columns[1].size() * columns[2].size();
    flops_ = circleFlops(columns, field.shape()[3]);
    fourier_ = std::make_unique<CircleFourier<T>>(
        at.context, at.backend,
        FourierDim{field.shape()[3], columns[3].begin, columns[3].size(), circles.shape()[3]},
        orders[3].begin, orders[3].size(), lines_);
  }
  void map(const LocalArray& x, LocalArray& y) override { run(isSynthesis_, x, y); }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override { run(!isSynthesis_, dy, dx); }
  std::string describe() const override {
    return std::string("circles: ") + (lines_ > 0 ? fourier_->method() : "none");
  }

private:
  void run(bool toColumns, const LocalArray& from, LocalArray& to) {
    if (toColumns)
      fourier_->toColumns(lines_, from.data<T>(), to.mutableData<T>());
    else
      fourier_->toOrders(lines_, from.data<T>(), to.mutableData<T>());
    logFlops(flops_);
  }

  bool isSynthesis_;
  Index lines_;
  double flops_;
  std::unique_ptr<CircleFourier<T>> fourier_;
};

// Between this rank's rows of circles and their degrees: the sums of scalars and those of vectors.
template <class T>
class LocalLegendre final : public LinearKernel {
public:
  using Parts = std::vector<std::unique_ptr<SphereLegendre<T>>>;
  LocalLegendre(bool isSynthesis, Parts parts, double flops)
      : isSynthesis_(isSynthesis), parts_(std::move(parts)), flops_(flops) {}
  void map(const LocalArray& x, LocalArray& y) override { run(isSynthesis_, x, y); }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override { run(!isSynthesis_, dy, dx); }
  std::string describe() const override { return "Legendre functions, computed at each use"; }
  Index bytes() const override {
    Index sum = 0;
    for (const auto& part : parts_)
      sum += part->bytes();
    return sum;
  }

private:
  void run(bool toRows, const LocalArray& from, LocalArray& to) {
    for (const auto& part : parts_)
      if (toRows)
        part->toRows(from.data<T>(), to.mutableData<T>());
      else
        part->toDegrees(from.data<T>(), to.mutableData<T>());
    logFlops(flops_);
  }

  bool isSynthesis_;
  Parts parts_;
  double flops_;
};

} // namespace

std::unique_ptr<ArrayKernel> SphereDeclaration::makeKernel(const KernelPlace& at) const {
  const Layout &from = at.reads(), &to = at.writes();
  if (at.name() == "fourier" || at.name() == "inverse") {
    const bool isSynthesis = at.name() == "inverse";
    return makeTyped<LocalCircles>(at.type, at, isSynthesis, isSynthesis ? to : from,
                                   isSynthesis ? from : to);
  }
  if (at.name() == "legendre" || at.name() == "synthesis")
    return visitFloating(
        at.type, [&]<class T>(T) { return legendreKernel<T>(at, at.name() == "synthesis"); });
  return nullptr;
}

template <class T>
std::unique_ptr<ArrayKernel> SphereDeclaration::legendreKernel(const KernelPlace& at,
                                                               bool isSynthesis) const {
  const Layout &circles = isSynthesis ? at.writes() : at.reads(),
               &coefficients = isSynthesis ? at.reads() : at.writes();
  const Box rows = circles.boxOfRank(at.rank);
  const SphereBlock block = blockOf(rows, coefficients.boxOfRank(at.rank));
  SphereTable table = isSynthesis ? tableOf(true, at.form.output.shape(), gridOfOutput())
                                  : tableOf(false, at.form.uses.front().shape(), text("grid"));
  SphereFields ofVectors{rows[0].size(), rows[1].size(), vectors(circles.shape()[kChannelDim])},
      ofScalars{rows[0].size(), rows[1].size(), {}};
  for (Index channel = 0; channel < ofScalars.channels; ++channel)
    if (std::ranges::find(ofVectors.chosen, channel) == ofVectors.chosen.end())
      ofScalars.chosen.push_back(channel);
  const double flops = legendreFlops(table, block, ofScalars.count()) +
                       2 * legendreFlops(table, block, ofVectors.count());
  typename LocalLegendre<T>::Parts parts;
  const auto add = [&](SphereFields fields) {
    if (!fields.chosen.empty())
      parts.push_back(std::make_unique<SphereLegendre<T>>(at.context, at.backend, table, block,
                                                          std::move(fields)));
  };
  add(std::move(ofScalars));
  if (!ofVectors.chosen.empty())
    table.vectors = {.isDivVort = text("vector_output") == "div_vort",
                     .isNorthward = text("vector_direction") == "north",
                     .radius = real("radius")};
  add(std::move(ofVectors));
  return std::make_unique<LocalLegendre<T>>(isSynthesis, std::move(parts), flops);
}

std::vector<Index> SphereDeclaration::vectors(Index channels) const {
  const std::vector<int> chosen = vectorChannels(*this, channels, /*spatialRank=*/2);
  return {chosen.begin(), chosen.end()};
}

SphereTable SphereDeclaration::tableOf(bool isSynthesis, const Shape& field,
                                       const std::string& grid) const {
  return {.rows = field[2],
          .columns = field[3],
          .degrees = degrees(),
          .orders = orders(),
          .grid = sphereGridNamed(grid),
          .isSynthesis = isSynthesis,
          .isSchmidt = text("norm") == "schmidt",
          .hasSign = flag("sign"),
          .southFirst = text("first_row") == "south",
          .isFull = !isSynthesis && isFull(grid)};
}

bool SphereDeclaration::isFull(const std::string& grid) const {
  return grid != "gauss" && text("quadrature") != "plain";
}

void SphereDeclaration::checkField(const Shape& field, const std::string& grid,
                                   bool isAnalysed) const {
  checkSphereField(*this, field, grid);
  const Index rows = field[2], columns = field[3], L = degrees(), M = orders();
  if (M > L)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has orders {} > degrees {}; set orders to at most {}, or to 0",
                            title(), M, L, L));
  const Index most = isAnalysed && grid == "poles" && isFull(grid) ? rows - 1 : rows;
  if (L > most)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has degrees {} on {} rows of the grid '{}': at most {}; set fewer "
                            "degrees, or give a finer field",
                            title(), L, rows, grid, most));
  if (M > columns / 2 + 1 || columns == 0)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has orders {} > columns / 2 + 1 = {} for {} columns of longitude; "
                            "set fewer orders, or give a finer field",
                            title(), M, columns / 2 + 1, columns));
}

void SphereDeclaration::checkCoefficients(const Shape& c) const {
  if (c.size() != 5 || c[4] != 2)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the coefficients have shape [{}], but {} needs [batch, channel, "
                            "orders, degrees, 2], with real and imaginary part last",
                            fmt::join(c, ","), title()));
  if (c[2] != orders() || c[3] != degrees())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the coefficients have {} orders and {} degrees, {} sets {} and {}; "
                            "set orders and degrees to theirs",
                            c[2], c[3], title(), orders(), degrees()));
}

std::string SphereDeclaration::truncation() const {
  return fmt::format("{} degrees, {} orders, {}", degrees(), orders(), text("grid"));
}

double SphereDeclaration::flopsOf(const SphereTable& table, const Layout& field,
                                  const Layout& circles, const Layout& coefficients,
                                  int position) const {
  const Box rows = circles.box(position);
  const auto components = static_cast<Index>(vectors(circles.shape()[kChannelDim]).size());
  return circleFlops(field.box(position), table.columns) +
         legendreFlops(table, blockOf(rows, coefficients.box(position)),
                       rows[0].size() * (rows[1].size() + components));
}

ValueId convertedTo(MapList& list, const char* name, ValueId v, const Layout& to) {
  return haveSameMemory(list.values()[v].layout, to) ? v : list.convert(name, v, to);
}

Properties replaced(Properties properties, Property from, Property to) {
  std::ranges::replace(properties, from, to);
  return properties;
}

} // namespace tenon
