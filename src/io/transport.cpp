// SPDX-License-Identifier: BSD-2-Clause
// Transfers tensors between the ranks and a file: for each tensor, in pieces of at most 64 MiB, so
// a rank needs memory for one piece only. A piece is a box of a rank's elements. The two
// transports, for three ranks with 2, 1 and 1 pieces of a tensor:
//
//   Together   round 0: ranks 0, 1, 2 transfer their piece 0 in one collective call of HDF5
//              round 1: rank 0 transfers its piece 1; ranks 1 and 2 take part with an empty piece
//   Root       rank 0 alone has opened the file. It transfers its pieces 0 and 1; then it exchanges
//              one message with rank 1 and one with rank 2, and accesses the file for them
//
// Between opening the file and the end, an error must not stop the loop, because other ranks would
// wait for the missing call or message. Everything that can fail is therefore run by FirstError,
// which stores the error. All ranks agree on it at the end and throw it.
#include "io/transport.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/wait_policy.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Maximal size of a piece. MPI counts the bytes of a message in an int, so it must be below 2 GiB.
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

// Waits for a message to or from the rank `peer`. If the wait is long, a report names that rank.
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

// putWrittenBox() or putReadBox(): stores the box of global indices that a rank writes or reads.
using PutBox = void (*)(const Layout& layout, int rank, Box& box) noexcept;

// One transfer: the constructor allocates memory and opens the file, write() or read() transfers
// all tensors and closes it. All are collective on comm.
class Mover {
public:
  Mover(const CommPtr& comm, const FileData& file, DataFile::Access access,
        const TensorPointers& tensors)
      : comm_(comm), file_(file), tensors_(tensors), tag_(comm->nextTag()) {
    const bool isTogether = file.transport == FileTransport::Together;
    // Two agreements: the collective call that opens the file begins only when all ranks have
    // memory.
    collectively(*comm_, [&] {
      if (isTogether || isRoot())
        data_ = file.access ? file.access()
                            : std::make_unique<DataFile>(file.path, access, *file.stored,
                                                         isTogether ? comm_.get() : nullptr);
      const Index largest = std::min(kPieceBytes, largestBytes());
      if (!isTogether && isRoot())
        remotePiece_ = Buffer(largest, "a piece of a checkpoint");
      if (access == DataFile::Access::Write)
        packedPiece_ = Buffer(largest, "a piece of a checkpoint");
      box_.reserve(kMaxDims);
      piece_.reserve(kMaxDims);
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

  // Bytes of the largest part that any rank owns of any tensor.
  Index largestBytes() const {
    Index largest = 0;
    for (const DTensor* x : tensors_)
      largest = std::max(largest, x->layout().mostOwnedElements() * dataTypeSize(x->dataType()));
    return largest;
  }

  // Resizes the boxes for tensor i. Memory was reserved for the maximal number of dimensions, so
  // this does not allocate.
  void startTensor(std::size_t i) {
    box_.resize(static_cast<std::size_t>(tensors_[i]->ndim()));
    piece_.resize(box_.size());
  }
  void endTensor(std::size_t i) {
    if (file_.moved)
      errors_.run([&] { file_.moved((*file_.stored)[i].bytes()); });
  }

  // Returns the pieces into which a rank's elements are divided. They refer to box_, so they are
  // valid until the next call.
  Pieces piecesOf(const DTensor& x, PutBox putBox, int rank) {
    putBox(x.layout(), rank, box_);
    return {box_, kPieceBytes / dataTypeSize(x.dataType())};
  }
  Index bytesOfPiece(const DTensor& x) const {
    return elements(piece_) * dataTypeSize(x.dataType());
  }

  // Calls visit() for each piece of this rank, stored in piece_, then with empty pieces, up to the
  // largest number of pieces of any rank: all ranks must make the same number of collective calls.
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

  // On rank 0, calls visit(rank) for each piece of each rank, stored in piece_. On another rank,
  // calls it for the pieces of that rank only.
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

  // Returns the elements of the piece piece_ of this rank, row-major. If packing fails, other bytes
  // are transferred, and the file is discarded at the end.
  const std::byte* pack(const DTensor& x) {
    const std::byte* elements = packedPiece_.data<std::byte>();
    errors_.run([&] { elements = packed(x, piece_, packedPiece_); });
    return elements;
  }

  void writeTogether(std::size_t i) {
    const DTensor& x = *tensors_[i];
    forEachTogether(x, putWrittenBox, [&] {
      const std::byte* elements = pack(x);
      errors_.run([&] { data_->write(i, piece_, elements); });
    });
  }

  void writeThroughRoot(std::size_t i) {
    const DTensor& x = *tensors_[i];
    forEachThroughRoot(x, putWrittenBox, [&](int rank) {
      const std::byte* elements = rank == comm_->rank() ? pack(x) : remotePiece_.data<std::byte>();
      if (!isRoot())
        return sendElements(*comm_, 0, tag_, elements, bytesOfPiece(x));
      if (rank != 0)
        receiveElements(*comm_, rank, tag_, remotePiece_.data<std::byte>(), bytesOfPiece(x));
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
      std::byte* const target = rank == comm_->rank() ? to : remotePiece_.data<std::byte>();
      if (!isRoot())
        receiveElements(*comm_, 0, tag_, target, bytes);
      else
        errors_.run([&] { data_->read(i, piece_, target); });
      if (isRoot() && rank != 0)
        sendElements(*comm_, rank, tag_, target, bytes);
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
  int tag_;                          // of the messages of this transfer
  std::unique_ptr<DataAccess> data_; // the open file; null on ranks that send messages to rank 0
  Buffer packedPiece_; // for a piece of this rank that is not contiguous in its tensor
  Buffer remotePiece_; // on rank 0: a piece of another rank
  Box box_;            // elements of a tensor that a rank transfers
  Box piece_;          // the part of box_ that is transferred now
  FirstError errors_;
};

} // namespace

void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors) {
  Mover(comm, file, DataFile::Access::Write, tensors).write();
}

// Each rank that wrote synchronises the file, because only its own node knows which data are still
// in memory there. Renaming follows a separate agreement, so no file gets its final name before all
// of it is on the disk.
void commitPart(const CommPtr& comm, std::optional<PartFile>& part, const FileData& file) {
  FirstError failure;
  if (part)
    failure.run([&] { part->sync(); });
  else if (file.transport == FileTransport::Together)
    failure.run([&] { syncToDisk(file.path); });
  agreeWithoutLimit(*comm, failure.error());
  if (part)
    failure.run([&] { part->commit(); });
  agreeWithoutLimit(*comm, failure.error());
}

void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& elements) {
  Mover(comm, file, DataFile::Access::Read, layouts).read(elements);
}

} // namespace tenon
