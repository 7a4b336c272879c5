// SPDX-License-Identifier: BSD-2-Clause
// Checks a layer y = f(x, parameters), of any type and with one or several inputs. Two copies of
// the layer are created: `tested` on all ranks, with random layouts, and `reference` on each
// process alone, with the reference kernels. checkLayer() sets both up, and fills parameters,
// inputs x, directions v and the cotangent dy with equal values. It applies f, the tangent J v and
// the adjoint J* dy, where J is the derivative of f by inputs and parameters, and compares all
// results. The reference is verified by the dot test <J v, dy> = <v, J* dy>: an error of both
// copies would not be found by a comparison. All ranks call the same functions and draw the same
// random numbers.
#include "tools/check/layer.hpp"

#include "tools/check/layer_step.hpp"
#include "tools/check/layout_make.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon::tools {

namespace {

// Draws the layout in which parameters are stored: "use" (as the layer uses them), "root" (on one
// rank), or one property for each axis of the grid, such as "S0,B".
std::string drawStorage(Draw& draw, int axes) {
  if (draw.chance(70))
    return draw.chance(60) ? "use" : "root";
  std::string text = draw.of<std::string>({"S0", "B", "R"});
  for (int axis = 1; axis < axes; ++axis)
    text += "," + draw.of<std::string>({"S0", "B", "R"});
  return text;
}

// Sets the signature (parallelization) of a layer: by the call or, equivalently, by an option.
void setSignature(Case& c, TenonLayer layer, const std::string& labels) {
  const bool byOption = c.draw.chance(30);
  c.text += fmt::format(" signature {}{}", labels, byOption ? " by option" : "");
  if (!byOption)
    return require(TenonLayerSetSignature(layer, labels.c_str()));
  require(TenonObjectSetOptionsPrefix(reinterpret_cast<TenonObject>(layer), "check_"));
  require(TenonOptionsSet("-tenon_check_signature", labels.c_str()));
  require(TenonObjectSetFromOptions(reinterpret_cast<TenonObject>(layer)));
}

// The backends that every type supports with both data types in this build.
const std::vector<std::string>& backends(TenonMemorySpace space) {
  static const std::vector<std::string> ofDevice{"auto", "cufft", "gemm"};
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"auto", "reference", "blas"};
    if (infoText("build").find("FFTW: none") == std::string::npos)
      names.push_back("fftw");
    return names;
  }();
  return space == TENON_MEMORY_DEVICE ? ofDevice : all;
}

// Draws how a layer is parallelized, how its parameters are stored, and which kernels it uses.
void drawSettings(Case& c, const LayerCase& plan, TenonLayer layer, const GridSpec& grid) {
  if (plan.isSigned && c.draw.chance(60))
    setSignature(c, layer, drawSignature(c.draw, layer, plan.inputs[0], grid.axes()));
  const std::string storage = drawStorage(c.draw, grid.axes());
  const std::string backend = c.draw.of(backends(c.space));
  c.text += fmt::format(" storage {} backend {};", storage, backend);
  require(TenonLayerSetStorage(layer, storage.c_str()));
  require(TenonObjectSetText(reinterpret_cast<TenonObject>(layer), "backend", backend.c_str()));
}

Field makeTarget(Case& c, const LayerCase& plan, MPI_Comm comm, const LayoutSpec& spec) {
  // A target can have any layout, and can be in a user array.
  Field target(makeLayout(comm, spec), plan.targetType, c.draw.chance(25), c.draw);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  target.write(heldOf(spec, spec.grid.positionOf(rank), plan.target));
  return target;
}

// The view of a layer before set-up: its type and its settings.
std::string settingsOf(TenonLayer layer) {
  std::string view;
  const auto keep = [](const char text[], int length, void* kept) {
    static_cast<std::string*>(kept)->append(text, static_cast<std::size_t>(length));
  };
  require(TenonSetOutputHandler(keep, &view));
  const TenonErrorCode code = TenonObjectView(reinterpret_cast<TenonObject>(layer));
  require(TenonSetOutputHandler(nullptr, nullptr));
  require(code);
  // The first line of the view is "HEADING: TYPE, SETTINGS".
  const std::size_t begin = view.find(": ") + 2;
  return view.substr(begin, view.find('\n') - begin);
}

