// SPDX-License-Identifier: BSD-2-Clause
// Runs a sum over grid axes, or its adjoint, as one NCCL collective of the devices of the summed
// ranks: P -> B is an AllReduce, P -> S a ReduceScatter, P -> R a Reduce, and the adjoints
// AllGather and Broadcast. doBegin() queues the packing of the input on the kernels' stream, and
// the collective on a separate stream, after an event; doEnd() makes the kernels' stream wait for
// the collective. Kernels that are queued between doBegin() and doEnd() therefore run concurrently
// with the collective. Arrays on the host are summed by the ordinary route of the conversion
// (onHost_).
#include "linop/collectives/nccl_sum.hpp"

#include "comm/partition.hpp"
#include "dtensor/arithmetic.hpp"
#include "linop/collectives/collective_step.hpp"
#include "sys/log/log.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

class NcclSum final : public LinearOp {
public:
  // Collective. The devices connect now if device arrays are expected, otherwise when the first one
  // is passed.
  NcclSum(const CommPtr& comm, const RouteStep& collective, TenonDataType type, LinearOpRef onHost);
  ~NcclSum() override;

  std::string_view type() const noexcept override { return "sum by NCCL"; }
  std::string describeMore() const override;
  Index bufferBytes() const override;

private:
  // The input or output array of the collective. NCCL needs the regions one after the other; if
  // they are not in this order in the array, they are packed in the buffer.
  struct End {
    // Regions of the array at this end.
    std::span<const Region> regions;
    bool isInOrder; // in the order of a row-major array
    Buffer& buffer;
  };

  CollectiveKind kindOf(Sense sense) const {
    return sense == Sense::Forward ? *step_.collective : adjointOf(*step_.collective);
  }
  // The two kinds of ends: the whole array, and this rank's piece of it.
  End whole() { return {regions_.whole, pieces_.areInOrder, wholeBuffer_}; }
  End piece() { return {{&regions_.own, 1}, /*isInOrder=*/true, pieceBuffer_}; }
  End sourceOf(CollectiveKind kind) {
    return kind == CollectiveKind::AllGather ? piece() : whole();
  }
  End targetOf(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatter ? piece() : whole();
  }
  std::byte* memoryOf(const End& end, const DTensor& array) const;
  // The address from which NCCL reads the input: the array itself, or the buffer after packing.
  const void* packed(const End& end, const DTensor& x) const;
  // The address to which NCCL writes the output: the array itself, or the buffer.
  std::byte* landing(const End& end, const Action& action) const;
  void queue(CollectiveKind kind, const void* from, void* to, const Stream& stream);
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;

  RouteStep step_;
  CollectivePieces pieces_;
  CollectiveRegions regions_;
  std::vector<Index> cuts_; // piece boundaries in elements, including both ends
  LinearOpRef onHost_;      // for host arrays: by the route; null if device arrays are expected
  SubCommPtr line_;         // communicator of the group, with its devices
  Buffer wholeBuffer_, pieceBuffer_;
  std::byte* landing_ = nullptr; // target memory of the action in progress
  Event packed_, done_;
};

NcclSum::NcclSum(const CommPtr& comm, const RouteStep& collective, TenonDataType type,
                 LinearOpRef onHost)
    : LinearOp(comm, collective.from, collective.to, type), step_(collective),
      pieces_(collectivePieces(step_, comm->rank())), onHost_(std::move(onHost)) {
  if (!onHost_)
    line_ = lineDevices(*comm, step_.from.gridPtr(), step_.axes);
  if (!pieces_.takesPart)
    return;
  regions_ = collectiveRegions(pieces_, comm->rank());
  for (int c = 0; c <= pieces_.ranks; ++c)
    cuts_.push_back(pieces_.offset(c));
}

// Buffers are freed in the order of the kernels' stream. If doEnd() was never called, this stream
// does not wait for the collective, so the host waits for it here.
NcclSum::~NcclSum() {
  try {
    done_.synchronise();
  } catch (...) { // the device has failed; its next use reports it
  }
}

// Returns the buffer in which the regions of an end are contiguous.
std::byte* NcclSum::memoryOf(const End& end, const DTensor& array) const {
  const Index bytes = array.localElements() * dataTypeSize(domainType());
  if (end.buffer.bytes() < bytes)
    end.buffer = Buffer(bytes, title() + " packed", array.context().memory());
  return end.buffer.data<std::byte>();
}

