// SPDX-License-Identifier: BSD-2-Clause
// The data movements that are timed, the MPI calls that do the same, and the timing itself. The
// reference for a data movement is the best single MPI call, on arrays that need no packing. Where
// a single call does not exist, as for a halo exchange, the reference is written with MPI_Isend and
// MPI_Irecv, as a solver would do it.
#include "tools/bench/case.hpp"

#include "tools/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace tenon::tools {

namespace {

// Minimum seconds of a round of one work: long compared with a clock tick and a barrier.
constexpr double kRound = 500e-6;
// Bytes of a large message or copy: more than the private caches of a core.
constexpr int kLarge = 4 << 20;

// Seconds of one call of `work`, as the mean of `count` calls on the slowest rank.
double timeOf(const Work& work, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i)
    work();
  double ownSeconds = MPI_Wtime() - start, slowest = 0;
  MPI_Allreduce(&ownSeconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / count;
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// Rank 0 sends a message, and rank 1 returns it.
void pingPong(std::vector<char>& buffer) {
  const int rank = worldRank(), count = static_cast<int>(buffer.size());
  for (const int sender : {0, 1}) {
    if (rank == sender)
      MPI_Send(buffer.data(), count, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    else if (rank == 1 - sender)
      MPI_Recv(buffer.data(), count, MPI_CHAR, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

} // namespace

std::vector<double> medians(const std::vector<Work>& works, int repeat) {
  std::vector<int> counts;
  for (const Work& work : works) {
    timeOf(work, 1); // the first call can allocate
    // As many calls as take kRound together, by the time of one, but at most 1000.
    counts.push_back(static_cast<int>(std::clamp(kRound / timeOf(work, 1), 1.0, 1000.0)));
  }
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round < repeat; ++round)
    // Alternately: a disturbance of the machine affects all works alike.
    for (std::size_t i = 0; i < works.size(); ++i)
      times[i].push_back(timeOf(works[i], counts[i]));
  std::vector<double> result;
  for (std::vector<double>& caseTimes : times)
    result.push_back(median(std::move(caseTimes)));
  return result;
}

Limits measureLimits(int repeat) {
  std::vector<char> small(8), large(kLarge), target(kLarge);
  const std::vector<double> times =
      medians({[&] { pingPong(small); }, [&] { pingPong(large); },
               [&] {
                 // A compiler could omit the copy of unchanged data.
                 large[0] = static_cast<char>(large[0] + 1);
                 std::memcpy(target.data(), large.data(), target.size());
               }},
              repeat);
  // A ping-pong is two messages.
  return {.latency = times[0] / 2, .messages = 2 * kLarge / times[1], .memory = kLarge / times[2]};
}

namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;
// Sums of integers are exact in any order.
constexpr Filling kFilling{7, Numbers::Integers};

using Peer = std::function<void(const double* x, double* y)>;

// The bytes of the largest local array of the two layouts.
double bytesOf(const LayoutSpec& from, const LayoutSpec& to) {
  Index most = 0;
  for (const LayoutSpec* spec : {&from, &to})
    for (int position = 0; position < spec->grid.size(); ++position)
      most = std::max(most, elementsOf(spec->box(position)));
  return 8.0 * static_cast<double>(most);
}

// A case whose operator is the conversion between two layouts (layout_spec.hpp).
BenchCase conversion(const char* name, const LayoutSpec& from, const LayoutSpec& to,
                     const char* peerName, Peer peer) {
  return {.name = name,
          .bytes = bytesOf(from, to),
          .make =
              [=] {
                LinearOp op;
                const Layout domain = makeLayout(kWorld, from), range = makeLayout(kWorld, to);
                require(TenonLinearOpCreateConversion(domain, range, TENON_FLOAT64, op.out()));
                return op;
              },
          .given = [=] { return fill(from, worldRank(), kFilling); },
          .expected = [=] { return heldOf(to, worldRank(), valueOf(from, kFilling)); },
          .peerName = peerName,
          .peer = std::move(peer)};
}

// A layout on all ranks in order along one grid axis with a property: {'S', d} splits dimension d,
// and with -1 as the dimension 'B' has copies, 'P' partial sums, and 'R' the elements on rank 0.
LayoutSpec line(const Indices& shape, Property property) {
  LayoutSpec spec = everywhere(shape, worldSize());
  spec.properties = {property};
  for (int d = 0; d < spec.ndim(); ++d) {
    spec.splitAxes[d] = axesThatSplit(spec, d);
    spec.cuts[d] = balancedCuts(spec, d);
  }
  return spec;
}

// Derived types for the pieces of a split of dimension `dim` of a box, one for each rank.
class Pieces {
public:
  Pieces(const Indices& box, int dim) {
    const int ranks = worldSize(), ndim = static_cast<int>(box.size());
    std::vector<int> sizes(box.begin(), box.end()), part = sizes;
    part[dim] = sizes[dim] / ranks;
    for (int r = 0; r < ranks; ++r) {
      std::vector<int> starts(ndim, 0);
      starts[dim] = r * part[dim];
      types.emplace_back();
      // MPI packs by derived types, as in a program that does not pack itself.
      MPI_Type_create_subarray(ndim, sizes.data(), part.data(), starts.data(), MPI_ORDER_C,
                               MPI_DOUBLE, &types.back());
      MPI_Type_commit(&types.back());
    }
  }
  ~Pieces() {
    for (MPI_Datatype& type : types)
      MPI_Type_free(&type);
  }
  std::vector<MPI_Datatype> types;
};

// A transpose: from a split of dimension a to a split of dimension b.
BenchCase transpose(const char* name, const Indices& shape, int a, int b) {
  const int ranks = worldSize();
  Indices source = shape, target = shape;
  source[a] /= ranks;
  target[b] /= ranks;
  const auto out = std::make_shared<Pieces>(source, b), in = std::make_shared<Pieces>(target, a);
  const std::vector<int> ones(ranks, 1), zeros(ranks, 0);
  return conversion(name, line(shape, {'S', a}), line(shape, {'S', b}), "MPI_Alltoallw",
                    [=](const double* x, double* y) {
                      MPI_Alltoallw(x, ones.data(), zeros.data(), out->types.data(), y, ones.data(),
                                    zeros.data(), in->types.data(), kWorld);
                    });
}

constexpr const char* kByHand = "MPI_Isend, MPI_Irecv";

// Rows on a ring of ranks, with a halo of one row on each side.
BenchCase ring(Index rows, Index width) {
  const int ranks = worldSize(), rank = worldRank();
  const LayoutSpec from = line({rows * ranks, width}, {'S', 0});
  LayoutSpec to = from;
  HaloSpec halo{
      .widths = Interval{1, 1}, .low = TENON_BOUNDARY_PERIODIC, .high = TENON_BOUNDARY_PERIODIC};
  for (int r = 0; r < ranks; ++r)
    halo.boxes.push_back({r * rows - 1, (r + 1) * rows + 1});
  to.halos[0] = halo;
  // With two ranks both neighbours are the same rank, and the tags distinguish the two rows.
  const int previous = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
  const int w = static_cast<int>(width);
  return conversion("halo", from, to, kByHand, [=](const double* x, double* y) {
    MPI_Request requests[4];
    MPI_Irecv(y, w, MPI_DOUBLE, previous, 0, kWorld, &requests[0]);
    MPI_Irecv(y + (rows + 1) * width, w, MPI_DOUBLE, next, 1, kWorld, &requests[1]);
    MPI_Isend(x + (rows - 1) * width, w, MPI_DOUBLE, next, 0, kWorld, &requests[2]);
    MPI_Isend(x, w, MPI_DOUBLE, previous, 1, kWorld, &requests[3]);
    std::memcpy(y + width, x, static_cast<std::size_t>(rows * width) * sizeof(double));
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  });
}

// Rows of a mesh, with one ghost per four rows: half of the ghosts are scattered among the rows of
// the previous rank on a ring, half among those of the next rank. kWidth is the numbers per row,
// and kStep a prime, whose multiples modulo `rows` are scattered over the rows.
BenchCase ghosts(Index rows) {
  constexpr Index kWidth = 8, kStep = 7919;
  const Index each = std::max<Index>(1, rows / 8), owned = rows * kWidth, ghostSize = each * kWidth;
  const int ranks = worldSize(), rank = worldRank();
  const int previous = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
  Indices ids;
  for (Index i = 0; i < rows; ++i)
    ids.push_back(rank * rows + i);
  for (const int other : {previous, next})
    for (Index k = 0; k < each; ++k)
      ids.push_back(other * rows + k * kStep % rows);
  const auto make = [=] {
    LinearOp op;
    IndexMap map;
    Layout plain, ghosted;
    const TenonInt shape[] = {0, kWidth};
    require(TenonIndexMapCreateFromIds(kWorld, rows, static_cast<TenonInt>(ids.size()), ids.data(),
                                       map.out()));
    require(TenonIndexMapGetLayouts(map, 2, shape, plain.out(), ghosted.out()));
    require(TenonLinearOpCreateIndexMap(map, plain, TENON_FLOAT64, op.out()));
    return op;
  };
  const auto valuesOf = [=](std::size_t count) {
    Values values;
    for (std::size_t i = 0; i < count; ++i)
      for (Index c = 0; c < kWidth; ++c)
        values.push_back(kFilling.at(static_cast<std::uint64_t>(ids[i] * kWidth + c)));
    return values;
  };
  // Both neighbours need the same rows.
  const auto packed = std::make_shared<Values>(ghostSize);
  const int count = static_cast<int>(ghostSize);
  const auto peer = [=](const double* x, double* y) {
    MPI_Request requests[4];
    for (Index k = 0; k < each; ++k)
      std::copy_n(x + k * kStep % rows * kWidth, kWidth, packed->data() + k * kWidth);
    MPI_Irecv(y + owned, count, MPI_DOUBLE, previous, 0, kWorld, &requests[0]);
    MPI_Irecv(y + owned + ghostSize, count, MPI_DOUBLE, next, 1, kWorld, &requests[1]);
    MPI_Isend(packed->data(), count, MPI_DOUBLE, next, 0, kWorld, &requests[2]);
    MPI_Isend(packed->data(), count, MPI_DOUBLE, previous, 1, kWorld, &requests[3]);
    std::memcpy(y, x, static_cast<std::size_t>(owned) * sizeof(double));
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  };
  return {.name = "ghosts",
          .bytes = 8.0 * static_cast<double>(owned + 2 * ghostSize),
          .make = make,
          .given = [=] { return valuesOf(static_cast<std::size_t>(rows)); },
          .expected = [=] { return valuesOf(ids.size()); },
          .peerName = kByHand,
          .peer = peer};
}

// The collectives on vectors of `elements` elements, divided evenly over the ranks.
std::vector<BenchCase> vectors(Index elements) {
  const int all = static_cast<int>(elements), part = all / worldSize();
  const bool isRoot = worldRank() == 0;
  const LayoutSpec s = line({elements}, {'S', 0}), b = line({elements}, {'B', -1}),
                   p = line({elements}, {'P', -1}), r = line({elements}, {'R', -1});
  return {
      conversion("broadcast", r, b, "MPI_Bcast",
                 [=](const double* x, double* y) {
                   if (isRoot)
                     std::copy_n(x, all, y);
                   MPI_Bcast(y, all, MPI_DOUBLE, 0, kWorld);
                 }),
      conversion("sum-reduce", p, r, "MPI_Reduce",
                 [=](const double* x, double* y) {
                   MPI_Reduce(x, y, all, MPI_DOUBLE, MPI_SUM, 0, kWorld);
                 }),
      conversion("all-reduce", p, b, "MPI_Allreduce",
                 [=](const double* x, double* y) {
                   MPI_Allreduce(x, y, all, MPI_DOUBLE, MPI_SUM, kWorld);
                 }),
      conversion("all-gather", s, b, "MPI_Allgather",
                 [=](const double* x, double* y) {
                   MPI_Allgather(x, part, MPI_DOUBLE, y, part, MPI_DOUBLE, kWorld);
                 }),
      conversion("reduce-scatter", p, s, "MPI_Reduce_scatter_block",
                 [=](const double* x, double* y) {
                   MPI_Reduce_scatter_block(x, y, part, MPI_DOUBLE, MPI_SUM, kWorld);
                 }),
      conversion("scatter", r, s, "MPI_Scatter",
                 [=](const double* x, double* y) {
                   MPI_Scatter(x, part, MPI_DOUBLE, y, part, MPI_DOUBLE, 0, kWorld);
                 }),
      conversion("gather", s, r, "MPI_Gather",
                 [=](const double* x, double* y) {
                   MPI_Gather(x, part, MPI_DOUBLE, y, part, MPI_DOUBLE, 0, kWorld);
                 }),
  };
}

} // namespace

std::vector<BenchCase> benchCases(Index bytes) {
  const Index ranks = worldSize();
  // The MPI calls without lists of counts need equal parts, so extents are multiples of the number
  // of ranks: the largest that is at most n.
  const auto multiple = [&](double n) {
    return ranks * std::max<Index>(1, static_cast<Index>(n) / ranks);
  };
  const double elements = static_cast<double>(bytes) / 8;
  std::vector<BenchCase> cases = vectors(multiple(elements));
  // A square of side s is divided over the ranks, so s^2 / ranks elements are on each; likewise a
  // cube. The arrays of the collectives, the halo and the ghosts have this size on every rank.
  const Index side = multiple(std::sqrt(elements * static_cast<double>(ranks)));
  const Index edge = multiple(std::cbrt(elements * static_cast<double>(ranks)));
  cases.push_back(transpose("all-to-all", {side, side}, 0, 1));
  cases.push_back(transpose("repartition", {edge, edge, edge}, 0, 2));
  const auto rows = static_cast<Index>(std::max(1.0, std::sqrt(elements)));
  cases.push_back(ring(rows, rows));
  cases.push_back(ghosts(static_cast<Index>(elements) / 8));
  return cases;
}

} // namespace tenon::tools