// Creates the layer on this process alone.
LayerStep makeReference(Case& c, const LayerCase& plan, TenonDataType type) {
  std::vector<Layout> inputs;
  for (const Indices& shape : plan.inputs)
    inputs.push_back(makeLayout(MPI_COMM_SELF, everywhere(shape, 1)));
  LayerStep step(plan.make(MPI_COMM_SELF, nullptr), std::move(inputs));
  require(TenonLayerSetDataType(step.layer(), type));
  c.text += " as " + settingsOf(step.layer());
  require(TenonObjectSetText(reinterpret_cast<TenonObject>(step.layer()), "backend", "reference"));
  if (!plan.target.empty())
    step.setTarget(makeTarget(c, plan, MPI_COMM_SELF, everywhere(plan.targetShape, 1)));
  return step;
}

// Draws layouts of the inputs, all on one grid.
std::vector<LayoutSpec> drawInputs(Case& c, const LayerCase& plan) {
  const GridSpec grid = drawGrid(c.draw, c.ranks);
  std::vector<LayoutSpec> specs;
  for (const Indices& shape : plan.inputs) {
    specs.push_back(drawLayout(c.draw, shape, grid));
    c.text += " of " + specs.back().text();
  }
  return specs;
}

// Creates the layer on all ranks, for inputs of the layouts `specs`.
LayerStep makeTested(Case& c, const LayerCase& plan, const std::vector<LayoutSpec>& specs,
                     TenonDataType type) {
  std::vector<Layout> inputs;
  for (const LayoutSpec& spec : specs)
    inputs.push_back(makeLayout(c.comm, spec));
  LayerStep step(plan.make(c.comm, &specs[0].grid), std::move(inputs));
  require(TenonLayerSetDataType(step.layer(), type));
  require(TenonLayerSetSpace(step.layer(), c.space));
  drawSettings(c, plan, step.layer(), specs[0].grid);
  if (!plan.target.empty())
    step.setTarget(
        makeTarget(c, plan, c.comm, drawValues(c.draw, plan.targetShape, specs[0].grid)));
  return step;
}

// Fills the inputs and their directions, in which the tangent is computed.
void fillInputs(Case& c, const LayerCase& plan, const std::vector<LayoutSpec>& specs,
                LayerStep& tested, LayerStep& reference) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    // Multiples of 1/64 are exact in both types: the inputs of both layers are identical.
    const Filling value{c.draw.number(), plan.isPositive ? Numbers::Positives : Numbers::Fractions},
        direction{c.draw.number(), Numbers::Fractions};
    const int position = c.position(specs[i].grid);
    tested.x[i].write(fill(specs[i], position, value));
    reference.x[i].write(valueOf(specs[i], value));
    tested.direction[i].write(fill(specs[i], position, direction));
    reference.direction[i].write(valueOf(specs[i], direction));
  }
}

// The properties of a tensor's layout, one per axis of its grid: "S0,B" (S splits a dimension, B
// has copies, P partial sums, R the elements on coordinate 0 alone).
std::string propertiesOf(TenonDTensor x) {
  Layout layout;
  require(TenonDTensorGetLayout(x, layout.out()));
  return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonLayoutGetProperties(layout, text, length, needed);
  });
}

bool hasProperty(TenonDTensor x, char kind) {
  return propertiesOf(x).find(kind) != std::string::npos;
}

// Fills the cotangent of the output. If its layout has copies (B), they must be equal. Otherwise
// each rank gets different numbers: with equal partial sums on all ranks, an error by a factor of
// the number of ranks could remain hidden. The reference gets the value of the whole tensor.
void fillCotangent(Case& c, LayerStep& tested, LayerStep& reference) {
  const TenonInt seed = c.draw.upTo(1 << 20);
  if (hasProperty(tested.dy(), 'B'))
    require(TenonDTensorFillUniform(tested.dy(), seed, 0, -1, 1));
  else
    tested.dy().fillByPosition({static_cast<std::uint64_t>(seed + c.rank), Numbers::Fractions});
  reference.dy().write(gathered(tested.dy(), c.comm));
}

