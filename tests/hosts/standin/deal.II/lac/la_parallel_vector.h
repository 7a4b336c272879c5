// SPDX-License-Identifier: BSD-2-Clause
// A stand-in for deal.II: index sets, partitioners, and distributed vectors without communication.
#pragma once
#include <mpi.h>

#include <memory>
#include <set>
#include <vector>

namespace dealii {

class IndexSet {
public:
  explicit IndexSet(unsigned) {}
  void add_range(unsigned begin, unsigned end) {
    for (unsigned i = begin; i < end; ++i)
      indices.insert(i);
  }
  void add_index(unsigned i) { indices.insert(i); }

  std::set<unsigned> indices;
};

namespace Utilities::MPI {

class Partitioner {
public:
  Partitioner(const IndexSet& owned, const IndexSet& ghosts, MPI_Comm comm)
      : all_(owned.indices.begin(), owned.indices.end()), owned_(unsigned(all_.size())),
        comm_(comm) {
    all_.insert(all_.end(), ghosts.indices.begin(), ghosts.indices.end());
  }
  unsigned locally_owned_size() const { return owned_; }
  unsigned n_ghost_indices() const { return unsigned(all_.size()) - owned_; }
  unsigned local_to_global(unsigned i) const { return all_[i]; }
  MPI_Comm get_mpi_communicator() const { return comm_; }

private:
  std::vector<unsigned> all_;
  unsigned owned_;
  MPI_Comm comm_;
};

} // namespace Utilities::MPI

namespace LinearAlgebra::distributed {

template <class Number>
class Vector {
public:
  explicit Vector(const std::shared_ptr<const Utilities::MPI::Partitioner>& partitioner)
      : partitioner_(partitioner),
        values_(partitioner->locally_owned_size() + partitioner->n_ghost_indices()) {}
  const std::shared_ptr<const Utilities::MPI::Partitioner>& get_partitioner() const {
    return partitioner_;
  }
  Number* begin() { return values_.data(); }
  const Number* begin() const { return values_.data(); }
  Number& local_element(unsigned i) { return values_[i]; }
  void set_ghost_state(bool) const {}

private:
  std::shared_ptr<const Utilities::MPI::Partitioner> partitioner_;
  std::vector<Number> values_;
};

} // namespace LinearAlgebra::distributed
} // namespace dealii
