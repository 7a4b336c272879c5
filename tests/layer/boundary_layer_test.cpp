// SPDX-License-Identifier: BSD-2-Clause
// Convolution and pooling with every boundary mode, in random windows and layouts. The independent
// value is a kernel without boundary modes, applied in one process to an input that PaddedInput
// (padded_reference.hpp) pads by global index. Compared are forward, tangent and adjoint. Boundary
// values of the caller are a second input (a tensor, or one number for all cells) or a setting.
#include "dtensor/measure.hpp"
#include "padded_reference.hpp"
#include "support/draws.hpp"

#include <algorithm>
#include <limits>
#include <mpi.h>

namespace tenon {
namespace {

using test::expectNear;
using test::fillValid;
using test::gathered;
using test::LayoutDraw;
using test::PaddedInput;
using test::tensor;
using test::world;
using Values = std::vector<double>;

constexpr Index kChannels = 2, kOutputs = 3;

// A convolution, or the poolings in the order of PoolingMode (see Config::pooling()).
enum class Kind { Convolution, Max, AverageIncludePad, AverageExcludePad };
enum class Supply { Tensor, Number, Constant }; // how the caller passes boundary values
constexpr double kConstant = -0.75;

// A convolution or pooling with its input shape, windows with boundary modes, and settings.
struct Config {
  Kind kind;
  Shape input;
  std::vector<Window> windows;
  Supply supply;
  bool overlap = false; // whether computation overlaps with the halo exchange, if the layer can

