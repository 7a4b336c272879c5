// SPDX-License-Identifier: BSD-2-Clause
// ONNX operator: Resize. The extents of the result are inputs, or follow from factors. Output i of
// a dimension is at a place of the input, which the attribute coordinate_transformation_mode says;
// the most common one, half_pixel, is (i + 1/2) / factor - 1/2. `mode` says how the elements near
// this place are weighed. The table of this operator is declared in operator_rows.hpp.
//
// The cases that are Tenon's layer `resample` (nearest and linear, of space) become this layer. All
// others, such as cubic ones, are products with a fixed matrix along each dimension
// (ModelBuilder::interpolated()).
#include "import/onnx/operator_rows.hpp"

#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// Output extents of a Resize, and the factors of all dimensions. `isExact`: extents are the exact
// products with the factors, so the spacing of outputs is known.
struct ResizedShape {
  Shape shape;
  std::vector<double> factors;
  bool isExact = true;
};
// Resizes all dimensions by one factor p / q of the requested factors sizes[i] / n: the smallest
// (none becomes larger than its size) or the largest (none becomes smaller).
void keepAspectRatio(const OnnxCall& c, bool isSmallest, const std::vector<int>& axes,
                     const std::vector<Index>& sizes, ResizedShape& result) {
  constexpr Index kMax = Index(1) << 30;
  Index p = 0, q = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Index n = c.x()->shape[static_cast<std::size_t>(axes[i])];
    c.b.check(n >= 1 && n <= kMax && sizes[i] >= 1 && sizes[i] <= kMax, "a size is out of range");
    const bool isLess = sizes[i] * q < p * n; // sizes[i] / n < p / q
    if (i == 0 || isLess == isSmallest) {
      p = sizes[i];
      q = n;
    }
  }
  for (const int d : axes) {
    Index& extent = result.shape[static_cast<std::size_t>(d)];
    result.isExact = result.isExact && p * extent % q == 0;
    // Round to the nearest integer, halves up.
    extent = (2 * p * extent + q) / (2 * q);
    result.factors[static_cast<std::size_t>(d)] = static_cast<double>(p) / static_cast<double>(q);
  }
}
// The dimensions that are resized, in the order of the lists of sizes and factors.
std::vector<int> axesOf(const OnnxCall& c) {
  const Value x = c.x();
  std::vector<int> axes;
  for (const Index d : c.operands.integers("axes", {}))
    axes.push_back(c.b.dimension(d, x->ndim()));
  if (!c.operands.has("axes")) {
    axes.resize(x->shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::size_t i = 0; i < axes.size(); ++i)
    c.b.check(std::count(axes.begin(), axes.end(), axes[i]) == 1, "its axes name one twice");
  return axes;
}
// Returns the output extents by the inputs "sizes" or "scales" of a Resize.
ResizedShape resizedShape(const OnnxCall& c, const std::vector<int>& axes) {
  const Value x = c.x();
  ResizedShape result = {x->shape, std::vector<double>(x->shape.size(), 1)};
  const auto isPresent = [&](std::size_t place) {
    return c.at(place) && elements(c.at(place)->shape) > 0;
  };
  if (isPresent(3)) {
    const std::vector<Index> sizes = c.integersAt(3, "a size");
    c.b.check(sizes.size() == axes.size(), "it has another number of sizes than of dimensions");
    const std::string policy = c.operands.text("keep_aspect_ratio_policy", "stretch");
    c.b.check(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
              "its keep_aspect_ratio_policy is not known");
    if (policy != "stretch")
      keepAspectRatio(c, policy == "not_larger", axes, sizes, result);
    for (std::size_t i = 0; policy == "stretch" && i < axes.size(); ++i) {
      const auto d = static_cast<std::size_t>(axes[i]);
      c.b.check(x->shape[d] >= 1 && sizes[i] >= 0, "a size is out of range");
      result.shape[d] = sizes[i];
      result.factors[d] = static_cast<double>(sizes[i]) / static_cast<double>(x->shape[d]);
    }
    return result;
  }
  c.b.check(isPresent(2), "it has neither sizes nor factors");
  const std::vector<double> factors = c.b.numbersOf(c.at(2), "a factor").numbers();
  c.b.check(factors.size() == axes.size(), "it has another number of factors than of dimensions");
  for (std::size_t i = 0; i < factors.size(); ++i) {
    c.b.check(factors[i] > 0 && factors[i] < 1e6, "a factor is out of range");
    const auto d = static_cast<std::size_t>(axes[i]);
    const double scaled = static_cast<double>(x->shape[d]) * factors[i];
    result.shape[d] = static_cast<Index>(std::floor(scaled));
    result.factors[d] = factors[i];
    result.isExact = result.isExact && scaled == std::floor(scaled);
  }
  return result;
}

// One dimension: n elements become m, by this factor, of which n * factor is the exact product.
struct Line {
  Index n, m;
  double factor;
  double first = 0, last = 1; // the part of the input that tf_crop_and_resize reads
  double width() const { return static_cast<double>(n) * factor; }
};

// The place of output i in units of the input's elements; NaN for a mode that is not known.
double placeOf(const std::string& mode, const Line& line, Index i) {
  const auto x = static_cast<double>(i), n = static_cast<double>(line.n);
  const double halfPixel = (x + 0.5) / line.factor - 0.5;
  const bool isOne = line.m == 1;
  if (mode == "half_pixel")
    return halfPixel;
  if (mode == "pytorch_half_pixel")
    return isOne ? -0.5 : halfPixel;
  if (mode == "half_pixel_symmetric") // keeps the centre, if the extent was rounded
    return n / 2 * (1 - static_cast<double>(line.m) / line.width()) + halfPixel;
  if (mode == "align_corners")
    return isOne ? 0 : x * (n - 1) / static_cast<double>(line.m - 1);
  if (mode == "asymmetric")
    return x / line.factor;
  const double part = line.last - line.first;
  if (mode == "tf_crop_and_resize")
    return line.first * (n - 1) +
           (isOne ? part * (n - 1) / 2 : x * part * (n - 1) / static_cast<double>(line.m - 1));
  return std::numeric_limits<double>::quiet_NaN();
}
double nearestTo(const std::string& rounding, double place) {
  return rounding == "floor"               ? std::floor(place)
         : rounding == "ceil"              ? std::ceil(place)
         : rounding == "round_prefer_ceil" ? std::floor(place + 0.5)
                                           : std::ceil(place - 0.5);
}

// The attributes of a Resize.
struct Resize {
  std::string mode, coordinates, rounding;
  bool isAntialiased, excludesOutside;
  double cubicFactor, valueOutside; // the latter of tf_crop_and_resize

  explicit Resize(const OnnxCall& c)
      : mode(c.operands.text("mode", "nearest")),
        coordinates(c.operands.text("coordinate_transformation_mode", "half_pixel")),
        rounding(c.operands.text("nearest_mode", "round_prefer_floor")),
        isAntialiased(c.operands.flag("antialias", false)),
        excludesOutside(c.operands.flag("exclude_outside", false)),
        cubicFactor(c.operands.real("cubic_coeff_a", -0.75)),
        valueOutside(c.operands.real("extrapolation_value", 0)) {
    c.b.check(mode == "nearest" || mode == "linear" || mode == "cubic", "its mode is not known");
    c.b.check(!std::isnan(placeOf(coordinates, {1, 1, 1}, 0)),
              "its coordinate_transformation_mode is not known");
    c.b.check(rounding == "floor" || rounding == "ceil" || rounding == "round_prefer_ceil" ||
                  rounding == "round_prefer_floor",
              "its nearest_mode is not known");
  }
  // Whether it is the layer `resample`, which has the elements of nearest by floor, and places by
  // half pixels or aligned corners.
  bool isLayer(const Shape& from, const ResizedShape& to) const {
    const bool isHalf = coordinates == "half_pixel" || coordinates == "pytorch_half_pixel" ||
                        coordinates == "half_pixel_symmetric";
    // A whole factor divides each element into as many, whose centres are nearest to it.
    const bool isWhole = std::ranges::all_of(
        to.factors, [](double factor) { return factor >= 1 && factor == std::floor(factor); });
    const bool isNearest =
        mode == "nearest" && ((coordinates == "asymmetric" && rounding == "floor") ||
                              (isHalf && isWhole && rounding.starts_with("round")));
    // An output of extent 1 has a different position with PyTorch's half pixels.
    const bool hasOne =
        coordinates == "pytorch_half_pixel" && std::count(to.shape.begin() + 2, to.shape.end(), 1);
    const bool isLinear = mode == "linear" && !isAntialiased && !excludesOutside &&
                          (isHalf || coordinates == "align_corners") && !hasOne;
    return from.size() >= 3 && std::equal(from.begin(), from.begin() + 2, to.shape.begin()) &&
           (isNearest || isLinear) && (to.isExact || coordinates == "align_corners");
  }
};

// Resizes one dimension by a matrix.
Value resizedAlong(const OnnxCall& c, const Resize& resize, Value x, int d, const Line& line) {
  ModelBuilder::Interpolation how = {.isCubic = resize.mode == "cubic",
                                     .cubicFactor = resize.cubicFactor,
                                     .excludesOutside = resize.excludesOutside};
  if (resize.isAntialiased && resize.mode != "nearest")
    how.spread = std::min(line.factor, 1.0);
  std::vector<double> places, outside;
  for (Index i = 0; i < line.m; ++i) {
    double place = placeOf(resize.coordinates, line, i);
    const bool isOutside = resize.coordinates == "tf_crop_and_resize" &&
                           !(place >= 0 && place <= static_cast<double>(line.n - 1));
    if (resize.mode == "nearest")
      place = nearestTo(resize.rounding, place);
    places.push_back(isOutside ? std::numeric_limits<double>::quiet_NaN() : place);
    outside.push_back(isOutside ? resize.valueOutside : 0);
  }
  return c.b.affine(c.b.interpolated(x, d, places, how), {1}, outside, d);
}

ModelValues onnxResize(const OnnxCall& c) {
  Value x = c.x();
  const std::vector<int> axes = axesOf(c);
  const ResizedShape to = resizedShape(c, axes);
  const Resize resize(c);
  if (c.isInteger(0) && resize.mode != "nearest")
    return c.refuseIntegers();
  if (resize.coordinates == "align_corners" && !to.isExact)
    // ONNX's reference and its runtimes then disagree about the places.
    return {
        c.b.refuse("a Resize with coordinate_transformation_mode align_corners by a factor that "
                   "gives no whole number of points",
                   "sizes instead of scales", to.shape)};
  if (resize.isLayer(x->shape, to))
    return {c.b.resize(x, {to.shape.begin() + 2, to.shape.end()}, resize.mode == "linear",
                       resize.coordinates == "align_corners")};
  std::vector<double> crop;
  if (resize.coordinates == "tf_crop_and_resize")
    crop = c.b.numbersOf(c.operands.neededInput(1), "a part of the input").numbers();
  c.b.check(crop.empty() || crop.size() == 2 * axes.size(), "its roi has another number of bounds");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(axes[i]);
    Line line = {x->shape[d], to.shape[d], to.factors[d]};
    if (!crop.empty()) {
      line.first = crop[i];
      line.last = crop[axes.size() + i];
    }
    if (line.factor != 1 || line.m != line.n || line.first != 0 || line.last != 1)
      x = resizedAlong(c, resize, x, axes[i], line);
  }
  return {x};
}

} // namespace

std::span<const OnnxRow> onnxResampling() {
  static constexpr OnnxRow rows[] = {
      {"Resize", onnxResize, "", 4,
       "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
       "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"}};
  return rows;
}

} // namespace tenon
