// SPDX-License-Identifier: BSD-2-Clause
// Tests of the C++ header tenon.hpp, apart from its generated members (tenon_hpp_members.cpp):
// handles that move, arrays that are lent until the end of a scope (loans), the program's arrays
// that are placed in a tensor until the end of a scope (placements), errors as exceptions with
// their call stack, networks, memory spaces and sessions. Compiled as C++17 and as C++20.
#include "capi/thrown.hpp"

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace {

static_assert(!std::is_copy_constructible_v<tenon::DTensor>);
static_assert(std::is_nothrow_move_constructible_v<tenon::DTensor>);
static_assert(std::is_nothrow_move_assignable_v<tenon::Layer>);
static_assert(!std::is_copy_constructible_v<tenon::Loan<double>>);
static_assert(sizeof(tenon::Layer) == sizeof(TenonLayer));

// The number of references to the tensor.
int references(const tenon::DTensor& x) {
  int count = 0;
  tenon::check(TenonObjectGetReferences(reinterpret_cast<TenonObject>(x.get()), &count));
  return count;
}

// A layout of 2 rows of this length, split among the ranks within the rows.
tenon::Layout rows(TenonInt extent) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return tenon::Layout(tenon::Partition(MPI_COMM_WORLD, {size}), {2, extent}, "S1");
}

void handlesMove() {
  tenon::DTensor x(rows(12), TENON_FLOAT64);
  x.setName("velocity");
  CHECK(x.name() == "velocity");
  const int before = references(x);
  tenon::DTensor second = x.share();
  CHECK(second.get() == x.get() && references(x) == before + 1);
  second = tenon::DTensor(rows(8), TENON_FLOAT32);
  CHECK(references(x) == before && second.get() != x.get());
  TenonDTensor raw = x;
  tenon::DTensor moved = std::move(x);
  CHECK(moved.get() == raw && moved && !x.get());
  x = std::move(moved);
  CHECK(x.get() == raw && !moved.get());
  tenon::DTensor owner(x.release());
  CHECK(owner.get() == raw && references(owner) == before);
}

void loansEndWithTheirScope() {
  tenon::DTensor x(rows(12), TENON_FLOAT64);
  {
    auto values = x.array<double>();
    for (double& value : values)
      value = 2;
    if (values.size() > 0)
      values[0] = 3;
    CHECK(thrown([&] { x.array<double>(); }) == TENON_ERR_STATE);
    const auto moved = std::move(values);
    CHECK(thrown([&] { x.read<double>(); }) == TENON_ERR_STATE);
  }
  const auto first = x.read<double>(), again = x.read<double>(); // several readers are allowed
  const tenon::Box box = x.box();
  CHECK(first.size() == std::size_t(2 * (box.high[1] - box.low[1])));
  CHECK(first.size() == 0 || (first[0] == 3 && again.data() == first.data()));
  CHECK(thrown([&] { x.read<float>(); }) == TENON_ERR_DATATYPE);
}

void loansHoldTheirTensor() {
  tenon::DTensor x(rows(12), TENON_FLOAT64);
  const TenonDTensor raw = x;
  {
    auto values = x.array<double>();
    x.reset();
    const auto moved = std::move(values);
    for (double& value : moved)
      value = 2;
    int count = 0;
    tenon::check(TenonObjectGetReferences(reinterpret_cast<TenonObject>(raw), &count));
    CHECK(count == 1);
  }
  double norm = 0;
  CHECK(thrown([&] { tenon::check(TenonDTensorNorm(raw, &norm)); }) == TENON_ERR_HANDLE);
  for (const double value : tenon::DTensor(rows(12), TENON_FLOAT64).read<double>())
    CHECK(value == 0);
}