  bool hasValues() const { return std::ranges::any_of(windows, hasUserMode); }
  bool hasSecondInput() const { return hasValues() && supply != Supply::Constant; }
  Shape output() const {
    Shape shape = {input[0], kind == Kind::Convolution ? kOutputs : input[1]};
    for (std::size_t s = 0; s < windows.size(); ++s)
      shape.push_back(windowOutput(windows[s], input[s + 2], static_cast<int>(s)));
    return shape;
  }
  Ref<Layer> make() const {
    Ref<Layer> layer;
    if (kind == Kind::Convolution)
      layer = test::newConv(world(), kChannels, kOutputs, windows);
    else
      layer = test::newPooling(world(), pooling(), windows);
    if (supply == Supply::Constant)
      layer->set("boundary_constant", double(kConstant));
    return layer;
  }
  PoolingMode pooling() const { return static_cast<PoolingMode>(static_cast<int>(kind) - 1); }
};

// A random window with boundary modes for a dimension of this extent.
Window drawWindow(LayoutDraw& draw, Index extent) {
  Window w{.kernel = draw.between(1, 4), .stride = draw.between(1, 3)};
  w.dilation = draw.chance(70) ? 1 : 2;
  const int most = draw.chance(70) ? 2 : static_cast<int>(extent) + 4;
  w.padLow = draw.between(-1, most);
  w.padHigh = draw.between(-1, most);
  const auto extension = [&] { return kExtensions[draw.upTo(kExtensionCount - 1)]; };
  w.lowMode = extension();
  w.highMode = draw.chance(50) ? w.lowMode : extension();
  return w;
}

// Whether the output has elements, and every window reads at least one cell.
bool isSound(const Window& w, Index extent) {
  Index outputs = 0;
  try {
    outputs = windowOutput(w, extent, 0);
  } catch (const Error&) {
    return false;
  }
  const Interval box = windowBox(w, extent, {0, outputs});
  for (Index o = 0; o < outputs; ++o) {
    bool reads = false;
    for (Index t = 0; t < w.kernel; ++t) {
      const Index cell = o * w.stride - w.padLow + t * w.dilation;
      reads |= cell >= box.begin && cell < box.end;
    }
    if (!reads)
      return false;
  }
  // Negative paddings remove elements of the input; some must remain.
  return extent + std::min<Index>(w.padLow, 0) + std::min<Index>(w.padHigh, 0) > 0;
}

// Makes a globe of some windows: poles in one dimension, periodic longitudes in another one. The
// library wants longitudes to be the only periodic dimension, and an even number of them, since
// rows continue beyond a pole on the opposite meridian; two rows are enough for every mode of
// poles.
void drawPoles(LayoutDraw& draw, Config& config) {
  const int spatial = static_cast<int>(config.windows.size());
  if (spatial < 2 || draw.chance(50))
    return;
  Config globe = config;
  const int y = draw.upTo(spatial - 1), x = (y + draw.between(1, spatial - 1)) % spatial;
  for (Window& w : globe.windows)
    if (w.lowMode == Boundary::Periodic)
      w.lowMode = Boundary::Zero;
  globe.input[x + 2] += globe.input[x + 2] % 2;
  globe.input[y + 2] = std::max<Index>(globe.input[y + 2], 2);
  Window& rows = globe.windows[y];
  rows.longitudes = x;
  const auto pole = [&] {
    return static_cast<Boundary>(draw.between(int(Boundary::Pole), int(Boundary::PolePointVector)));
  };
  rows.lowMode = pole();
  rows.highMode = draw.chance(70) ? pole() : rows.highMode;
  globe.windows[x].lowMode = globe.windows[x].highMode = Boundary::Periodic;
  for (int s = 0; s < spatial; ++s)
    if (!isSound(globe.windows[s], globe.input[s + 2]))
      return;
  config = globe;
}

// Random modes for each channel. A pooling has a mode on a side of all channels or of none.
void drawModesByChannel(LayoutDraw& draw, Config& config) {
  std::vector<bool> areLongitudes(config.windows.size(), false);
  for (const Window& w : config.windows)
    if (w.longitudes >= 0)
      areLongitudes[w.longitudes] = true;
  for (std::size_t s = 0; s < config.windows.size(); ++s) {
    Window& w = config.windows[s];
    // Channel 0 keeps the modes that were drawn; those of the channels behind it are drawn below.
    w.bands = {{.end = 1, .low = w.lowMode, .high = w.highMode},
               {.end = kChannels, .low = w.lowMode, .high = w.highMode}};
    for (Boundary ModeBand::*side : {&ModeBand::low, &ModeBand::high}) {
      const bool mayHaveNone = config.kind == Kind::Convolution;
      Boundary& mode = w.bands.back().*side;
      if (areLongitudes[s])
        continue;
      if (isPole(mode) && draw.chance(60))
        mode = vectorMode(mode);
      else if (mayHaveNone || mode != Boundary::None)
        mode = kExtensions[draw.between(mayHaveNone ? 0 : 1, kExtensionCount - 1)];
    }
  }
}

Config drawConfig(LayoutDraw& draw) {
  Config config{.kind = static_cast<Kind>(draw.upTo(3)),
                .input = {draw.between(1, 3), kChannels},
                .windows = {},
                .supply = static_cast<Supply>(draw.upTo(2))};
  const int spatial = draw.chance(10) ? 3 : draw.between(1, 2);
  const bool pooling = config.kind != Kind::Convolution, ceil = pooling && draw.chance(40);
  while (static_cast<int>(config.windows.size()) < spatial) {
    const Index extent = draw.chance(15) ? 1 : draw.between(2, spatial == 3 ? 4 : 8);
    Window w = drawWindow(draw, extent);
    w.ceil = ceil;
    if (!isSound(w, extent))
      continue;
    config.windows.push_back(w);
    config.input.push_back(extent);
  }
  drawPoles(draw, config);
  if (draw.chance(40))
    drawModesByChannel(draw, config);
  config.overlap = config.kind == Kind::Convolution && draw.chance(50);
  return config;
}

// The results of the reference, for the whole problem in double precision.
struct Reference {
  Values y, tangent;
  Values dx;     // cotangent of the input
  Values dv;     // cotangent of the boundary values, as a padded array
  Values dw, db; // gradients of a convolution's parameters
};

// The reference results of a convolution, from the padded arrays x and direction.
Reference convolve(const Config& config, const PaddedInput& padded, const Values& x,
                   const Values& direction, const Values& dy, const Values& w, const Values& b) {
  const Shape out = config.output();
  const auto kernel = makeConvolution<double>({.batch = config.input[0],
                                               .inChannels = kChannels,
                                               .outChannels = kOutputs,
                                               .window = padded.window(out)},
                                              Backend::Reference);
  Reference r;
  r.y.resize(elements(out));
  r.tangent.resize(elements(out));
  r.dw.resize(w.size());
  r.db.resize(b.size());
  Values dPadded(x.size());
  kernel->forward(x.data(), w.data(), b.data(), r.y.data(), false);
  kernel->forward(direction.data(), w.data(), nullptr, r.tangent.data(), false);
  kernel->adjointData(w.data(), dy.data(), dPadded.data());
  kernel->adjointWeights(x.data(), dy.data(), r.dw.data(), r.db.data());
  r.dx = padded.fold(dPadded, r.dv);
  return r;
}

// The reference results of a pooling.
Reference pool(const Config& config, const PaddedInput& padded, const Values& x,
               const Values& direction, const Values& dy) {
  const Shape out = config.output();
  const auto kernel = makePooling<double>({.planes = config.input[0] * kChannels,
                                           .window = padded.window(out),
                                           .mode = config.pooling()},
                                          Backend::Reference);
  Reference r;
  r.y.resize(elements(out));
  r.tangent.resize(elements(out));
  Values dPadded(x.size());
  std::vector<char> workspace(kernel->workspaceBytes());
  kernel->forward(x.data(), r.y.data(), workspace.data());
  kernel->tangent(direction.data(), workspace.data(), r.tangent.data());
  kernel->adjoint(dy.data(), workspace.data(), dPadded.data());
  r.dx = padded.fold(dPadded, r.dv);
  return r;
}

// A second input of boundary values, and the same values as a padded array. A tensor has values in
// the cells that the caller supplies; all other cells hold `elsewhere`, which must not matter. If
// the layout has partial sums, the ranks' contributions are unequal shares of each value.
struct SecondInput {
  Ref<DTensor> v;
  Values padded;
};

// The fraction of a value that a rank's contribution has in a layout with partial sums.
double shareOf(const Layout& layout, int position) {
  double share = 1;
  for (int axis = 0; axis < layout.grid().axes(); ++axis) {
    if (!layout.property(axis).isPartial())
      continue;
    const int n = layout.grid().extent(axis), c = layout.grid().coordinate(position, axis);
    share *= c > 0 ? 0.5 * c : 1 - 0.25 * n * (n - 1); // the shares sum to one
  }
  return share;
}

// Boundary values as a tensor in the layout of the input with halo.
SecondInput tensorInput(const PaddedInput& padded, const Layout& layout, unsigned seed,
                        double elsewhere, TenonDataType type) {
  SecondInput made{tensor(layout, type),
                   Values(static_cast<std::size_t>(elements(padded.extent())))};
  std::mt19937 engine(seed);
  for (double& value : made.padded)
    value = std::uniform_int_distribution<int>(-64, 64)(engine) / 64.0;
  std::vector<bool> callers(made.padded.size());
  padded.forEachCell([&](Index i, test::CellValue::Kind kind, Index, int) {
    callers[i] = kind == test::CellValue::User;
  });
  const int ownPosition = layout.grid().position(world()->rank());
  const Box held = layout.box(ownPosition);
  visitFloating(type, [&]<class T>(T) {
    T* cell = made.v->mutableData<T>();
    test::forEach(extents(held), [&](std::vector<Index> index) {
      bool inPadded = true;
      for (std::size_t d = 0; d < index.size(); ++d) {
        index[d] += held[d].begin;
        inPadded &= padded.covers(d, index[d]);
      }
      const bool isUserSupplied = inPadded && callers[padded.at(index)];
      *cell++ = static_cast<T>(isUserSupplied
                                   ? made.padded[padded.at(index)] * shareOf(layout, ownPosition)
                                   : elsewhere);
    });
  });
  return made;
}

// Boundary values as one number.
SecondInput numberInput(const PaddedInput& padded, const Layout& layout, unsigned seed,
                        TenonDataType type) {
  SecondInput made{tensor(layout, type), {}};
  fillValid(*made.v, seed);
  made.padded.assign(static_cast<std::size_t>(elements(padded.extent())), gathered(*made.v).at(0));
  return made;
}

// The cotangent of the boundary values as a padded array: the sum over ranks, in which one copy of
// each element counts. It must be zero in cells that are not the caller's.
Values paddedSum(const PaddedInput& padded, const DTensor& dv) {
  const Layout& layout = dv.layout();
  const int ownPosition = layout.grid().position(world()->rank());
  bool counts = layout.isHolder(ownPosition);
  for (int axis = 0; counts && axis < layout.grid().axes(); ++axis)
    counts =
        !layout.property(axis).isBroadcast() || layout.grid().coordinate(ownPosition, axis) == 0;
  Values sum(static_cast<std::size_t>(elements(padded.extent())), 0), local = test::localCells(dv);
  const Box held = layout.box(ownPosition);
  std::size_t n = 0;
  test::forEach(extents(held), [&](std::vector<Index> index) {
    bool inPadded = true;
    for (std::size_t d = 0; d < index.size(); ++d) {
      index[d] += held[d].begin;
      inPadded &= padded.covers(d, index[d]);
    }
    if (inPadded)
      sum[padded.at(index)] += counts ? local[n] : 0;
    else
      EXPECT_EQ(local[n], 0);
    ++n;
  });
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), static_cast<int>(sum.size()), MPI_DOUBLE, MPI_SUM,
                world()->mpi());
  return sum;
}

