// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Fields of MFEM as tensors: ParFiniteElementSpace, its true dofs and ParGridFunction.
 *
 *  Include it behind mfem.hpp. The nodes of the index map are the true dofs that the rank owns, in
 *  MFEM's order, then the other dofs of its elements. A vector of true dofs (HypreParVector,
 *  GetTrueDofs()), and the ParGridFunction of a discontinuous space, which has no other dofs, are
 *  used in place. A continuous ParGridFunction has own and other dofs mixed: positions() tells
 *  where each of its dofs is in the list of the map.
 *
 *      tenon::IndexMap dofs = tenon::mapOfSpace(space);
 *      tenon::DTensor x(dofs.layouts({0, 1}).domain, TENON_FLOAT64);
 *      std::unique_ptr<mfem::HypreParVector> v(field.GetTrueDofs());
 *      auto placed = tenon::placeTrueDofs(x, *v);
 *      ...
 *      field.Distribute(*v);
 *
 *  For conforming meshes; on others, dofs of slave faces are none of these. GetGlobalTDofNumber()
 *  numbers rank by rank, so ids depend on the partition.
 */
#ifndef TENON_HOSTS_MFEM_HPP
#define TENON_HOSTS_MFEM_HPP

#include <tenon.hpp>

namespace tenon {

/** @brief For each local dof its position in the list of mapOfSpace(): edges between the dofs of an
 *         element are pairs of these. */
template <class Space>
std::vector<TenonInt> positions(const Space& space) {
  std::vector<TenonInt> result;
  TenonInt next = space.GetTrueVSize();
  for (int dof = 0; dof < space.GetVSize(); ++dof) {
    const int own = space.GetLocalTDofNumber(dof);
    result.push_back(own >= 0 ? own : next++);
  }
  return result;
}

/** @brief The index map of the dofs of a ParFiniteElementSpace. Collective. */
template <class Space>
IndexMap mapOfSpace(const Space& space, const Where& where = Where::current()) {
  const std::vector<TenonInt> place = positions(space);
  std::vector<TenonInt> ids(place.size());
  for (std::size_t dof = 0; dof < place.size(); ++dof)
    ids[static_cast<std::size_t>(place[dof])] =
        static_cast<TenonInt>(space.GetGlobalTDofNumber(static_cast<int>(dof)));
  return IndexMap::fromIds(space.GetComm(), space.GetTrueVSize(), ids, where);
}

/** @brief A vector of true dofs, or the ParGridFunction of a discontinuous space, for a tensor
 *         [dofs, 1]; of a constant vector for reading only. A tensor of another length is an
 *         error. */
template <class Vector>
[[nodiscard]] Placement placeTrueDofs(DTensor& x, Vector& vector,
                                      const Where& where = Where::current()) {
  detail::checkLength("the vector", static_cast<std::size_t>(vector.Size()),
                      static_cast<std::size_t>(x.localSize()));
  using Number = std::conditional_t<std::is_const_v<Vector>,
                                    const std::remove_reference_t<decltype(*vector.GetData())>,
                                    std::remove_reference_t<decltype(*vector.GetData())>>;
  return x.place(static_cast<Number*>(vector.GetData()), {}, where);
}

} // namespace tenon

#endif
