// SPDX-License-Identifier: BSD-2-Clause
// `tenon bench`: times each data movement (bench/case.hpp), alternately by the library and by the
// corresponding MPI call, and compares both with the limit of the machine: latency plus the time of
// one memcpy of the data. Both results are verified against the definition before timing starts.
// With -machine_out it measures the machine instead and writes a machine file, for predictions.
// All ranks run all functions; rank 0 prints.
#include "tools/commands.hpp"

#include "tools/bench/case.hpp"
#include "tools/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace tenon::tools {

const std::vector<ProgramOption> kBenchOptions = {
    {"repeat", TENON_OPTION_INT, "15", "number of rounds; the median is reported"},
    {"machine_out", TENON_OPTION_STRING, "",
     "measure this machine instead, and write its description to this file"},
    {"space", TENON_OPTION_STRING, "host",
     "memory space of the arrays for -machine_out: host or device"},
};

namespace {

// Bytes per rank: 1 KiB is bound by latency, 4 MiB by bandwidth.
constexpr Index kSizes[] = {1 << 10, 64 << 10, 4 << 20};

void say(const std::string& text) {
  if (worldRank() == 0) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

std::string sizeText(double bytes) {
  if (bytes < 1 << 10)
    return fmt::format("{:.0f} B", bytes);
  return bytes < 1 << 20 ? fmt::format("{:.0f} KiB", bytes / (1 << 10))
                         : fmt::format("{:.1f} MiB", bytes / (1 << 20));
}

// The value of a library option, or its default.
std::string valueText(const char* name, const std::string& type) {
  if (type != "integer")
    return textOption(name, "");
  TenonInt number = 0;
  require(TenonOptionsGetInt("", name, &number));
  return std::to_string(number);
}

// The library options that choose how data are moved, with their values: a table of times is
// meaningless without them.
std::string routeOptions() {
  std::string text;
  int count = 0;
  require(TenonOptionsGetDeclaredCount(&count));
  constexpr std::string_view kStart = "-tenon_"; // functions take the name after it
  for (int i = 0; i < count; ++i) {
    const std::string key = declaredText(i, TENON_OPTION_TEXT_KEY);
    if (key.starts_with("-tenon_conversion_"))
      text += fmt::format(
          "{} {}\n", key,
          valueText(key.c_str() + kStart.size(), declaredText(i, TENON_OPTION_TEXT_TYPE)));
  }
  return text;
}

void printSettings(int repeat) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  // MPI libraries return long descriptions; the first words are name and version.
  const std::string mpi = std::string(library).substr(0, std::strcspn(library, ",\n"));
  say(fmt::format("tenon {}, {}, {:.70}, medians of {}\n{}", infoText("version"),
                  counted(worldSize(), "rank"), mpi, counted(repeat, "round"), routeOptions()));
}

// Throws unless a result equals the expected output of the operator. It was computed by `method`,
// "tenon" or the name of an MPI call.
void checkValues(const BenchCase& bench, const Values& got, const Values& expected,
                 const char* method) {
  const std::string wrong =
      difference(got, expected, {{0, static_cast<Index>(expected.size())}}, 0);
  if (!wrong.empty())
    throw std::runtime_error(fmt::format("{} by {}{}", bench.name, method, wrong));
}

// Tenon's operator y = F x, bound to tensors of the library, as in a program that applies it
// repeatedly. Calls: write(), apply() as often as needed, read().
class Measured {
public:
  explicit Measured(const BenchCase& bench) : op_(bench.make()) {
    Layout from, to;
    require(TenonLinearOpGetDomain(op_, from.out()));
    require(TenonLinearOpGetRange(op_, to.out()));
    require(TenonDTensorCreate(from, TENON_FLOAT64, x_.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, y_.out()));
  }
  // Writes this rank's elements of x, and binds the operator to x and y (prepares their messages).
  void write(const Values& elements) {
    void* array = nullptr;
    require(TenonDTensorGetArray(x_, TENON_FLOAT64, &array));
    std::copy(elements.begin(), elements.end(), static_cast<double*>(array));
    require(TenonDTensorRestoreArray(x_, &array));
    require(TenonLinearOpBind(op_, x_, y_));
  }
  void apply() { require(TenonLinearOpApply(op_, x_, y_)); }
  // This rank's elements of y.
  Values read() {
    const void* array = nullptr;
    TenonInt elements = 0;
    require(TenonDTensorGetLocalSize(y_, &elements));
    require(TenonDTensorGetArrayRead(y_, TENON_FLOAT64, &array));
    const auto* first = static_cast<const double*>(array);
    Values read(first, first + elements);
    require(TenonDTensorRestoreArrayRead(y_, &array));
    return read;
  }

private:
  LinearOp op_;
  DTensor x_, y_;
};

// Verifies and times one case, and prints its line of the table. Collective.
void runCase(const BenchCase& bench, const Limits& limits, int repeat) {
  const Values elements = bench.given(), expected = bench.expected();
  Measured subject(bench);
  subject.write(elements);
  Values copied(std::max<std::size_t>(expected.size(), 1)), inputCopy = elements;
  // MPI calls need a valid address even for no elements.
  inputCopy.resize(std::max<std::size_t>(elements.size(), 1));
  const Work library = [&] { subject.apply(); },
             mpi = [&] { bench.peer(inputCopy.data(), copied.data()); };
  library();
  mpi();
  checkValues(bench, subject.read(), expected, "tenon");
  copied.resize(expected.size());
  checkValues(bench, copied, expected, bench.peerName);
  const std::vector<double> times = medians({library, mpi}, repeat);
  const double limit = limits.of(bench.bytes);
  say(fmt::format("{:<15}{:>10}{:>12.2f}{:>12.2f}{:>8.2f}{:>12.2f}{:>8.2f}  {}\n", bench.name,
                  sizeText(bench.bytes), times[0] * 1e6, limit * 1e6, times[0] / limit,
                  times[1] * 1e6, times[0] / times[1], bench.peerName));
}

// Measures the machine on any number of ranks; a single rank has kernels, but no links.
int describeMachine(const std::string& path, TenonMemorySpace space, int rounds) {
  Machine machine;
  require(TenonMachineMeasure(MPI_COMM_WORLD, space, rounds, machine.out()));
  require(TenonMachineSave(machine, path.c_str()));
  require(TenonObjectView(machine.object()));
  return 0;
}

} // namespace

