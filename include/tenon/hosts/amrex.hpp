// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief The boxes of AMReX's MultiFab as a tensor [boxes, components, (z,) y, x].
 *
 *  Include it behind AMReX_MultiFab.H. All boxes have one size (max_grid_size and blocking_factor
 *  of AMReX make them so); ranks can have different numbers of boxes, or none. Each box is an array
 *  of its own, so values are copied when the program says so:
 *
 *      tenon::Layout layout = tenon::boxLayout(comm, field, tenon::Ghosts::Included);
 *      tenon::DTensor x(layout, TENON_FLOAT64);
 *      auto placed = tenon::placeBoxes(x, field);
 *      field.FillBoundary(geom.periodicity());
 *      x.gatherArrays();   // from the boxes
 *      ...
 *      x.scatterArrays();  // to the boxes
 *
 *  With Ghosts::Included the ghost cells are elements, as for networks without padding on boxes as
 *  a batch (doc/boxes.md). With Ghosts::Omitted the tensor has the valid cells alone, as for
 *  patches that are linked (doc/meshes.md; tensors in the layout of links are placed likewise).
 */
#ifndef TENON_HOSTS_AMREX_HPP
#define TENON_HOSTS_AMREX_HPP

#include <tenon.hpp>

#include <algorithm>

namespace tenon {

enum class Ghosts { Omitted, Included };

namespace detail {

struct BoxExtents {
  std::vector<TenonInt> cells, before, behind; /* z first; of the cells without these ghosts */
};

template <class MultiFab>
BoxExtents boxExtents(const MultiFab& field, int box, Ghosts ghosts) {
  const auto all = field.fabbox(box), valid = field.box(box);
  BoxExtents result;
  for (int d = static_cast<int>(sizeof(all.smallEnd()) / sizeof(int)) - 1; d >= 0; --d) {
    const bool isIncluded = ghosts == Ghosts::Included;
    result.cells.push_back(isIncluded ? all.length(d) : valid.length(d));
    result.before.push_back(isIncluded ? 0 : valid.smallEnd(d) - all.smallEnd(d));
    result.behind.push_back(isIncluded ? 0 : all.bigEnd(d) - valid.bigEnd(d));
  }
  return result;
}

} // namespace detail

/** @brief The layout [boxes, components, (z,) y, x] of a MultiFab, boxes in the order of the ranks
 *         and of each rank's boxes. Collective. Boxes of several sizes are a std::length_error on
 *         all ranks. */
template <class MultiFab>
Layout boxLayout(MPI_Comm comm, const MultiFab& field, Ghosts ghosts,
                 const Where& where = Where::current()) {
  const TenonInt count = field.local_size(), components = field.nComp();
  constexpr std::size_t space = sizeof(field.fabbox(0).smallEnd()) / sizeof(int);
  /* The largest extents, and the smallest as the largest of their negatives. */
  std::vector<TenonInt> most(2 * space, -(TenonInt(1) << 62)), shape{0, components}, low(2 + space);
  for (const int box : field.IndexArray()) {
    const std::vector<TenonInt> cells = detail::boxExtents(field, box, ghosts).cells;
    for (std::size_t d = 0; d < space; ++d) {
      most[d] = std::max(most[d], cells[d]);
      most[space + d] = std::max(most[space + d], -cells[d]);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT64_T, MPI_MAX,
                comm);
  for (std::size_t d = 0; d < space; ++d) {
    if (most[d] > 0 && most[d] != -most[space + d])
      throw std::length_error("the boxes have several sizes: from " +
                              std::to_string(-most[space + d]) + " to " + std::to_string(most[d]) +
                              " cells");
    shape.push_back(std::max(most[d], TenonInt(0)));
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Exscan(&count, &low[0], 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(&count, &shape[0], 1, MPI_INT64_T, MPI_SUM, comm);
  if (rank == 0)
    low[0] = 0;
  std::vector<TenonInt> high = shape;
  high[0] = low[0] + count;
  return Layout(comm, shape, low, high, where);
}

/** @brief The boxes of this rank as the arrays of a tensor whose first dimension counts them, for
 *         x.gatherArrays() and x.scatterArrays(). Ghost cells are elements, or not, as the extents
 *         of the tensor tell. Not collective. */
template <class MultiFab>
[[nodiscard]] Placement placeBoxes(DTensor& x, MultiFab& field,
                                   const Where& where = Where::current()) {
  using Number = std::remove_pointer_t<decltype(field[0].dataPtr())>;
  const auto& own = field.IndexArray();
  const std::vector<TenonInt> shape = x.layout().shape();
  std::vector<TenonInt> before(shape.size()), behind(shape.size());
  TenonInt length = 0, offset = 0;
  if (own.size() > 0) {
    detail::BoxExtents extents = detail::boxExtents(field, own[0], Ghosts::Included);
    if (!std::equal(extents.cells.begin(), extents.cells.end(), shape.begin() + 2, shape.end()))
      extents = detail::boxExtents(field, own[0], Ghosts::Omitted);
    std::copy(extents.before.begin(), extents.before.end(), before.begin() + 2);
    std::copy(extents.behind.begin(), extents.behind.end(), behind.begin() + 2);
    const auto all = field.fabbox(own[0]);
    length = static_cast<TenonInt>(all.numPts()) * field.nComp();
    for (std::size_t d = 0; d < extents.before.size(); ++d) /* z first */
      offset =
          offset * all.length(static_cast<int>(extents.before.size() - d) - 1) + extents.before[d];
  }
  std::vector<Number*> boxes;
  for (const int box : own)
    boxes.push_back(field[box].dataPtr() + offset);
  return x.placeArrays<Number>(0, boxes, {{}, before, behind, length}, where);
}

} // namespace tenon

#endif