// Returns a number for compareCopies(): ranks with copies of the same elements have the same
// number, others have different numbers. Returns -1 for a rank without elements.
int numberOfPart(TenonDTensor x) {
  Layout layout;
  require(TenonDTensorGetLayout(x, layout.out()));
  Partition partition;
  require(TenonLayoutGetPartition(layout, partition.out()));
  int axes = 0;
  require(TenonPartitionGetAxes(partition, &axes));
  std::vector<int> extents(axes), coordinates(axes);
  require(TenonPartitionGetExtents(partition, extents.data()));
  require(TenonPartitionGetCoordinates(partition, coordinates.data()));
  TenonBool isActive = TENON_FALSE;
  require(TenonLayoutIsActive(layout, &isActive));
  if (!isActive)
    return -1;
  const std::string properties = propertiesOf(x);
  // The rank's position in the grid, with coordinate 0 on the axes along which there are copies.
  int number = 0, axis = 0;
  for (const char kind : properties)
    if (kind == 'S' || kind == 'B' || kind == 'P' || kind == 'R') {
      number = number * extents[axis] + (kind == 'B' ? 0 : coordinates[axis]);
      ++axis;
    }
  return number;
}

// Compares `tested` on all ranks with `reference` plus `before` (the gradient of an earlier step).
// Every copy is compared; partial sums are added up first.
void compare(Case& c, const std::string& what, const Field& tested, const Field& reference,
             const Values& before = {}) {
  Values expected = reference.read();
  for (std::size_t i = 0; i < before.size(); ++i)
    expected[i] += before[i];
  const double tolerance = toleranceOf(tested.type()) * scaleOf(expected);
  c.computed(tested.read());
  compareCopies(c, numberOfPart(tested), tested.read(), tested.box(), what);
  if (hasProperty(tested, 'P'))
    return c.found(what,
                   difference(gathered(tested, c.comm), expected, reference.box(), tolerance));
  Indices shape;
  for (const Interval& i : reference.box())
    shape.push_back(i.size());
  Values part;
  forEachCell(tested.box(),
              [&](const Indices& cell) { part.push_back(expected[rowMajorOffset(cell, shape)]); });
  c.found(what, difference(tested.read(), part, tested.box(), tolerance));
}

void compareAll(Case& c, LayerStep& tested, LayerStep& reference) {
  compare(c, "output", tested.y(), reference.y());
  compare(c, "tangent", tested.tangent(), reference.tangent());
  for (std::size_t i = 0; i < tested.x.size(); ++i)
    compare(c, fmt::format("gradient by input {}", i), tested.dx[i], reference.dx[i]);
  compareGradients(c, tested, reference);
  for (std::vector<Field>* fields : {&tested.x, &tested.direction, &tested.dx, &tested.outputs})
    for (const Field& field : *fields)
      c.found("a user array", field.isGuardIntact() ? "" : ": elements around the box changed");
}

// Checks that a second step adds to the parameters' gradients instead of overwriting them. The
// reference computes the gradients of each step separately, and compare() adds them.
void compareAccumulated(Case& c, LayerStep& tested, LayerStep& reference) {
  std::vector<Values> before;
  for (const Field& gradient : reference.gradients())
    before.push_back(gradient.read());
  require(TenonLayerZeroGradients(reference.layer()));
  for (LayerStep* step : {&tested, &reference}) {
    step->apply();
    step->applyAdjoint();
  }
  compare(c, "output of the second step", tested.y(), reference.y());
  compareGradients(c, tested, reference, before);
}

