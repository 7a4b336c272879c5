// SPDX-License-Identifier: BSD-2-Clause
// tenon/hosts/dealii.hpp with deal.II's distributed vectors: ghosts that Tenon fills are the
// entries of their owners, and the adjoint adds the ghosts at their owners.
#include "capi/thrown.hpp"

#include <deal.II/lac/la_parallel_vector.h>

#include <tenon/hosts/dealii.hpp>

#include <memory>

namespace {

using Partitioner = dealii::Utilities::MPI::Partitioner;
using Vector = dealii::LinearAlgebra::distributed::Vector<double>;

// Rank r owns r + 2 of the entries. Its ghosts are the first and the last entry of all, and the two
// that are adjacent to its own in the numbering, periodically.
std::shared_ptr<const Partitioner> partitioner(unsigned& total) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned first = 0;
  total = 0;
  for (int r = 0; r < size; ++r) {
    if (r < rank)
      first += unsigned(r) + 2;
    total += unsigned(r) + 2;
  }
  const unsigned end = first + unsigned(rank) + 2;
  dealii::IndexSet owned(total), ghosts(total);
  owned.add_range(first, end);
  for (const unsigned i : {0u, total - 1, (first + total - 1) % total, end % total})
    if (i < first || i >= end)
      ghosts.add_index(i);
  return std::make_shared<const Partitioner>(owned, ghosts, MPI_COMM_WORLD);
}

double value(TenonInt index) {
  return 10 + 3 * double(index);
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  unsigned total = 0;
  const auto shared = partitioner(total);
  const unsigned owned = shared->locally_owned_size(), count = owned + shared->n_ghost_indices();
  Vector v(shared);
  for (unsigned i = 0; i < owned; ++i)
    v.local_element(i) = value(shared->local_to_global(i));

  const tenon::IndexMap dofs = tenon::mapOfPartitioner(*shared);
  const auto layouts = dofs.layouts({0, 1});
  tenon::DTensor x(layouts.domain, TENON_FLOAT64), u(layouts.range, TENON_FLOAT64);
  tenon::LinearOp fill = tenon::LinearOp::indexMap(dofs, layouts.domain, TENON_FLOAT64);
  {
    const auto placed = tenon::placeOwned(x, v), all = tenon::placeGhosted(u, v);
    fill.apply(x, u);
  }
  v.set_ghost_state(true);
  const Vector& constant = v;
  for (unsigned i = 0; i < count; ++i)
    CHECK(constant.begin()[i] == value(shared->local_to_global(i)));

  // A vector with more entries than the tensor is refused, such as one of a refined mesh.
  bool isRefused = false;
  try {
    const auto all = tenon::placeGhosted(x, v);
  } catch (const std::length_error&) {
    isRefused = true;
  }
  CHECK(isRefused == (count != owned));

  /* Each rank contributes its number plus 1 to each of its entries and ghosts. */
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<double> sum(total);
  Vector w(shared);
  for (unsigned i = 0; i < count; ++i) {
    w.begin()[i] = rank + 1;
    sum[shared->local_to_global(i)] = rank + 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), int(total), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  tenon::DTensor du(layouts.range.dual(), TENON_FLOAT64), dx(layouts.domain.dual(), TENON_FLOAT64);
  Vector result(shared);
  {
    const auto all = tenon::placeGhosted(du, w), placed = tenon::placeOwned(dx, result);
    fill.applyAdjoint(du, dx);
  }
  for (unsigned i = 0; i < owned; ++i)
    CHECK(result.local_element(i) == sum[shared->local_to_global(i)]);
  // A list of one number has a wrong length: each rank has at least two entries.
  CHECK(isOfWrongLength([&] { tenon::mapOfPartitioner(*shared, {1}); }));
}
