// SPDX-License-Identifier: BSD-2-Clause
// The generated members of the C++ header, one test for each form of argument and result: values,
// structs, lists, texts, functions, borrowed handles and what may be left out. Compiled as C++17
// and as C++20.
#include "capi/thrown.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

static_assert(!std::is_convertible_v<std::string_view, tenon::Text>, "no NUL ends it");
static_assert(!std::is_convertible_v<int, tenon::Text>);
static_assert(!std::is_copy_constructible_v<tenon::Function<double()>>);
static_assert(std::is_convertible_v<int (*)(), tenon::Function<double()>>);
static_assert(!std::is_convertible_v<TenonErrorCode (*)(), tenon::Function<double()>>);
static_assert(std::is_convertible_v<void (*)(), tenon::Function<TenonErrorCode()>>);
static_assert(!std::is_convertible_v<bool (*)(), tenon::Function<TenonErrorCode()>>);
static_assert(std::is_same_v<decltype(std::declval<tenon::Layer&>().set("", 0.5)), tenon::Layer&>);
static_assert(std::is_same_v<decltype(std::declval<tenon::Plan&>().set("", {1, 2})), tenon::Plan&>);

tenon::Layout rows(MPI_Comm comm, TenonInt extent) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return tenon::Layout(tenon::Partition(comm, {size}), {2, extent}, "S1");
}

void resultsAreValues() {
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const tenon::Layout layout = rows(MPI_COMM_WORLD, 12);
  CHECK(layout.dimensions() == 2 && layout.shape() == std::vector<TenonInt>({2, 12}));
  CHECK(layout.isActive() && layout.isEqual(layout.dual()));
  const tenon::Partition grid = layout.partition();
  CHECK(grid.extents() == std::vector<int>{size});
  CHECK(grid.coordinates() == std::vector<int>{rank});
  int along = 0;
  MPI_Comm_size(grid.axisComm(0), &along);
  CHECK(along == size);
  const tenon::Box box = layout.box();
  CHECK(box.low[0] == 0 && box.high[0] == 2 && box.high[1] - box.low[1] == 12 / size);

  tenon::DTensor x(layout, TENON_FLOAT64);
  CHECK(x.localSize() == 24 / size && x.strides() == std::vector<TenonInt>({12 / size, 1}));
  x.fillUniform(3, 4, 0, 1);
  CHECK(x.maxAbs() > 0 && x.maxAbs() <= 1);

  const tenon::Layout everywhere(grid, {2, 12}, "B");
  const tenon::LinearOp gather = tenon::LinearOp::conversion(layout, everywhere, TENON_FLOAT64);
  const auto [messages, bytes] = gather.traffic();
  TenonInt inC[2] = {-1, -1};
  tenon::check(TenonLinearOpGetTraffic(gather, &inC[0], &inC[1]));
  CHECK(messages == inC[0] && bytes == inC[1] && (bytes > 0) == (size > 1));
  const tenon::Version version = tenon::version();
  CHECK(version.major == TENON_VERSION_MAJOR && version.minor == TENON_VERSION_MINOR);
  CHECK(tenon::initialized() && tenon::errorName(TENON_ERR_SHAPE) == "TENON_ERR_SHAPE");
}

void severalResultsAreStructs() {
  tenon::Machine machine("two nodes", {"node", "core"}, {2, 4});
  machine.addLink("bus", 1, 1, 3e9, 2e-6, TENON_LINK_LEAVING).setName("m");
  const tenon::Machine::Counts counts = machine.counts();
  CHECK(counts.levels == 2 && counts.links == 1 && counts.devices == 8);
  CHECK(machine.level(1).name == "core" && machine.level(1).size == 4);
  CHECK(machine.link(0).name == "bus" && machine.link(0).bandwidth == 3e9);

  // The lists that the program passes to be filled: their length is not known to the call.
  const tenon::PlacementList placements({2, 2}, {4});
  CHECK(placements.count() == 1);
  std::array<TenonInt, 2> matrix{}, hierarchy{};
  placements.matrix(0, matrix);
  CHECK(matrix[0] == 2 && matrix[1] == 2);
  CHECK(placements.hierarchy(0, {0}, hierarchy) == 2 && hierarchy[0] == 2 && hierarchy[1] == 2);
  const tenon::ReductionPrograms programs(placements, 0, {0}, 2);
  CHECK(programs.size(0) == 1 && programs.text(0).find("AllReduce") != std::string::npos);
}