void placementsEndWithTheirScope() {
  tenon::DTensor x(rows(12), TENON_FLOAT64);
  x.fill(1);
  const tenon::Box box = x.box();
  const TenonInt width = box.high[1] - box.low[1] + 2;
  std::vector<double> field(static_cast<std::size_t>(2 * width), 5);
  {
    const auto placed = x.place(field.data() + 1, {{}, {0, 1}, {0, 1}, 2 * width});
    CHECK(x.maxAbs() == 5);
    const auto values = x.read<double>();
    CHECK(values.data() == field.data() + 1 && values.strides()[0] == width);
    bool isRefused = false;
    try {
      values.begin();
    } catch (const std::logic_error&) {
      isRefused = true;
    }
    CHECK(isRefused || values.size() == 0);
  }
  CHECK(x.maxAbs() == 1);
  const std::vector<double>& constant = field;
  const auto placed = x.place(constant.data(), {{width, 1}});
  CHECK(thrown([&] { x.fill(0); }) == TENON_ERR_STATE);
  float single[1] = {};
  CHECK(thrown([&] { (void)x.place(single); }) == TENON_ERR_DATATYPE);
  try {
    (void)x.place(single);
  } catch (const tenon::Error& error) {
    const std::string message = error.message();
    CHECK(message.find("float32 elements") != std::string::npos);
    CHECK(message.find("tensor has float64") != std::string::npos);
  }
  CHECK(isOfWrongLength([&] { (void)x.place(field.data(), {{1, 2, 3}}); }));
}

// Lists of hosts: of structs of numbers, and with cdata() in place of a const data().
struct Velocity {
  double u, v, w;
};
struct FoamVector {
  using cmptType = double;
  double components[3];
};
template <class T>
class FoamList {
public:
  explicit FoamList(std::vector<T> values) : values_(std::move(values)) {}
  T* data() { return values_.data(); }
  const T* cdata() const { return values_.data(); }
  int size() const { return static_cast<int>(values_.size()); }

private:
  std::vector<T> values_;
};

template <class Struct>
void structsArePlaced() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const TenonInt owned = rank + 1;
  std::vector<TenonInt> ids(static_cast<std::size_t>(owned));
  for (TenonInt i = 0; i < owned; ++i)
    ids[static_cast<std::size_t>(i)] = 100 * rank + i;
  const tenon::IndexMap nodes = tenon::IndexMap::fromIds(MPI_COMM_WORLD, owned, ids);
  tenon::DTensor x(nodes.layouts({0, 3}).domain, TENON_FLOAT64);
  FoamList<Struct> field(std::vector<Struct>(static_cast<std::size_t>(owned)));
  FoamList<Struct> shorter(std::vector<Struct>(static_cast<std::size_t>(owned - 1)));
  const auto placed = [&](auto& list) {
    if constexpr (std::is_same_v<Struct, Velocity>)
      return x.place<double>(list.data(), {{}, {}, {}, 3 * list.size()});
    else
      return x.place(list);
  };
  {
    const auto placement = placed(field);
    x.fill(rank + 1);
  }
  double last = 0;
  std::memcpy(&last, reinterpret_cast<const char*>(field.data() + owned) - sizeof last,
              sizeof last);
  CHECK(last == rank + 1);
  if (owned > 1)
    CHECK(thrown([&] { (void)placed(shorter); }) == TENON_ERR_SHAPE);
  else if (!std::is_same_v<Struct, Velocity>)
    CHECK(isOfWrongLength([&] { (void)placed(shorter); }));
  if constexpr (!std::is_same_v<Struct, Velocity>) {
    const FoamList<Struct>& constant = field;
    const auto placement = x.place(constant);
    CHECK(thrown([&] { x.fill(0); }) == TENON_ERR_STATE);
  }
  bool isRefused = false;
  try {
    (void)x.place(ids, {{}, {1, 0}});
  } catch (const std::invalid_argument&) {
    isRefused = true;
  }
  CHECK(isRefused);
}

