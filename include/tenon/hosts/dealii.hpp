// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Vectors of deal.II as tensors: dealii::LinearAlgebra::distributed::Vector.
 *
 *  Include it behind deal.II's headers. Such a vector has the entries that the rank owns, then its
 *  ghosts, as an index map wants them: fields are used in place, and ghosts are filled by Tenon's
 *  operator, or summed at their owners by its adjoint, as update_ghost_values() and compress(add)
 *  do.
 *
 *      const auto& partitioner = *v.get_partitioner();
 *      tenon::IndexMap dofs = tenon::mapOfPartitioner(partitioner);
 *      auto layouts = dofs.layouts({0, 1});
 *      tenon::DTensor x(layouts.domain, TENON_FLOAT64), u(layouts.range, TENON_FLOAT64);
 *      tenon::LinearOp fill = tenon::LinearOp::indexMap(dofs, layouts.domain, TENON_FLOAT64);
 *      {
 *        auto owned = tenon::placeOwned(x, v), all = tenon::placeGhosted(u, v);
 *        fill.apply(x, u);
 *      }
 *      v.set_ghost_state(true); // v's ghosts can be read now
 *
 *  deal.II numbers degrees of freedom rank by rank, so these ids depend on the partition: pass
 *  numbers of your own for files and results that do not (doc/meshes.md), one for each locally
 *  owned entry, then one for each ghost. After a refinement make map and tensors again.
 */
#ifndef TENON_HOSTS_DEALII_HPP
#define TENON_HOSTS_DEALII_HPP

#include <tenon.hpp>

#include <stdexcept>
#include <string>

namespace tenon {

/** @brief The local entries of a Utilities::MPI::Partitioner, ghosts included, by their global
 *         indices. */
template <class Partitioner>
std::vector<TenonInt> globalIndices(const Partitioner& partitioner) {
  const unsigned count = partitioner.locally_owned_size() + partitioner.n_ghost_indices();
  std::vector<TenonInt> indices(count);
  for (unsigned i = 0; i < count; ++i)
    indices[i] = static_cast<TenonInt>(partitioner.local_to_global(i));
  return indices;
}

/** @brief The index map of a partitioner, by its global indices or by the numbers passed.
 *         Collective. */
template <class Partitioner>
IndexMap mapOfPartitioner(const Partitioner& partitioner, Ints numbers,
                          const Where& where = Where::current()) {
  detail::checkLength("numbers", numbers.size(),
                      partitioner.locally_owned_size() + partitioner.n_ghost_indices());
  return IndexMap::fromIds(partitioner.get_mpi_communicator(), partitioner.locally_owned_size(),
                           numbers, where);
}
template <class Partitioner>
IndexMap mapOfPartitioner(const Partitioner& partitioner, const Where& where = Where::current()) {
  return mapOfPartitioner(partitioner, globalIndices(partitioner), where);
}

namespace detail {

template <class Vector>
Placement placeVector(DTensor& x, Vector& vector, bool isGhosted, const Where& where) {
  const auto& partitioner = *vector.get_partitioner();
  const TenonInt owned = partitioner.locally_owned_size(), ghosts = partitioner.n_ghost_indices();
  const TenonInt entries = owned + (isGhosted ? ghosts : 0);
  // Also a longer vector is an error: after a refinement it is not that of the map any more.
  if (x.localSize(where) != entries)
    throw std::length_error("the vector has " + std::to_string(entries) +
                            (isGhosted ? " owned entries and ghosts" : " owned entries") +
                            ", but the tensor has " + std::to_string(x.localSize(where)) +
                            "; after a refinement, make map and tensors again");
  std::vector<TenonInt> behind(dimensionsOf(x.get(), where));
  if (isGhosted)
    behind[0] = ghosts;
  return x.place(vector.begin(), {{}, {}, behind, owned + ghosts}, where);
}

} // namespace detail

/** @brief The entries that the rank owns, for a tensor [entries, 1] in the map's domain; of a
 *         constant vector for reading only. */
template <class Vector>
[[nodiscard]] Placement placeOwned(DTensor& x, Vector& vector,
                                   const Where& where = Where::current()) {
  return detail::placeVector(x, vector, false, where);
}

/** @brief The same with the ghosts, for a tensor in the map's range. */
template <class Vector>
[[nodiscard]] Placement placeGhosted(DTensor& u, Vector& vector,
                                     const Where& where = Where::current()) {
  return detail::placeVector(u, vector, true, where);
}

} // namespace tenon

#endif