// The boundary values of this configuration in their layout: a tensor or one number.
SecondInput secondInput(const Config& config, const PaddedInput& padded, const Layout& layout,
                        unsigned seed, double elsewhere, TenonDataType type) {
  return config.supply == Supply::Tensor ? tensorInput(padded, layout, seed, elsewhere, type)
                                         : numberInput(padded, layout, seed, type);
}

// Requests the overlap; if the layer refuses it with an expected error, sets it up without.
void setUpOverlapped(const Config& config, Layer& layer, const Layouts& inputs) {
  layer.setText("overlap", "on");
  try {
    layer.setUp(inputs);
  } catch (const Error& error) {
    ASSERT_EQ(error.code(), TENON_ERR_SUPPORT) << error.text();
    const char* reason = config.hasValues() ? "boundary mode \"values\"" : "more than a halo";
    EXPECT_TRUE(error.text().find(reason) != std::string::npos ||
                error.text().find("more than a halo") != std::string::npos)
        << error.text();
    layer.setText("overlap", "off");
    layer.setUp(inputs);
  }
}

// One step of a layer, with boundary values: Apply at x and v, tangent in a direction, adjoint.
struct BoundaryStep {
  Ref<Layer> layer;
  PaddedInput padded;
  Ref<DTensor> x, direction, dx, y, tangent, dy, dv;
  SecondInput v, vDirection;