// Values of type int, as lists of labels have them, are placed as they are.
void fieldsOfIntArePlaced() {
  const tenon::Layout layout = rows(12);
  tenon::DTensor x(layout, TENON_INT32), wide(layout, TENON_INT64);
  FoamList<int> kinds(std::vector<int>(static_cast<std::size_t>(x.localSize()), -5));
  const auto placement = x.place(kinds);
  x.scale(3);
  CHECK(kinds.size() == 0 || kinds.data()[0] == -15);
  for (const int kind : x.read<int>())
    CHECK(kind == -15);
  CHECK(thrown([&] { (void)x.read<TenonInt>(); }) == TENON_ERR_DATATYPE);
  CHECK(thrown([&] { (void)wide.place(kinds); }) == TENON_ERR_DATATYPE);
}

void listsOfOtherIntegersAreCopied() {
  FoamList<int> labels({4, -5, 6});
  const tenon::Ints copied(labels), same(copied);
  labels.data()[0] = 7;
  CHECK(copied.size() == 3 && copied.data()[0] == 4 && same.data()[1] == -5 && same.data()[2] == 6);
  const std::vector<TenonInt> own{1, 2};
  CHECK(tenon::Ints(own).data() == own.data());
  const std::vector<unsigned long> large{1, ~0ul};
  bool isRefused = false;
  try {
    tenon::Ints refused(large);
  } catch (const std::out_of_range&) {
    isRefused = true;
  }
  CHECK(isRefused);
  static_assert(!std::is_convertible_v<std::string, tenon::Ints>);
  static_assert(!std::is_convertible_v<std::vector<double>, tenon::Ints>);
  static_assert(!std::is_convertible_v<std::vector<TenonInt>, tenon::List<int>>);
}

void setsWrongly(tenon::Layer& layer) {
  layer.set("kernal", {3, 3});
}

void errorsCarryTheirStack() {
  tenon::Layer layer(MPI_COMM_WORLD, "conv");
  std::string what;
  CHECK(thrown([&] { setsWrongly(layer); }, &what) == TENON_ERR_TYPE);
  CHECK(what.find("did you mean 'kernel'") != std::string::npos ||
        what.find("kernel") != std::string::npos);
  CHECK(what.find("TenonObjectSetIntegers") != std::string::npos);
  CHECK(what.find("setsWrongly") != std::string::npos);
  CHECK(what.find("tenon_hpp.cpp") != std::string::npos);
  CHECK(thrown([&] { tenon::check(TenonLayerSetStackDepth(nullptr, 1)); }, &what) ==
        TENON_ERR_NULL);
  CHECK(what.find("tenon_hpp.cpp") != std::string::npos);
  tenon::DTensor none;
  CHECK(thrown([&] { none.fill(1); }) == TENON_ERR_NULL);
}

void networksAreBuilt() {
  const std::array<TenonInt, 2> kernel = {3, 3};
  const std::vector<TenonInt> padding = {1, 1};
  tenon::Layer net(MPI_COMM_WORLD, "sequential"), conv(MPI_COMM_WORLD, "conv");
  conv.set("kernel", kernel).set("padding", padding).set("in_channels", 1).set("out_channels", 2);
#if __cplusplus >= 202002L
  conv.set("padding_high", std::span<const TenonInt>(padding));
#endif
  conv.set("bias", false);
  net.add(conv).add(tenon::Layer(MPI_COMM_WORLD, "tanh")).set("data_type", "float64");
  const tenon::Layout layout(tenon::Partition(MPI_COMM_WORLD, {1}), {2, 1, 4, 5}, "B");
  net.setUp(layout);
  net.initialize(3);
  CHECK(net.parameterCount() == 1);
  tenon::DTensor x(layout, TENON_FLOAT64);
  x.fillUniform(1, 1, -1, 1);
  CHECK(net.testAdjoint(x, 5) < 1e-12);
  CHECK(std::abs(net.testTaylor(x, 5) - 2) < 0.05);
  tenon::DTensor y = net.createOutput(), dy = net.createOutputCotangent();
  net.apply(x, y);
  dy.fill(1);
  net.applyAdjoint(dy);
  const double before = net.parameter("0/weight").norm();
  tenon::Optimizer optimizer(net, "sgd");
  optimizer.setLearningRate(0.5);
  tenon::LinearOp jacobian = net.jacobian(x);
  optimizer.step();
  CHECK(net.parameter(0).norm() != before);
  jacobian.setPoint(x);
  CHECK(jacobian.testAdjoint(7) < 1e-13);
  tenon::LinearOp identity = tenon::LinearOp::conversion(layout, layout, TENON_FLOAT64);
  CHECK(identity.testAdjoint(1, true) == 0);
}