// In inference a layer saves nothing and can compute other values, such as with running statistics.
void compareInference(Case& c, LayerStep& tested, LayerStep& reference) {
  for (LayerStep* step : {&tested, &reference}) {
    require(TenonLayerSetTraining(step->layer(), TENON_FALSE));
    step->apply();
  }
  compare(c, "output of inference", tested.y(), reference.y());
}

} // namespace

double toleranceOf(TenonDataType type) {
  // Relative to the largest number of a result. The sums of a configuration are short, and their
  // errors are below these some hundred roundings.
  return type == TENON_FLOAT32 ? 1e-5 : 1e-12;
}

void dotTest(Case& c, LayerStep& step, TenonDataType type) {
  double difference = 0, size = 1;
  const auto add = [&](const Field& a, const Field& b, double sign) {
    const Values left = a.read(), right = b.read();
    for (std::size_t i = 0; i < left.size(); ++i) {
      difference += sign * left[i] * right[i];
      size += std::abs(left[i] * right[i]);
    }
  };
  add(step.tangent(), step.dy(), 1);
  for (std::size_t i = 0; i < step.x.size(); ++i)
    add(step.direction[i], step.dx[i], -1);
  const std::vector<Field> tangents = step.parameterTangents(), gradients = step.gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i)
    add(tangents[i], gradients[i], -1);
  if (!(std::abs(difference) <= toleranceOf(type) * size))
    c.found("dot test of tangent and adjoint on one process",
            fmt::format(": the pairings differ by {}", difference));
}

void compareGradients(Case& c, LayerStep& tested, LayerStep& reference,
                      const std::vector<Values>& before) {
  const std::vector<Field> a = tested.gradients(), b = reference.gradients();
  for (std::size_t i = 0; i < a.size(); ++i)
    compare(c, fmt::format("gradient by parameter {}{}", i, before.empty() ? "" : ", accumulated"),
            a[i], b[i], before.empty() ? Values{} : before[i]);
}

bool isAccepted(Case& c, LayerStep& tested, LayerStep& reference) {
  const TenonErrorCode expected = reference.setUp(), got = tested.setUp();
  if (got != expected)
    c.found("set-up", fmt::format(": one process returned {}, this rank {}; the last error was: {}",
                                  TenonErrorName(expected), TenonErrorName(got), lastMessage()));
  c.isRefused = expected != TENON_SUCCESS;
  return expected == TENON_SUCCESS && got == TENON_SUCCESS;
}

std::string drawSignature(Draw& draw, TenonLayer layer, const Indices& input, int axes) {
  const std::vector<std::string> labels =
      wordsOf(textFrom([&](char* text, TenonInt length, TenonInt* needed) {
                return TenonLayerGetLabels(layer, static_cast<int>(input.size()), input.data(),
                                           text, length, needed);
              }),
              ',');
  std::string text;
  for (int axis = 0; axis < axes; ++axis)
    text += (axis > 0 ? "," : "") + draw.of(labels);
  return text;
}

void checkLayer(Case& c, const LayerCase& plan) {
  const TenonDataType type = drawFloating(c.draw);
  const std::vector<LayoutSpec> specs = drawInputs(c, plan);
  LayerStep reference = makeReference(c, plan, type), tested = makeTested(c, plan, specs, type);
  if (!isAccepted(c, tested, reference))
    return;
  const TenonInt seed = c.draw.upTo(1 << 20);
  for (LayerStep* step : {&tested, &reference})
    step->fillParameters(seed);
  tested.makeTensors(type, /*mayBeUsers=*/true, c.draw, c.space);
  reference.makeTensors(type, /*mayBeUsers=*/false, c.draw);
  fillInputs(c, plan, specs, tested, reference);
  fillCotangent(c, tested, reference);
  for (LayerStep* step : {&tested, &reference}) {
    step->apply();
    step->applyTangent();
    step->applyAdjoint();
  }
  dotTest(c, reference, type);
  compareAll(c, tested, reference);
  if (c.draw.chance(25))
    compareAccumulated(c, tested, reference);
  if (c.draw.chance(20))
    compareInference(c, tested, reference);
}

} // namespace tenon::tools
