// SPDX-License-Identifier: BSD-2-Clause
// DataFile, which writes and reads the values of the datasets of a file whose structure exists
// already, and functions that describe the HDF5 library. All are declared in hdf5_file.hpp.
//
// A file is opened either by one process, or by all ranks of a communicator with MPI-IO. In the
// second case open(), close(), and every read and write are collective calls of HDF5. A rank
// without elements takes part in a read or write with an empty selection. Each call selects the
// same elements twice:
//   file      the box of global indices in the dataset, a hyperslab
//   memory    a one-dimensional array with as many elements, which are the box in row-major order
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

#include <array>

namespace tenon {

namespace {

using hdf5::Handle;  // an HDF5 identifier, closed by the destructor
using hdf5::Silence; // while one exists, HDF5 prints no error messages
using hdf5::Subject; // check() throws an Error with file and reason if an HDF5 call has failed

#ifdef H5_HAVE_PARALLEL
constexpr bool kIsParallel = true;
// Makes opening (access), metadata, and transfers of data collective on the communicator.
void setCollective(const Subject& subject, hid_t access, hid_t transfer, Communicator& comm) {
  subject.check(H5Pset_fapl_mpio(access, comm.mpi(), MPI_INFO_NULL), "/");
  subject.check(H5Pset_all_coll_metadata_ops(access, /*is_collective=*/true), "/");
  subject.check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "/");
}
#else
constexpr bool kIsParallel = false;
void setCollective(const Subject&, hid_t, hid_t, Communicator&) {
  throw Error(
      TENON_ERR_SUPPORT,
      "this library was built with serial HDF5, which lets no ranks write one file together; "
      "use -tenon_checkpoint_transport root, or build it with parallel HDF5");
}
#endif

} // namespace

bool hasParallelHdf5() {
  return kIsParallel;
}

std::string hdf5Library() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}, {}", major, minor, release, kIsParallel ? "parallel" : "serial");
}

void requireHdf5() {} // the version in hdf5_missing.cpp throws

std::shared_ptr<void> silenceHdf5() {
  return std::make_shared<Silence>();
}

struct DataFile::Handles {
  struct Dataset {
    std::string path;
    TenonDataType type;
    int dimensions;
    Handle set, space; // the open dataset and its file space
  };
  Subject subject;
  bool writes = false;
  Communicator* together = nullptr; // the ranks that open the file; null: this process only
  Handle transfer;                  // property list of reads and writes: collective or not
  Handle file;
  std::vector<Dataset> sets;

  // Calls call(dataset, memory space) with the box selected in the dataset's file space.
  template <class Call>
  void with(std::size_t number, const Box& box, Call call) {
    const Silence silence;
    Dataset& dataset = sets[number];
    const hsize_t count = static_cast<hsize_t>(elements(box));
    const Handle memory(H5Screate_simple(/*rank=*/1, &count, /*maxdims=*/nullptr), H5Sclose);
    // A rank without elements must make the collective call too.
    if (count == 0) {
      subject.check(H5Sselect_none(memory), dataset.path);
      subject.check(H5Sselect_none(dataset.space), dataset.path);
    } else if (dataset.dimensions == 0) { // a scalar has no hyperslabs
      subject.check(H5Sselect_all(dataset.space), dataset.path);
    } else {
      std::array<hsize_t, kMaxDims> start{}, extent{};
      for (std::size_t d = 0; d < box.size(); ++d) {
        start[d] = static_cast<hsize_t>(box[d].begin);
        extent[d] = static_cast<hsize_t>(box[d].size());
      }
      subject.check(H5Sselect_hyperslab(dataset.space, H5S_SELECT_SET, start.data(), nullptr,
                                        extent.data(), nullptr),
                    dataset.path);
    }
    subject.check(call(dataset, static_cast<hid_t>(memory)), dataset.path);
  }
};

DataFile::DataFile(const std::string& path, Access access,
                   const std::vector<StoredDataset>& tensors, Communicator* together)
    : handles_(std::make_unique<Handles>()) {
  const Silence silence;
  Handles& h = *handles_;
  h.writes = access == Access::Write;
  // An error is due to the disk when writing, and to the file when reading.
  h.subject = {h.writes ? TENON_ERR_FILE : TENON_ERR_FORMAT, h.writes ? "write" : "read", path};
  h.together = together;
  h.transfer = Handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  for (const StoredDataset& tensor : tensors)
    h.sets.push_back({tensor.path, tensor.type, static_cast<int>(tensor.shape.size()), {}, {}});
}

void DataFile::open() {
  const Silence silence;
  Handles& h = *handles_;
  const Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (h.together)
    setCollective(h.subject, properties, h.transfer, *h.together);
  h.file = Handle(h.subject.check(H5Fopen(h.subject.file.c_str(),
                                          h.writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, properties),
                                  "/"),
                  H5Fclose);
  for (Handles::Dataset& dataset : h.sets) {
    dataset.set =
        Handle(h.subject.check(H5Dopen2(h.file, dataset.path.c_str(), H5P_DEFAULT), dataset.path),
               H5Dclose);
    dataset.space = Handle(h.subject.check(H5Dget_space(dataset.set), dataset.path), H5Sclose);
  }
}

DataFile::~DataFile() {
  const Silence silence;
  handles_.reset();
}

void DataFile::write(std::size_t number, const Box& box, const void* elements) {
  handles_->with(number, box, [&](const Handles::Dataset& dataset, hid_t memory) {
    return H5Dwrite(dataset.set, hdf5::nativeType(dataset.type), memory, dataset.space,
                    handles_->transfer, elements);
  });
}

void DataFile::read(std::size_t number, const Box& box, void* elements) {
  handles_->with(number, box, [&](const Handles::Dataset& dataset, hid_t memory) {
    return H5Dread(dataset.set, hdf5::nativeType(dataset.type), memory, dataset.space,
                   handles_->transfer, elements);
  });
}

// Must be called before the destructor. HDF5 can write the last data when it closes the file, and
// the destructor could not report that this has failed.
void DataFile::close() {
  const Silence silence;
  handles_->sets.clear();
  handles_->subject.check(handles_->file.close(), "/");
}

} // namespace tenon
