// SPDX-License-Identifier: BSD-2-Clause
// Transfers tensors between the ranks and a file. The loop, over tensors and then over pieces of at
// most 64 MiB, needs the memory of one piece only:
//   Together  round r: every rank transfers its piece r by a collective HDF5 call; a rank with
//             fewer pieces takes part with an empty one
//   Root      for each rank, for each of its pieces: one message between that rank and rank 0,
//             which accesses the file
// An error does not stop the loop, because other ranks would wait for the missing call or message.
// FirstError stores it, and all ranks agree on it at the end.
#include "io/transport.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Far below 2 GiB, the limit of a message whose length is an int.
constexpr Index kPieceBytes = Index(64) << 20;

// Runs steps of the transfer and stores the first error; later steps still run.
class FirstError {
public:
  template <class Body>
  void run(Body&& body) {
    try {
      body();
    } catch (...) {
      if (!first_)
        first_ = caughtError();
    }
  }
  const std::optional<Error>& error() const noexcept { return first_; }

private:
  std::optional<Error> first_;
};

// Waits for a message to or from a peer, which the report of a long wait names.
void waitForPeer(const Communicator& comm, MPI_Request request, int peer) {
  waitFor(comm, &request, 1, [&] { return ranksText({peer}); });
}

void sendElements(const Communicator& comm, int to, int tag, const std::byte* elements,
                  Index bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Isend(elements, static_cast<int>(bytes), MPI_BYTE, to, tag, comm.mpi(), &request),
           "MPI_Isend");
  waitForPeer(comm, request, to);
}

void receiveElements(const Communicator& comm, int from, int tag, std::byte* elements,
                     Index bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Irecv(elements, static_cast<int>(bytes), MPI_BYTE, from, tag, comm.mpi(), &request),
           "MPI_Irecv");
  waitForPeer(comm, request, from);
}

// putWrittenBox() or putReadBox().
using PutBox = void (*)(const Layout& layout, int rank, Box& box) noexcept;

// Transfers the pieces of the tensors, one tensor after the other. Between opening the file and the
// final agreement, no function leaves the loops early, and everything that can fail is run by
// errors_.
class Mover {
public:
  Mover(const CommPtr& comm, const FileData& file, DataFile::Access access,
        const TensorPointers& tensors)
      : comm_(comm), file_(file), tensors_(tensors), tag_(comm->nextTag()) {
    const bool isTogether = file.transport == FileTransport::Together;
    collectively(*comm_, [&] {
      if (isTogether || isRoot())
        data_.emplace(file.path, access, *file.stored, isTogether ? comm_.get() : nullptr);
      const Index largest = std::min(kPieceBytes, largestBytes());
      if (!isTogether && isRoot())
        arriving_ = Buffer(largest, "a piece of a checkpoint");
      if (access == DataFile::Access::Write)
        staging_ = Buffer(largest, "a piece of a checkpoint");
      box_.reserve(kMaxRank);
      piece_.reserve(kMaxRank);
      return true;
    });
    collectively(*comm_, [&] {
      if (data_)
        data_->open();
      return true;
    });
  }

  void write() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      startTensor(i);
      if (file_.transport == FileTransport::Together)
        writeTogether(i);
      else
        writeThroughRoot(i);
      endTensor(i);
    }
    close();
  }

  void read(std::vector<Buffer>& elements) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      startTensor(i);
      if (file_.transport == FileTransport::Together)
        readTogether(i, elements[i]);
      else
        readThroughRoot(i, elements[i]);
      endTensor(i);
    }
    close();
  }

