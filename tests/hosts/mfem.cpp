// SPDX-License-Identifier: BSD-2-Clause
// tenon/hosts/mfem.hpp with a stand-in for MFEM: the ids of own and of other dofs, and vectors of
// true dofs in place.
#include "capi/thrown.hpp"

#include <mfem.hpp>

#include <tenon/hosts/mfem.hpp>

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  const mfem::ParFiniteElementSpace space(MPI_COMM_WORLD);
  const tenon::IndexMap dofs = tenon::mapOfSpace(space);
  const std::vector<TenonInt> positions = tenon::positions(space);
  const auto layouts = dofs.layouts({0, 1});
  tenon::DTensor x(layouts.domain, TENON_FLOAT64), u(layouts.range, TENON_FLOAT64);
  mfem::HypreParVector v(&space);
  for (int dof = 0; dof < space.GetVSize(); ++dof)
    if (space.GetLocalTDofNumber(dof) >= 0)
      v.GetData()[space.GetLocalTDofNumber(dof)] = 5 * space.GetGlobalTDofNumber(dof);
  std::vector<double> all(positions.size());
  {
    const auto placed = tenon::placeTrueDofs(x, v);
    const TenonInt others = space.GetVSize() - space.GetTrueVSize();
    const auto ghosted = u.place(all, {{}, {}, {others, 0}});
    tenon::LinearOp::indexMap(dofs, layouts.domain, TENON_FLOAT64).apply(x, u);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int dof = 0; dof < space.GetVSize(); ++dof) {
    const bool isOwn = space.GetLocalTDofNumber(dof) >= 0;
    /* The operator writes the copies; own values are those of the vector. */
    const double found = isOwn ? v.GetData()[positions[std::size_t(dof)]]
                               : all[std::size_t(positions[std::size_t(dof)])];
    CHECK(found == 5 * space.GetGlobalTDofNumber(dof));
  }
  const mfem::HypreParVector& constant = v;
  const auto reading = tenon::placeTrueDofs(x, constant);
  CHECK(thrown([&] { x.fill(0); }) == TENON_ERR_STATE);
  CHECK(isOfWrongLength([&] { (void)tenon::placeTrueDofs(u, v); }) || rank == 0);
}