  // `numberLayout` is that of the second input if this is one number.
  BoundaryStep(const Config& config, const Layout& input, const Layout& numberLayout,
               TenonDataType type)
      : layer(config.make()), padded(config.input, config.windows) {
    layer->setDataType(type);
    Layouts inputs = {input};
    if (config.hasSecondInput())
      inputs.push_back(config.supply == Supply::Tensor ? layer->form({input}).uses.front()
                                                       : numberLayout);
    if (config.overlap)
      setUpOverlapped(config, *layer, inputs);
    else
      layer->setUp(inputs);
    test::fillParameters(*layer);
    x = tensor(input, type);
    direction = tensor(input, type);
    dx = tensor(input.dual(), type);
    y = tensor(layer->outputLayout(), type);
    tangent = tensor(layer->outputLayout(), type);
    dy = tensor(layer->outputLayout().dual(), type);
    // Cells that no window may read: NaN in the values would show in every result, and a finite
    // number in the direction shows in the tangent.
    constexpr double kUnread = std::numeric_limits<double>::quiet_NaN(), kUnreadDirection = 5;
    const Values nothing(static_cast<std::size_t>(elements(padded.extent())), 0);
    v.padded = Values(nothing.size(), kConstant);
    vDirection.padded = nothing;
    if (inputs.size() > 1) {
      v = secondInput(config, padded, inputs[1], 7, kUnread, type);
      vDirection = secondInput(config, padded, inputs[1], 8, kUnreadDirection, type);
      dv = tensor(inputs[1].dual(), type);
    }
    fillValid(*x, 1);
    fillValid(*direction, 2);
    fillValid(*dy, 3);
  }