// On a device, or on the stand-in for one. Without both, setSpace() throws with the reason.
void tensorsAndLayersHaveSpaces() {
  const tenon::Layout layout = rows(12);
  tenon::DTensor x(layout, TENON_FLOAT64), host(layout, TENON_FLOAT64);
  CHECK(x.space() == TENON_MEMORY_HOST);
  CHECK(thrown([&] { host.deviceArray<double>(); }) == TENON_ERR_STATE);
  std::string what;
  const TenonErrorCode code = thrown([&] { x.setSpace(TENON_MEMORY_DEVICE); }, &what);
  tenon::Layer relu(MPI_COMM_WORLD, "relu");
  relu.set("data_type", "float64").setSpace(TENON_MEMORY_DEVICE);
  if (code != TENON_SUCCESS) {
    CHECK(!std::getenv("TENON_STANDIN"));
    CHECK(code == TENON_ERR_SUPPORT && what.find("there is no device: ") != std::string::npos);
    CHECK(thrown([&] { relu.setUp(layout); }) == TENON_ERR_SUPPORT);
    return;
  }
  CHECK(x.space() == TENON_MEMORY_DEVICE);
  x.fill(2);
  {
    auto lent = x.deviceArray<double>();
    CHECK(thrown([&] { x.readDevice<double>(); }) == TENON_ERR_STATE);
    tenon::DTensor same(layout, TENON_FLOAT64);
    same.setSpace(TENON_MEMORY_DEVICE);
    const auto placed = same.place(lent.data(), {{}, {}, {}, TenonInt(lent.size())});
    same.fill(4);
    CHECK(same.maxAbs() == 4);
  }
  CHECK(x.readDevice<double>().data() == x.readDevice<double>().data());
  relu.setUp(layout);
  CHECK(relu.createOutput().space() == TENON_MEMORY_DEVICE);
  relu.apply(x, host);
  CHECK(host.maxAbs() == 4);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tenon::Partition partition(MPI_COMM_WORLD, {size});
  CHECK(thrown([&] { partition.setStream(nullptr); }) == TENON_ERR_STATE);
}

double waitWarning() {
  double seconds = 0;
  tenon::check(TenonOptionsGetReal(nullptr, "wait_warning", &seconds));
  return seconds;
}

// A session without a command line takes its options from the environment variable TENON_OPTIONS;
// with one, the command line comes first.
void sessionsNeedNoCommandLine() {
  setenv("TENON_OPTIONS", "-tenon_wait_warning 33", 1);
  {
    const tenon::Session session;
    CHECK(waitWarning() == 33);
  }
  {
    const tenon::Session session(MPI_COMM_WORLD);
    CHECK(waitWarning() == 33);
  }
  std::string words[] = {"host", "input.nml", "-tenon_wait_warning", "44"};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  int argc = 4;
  char** argv = pointers;
  {
    const tenon::Session session(MPI_COMM_WORLD, argc, argv);
    CHECK(waitWarning() == 44);
  }
  unsetenv("TENON_OPTIONS");
}

void withTheCommandLine(int argc, char** argv) {
  const tenon::Session session(argc, argv, "the C++ header");
  handlesMove();
  loansEndWithTheirScope();
  loansHoldTheirTensor();
  placementsEndWithTheirScope();
  structsArePlaced<std::array<double, 3>>();
  structsArePlaced<FoamVector>();
  structsArePlaced<Velocity>();
  fieldsOfIntArePlaced();
  listsOfOtherIntegersAreCopied();
  errorsCarryTheirStack();
  networksAreBuilt();
  tensorsAndLayersHaveSpaces();
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sessionsNeedNoCommandLine();
  withTheCommandLine(argc, argv);
  MPI_Finalize();
}
