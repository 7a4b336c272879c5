// SPDX-License-Identifier: BSD-2-Clause
// Moves tensors between the ranks and a file, piece by piece, so that staging takes the memory of one piece. An
// error does not stop the loop: all ranks make the same calls in the same order, collective ones and messages alike, and
// the first error is agreed on at the end; a rank that left early would leave the others waiting.
#include "io/transport.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/patience.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Far below the 2 GiB that an int counts in a message.
constexpr Index kPieceBytes = Index(64) << 20;

// Keeps the first error; what follows it is still done.
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

// Waits for a message to or from a peer; what a wait that takes long reports names that peer.
void waitForPeer(const Communicator& comm, MPI_Request request, int peer) {
  waitFor(comm, &request, 1, [&] { return ranksText({peer}); });
}

void sendCells(const Communicator& comm, int to, int tag, const std::byte* cells, Index bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Isend(cells, static_cast<int>(bytes), MPI_BYTE, to, tag, comm.mpi(), &request),
           "MPI_Isend");
  waitForPeer(comm, request, to);
}

void receiveCells(const Communicator& comm, int from, int tag, std::byte* cells, Index bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  checkMpi(MPI_Irecv(cells, static_cast<int>(bytes), MPI_BYTE, from, tag, comm.mpi(), &request),
           "MPI_Irecv");
  waitForPeer(comm, request, from);
}

using BoxOf = Box (*)(const Layout& layout, int rank);

std::vector<Box> piecesOfRank(const DTensor& x, BoxOf boxOf, int rank) {
  return piecesOf(boxOf(x.layout(), rank), kPieceBytes / dataTypeSize(x.dataType()));
}

// The pieces of this rank, filled up with empty ones to the number of the rank that has most: a collective write is made by
// all ranks as often.
std::vector<Box> piecesTogether(const DTensor& x, BoxOf boxOf) {
  const Communicator& comm = *x.comm();
  std::size_t most = 0;
  for (int rank = 0; rank < comm.size(); ++rank)
    most = std::max(most, piecesOfRank(x, boxOf, rank).size());
  std::vector<Box> pieces = piecesOfRank(x, boxOf, comm.rank());
  pieces.resize(most, Box(x.rank()));
  return pieces;
}

// What moves the pieces of the tensors, one tensor after the other.
class Mover {
public:
  Mover(const CommPtr& comm, const FileData& file, DataFile::Access access,
        const TensorPointers& tensors)
      : comm_(comm), file_(file), tensors_(tensors), tag_(comm->nextTag()) {
    collectively(*comm_, [&] {
      if (file.transport == FileTransport::Together)
        data_.emplace(file.path, access, *file.stored, comm_.get());
      else if (comm_->rank() == 0)
        data_.emplace(file.path, access, *file.stored, nullptr);
      const Index largest = std::min(kPieceBytes, largestBytes());
      if (file.transport == FileTransport::Root && comm_->rank() == 0)
        arriving_ = Buffer(largest, "a piece of a checkpoint");
      if (access == DataFile::Access::Write)
        staging_ = Buffer(largest, "a piece of a checkpoint");
      return true;
    });
  }

  void write() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (file_.transport == FileTransport::Together)
        writeTogether(i);
      else
        writeThroughRoot(i);
      file_.moved((*file_.stored)[i].bytes());
    }
    close();
  }

  void read(std::vector<Buffer>& cells) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (file_.transport == FileTransport::Together)
        readTogether(i, cells[i]);
      else
        readThroughRoot(i, cells[i]);
      file_.moved((*file_.stored)[i].bytes());
    }
    close();
  }

private:
  Index largestBytes() const {
    Index most = 0;
    for (const DTensor* x : tensors_)
      most = std::max(most, x->layout().mostOwnedCells() * dataTypeSize(x->dataType()));
    return most;
  }

  void writeTogether(std::size_t i) {
    const DTensor& x = *tensors_[i];
    for (const Box& piece : piecesTogether(x, writtenBox))
      errors_.run([&] { data_->write(i, piece, packed(x, piece, staging_)); });
  }

  void writeThroughRoot(std::size_t i) {
    const DTensor& x = *tensors_[i];
    const int me = comm_->rank();
    for (int rank = 0; rank < comm_->size(); ++rank)
      for (const Box& piece : piecesOfRank(x, writtenBox, rank)) {
        const Index bytes = cells(piece) * dataTypeSize(x.dataType());
        if (rank == me && me == 0) {
          errors_.run([&] { data_->write(i, piece, packed(x, piece, staging_)); });
        } else if (rank == me) {
          sendCells(*comm_, 0, tag_, packed(x, piece, staging_), bytes);
        } else if (me == 0) {
          receiveCells(*comm_, rank, tag_, arriving_.data<std::byte>(), bytes);
          errors_.run([&] { data_->write(i, piece, arriving_.data<std::byte>()); });
        }
      }
  }

  void readTogether(std::size_t i, Buffer& cells) {
    Index at = 0;
    for (const Box& piece : piecesTogether(*tensors_[i], readBox)) {
      errors_.run([&] { data_->read(i, piece, cells.data<std::byte>() + at); });
      at += tenon::cells(piece) * dataTypeSize(tensors_[i]->dataType());
    }
  }

  void readThroughRoot(std::size_t i, Buffer& cells) {
    const DTensor& x = *tensors_[i];
    const int me = comm_->rank();
    for (int rank = 0; rank < comm_->size(); ++rank) {
      Index at = 0;
      for (const Box& piece : piecesOfRank(x, readBox, rank)) {
        const Index bytes = tenon::cells(piece) * dataTypeSize(x.dataType());
        std::byte* own = cells.data<std::byte>() + (rank == me ? at : 0);
        if (rank == me && me == 0) {
          errors_.run([&] { data_->read(i, piece, own); });
        } else if (rank == me) {
          receiveCells(*comm_, 0, tag_, own, bytes);
        } else if (me == 0) {
          errors_.run([&] { data_->read(i, piece, arriving_.data<std::byte>()); });
          sendCells(*comm_, rank, tag_, arriving_.data<std::byte>(), bytes);
        }
        at += bytes;
      }
    }
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
  FirstError errors_;
};

} // namespace

void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors) {
  Mover(comm, file, DataFile::Access::Write, tensors).write();
}

void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& cells) {
  Mover(comm, file, DataFile::Access::Read, layouts).read(cells);
}

} // namespace tenon