void listsHaveTheirLength() {
  const tenon::Layout layout = rows(MPI_COMM_WORLD, 12);
  const tenon::Partition grid = layout.partition();
  std::vector<TenonInt> low = {0, 0};
  const std::array<TenonInt, 2> high = {1, 2};
  tenon::LinearOp::memory(layout, "clear", low, high, {}, TENON_FLOAT64);
#if __cplusplus >= 202002L
  tenon::LinearOp::memory(layout, "clear", std::span<const TenonInt>(low), {1, 2}, {},
                          TENON_FLOAT64);
#endif
  // The length must be the number of the layout's dimensions (first check), that of another list
  // (second) or the product of two arguments (third).
  CHECK(isOfWrongLength([&] {
    tenon::LinearOp::memory(layout, "clear", {0}, {1, 2}, {}, TENON_FLOAT64);
  }));
  CHECK(isOfWrongLength([&] { tenon::Layout(MPI_COMM_WORLD, {2, 2}, {0, 0}, {2}); }));
  CHECK(isOfWrongLength([&] { tenon::Partition::placed(MPI_COMM_WORLD, 1, 2, {1}); }));
  CHECK(isOfWrongLength([&] { tenon::Partition::fromRanks(MPI_COMM_SELF, {1}, {0, 1}); }));
  // A list that may be NULL is the empty one: the extents are then those of the boxes.
  const tenon::Layout boxes(MPI_COMM_SELF, {}, {0, 0}, {2, 3});
  CHECK(boxes.shape() == std::vector<TenonInt>({2, 3}));

  tenon::Layer conv(MPI_COMM_SELF, "conv");
  conv.set("kernel", {3, 5}).set("in_channels", 1).set("out_channels", 2);
  CHECK(conv.getIntegers("kernel") == std::vector<TenonInt>({3, 5}));
  conv.setBool("bias", false);
  CHECK(!conv.getBool("bias"));
  CHECK(conv.isSet("kernel") && !conv.isSet("stride"));
}

void textsAreStrings() {
  const std::string type = "conv";
  tenon::Layer conv(MPI_COMM_WORLD, type);
  CHECK(conv.type() == type && conv.className() == "Layer");
  const char* const mode = "periodic";
  conv.set("kernel", {3, 3}).set("in_channels", 1).set("out_channels", 1).setText("boundary", mode);
  CHECK(conv.getText("boundary") == mode);
  conv.setName(std::string("first"));
  CHECK(conv.name() == "first" && conv.optionsPrefix().empty());
  conv.setName({});
  CHECK(conv.name().empty());

  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::filesystem::path path = "tenon_hpp_members_" + std::to_string(__cplusplus) + ".json";
  conv.saveNetwork(path);
  const tenon::Layer copy = tenon::Layer::fromFile(MPI_COMM_WORLD, "./" + path.string());
  CHECK(copy.type() == type && copy.getIntegers("kernel") == conv.getIntegers("kernel"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    // A text with its length needs no NUL.
    tenon::writeFile(path, std::string_view("three words here").substr(6, 5));
    std::string content;
    std::getline(std::ifstream(path), content);
    CHECK(content == "words");
    std::filesystem::remove(path);
  }
  CHECK(tenon::optionsGetReal(nullptr, "wait_warning") ==
        tenon::optionsGetReal({}, "wait_warning"));
  std::string what;
  CHECK(thrown([] { tenon::optionsGetReal({}, "wait_warnings"); }, &what) == TENON_ERR_OPTION);
  CHECK(what.find("tenon_hpp_members.cpp") != std::string::npos);
}

void objectsAreLists() {
  const tenon::Layout layout = rows(MPI_COMM_WORLD, 12);
  std::vector<tenon::LinearOp> ops;
  ops.push_back(tenon::LinearOp::ofType(layout, layout, TENON_FLOAT64, TENON_FLOAT64, "identity"));
  ops.push_back(tenon::LinearOp::sum({ops[0]}, {2}));
  tenon::DTensor x(layout, TENON_FLOAT64), y(layout, TENON_FLOAT64);
  x.fill(5);
  tenon::LinearOp::sum(ops).apply(x, y);
  CHECK(y.maxAbs() == 15);
  tenon::LinearOp::sum(ops, {1, -3}).apply(x, y);
  CHECK(y.maxAbs() == 25);
  tenon::LinearOp::composition({ops[1], ops[1], ops[0]}).apply(x, y);
  CHECK(y.maxAbs() == 20);

  tenon::Layer sum(MPI_COMM_WORLD, "add");
  sum.set("data_type", "float64");
  sum.setUpMany({layout, layout});
  std::vector<tenon::DTensor> inputs;
  inputs.push_back(x.share());
  inputs.push_back(y.share());
  tenon::DTensor z = sum.createOutput();
  sum.applyMany(inputs, {z});
  sum.clearStack();
  sum.applyMany(inputs, z); // a list of one needs no braces
  CHECK(z.maxAbs() == 25);
  // An element that is empty is NULL: the cotangent of the first input is not wanted.
  tenon::DTensor dz = sum.createOutputCotangent(), dy = sum.createInputCotangent(1);
  dz.fill(3);
  sum.applyAdjointMany({dz}, {nullptr, dy});
  CHECK(dy.maxAbs() == 3);
}

// The functions of a shell operator may be any callable objects. The operator has copies of them,
// which are destroyed with it: `calls` is shared by the variables calls and triple and by two
// copies.
void operatorsCallFunctions() {
  const tenon::Layout layout = rows(MPI_COMM_SELF, 4);
  const auto calls = std::make_shared<int>(0);
  const auto triple = [calls](const tenon::DTensor& input, tenon::DTensor& output) {
    ++*calls;
    output.copy(input);
    output.scale(3);
  };
  tenon::DTensor x(layout, TENON_FLOAT64), y(layout, TENON_FLOAT64);
  x.fill(2);
  tenon::LinearOp op =
      tenon::LinearOp::shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, triple, triple);
  op.apply(x, y);
  CHECK(y.maxAbs() == 6 && *calls == 1 && calls.use_count() == 4);
  CHECK(op.testAdjoint(5, true) == 0 && y.references() == 1);
  op.reset();
  CHECK(calls.use_count() == 2);

  const tenon::Layout none;
  CHECK(thrown([&] {
          tenon::LinearOp::shell(none, layout, TENON_FLOAT64, TENON_FLOAT64, triple);
        }) == TENON_ERR_NULL);
  CHECK(calls.use_count() == 2);
  op = tenon::LinearOp::shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, triple);
  CHECK(thrown([&] { op.applyAdjoint(x, y); }) == TENON_ERR_SUPPORT);
}

