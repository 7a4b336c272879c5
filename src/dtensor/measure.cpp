// SPDX-License-Identifier: BSD-2-Clause
// Adds local sums of kernels over the ranks. The local sums are gathered and added in rank order on
// every rank, because decisions such as a stopping criterion must be the same on all of them.
#include "dtensor/measure.hpp"

#include "comm/agreement/wait_policy.hpp"
#include "dtensor/host_view.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// The value of each rank, on all ranks. Collective.
std::vector<double> gathered(Communicator& comm, double local) {
  std::vector<double> values(comm.size());
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(
      MPI_Iallgather(&local, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, comm.mpi(), &request),
      "MPI_Iallgather");
  if (comm.size() > 1)
    logMessage(sizeof local);
  // waitFor() instead of MPI_Wait yields the core while it waits, and names the missing ranks.
  waitFor(comm, &request, 1, [&] { return someOfText(othersOf(comm)); });
  return values;
}

// Every rank gets all local sums and adds them in the same order, so the result is bitwise the
// same: an MPI all-reduce guarantees this neither between ranks nor between runs.
double sumInRankOrder(Communicator& comm, double local) {
  double sum = 0;
  for (double part : gathered(comm, local))
    sum += part;
  return sum;
}

double localDot(const DTensor& x, const DTensor& y) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    return dotBlock<T>(x.context(), x.ndim(), x.extent().data(), x.data<T>(), x.strides().data(),
                       y.data<T>(), y.strides().data());
  });
}

// The offset of an element, given by its local index, in the array.
Index offsetOf(const std::vector<Index>& element, const DTensor& x) {
  Index offset = 0;
  for (int d = 0; d < x.ndim(); ++d)
    offset += element[d] * x.strides()[d];
  return offset;
}

// The dot product of the elements that this rank counts, such that each element is counted once:
// the owned ones, on ranks with coordinate 0 along every B axis.
double ownedDot(const DTensor& x, const DTensor& y) {
  const Layout& layout = x.layout();
  for (int axis = 0; axis < layout.grid().axes() && x.position() >= 0; ++axis)
    if (layout.property(axis).isBroadcast() && layout.grid().coordinate(x.position(), axis) != 0)
      return 0;
  const Box owned = layout.ownedBox(x.position());
  Shape extent;
  std::vector<Index> first;
  for (int d = 0; d < x.ndim(); ++d) {
    const Interval counted = intersect(owned[d], x.box()[d]);
    extent.push_back(counted.size());
    first.push_back(counted.begin - x.box()[d].begin);
  }
  if (elements(extent) == 0)
    return 0;
  return visitFloating(x.dataType(), [&]<class T>(T) {
    return dotBlock<T>(x.context(), x.ndim(), extent.data(), x.data<T>() + offsetOf(first, x),
                       x.strides().data(), y.data<T>() + offsetOf(first, y), y.strides().data());
  });
}

} // namespace

void checkPaired(const DTensor& x, const DTensor& y) {
  checkFloating(x.dataType(), "a pairing");
  checkTensor(y, x.layout().dual(), x.dataType(), "the pairing", "second tensor",
              "create it in the dual layout, see TenonLayoutGetDual()");
}

void checkNormed(const DTensor& x) {
  checkFloating(x.dataType(), "a norm");
  if (x.layout().holdsPartialSums())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format(
            "cannot compute the norm of {}, which holds partial sums (layout {}); "
            "reduce it first, for example with TenonLinearOpCreatePrimitive() \"allreduce\"",
            x.title(), x.layout().describe()));
}

double pairing(const DTensor& x, const DTensor& y) {
  checkPaired(x, y);
  Ref<DTensor> copy;
  // A kernel cannot read both spaces, so y is copied if it is in the other one.
  return sumInRankOrder(*x.comm(), localDot(x, inSpace(y, x.comm(), x.space(), copy)));
}

double norm(const DTensor& x) {
  checkNormed(x);
  return std::sqrt(sumInRankOrder(*x.comm(), ownedDot(x, x)));
}

double innerProduct(Communicator& comm, const std::vector<TensorPair>& pairs) {
  double local = 0;
  for (const auto& [x, y] : pairs) {
    checkNormed(*x);
    checkTensor(*y, x->layout(), x->dataType(), "the inner product", "second tensor");
    local += ownedDot(*x, *y);
  }
  return sumInRankOrder(comm, local);
}

double valueOfFirstRank(Communicator& comm, double value) {
  return gathered(comm, value).front();
}

double rawNorm(const DTensor& x) {
  return std::sqrt(sumInRankOrder(*x.comm(), localDot(x, x)));
}

double sumOfRanks(Communicator& comm, double value) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm.mpi(), &request),
           "MPI_Iallreduce");
  if (comm.size() > 1)
    logMessage(sizeof value);
  waitFor(comm, &request, 1, [&] { return someOfText(othersOf(comm)); });
  return value;
}

double localSquares(std::span<const DTensor* const> tensors) {
  double squares = 0;
  std::vector<const DTensor*> onDevice; // Processed in groups of one type and context.
  for (const DTensor* x : tensors)
    if (x && x->space() == Space::Device)
      onDevice.push_back(x);
    else if (x)
      squares += localDot(*x, *x);
  while (!onDevice.empty()) {
    const DTensor& first = *onDevice.front();
    // One launch for all tensors of a group: a launch per tensor would wait for the device each
    // time.
    const auto groupEnd = std::ranges::stable_partition(onDevice, [&](const DTensor* x) {
      return &x->context() == &first.context() && x->dataType() == first.dataType();
    });
    squares += visitFloating(first.dataType(), [&]<class T>(T) {
      std::vector<BoxOf<T>> boxes;
      for (const DTensor* x : std::span(onDevice.begin(), groupEnd.begin()))
        boxes.push_back({x->ndim(), x->extent().data(), x->data<T>(), x->strides().data()});
      return sumSquaresOnDevice<T>(first.context(), boxes);
    });
    onDevice.erase(onDevice.begin(), groupEnd.begin());
  }
  return squares;
}

double localMaxAbsolute(const DTensor& x) {
  return visitFloating(x.dataType(), [&]<class T>(T) {
    return maxAbsBlock<T>(x.context(), x.ndim(), x.extent().data(), x.data<T>(),
                          x.strides().data());
  });
}

std::optional<std::vector<Index>> firstNaN(const DTensor& x, const Box& in, const Box& butNotIn) {
  return visitFloating(x.dataType(), [&]<class T>(T) -> std::optional<std::vector<Index>> {
    const HostView<const T> data(x);
    const Shape extent = extents(in);
    std::vector<Index> index;
    for (const Interval& interval : in)
      index.push_back(interval.begin);
    for (Index remaining = elements(extent); remaining > 0; --remaining) {
      Index offset = 0;
      bool isExcluded = true;
      for (int d = 0; d < x.ndim(); ++d) {
        offset += (index[d] - x.box()[d].begin) * x.strides()[d];
        isExcluded &= index[d] >= butNotIn[d].begin && index[d] < butNotIn[d].end;
      }
      if (!isExcluded && std::isnan(data[offset]))
        return index;
      for (int d = x.ndim() - 1; d >= 0 && ++index[d] == in[d].end; --d)
        index[d] = in[d].begin;
    }
    return std::nullopt;
  });
}

double maxAbsolute(const DTensor& x) {
  double largest = 0;
  for (double part : gathered(*x.comm(), localMaxAbsolute(x)))
    // Not greater-than, which is false for NaN; a NaN once found is retained.
    if (!(part <= largest))
      largest = std::isnan(largest) ? largest : part;
  return largest;
}

} // namespace tenon