const void* NcclSum::packed(const End& end, const DTensor& x) const {
  if (x.localElements() == 0 || (x.isContiguous() && end.isInOrder))
    return arrayOf(x);
  std::byte* const memory = memoryOf(end, x);
  packRegions(x, end.regions, memory);
  return memory;
}

std::byte* NcclSum::landing(const End& end, const Action& action) const {
  DTensor& y = *action.y;
  if (y.localElements() == 0)
    return nullptr;
  // NCCL only overwrites contiguous elements, in the order of the pieces.
  if (!action.isPlain() || !y.isContiguous() || !end.isInOrder)
    return memoryOf(end, y);
  return visitDataType(
      domainType(), [&]<class T>(T) { return reinterpret_cast<std::byte*>(y.mutableData<T>()); });
}

void NcclSum::queue(CollectiveKind kind, const void* from, void* to, const Stream& stream) {
  DeviceGroup& devices = line_->devices();
  const TenonDataType type = domainType();
  switch (kind) {
  case CollectiveKind::AllReduce:
    return devices.allReduce(from, to, pieces_.elements, type, stream);
  case CollectiveKind::ReduceScatter:
    return devices.reduceScatter(from, to, cuts_, type, stream);
  case CollectiveKind::AllGather:
    return devices.allGather(from, to, cuts_, type, stream);
  case CollectiveKind::Reduce:
    return devices.reduce(from, to, pieces_.elements, type, stream);
  case CollectiveKind::Broadcast:
    return devices.broadcast(from, to, pieces_.elements, type, stream);
  }
}

void NcclSum::doBegin(const Action& action) {
  const DTensor& x = *action.x;
  if (x.space() == Space::Host && onHost_)
    return launch(*onHost_, action);
  if (x.space() == Space::Host)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} sums by NCCL (-tenon_reduction nccl), which takes arrays on the "
                            "device, but its input is on the host; set its space to the device, or "
                            "-tenon_reduction to auto",
                            title()));
  if (!line_)
    line_ = lineDevices(*comm(), step_.from.gridPtr(), step_.axes);
  if (!pieces_.takesPart)
    return;
  const CollectiveKind kind = kindOf(action.sense);
  const void* const from = packed(sourceOf(kind), x);
  landing_ = landing(targetOf(kind), action);
  KernelContext& context = x.context();
  const Stream& collectives = context.collectives();
  context.stream().record(packed_);
  collectives.wait(packed_);
  queue(kind, from, landing_, collectives);
  collectives.record(done_);
  if (const Index bytes = x.localElements() * dataTypeSize(domainType()); bytes > 0)
    logMessage(bytes);
}

void NcclSum::doEnd(const Action& action) {
  DTensor& y = *action.y;
  if (y.space() == Space::Host)
    return complete(*onHost_);
  if (!pieces_.takesPart)
    return;
  y.context().stream().wait(done_);
  if (y.localElements() == 0)
    return;
  y.changed();
  if (landing_ == arrayOf(y))
    return;
  combineRegions(action, targetOf(kindOf(action.sense)).regions, landing_);
}

Index NcclSum::bufferBytes() const {
  return wholeBuffer_.bytes() + pieceBuffer_.bytes() + (onHost_ ? onHost_->bufferBytes() : 0);
}

std::string NcclSum::describeMore() const {
  std::string description =
      fmt::format("  {} of {} by {}, which adds in an order of its own", step_.name(),
                  counted(domain().grid().extentOf(step_.axes), "device"), DeviceGroup::library());
  if (onHost_)
    description += "; of arrays on the host by the route";
  return description + '\n';
}

} // namespace

LinearOpRef sumByNccl(const CommPtr& comm, const RouteStep& collective, TenonDataType type,
                      LinearOpRef onHost) {
  return makeRef<NcclSum>(comm, collective, type, std::move(onHost));
}

void checkNccl() {
  try {
    Device::get();
    DeviceGroup::library();
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("-tenon_reduction nccl: {}; -tenon_reduction auto does "
                                          "without",
                                          error.text()));
  }
}

} // namespace tenon