void functionsThrow() {
  const tenon::Layout layout = rows(MPI_COMM_SELF, 4), other = rows(MPI_COMM_SELF, 5);
  tenon::DTensor x(layout, TENON_FLOAT64), y(layout, TENON_FLOAT64), z(other, TENON_FLOAT64);
  const auto apply =
      [&](tenon::Function<TenonErrorCode(const tenon::DTensor&, tenon::DTensor&)> function,
          std::string* what = nullptr) {
        tenon::LinearOp op = tenon::LinearOp::shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64,
                                                    std::move(function));
        return thrown([&] { op.apply(x, y); }, what);
      };
  std::string what;
  CHECK(apply([](const tenon::DTensor&, tenon::DTensor&) { throw std::runtime_error("too hot"); },
              &what) == TENON_ERR_USER);
  CHECK(what.find("too hot") != std::string::npos);
  CHECK(apply([&](const tenon::DTensor& in, tenon::DTensor&) { z.copy(in); }) == TENON_ERR_SHAPE);
  // A code that a function in the style of C returns is an error too.
  CHECK(apply([](const tenon::DTensor&, tenon::DTensor&) { return TENON_ERR_SHAPE; }) ==
        TENON_ERR_SHAPE);
}

// A network y = w x with the loss (w x - t)^2 and SGD; the static functions compute the loss and
// the weight after one step by hand.
struct Line {
  static constexpr double first = 0.25, rate = 0.125, x = 1.5, t = 2; // first: w at the beginning

  Line() {
    network.set("inputs", 1).set("outputs", 1).set("bias", false);
    network.set("data_type", "float64").setUp(layout);
    network.parameter(0).fill(first);
    optimizer = tenon::Optimizer(network, "sgd");
    optimizer.setLearningRate(rate).setFromOptions();
  }
  static double lossAt(double w) { return (w * x - t) * (w * x - t); }
  static double after(double w) { return w - rate * 2 * x * (w * x - t); }

  tenon::Layout layout = tenon::Layout(tenon::Partition(MPI_COMM_SELF, {1}), {1, 1}, "B");
  tenon::Layer network = tenon::Layer(MPI_COMM_SELF, "affine");
  tenon::Layer loss = tenon::Layer(MPI_COMM_SELF, "meansquarederror");
  tenon::Optimizer optimizer;
};

void closuresReturnTheLoss() {
  Line line;
  tenon::DTensor x(line.layout, TENON_FLOAT64), y = line.network.createOutput(),
                                                dy = line.network.createOutputCotangent();
  x.fill(Line::x);
  const double before = line.optimizer.stepClosure([&](tenon::Optimizer& optimizer) {
    CHECK(optimizer.get() == line.optimizer.get());
    line.network.apply(x, y);
    const double error = y.read<double>()[0] - Line::t;
    dy.fill(2 * error);
    line.network.applyAdjoint(dy);
    return error * error;
  });
  CHECK(before == Line::lossAt(Line::first) && line.optimizer.steps() == 1);
  CHECK(line.network.parameter("weight").read<double>()[0] == Line::after(Line::first));
}