  void run() {
    const DTensor *at[] = {x.get(), v.v.get()}, *along[] = {direction.get(), vDirection.v.get()};
    DTensor* cotangents[] = {dx.get(), dv.get()};
    const std::size_t count = dv ? 2 : 1;
    layer->apply(Inputs(at, count), *y);
    layer->applyTangent(Inputs(along, count), *tangent);
    layer->applyAdjoint(*dy, InputCotangents(cotangents, count));
  }
};

// The reference for the values that a step has used, gathered from all ranks.
Reference referenceOf(const Config& config, const BoundaryStep& step) {
  const Values x = step.padded.pad(gathered(*step.x), step.v.padded),
               direction = step.padded.pad(gathered(*step.direction), step.vDirection.padded);
  const Values dy = gathered(*step.dy);
  if (config.kind != Kind::Convolution)
    return pool(config, step.padded, x, direction, dy);
  const auto parameters = step.layer->parameters();
  return convolve(config, step.padded, x, direction, dy, gathered(parameters[0]->value()),
                  gathered(parameters[1]->value()));
}

// Compares the cotangent of the boundary values with `want`, a padded array; that of one number is
// the sum over all cells that it fills.
void expectSecondCotangent(const Config& config, const BoundaryStep& step, const Values& want,
                           double tolerance, const std::string& what) {
  if (config.supply == Supply::Tensor)
    return expectNear(paddedSum(step.padded, *step.dv), want, tolerance, what);
  double sum = 0;
  for (double cell : want)
    sum += cell;
  expectNear(gathered(*step.dv), {sum}, tolerance, what);
}

// Runs a random step of this configuration and compares all its results with the reference.
void expectEqualToPadding(const Config& config, LayoutDraw& draw, TenonDataType type,
                          double tolerance) {
  const Layout input = test::drawInput(draw, config.input);
  const Layout numberLayout = test::drawInput(draw, {1});
  BoundaryStep step(config, input, numberLayout, type);
  step.run();
  const Reference want = referenceOf(config, step);
  const std::string what = " of " + step.layer->describe();
  ASSERT_NO_FATAL_FAILURE(expectNear(gathered(*step.y), want.y, tolerance, "output" + what));
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(*step.tangent), want.tangent, tolerance, "tangent" + what));
  ASSERT_NO_FATAL_FAILURE(
      expectNear(gathered(*step.dx), want.dx, tolerance, "input gradient" + what));
  if (step.dv) {
    ASSERT_NO_FATAL_FAILURE(
        expectSecondCotangent(config, step, want.dv, tolerance, "boundary gradient" + what));
  }
  if (config.kind == Kind::Convolution) {
    const auto p = step.layer->parameters();
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(p[0]->gradient()), want.dw, tolerance, what));
    ASSERT_NO_FATAL_FAILURE(expectNear(gathered(p[1]->gradient()), want.db, tolerance, what));
  }
  if (type == TENON_FLOAT64) {
    const double left = pairing(*step.tangent, *step.dy);
    const double right =
        pairing(*step.direction, *step.dx) + (step.dv ? pairing(*step.vDirection.v, *step.dv) : 0);
    const double scale = rawNorm(*step.tangent) * rawNorm(*step.dy) +
                         rawNorm(*step.direction) * rawNorm(*step.dx) +
                         (step.dv ? rawNorm(*step.vDirection.v) * rawNorm(*step.dv) : 0);
    ASSERT_LE(std::abs(left - right), 1e-13 * scale + 1e-300) << what;
  }
}

TEST(BoundaryLayer, EqualsPaddingByGlobalIndexInFloat64) {
  LayoutDraw draw(41);
  for (int i = 0, end = test::draws(200); i < end; ++i)
    ASSERT_NO_FATAL_FAILURE(expectEqualToPadding(drawConfig(draw), draw, TENON_FLOAT64, 1e-12));
}

TEST(BoundaryLayer, EqualsPaddingByGlobalIndexInFloat32) {
  LayoutDraw draw(42);
  for (int i = 0, end = test::draws(60); i < end; ++i)
    ASSERT_NO_FATAL_FAILURE(expectEqualToPadding(drawConfig(draw), draw, TENON_FLOAT32, 3e-5));
}

} // namespace
} // namespace tenon
