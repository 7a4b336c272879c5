// SPDX-License-Identifier: BSD-2-Clause
// Regions of an array as a datatype of MPI, so that a message can be sent from them and received into
// them without a copy of ours. Its elements are bytes, like those of all other messages.
#pragma once

#include "comm/mpi.hpp"
#include "linop/part.hpp"

#include <optional>

namespace tenon {

class CellType {
public:
  CellType() = default;
  CellType(CellType&& other) noexcept;
  CellType& operator=(CellType&&) = delete;
  ~CellType();

  // From the array's first cell; made again only if the strides are others than before.
  MPI_Datatype of(const std::vector<Region>& regions, const std::array<Index, kMaxRank>& strides,
                  int rank, Index cellBytes);

private:
  void free() noexcept;

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::array<Index, kMaxRank> strides_{};
};

} // namespace tenon