// The function of a shell layer is a C function. Its handles are borrowed: Borrowed does not
// destroy them.
TenonErrorCode scaleByWeight(TenonLayer layer, TenonDTensor x, TenonDTensor y, void* context) {
  tenon::Borrowed<tenon::Layer> self(layer);
  const tenon::Borrowed<tenon::DTensor> input(x);
  tenon::Borrowed<tenon::DTensor> output(y), weight = self->shellTensor(TENON_SHELL_PARAMETER, 0),
                                             same = weight;
  CHECK(weight && !self->shellTensor(TENON_SHELL_PARAMETER_GRADIENT, 0) &&
        weight->references() == same->references());
  output->copy(input);
  output->scale(weight->maxAbs());
  ++*static_cast<int*>(context);
  CHECK(self->shellContext() == context);
  return TENON_SUCCESS;
}

void handlesAreBorrowed() {
  const tenon::Layout layout = rows(MPI_COMM_SELF, 4);
  int calls = 0;
  TenonLayerShellFunctions functions{};
  functions.apply = scaleByWeight;
  tenon::Layer shell(MPI_COMM_SELF, "shell");
  shell.shellSetFunctions(functions).shellSetContext(&calls);
  shell.shellAddParameter("factor", {1}, 1, 1).set("data_type", "float64").setUp(layout);
  shell.parameter("factor").fill(4);
  shell.setTraining(false); // nothing is saved
  tenon::DTensor x(layout, TENON_FLOAT64), y = shell.createOutput();
  x.fill(2);
  shell.apply(x, y);
  CHECK(y.maxAbs() == 8 && calls == 1 && x.references() == 1);
  CHECK(thrown([&] { shell.shellTensor(TENON_SHELL_PARAMETER, 0); }) == TENON_ERR_STATE);
}

void objectsAreLeftOut() {
  const tenon::Layout input(tenon::Partition(MPI_COMM_SELF, {1}), {1, 3}, "B");
  tenon::Layer affine(MPI_COMM_SELF, "affine");
  affine.set("inputs", 3).set("outputs", 2).set("data_type", "float64").setUp(input);
  affine.initialize(1);
  tenon::DTensor x(input, TENON_FLOAT64), y = affine.createOutput(), dy = affine.createOutput();
  x.fill(1);
  affine.apply(x, y);
  // Without the input's tangent the output's is that of the parameters: one for each bias.
  affine.parameterTangent(1).fill(1);
  affine.applyTangent({}, dy);
  CHECK(dy.read<double>()[0] == 1 && dy.read<double>()[1] == 1);
  // Without the input's cotangent there are still the gradients: that of the bias is dL/dy.
  tenon::DTensor slope = affine.createOutputCotangent();
  slope.fill(2);
  affine.applyAdjoint(slope);
  CHECK(affine.parameterGradient(1).maxAbs() == 2);
  double tangent = 0, adjoint = 0;
  CHECK(affine.testAdjoint(x, 3, &tangent, &adjoint) < 1e-14);
  CHECK(tangent != 0 && std::abs(tangent - adjoint) < 1e-13 * std::abs(tangent));
}

void errorsAreRaised() {
  std::string what;
  CHECK(thrown([] { tenon::raiseError(TENON_ERR_SHAPE, "seven"); }, &what) == TENON_ERR_SHAPE);
  CHECK(what.find("seven") != std::string::npos &&
        what.find("tenon_hpp_members.cpp") != std::string::npos);
  const tenon::LastError last = tenon::lastError();
  CHECK(last.code == TENON_ERR_SHAPE && last.message.find("seven") != std::string::npos);
  CHECK(tenon::lastErrorReport().find("seven") != std::string::npos);
  // A handler is a pointer, as in C.
  int seen = 0;
  tenon::pushErrorHandler([](TenonErrorCode, int level, const char*, const char*, const char*, int,
                             void* context) { *static_cast<int*>(context) += level == 0; },
                          &seen);
  CHECK(thrown([] { tenon::DTensor().norm(); }) == TENON_ERR_NULL);
  tenon::popErrorHandler();
  CHECK(thrown([] { tenon::DTensor().norm(); }) == TENON_ERR_NULL && seen == 1);
}

void layersAreSharedInCallsOfC() {
  tenon::Layer tanh(MPI_COMM_WORLD, "tanh");
  const tenon::Layer second = tanh.share();
  CHECK(second.get() == tanh.get() && tanh.references() == 2);
  TenonLayer raw = nullptr;
  tenon::check(TenonLayerCreateType(MPI_COMM_WORLD, "relu", &raw));
  const tenon::Layer taken(raw);
  CHECK(taken.type() == "relu");
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv, "the members of the C++ header");
  resultsAreValues();
  severalResultsAreStructs();
  listsHaveTheirLength();
  textsAreStrings();
  objectsAreLists();
  operatorsCallFunctions();
  functionsThrow();
  closuresReturnTheLoss();
  handlesAreBorrowed();
  objectsAreLeftOut();
  errorsAreRaised();
  layersAreSharedInCallsOfC();
}