int runBench() {
  const TenonInt repeat = intOption("repeat");
  const bool describes = !textOption("machine_out").empty();
  if (repeat < 1 || repeat > 10000 || (worldSize() < 2 && !describes)) {
    if (worldRank() == 0)
      printError(fmt::format(
          "tenon bench: there {} and -repeat is {}; run on at least 2 ranks "
          "(mpiexec -n 2 tenon bench) with -repeat in 1 to 10000\n",
          worldSize() == 1 ? "is 1 rank" : fmt::format("are {} ranks", worldSize()), repeat));
    return kExitUsage;
  }
  const std::optional<TenonMemorySpace> space = spaceOption("bench");
  if (!space)
    return kExitUsage;
  const int rounds = static_cast<int>(repeat);
  printSettings(rounds);
  if (describes)
    return describeMachine(textOption("machine_out"), *space, rounds);
  const Limits limits = measureLimits(rounds);
  say(fmt::format("latency {:.2f} us, messages {:.2f} GB/s, memcpy {:.2f} GB/s on each of {} ranks "
                  "concurrently\n\n",
                  limits.latency * 1e6, limits.messages / 1e9, limits.memory / 1e9, worldSize()));
  say(fmt::format("{:<15}{:>10}{:>12}{:>12}{:>8}{:>12}{:>8}  {}\n", "operator", "per rank",
                  "tenon us", "limit us", "ratio", "MPI us", "ratio", "MPI call"));
  for (const Index size : kSizes)
    for (const BenchCase& bench : benchCases(size))
      runCase(bench, limits, rounds);
  return 0;
}

} // namespace tenon::tools