private:
  bool isRoot() const noexcept { return comm_->rank() == 0; }

  Index largestBytes() const {
    Index largest = 0;
    for (const DTensor* x : tensors_)
      largest = std::max(largest, x->layout().mostOwnedElements() * dataTypeSize(x->dataType()));
    return largest;
  }

  // Resizes the boxes for tensor i. Memory was reserved for the maximal number of dimensions, so
  // this does not allocate.
  void startTensor(std::size_t i) {
    box_.resize(static_cast<std::size_t>(tensors_[i]->rank()));
    piece_.resize(box_.size());
  }
  void endTensor(std::size_t i) {
    errors_.run([&] { file_.moved((*file_.stored)[i].bytes()); });
  }

  // Returns the pieces of a rank, and the bytes of the piece in piece_.
  Pieces piecesOf(const DTensor& x, PutBox putBox, int rank) {
    putBox(x.layout(), rank, box_);
    return {box_, kPieceBytes / dataTypeSize(x.dataType())};
  }
  Index bytesOfPiece(const DTensor& x) const {
    return elements(piece_) * dataTypeSize(x.dataType());
  }

  // Calls visit() for each piece of this rank, then with empty pieces, up to the largest number of
  // pieces of any rank: all ranks must make the same number of collective calls.
  template <class Visit>
  void forEachTogether(const DTensor& x, PutBox putBox, Visit visit) {
    Index maxCount = 0;
    for (int rank = 0; rank < comm_->size(); ++rank)
      maxCount = std::max(maxCount, piecesOf(x, putBox, rank).count());
    const Pieces ownPieces = piecesOf(x, putBox, comm_->rank());
    for (Index n = 0; n < maxCount; ++n) {
      if (n < ownPieces.count())
        ownPieces.put(n, piece_);
      else
        std::fill(piece_.begin(), piece_.end(), Interval{});
      visit();
    }
  }

  // On rank 0, calls visit(rank) for each piece of each rank. On another rank, calls it for the
  // pieces of that rank only.
  template <class Visit>
  void forEachThroughRoot(const DTensor& x, PutBox putBox, Visit visit) {
    for (int rank = 0; rank < comm_->size(); ++rank) {
      if (!isRoot() && rank != comm_->rank())
        continue;
      const Pieces pieces = piecesOf(x, putBox, rank);
      for (Index n = 0; n < pieces.count(); ++n) {
        pieces.put(n, piece_);
        visit(rank);
      }
    }
  }

  // Returns the elements of the piece. If packing fails, other bytes are transferred, and the file
  // is discarded at the end.
  const std::byte* packedPiece(const DTensor& x) {
    const std::byte* elements = staging_.data<std::byte>();
    errors_.run([&] { elements = packed(x, piece_, staging_); });
    return elements;
  }

  void writeTogether(std::size_t i) {
    const DTensor& x = *tensors_[i];
    forEachTogether(x, putWrittenBox, [&] {
      const std::byte* elements = packedPiece(x);
      errors_.run([&] { data_->write(i, piece_, elements); });
    });
  }

  void writeThroughRoot(std::size_t i) {
    const DTensor& x = *tensors_[i];
    forEachThroughRoot(x, putWrittenBox, [&](int rank) {
      const std::byte* elements =
          rank == comm_->rank() ? packedPiece(x) : arriving_.data<std::byte>();
      if (!isRoot())
        return sendElements(*comm_, 0, tag_, elements, bytesOfPiece(x));
      if (rank != 0)
        receiveElements(*comm_, rank, tag_, arriving_.data<std::byte>(), bytesOfPiece(x));
      errors_.run([&] { data_->write(i, piece_, elements); });
    });
  }

  void readTogether(std::size_t i, Buffer& elements) {
    const DTensor& x = *tensors_[i];
    std::byte* to = elements.data<std::byte>();
    forEachTogether(x, putReadBox, [&] {
      errors_.run([&] { data_->read(i, piece_, to); });
      to += bytesOfPiece(x);
    });
  }

  void readThroughRoot(std::size_t i, Buffer& elements) {
    const DTensor& x = *tensors_[i];
    std::byte* to = elements.data<std::byte>();
    forEachThroughRoot(x, putReadBox, [&](int rank) {
      const Index bytes = bytesOfPiece(x);
      std::byte* const arrived = rank == comm_->rank() ? to : arriving_.data<std::byte>();
      if (!isRoot())
        receiveElements(*comm_, 0, tag_, arrived, bytes);
      else
        errors_.run([&] { data_->read(i, piece_, arrived); });
      if (isRoot() && rank != 0)
        sendElements(*comm_, rank, tag_, arrived, bytes);
      if (rank == comm_->rank())
        to += bytes;
    });
  }

  void close() {
    if (data_)
      errors_.run([&] { data_->close(); });
    agreeWithoutLimit(*comm_, errors_.error());
  }

  CommPtr comm_;
  const FileData& file_;
  const TensorPointers& tensors_;
  int tag_;
  std::optional<DataFile> data_;
  Buffer staging_, arriving_;
  Box box_, piece_;
  FirstError errors_;
};

} // namespace

void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors) {
  Mover(comm, file, DataFile::Access::Write, tensors).write();
}

void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& elements) {
  Mover(comm, file, DataFile::Access::Read, layouts).read(elements);
}

} // namespace tenon
