// SPDX-License-Identifier: BSD-2-Clause
// Times the sum of float64 arrays over all ranks (the conversion P -> B: from partial sums to
// copies), compared with MPI_Allreduce and a local memcpy. On 4 ranks it also times each reduction
// program (a sequence of collectives) of two levels of two ranks, and prints the best one beside
// the plain sum.
//
//   mpiexec -n 2 tests/bench/all_reduce
#include "bench/handles.hpp"
#include "bench/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

namespace tenon::bench {
namespace {

constexpr Target kShort{1, 0.2e-6}, kLong{0.65, 0};
constexpr TenonInt kKi = 1024, kMi = 1024 * kKi;

struct Size {
  TenonInt bytes;
  int calls;
  std::optional<Target> target;
};

std::string nameOf(TenonInt bytes) {
  if (bytes < kKi)
    return fmt::format("all-reduce {} B", bytes);
  return bytes < kMi ? fmt::format("all-reduce {} KiB", bytes / kKi)
                     : fmt::format("all-reduce {} MiB", bytes / kMi);
}

// The operator with its tensors, on arrays of the library or of the user.
struct Sum {
  Sum(MPI_Comm comm, TenonInt count, Memory whose)
      : contributions(makeLayout(comm, {count}, "P")), arrays(comm, 2 * count, whose) {
    require(
        TenonLinearOpCreatePrimitive(contributions, "allreduce", 0, -1, TENON_FLOAT64, op.out()));
    require(TenonLinearOpGetRange(op, sums.out()));
    require(TenonDTensorCreate(contributions, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(sums, TENON_FLOAT64, y.out()));
    if (whose != Memory::Library) {
      require(TenonDTensorPlaceArray(x, arrays.data(), nullptr, nullptr, nullptr, 0));
      require(TenonDTensorPlaceArray(y, arrays.data() + count, nullptr, nullptr, nullptr, 0));
    }
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    for (TenonInt i = 0; i < count; ++i)
      input()[i] = static_cast<double>((i + 5 * rank) % 17);
  }
  double* input() { return arrayOf<double>(x, TENON_FLOAT64); }
  double* output() { return arrayOf<double>(y, TENON_FLOAT64); }
  void apply() { require(TenonLinearOpApply(op, x, y)); }

  LayoutHandle contributions, sums;
  OpHandle op;
  TensorHandle x, y;
  UserArray arrays;
};

void addTenon(Race& race, MPI_Comm comm, const std::vector<double>& want, Sum& sum, Sum& bound,
              const std::string& memory) {
  require(TenonLinearOpBind(bound.op, bound.x, bound.y));
  for (Sum* each : {&sum, &bound}) {
    each->apply();
    each->apply();
    requireEqual(comm, "all-reduce", {each->output(), each->output() + want.size()}, want);
  }
  race.add("Apply " + memory, [&] { sum.apply(); });
  race.add("bound " + memory, [&] { bound.apply(); });
}

void printAll(const Race& race, const Size& size) {
  for (const Memory whose : kMemories)
    for (const char* how : {"Apply ", "bound "}) {
      const char* memory = nameOf(whose);
      const std::string method = std::string(how) + memory;
      race.print(method, memory, "MPI_Allreduce", size.target);
      if (size.bytes >= kMi)
        race.print(method, memory, "memcpy");
    }
}

void measure(MPI_Comm comm, const Size& size) {
  const TenonInt count = size.bytes / 8;
  std::deque<Sum> sums; // two for each memory
  for (const Memory whose : kMemories)
    for (int i = 0; i < 2; ++i)
      sums.emplace_back(comm, count, whose);
  const std::vector<double> x(sums[0].input(), sums[0].input() + count);
  std::vector<double> y(count);
  const auto reduce = [&] {
    MPI_Allreduce(x.data(), y.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm);
  };
  reduce();
  Race race(comm, nameOf(size.bytes), size.calls);
  for (std::size_t i = 0; i < std::size(kMemories); ++i)
    addTenon(race, comm, std::vector<double>(y), sums[2 * i], sums[2 * i + 1],
             nameOf(kMemories[i]));
  race.add("MPI_Allreduce", reduce);
  std::vector<double> copy(count);
  race.add("memcpy", [&] { std::memcpy(copy.data(), x.data(), size.bytes); });
  race.timeByDistance();
  race.eachDistance([&] { printAll(race, size); });
}

// All programs of up to 5 steps on two levels of two.
std::vector<std::string> programsOfTwoLevels() {
  const TenonInt system[] = {2, 2}, ranks = 4;
  const int axis = 0;
  tools::PlacementList places;
  tools::ReductionPrograms programs;
  require(TenonPlacementListCreate(2, system, 1, &ranks, places.out()));
  require(TenonReductionProgramsCreate(places, 0, 1, &axis, 5, programs.out()));
  TenonInt count = 0;
  require(TenonReductionProgramsGetCount(programs, &count));
  std::vector<std::string> texts;
  for (TenonInt index = 0; index < count; ++index) {
    char text[512];
    require(TenonReductionProgramsGetText(programs, index, text, sizeof text, nullptr));
    texts.emplace_back(text);
  }
  return texts;
}

void measurePrograms(MPI_Comm comm, const Size& size) {
  const std::vector<std::string> texts = programsOfTwoLevels();
  std::vector<std::string> names;
  std::deque<Sum> sums;
  sums.emplace_back(comm, size.bytes / 8, Memory::Library);
  Race race(comm, nameOf(size.bytes), size.calls);
  race.add("plain", [&sum = sums.back()] { sum.apply(); });
  require(TenonOptionsSet("-tenon_machine_levels", "2,2"));
  for (const std::string& text : texts) {
    require(TenonOptionsSet("-tenon_reduction", text.c_str()));
    sums.emplace_back(comm, size.bytes / 8, Memory::Library);
    names.push_back(fmt::format("program {}", names.size()));
    race.add(names.back(), [&sum = sums.back()] { sum.apply(); });
  }
  require(TenonOptionsSet("-tenon_reduction", "auto"));
  race.time();
  const std::string best = race.best(names);
  race.print(best, "library", "plain");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    fmt::print("# {}: {}\n", best,
               texts[std::find(names.begin(), names.end(), best) - names.begin()]);
}

void run() {
  printHead(MPI_COMM_WORLD);
  for (const Size& size :
       {Size{8, 200, kShort}, Size{64, 200, kShort}, Size{kKi, 200, kShort}, Size{64 * kKi, 50, {}},
        Size{kMi, 5, kLong}, Size{8 * kMi, 1, kLong}, Size{64 * kMi, 1, kLong}})
    measure(MPI_COMM_WORLD, size);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 4)
    for (const Size& size : {Size{kKi, 20, {}}, Size{64 * kKi, 10, {}}, Size{kMi, 3, {}}})
      measurePrograms(MPI_COMM_WORLD, size);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
