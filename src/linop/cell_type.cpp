// SPDX-License-Identifier: BSD-2-Clause
#include "linop/cell_type.hpp"

#include "comm/sub_communicator.hpp"

#include <utility>

namespace tenon {

namespace {

// Replaces a type by one that is made of it.
template <class Make>
void wrap(MPI_Datatype& type, const char* name, Make make) {
  MPI_Datatype outer = MPI_DATATYPE_NULL;
  checkMpi(make(type, &outer), name);
  checkMpi(MPI_Type_free(&type), "MPI_Type_free");
  type = outer;
}

// From the region's first cell. What lies together is one run of bytes.
MPI_Datatype typeOf(const Region& region, const std::array<Index, kMaxRank>& strides, int rank,
                    Index cellBytes) {
  Index run = 1;
  int d = rank - 1;
  while (d >= 0 && (region.extent[d] == 1 || region.step[d] * strides[d] == run))
    run *= region.extent[d--];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  checkMpi(MPI_Type_contiguous(static_cast<int>(run * cellBytes), MPI_BYTE, &type),
           "MPI_Type_contiguous");
  for (; d >= 0; --d)
    if (region.extent[d] > 1)
      wrap(type, "MPI_Type_create_hvector", [&](MPI_Datatype inner, MPI_Datatype* outer) {
        return MPI_Type_create_hvector(static_cast<int>(region.extent[d]), 1,
                                       region.step[d] * strides[d] * cellBytes, inner, outer);
      });
  return type;
}

} // namespace

CellType::CellType(CellType&& other) noexcept
    : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), strides_(other.strides_) {}

CellType::~CellType() {
  free();
}

void CellType::free() noexcept {
  if (type_ != MPI_DATATYPE_NULL && mpiRuns())
    MPI_Type_free(&type_);
}

MPI_Datatype CellType::of(const std::vector<Region>& regions,
                          const std::array<Index, kMaxRank>& strides, int rank, Index cellBytes) {
  if (type_ != MPI_DATATYPE_NULL && strides == strides_)
    return type_;
  free();
  strides_ = strides;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const Region& region : regions) {
    types.push_back(typeOf(region, strides, rank, cellBytes));
    Index place = 0;
    for (int d = 0; d < rank; ++d)
      place += region.begin[d] * strides[d] * cellBytes;
    places.push_back(place);
  }
  const std::vector<int> ones(regions.size(), 1);
  checkMpi(MPI_Type_create_struct(static_cast<int>(regions.size()), ones.data(), places.data(),
                                  types.data(), &type_),
           "MPI_Type_create_struct");
  for (MPI_Datatype& type : types)
    checkMpi(MPI_Type_free(&type), "MPI_Type_free");
  checkMpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  return type_;
}

} // namespace tenon
