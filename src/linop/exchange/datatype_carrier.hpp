// SPDX-License-Identifier: BSD-2-Clause
// Parts as messages of MPI's derived datatypes: sent straight from the array and, where each target cell
// gets one value and no factors, received straight into it; otherwise they are combined from a buffer.
// MPI then copies once where packing copies twice, and cell by cell where it is clumsy.
#pragma once

#include "comm/mpi.hpp"
#include "linop/exchange/carrier.hpp"
#include "linop/exchange/part.hpp"

#include <optional>

namespace tenon {

// Regions of an array as a datatype of MPI, so that a message can be sent from them and received into
// them without a copy of ours. Its elements are bytes, like those of all other messages.

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

class DatatypeCarrier final : public Carrier {
public:
  explicit DatatypeCarrier(const CarrierSetup& setup);

  void begin(const Action& action) override;
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) override;
  void end(const Action& action) override;
  // The datatypes are kept anyway, and arrays change without new ones.
  void bind(DTensor&, DTensor&) override {}
  void unbind() override {}
  Index sendBytes() const override { return 0; }
  Index receiveBytes() const override;
  void useWires(Wire& send, Wire& receive) override;
  Index ownBytes() const override { return 0; }
  std::string describe() const override { return "datatypes"; }

private:
  // A part that is a message.
  struct PartMessage {
    std::size_t part;
    int bytes;
    CellType type = {};
    MPI_Request request = MPI_REQUEST_NULL;
    std::byte* cells = nullptr;      // of the buffer
    const std::byte* next = nullptr; // of those, not combined yet
  };
  int bytesOf(const Part& part) const;

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  Index cellBytes_;
  std::vector<PartMessage> out_, in_;
  std::vector<int> messageOf_; // of an unpack part
  bool straight_ = false;      // of the action in flight
};

} // namespace tenon
