// SPDX-License-Identifier: BSD-2-Clause
// Writes the structure of a checkpoint file: groups, attributes, and datasets without their values.
// Rank 0 alone calls writeStructure() on a new file. Afterwards DataFile (hdf5_data.cpp) writes the
// values, on all ranks or through rank 0. For this, HDF5 allocates the space of each dataset here,
// so its position in the file is fixed before any rank writes.
//
//   [0, headerBytes_)            header: lines of text (file_header.hpp), HDF5's user block
//   [headerBytes_, end of file)  HDF5's metadata, and among it the values of the datasets: for
//                                example those of "network/net/conv1/weight" in [3104, 3704)
//
// The header has a digest of the metadata, but not of the values, which do not exist yet. It
// therefore lists the byte range of each dataset, which the digest omits. The digests of the values
// have been computed from the tensors in memory, and are stored as attributes of the datasets.
//
// HDF5 is told to use metadata of version 1.8 and later, which have checksums.
#include "io/file_header.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

#include <algorithm>

namespace tenon {

namespace {

using hdf5::Handle;  // an HDF5 identifier, closed by the destructor
using hdf5::Silence; // while one exists, HDF5 prints no error messages
using hdf5::Subject; // check() throws an Error with file and reason if an HDF5 call has failed

// Name of the digest kernels/movement/digest.hpp in its first version: the sum over all elements of
// a 64-bit mixing function of value and global index.
constexpr const char* kDigestKind = "mix64-1";

// Creates the file in the constructor and fills it in write(). The second argument of
// subject_.check() is the path of the HDF5 object for the error text; "/" means the whole file.
class StructureWriter {
public:
  StructureWriter(const std::string& path, const StoredFile& contents)
      : subject_{TENON_ERR_FILE, "write", path}, contents_(contents),
        headerBytes_(headerBytes(contents.tensors.size())),
        linkProperties_(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
        datasetProperties_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
    subject_.check(H5Pset_create_intermediate_group(linkProperties_, /*create=*/1), "/");
    // Space is allocated at creation and never filled, so each dataset has a fixed position in the
    // file before any rank writes.
    subject_.check(H5Pset_alloc_time(datasetProperties_, H5D_ALLOC_TIME_EARLY), "/");
    subject_.check(H5Pset_fill_time(datasetProperties_, H5D_FILL_TIME_NEVER), "/");
    // The time of writing is stored once, as the attribute "created" of the file.
    subject_.check(H5Pset_obj_track_times(datasetProperties_, /*track=*/false), "/");
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    subject_.check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), "/");
    const Handle fileProperties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    // HDF5 does not use these bytes at the beginning; write() stores the header there at the end.
    subject_.check(H5Pset_userblock(fileProperties, static_cast<hsize_t>(headerBytes_)), "/");
    file_ =
        Handle(subject_.check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fileProperties, access), "/"),
               H5Fclose);
  }

  void write() {
    text(file_, "format", "tenon-checkpoint");
    attribute(file_, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, &kCheckpointVersion);
    text(file_, "writer", contents_.writer);
    text(file_, "created", contents_.created);
    attribute(file_, "ranks_written", H5T_STD_I32LE, H5T_NATIVE_INT, &contents_.ranks);
    for (const StoredDataset& tensor : contents_.tensors)
      dataset(tensor);
    for (const StoredNumber& number : contents_.numbers) {
      const std::size_t slash = number.path.rfind('/');
      attribute(group(number.path.substr(0, slash)), number.path.substr(slash + 1), H5T_STD_U64LE,
                H5T_NATIVE_UINT64, &number.value);
    }
    for (const StoredText& note : contents_.texts)
      text(group(note.group), note.name, note.text);
    Handle values = group("values");
    for (const auto& [key, value] : contents_.values)
      this->value(values, key, value);
    values.close(); // the file cannot be closed while one of its objects is open
    subject_.check(file_.close(), "/");
    // The header's digest covers the metadata, so it is written after HDF5 has closed the file.
    writeHeader(subject_.file, headerBytes_, dataRanges_);
  }

private:
  // Creates the dataset of a tensor without values, and notes the range of bytes of its values.
  void dataset(const StoredDataset& tensor) {
    const std::vector<hsize_t> extents(tensor.shape.begin(), tensor.shape.end());
    const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                       H5Sclose);
    const Handle set(
        subject_.check(H5Dcreate2(file_, tensor.path.c_str(), hdf5::storedType(tensor.type), space,
                                  linkProperties_, datasetProperties_, H5P_DEFAULT),
                       tensor.path),
        H5Dclose);
    attribute(set, "digest", H5T_STD_U64LE, H5T_NATIVE_UINT64, &tensor.digest);
    text(set, "digest_kind", kDigestKind);
    if (tensor.bytes() > 0)
      dataRanges_.push_back({static_cast<Index>(H5Dget_offset(set)), tensor.bytes()});
  }

  // Opens a group, and creates it first if it does not exist.
  Handle group(const std::string& path) {
    std::string prefix;
    std::size_t end = 0;
    while (end != path.npos) { // creates every missing group on the path
      end = path.find('/', end + 1);
      prefix = path.substr(0, end);
      if (H5Lexists(file_, prefix.c_str(), H5P_DEFAULT) <= 0)
        Handle(subject_.check(
                   H5Gcreate2(file_, prefix.c_str(), linkProperties_, H5P_DEFAULT, H5P_DEFAULT),
                   prefix),
               H5Gclose);
    }
    return {subject_.check(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), path), H5Gclose};
  }

  // Adds a scalar attribute. `stored` is its type in the file, `native` the type of *value.
  void attribute(hid_t object, const std::string& name, hid_t stored, hid_t native,
                 const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle created(
        subject_.check(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                       name),
        H5Aclose);
    subject_.check(H5Awrite(created, native, value), name);
  }

  void text(hid_t object, const std::string& name, const std::string& words) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    // HDF5 has no texts of length 0; with zero padding, one zero byte is read back as an empty
    // text.
    subject_.check(H5Tset_size(type, std::max<std::size_t>(words.size(), 1)), name);
    subject_.check(H5Tset_cset(type, H5T_CSET_UTF8), name);
    subject_.check(H5Tset_strpad(type, H5T_STR_NULLPAD), name);
    attribute(object, name, type, type, words.c_str());
  }

  void value(hid_t object, const std::string& key, const StoredValue& value) {
    if (const auto* integer = std::get_if<Index>(&value))
      attribute(object, key, H5T_STD_I64LE, H5T_NATIVE_INT64, integer);
    else if (const auto* real = std::get_if<double>(&value))
      attribute(object, key, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, real);
    else
      text(object, key, std::get<std::string>(value));
  }

  Subject subject_;
  const StoredFile& contents_;
  Index headerBytes_;                 // size of the header
  std::vector<ByteRange> dataRanges_; // bytes of the values of each dataset that has any
  Handle linkProperties_, datasetProperties_, file_;
};

} // namespace

void writeStructure(const std::string& path, const StoredFile& file) {
  const Silence silence;
  StructureWriter(path, file).write();
}

} // namespace tenon
