// SPDX-License-Identifier: BSD-2-Clause
// For the benchmarks halo and exchange: the halo exchange in place of a grid of n^3 cells with 16
// float64 channels, split in its slowest dimension, on an array with ghosts; by Tenon and by
// persistent messages written by hand.
#pragma once

#include "bench/handles.hpp"
#include "bench/slab_exchange.hpp"

#include <algorithm>
#include <vector>

namespace tenon::bench {

inline constexpr int kChannels = 16;
using Values = std::vector<double>;

// This rank's slabs of the grid, with the ghosts inside the domain.
struct Slabs {
  Slabs(MPI_Comm comm, int n, int ghostWidth) : cells(n), width(ghostWidth) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    own = partOf(n, ranks, rank);
    low = rank > 0 ? width : 0;
    high = rank < ranks - 1 ? width : 0;
  }
  std::size_t slab() const { return std::size_t(cells) * cells * kChannels; }
  std::size_t size() const { return (low + own.count + high) * slab(); }
  std::size_t ghostBytes() const { return (low + high) * slab() * sizeof(double); }
  // Returns the values of the array, with the right values in the ghosts or with -1.
  Values values(bool complete) const {
    Values all(size(), -1);
    for (int i = 0; i < low + own.count + high; ++i)
      if (complete || (i >= low && i < low + own.count))
        for (std::size_t j = 0; j < slab(); ++j)
          all[i * slab() + j] = double(own.begin - low + i) * double(slab()) + double(j);
    return all;
  }

  // Writes the cells that are sent, with the values that they have already.
  void change(double* data) const {
    static volatile double one = 1;
    const double factor = one;
    const auto scale = [&](std::size_t first, int slabs) {
      for (std::size_t i = first * slab(); i < (first + slabs) * slab(); ++i)
        data[i] *= factor;
    };
    scale(low, low);
    scale(low + own.count - high, high);
  }

  int cells, width, rank = 0, ranks = 0, low = 0, high = 0;
  Span own{};
};

inline LayoutHandle ghosted(TenonLayout plain, int width) {
  LayoutHandle layout;
  require(TenonLayoutCreateLike(plain, layout.out()));
  require(TenonLayoutSetHalo(layout, 0, width, width, TENON_BOUNDARY_NONE, TENON_BOUNDARY_NONE));
  require(TenonLayoutSetUp(layout));
  return layout;
}

// The halo exchange of one slab, by the library.
struct Halo {
  Halo(MPI_Comm comm, const Slabs& s, Memory whose)
      : from(makeLayout(comm, {s.cells, s.cells, s.cells, kChannels}, "S0")),
        to(ghosted(from, s.width)), array(comm, s.size(), whose) {
    require(TenonLinearOpCreateHalo(from, to, TENON_FLOAT64, op.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, memory.out()));
    require(TenonDTensorCreate(from, TENON_FLOAT64, x.out()));
    require(TenonDTensorCreate(to, TENON_FLOAT64, y.out()));
    data = whose == Memory::Library ? arrayOf<double>(memory, TENON_FLOAT64) : array.data();
    const TenonInt low[] = {s.low, 0, 0, 0}, high[] = {s.high, 0, 0, 0};
    for (TenonDTensor tensor : {TenonDTensor(x), TenonDTensor(y)})
      require(TenonDTensorPlaceArray(tensor, data + s.low * s.slab(), nullptr, low, high, 0));
    const Values values = s.values(false);
    std::copy(values.begin(), values.end(), data);
  }
  void apply() { require(TenonLinearOpApply(op, x, y)); }

  LayoutHandle from, to;
  OpHandle op;
  TensorHandle memory, x, y;
  UserArray array;
  double* data = nullptr;
};

// The exchange written by hand. Slabs are contiguous, so persistent messages need no derived types.
class Persistent {
public:
  Persistent(MPI_Comm comm, const Slabs& s) : values(s.values(false)) {
    const int count = static_cast<int>(s.width * s.slab());
    const auto exchange = [&](int peer, std::size_t ghosts, std::size_t owned) {
      MPI_Recv_init(values.data() + ghosts * s.slab(), count, MPI_DOUBLE, peer, 0, comm,
                    &requests_.emplace_back());
      MPI_Send_init(values.data() + owned * s.slab(), count, MPI_DOUBLE, peer, 0, comm,
                    &requests_.emplace_back());
    };
    requests_.reserve(4);
    if (s.low > 0)
      exchange(s.rank - 1, 0, s.low);
    if (s.high > 0)
      exchange(s.rank + 1, s.low + s.own.count, s.low + s.own.count - s.width);
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;
  ~Persistent() {
    for (MPI_Request& request : requests_)
      MPI_Request_free(&request);
  }
  void run() {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  Values values;

private:
  std::vector<MPI_Request> requests_;
};

} // namespace tenon::bench
