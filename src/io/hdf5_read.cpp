// SPDX-License-Identifier: BSD-2-Clause
// Reads the structure of a checkpoint file, without the values of its tensors. The file is not
// trusted: it can be damaged, not a checkpoint, or malicious. HDF5 itself would accept all of
// these, so this file bounds depth, number of objects and memory, rejects links, and reports an
// error for types and shapes that a checkpoint does not have.
//
// One process calls readStructure(): rank 0 when a checkpoint is read, or a program that lists a
// file. The groups of a file are described in stored_file.hpp:
//   /network, /optimizer, /tensors   searched recursively by walk(): datasets become
//                                    StoredFile::tensors, attributes of groups numbers or texts
//   /values                          attributes only, read by readValues()
#include "io/file_header.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handle.hpp"

#include <fmt/format.h>

#include <limits>

namespace tenon {

namespace {

using hdf5::Handle;  // an HDF5 identifier, closed by the destructor
using hdf5::Silence; // while one exists, HDF5 prints no error messages
using hdf5::Subject; // check() and fail() throw an Error with the file, the object and the reason

// Depth of nested groups, groups and datasets in total, and bytes of one text. The limits are far
// more than any network needs, and far less than would exhaust stack or memory.
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxObjects = 1000000, kMaxText = std::size_t(16) << 20;
// Bytes of all names and texts together: with hard links, a small file can repeat the same name a
// million times.
constexpr std::size_t kMaxNoted = std::size_t(256) << 20;

// Opens the file in the constructor, after its header has been verified, and reads it in read().
class StructureReader {
public:
  explicit StructureReader(const std::string& path) : subject_{TENON_ERR_FORMAT, "read", path} {
    checkHeader(path);
    file_ =
        Handle(subject_.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "/"), H5Fclose);
  }

  StoredFile read() {
    contents_.writer = textAttribute(file_, "writer");
    contents_.created = textAttribute(file_, "created");
    contents_.ranks = ranksWritten();
    // The state of objects is in these three groups; values are read separately.
    for (const char* top : {"network", "optimizer", "tensors"})
      if (H5Lexists(file_, top, H5P_DEFAULT) > 0)
        walk(top, 0);
    readValues();
    return std::move(contents_);
  }

private:
  int ranksWritten() {
    const Index ranks = integerAttribute(file_, "ranks_written");
    if (ranks < 1 || ranks > std::numeric_limits<int>::max())
      subject_.fail("ranks_written", fmt::format("it is {}; expected 1 to {}", ranks,
                                                 std::numeric_limits<int>::max()));
    return static_cast<int>(ranks);
  }

  // Counts bytes that are stored in memory, and throws beyond the bound.
  void note(const std::string& path, std::size_t bytes) {
    noted_ += bytes;
    if (noted_ > kMaxNoted)
      subject_.fail(path,
                    fmt::format("names and texts of the file take more than {} MiB up to here",
                                kMaxNoted >> 20));
  }
  void note(const std::string& path, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      note(path, sizeof name + name.size());
  }

  // Returns the names of all objects in a group; fewer, or none, if the group is damaged.
  static std::vector<std::string> namesIn(hid_t group) {
    hdf5::Notes names;
    const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) noexcept -> herr_t {
      auto& collected = *static_cast<hdf5::Notes*>(list);
      // A callback must not throw through HDF5, so names are collected, and an exception is thrown
      // by take().
      return collected.size() == kMaxObjects ? -1 : collected.add(name);
    };
    const bool isRead = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names) >= 0;
    // An iteration that ends early returns a shorter list; the caller compares its length with the
    // group's number of links.
    std::vector<std::string> allNames = names.take();
    return isRead ? allNames : std::vector<std::string>();
  }

  // Reads the object with this path, and all objects below it.
  void walk(const std::string& path, int depth) {
    H5L_info_t link;
    subject_.check(H5Lget_info(file_, path.c_str(), &link, H5P_DEFAULT), path);
    if (link.type != H5L_TYPE_HARD)
      subject_.fail(path, "it is a link, which a checkpoint has not");
    if (depth > kMaxDepth || ++objects_ > kMaxObjects)
      subject_.fail(path, "it lies too deep, or there are too many objects");
    note(path, path.size() + sizeof(StoredDataset));
    const Handle object(subject_.check(H5Oopen(file_, path.c_str(), H5P_DEFAULT), path), H5Oclose);
    switch (H5Iget_type(object)) {
    case H5I_GROUP: {
      H5G_info_t info;
      subject_.check(H5Gget_info(object, &info), path);
      const std::vector<std::string> names = namesIn(object);
      if (names.size() != info.nlinks)
        subject_.fail(path, "its list of names is damaged");
      note(path, names);
      for (const std::string& name : attributesOf(object, path))
        groupAttribute(object, path, name);
      for (const std::string& name : names)
        walk(fmt::format("{}/{}", path, name), depth + 1);
      return;
    }
    case H5I_DATASET:
      return dataset(object, path);
    default:
      subject_.fail(path, "it is neither a group nor a dataset");
    }
  }

  // Returns the names of an object's attributes.
  std::vector<std::string> attributesOf(hid_t object, const std::string& path) {
    hdf5::Notes names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) noexcept -> herr_t {
      return static_cast<hdf5::Notes*>(list)->add(name);
    };
    const herr_t result = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
    std::vector<std::string> attributes = names.take();
    subject_.check(result, path);
    note(path, attributes);
    return attributes;
  }

  // Stores an attribute of a group: a string as a text, an integer as a number of the state.
  void groupAttribute(hid_t group, const std::string& path, const std::string& name) {
    const Handle attribute = openAttribute(group, name);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    note(path, path.size() + name.size() + sizeof(StoredText));
    if (H5Tget_class(type) == H5T_STRING)
      contents_.texts.push_back({path, name, textAttribute(group, name)});
    else
      contents_.numbers.push_back({path + "/" + name, numberAttribute(group, name)});
  }

  // Stores type, shape and digest of a dataset.
  void dataset(hid_t set, const std::string& path) {
    StoredDataset tensor{.path = path, .type = TENON_FLOAT32, .shape = {}, .digest = 0};
    const Handle type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose),
        creation(H5Dget_create_plist(set), H5Pclose);
    if (type < 0 || space < 0 || creation < 0)
      subject_.fail(path, hdf5::lastReason());
    if (H5Tequal(type, H5T_IEEE_F64LE) > 0)
      tensor.type = TENON_FLOAT64;
    else if (H5Tequal(type, H5T_STD_I64LE) > 0)
      tensor.type = TENON_INT64;
    else if (H5Tequal(type, H5T_STD_I32LE) > 0)
      tensor.type = TENON_INT32;
    else if (H5Tequal(type, H5T_IEEE_F32LE) <= 0)
      subject_.fail(path, "its type is none of float32, float64, int64 and int32");
    // Contiguous data have a position that the header lists. External data could be in any file of
    // the machine.
    if (H5Pget_layout(creation) != H5D_CONTIGUOUS || H5Pget_external_count(creation) != 0)
      subject_.fail(path, "its data do not lie in one piece in the file");
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL)
      subject_.fail(path, "it has no shape");
    if (rank > kMaxDims)
      subject_.fail(path,
                    fmt::format("it has {} dimensions; a tensor has at most {}", rank, kMaxDims));
    std::vector<hsize_t> extents(rank);
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    for (const hsize_t extent : extents)
      tensor.shape.push_back(static_cast<Index>(extent));
    Index bytes = 0;
    try {
      bytes = tensor.bytes();
    } catch (const Error&) {
      subject_.fail(path, "its size does not fit into 64 bits");
    }
    // Data are allocated when a dataset is created, so a smaller size is damage.
    if (static_cast<hsize_t>(bytes) != H5Dget_storage_size(set))
      subject_.fail(path, "its data are not all in the file");
    tensor.digest = numberAttribute(set, "digest");
    contents_.tensors.push_back(std::move(tensor));
  }

  void readValues() {
    if (H5Lexists(file_, "values", H5P_DEFAULT) <= 0)
      return;
    const Handle group(subject_.check(H5Gopen2(file_, "values", H5P_DEFAULT), "values"), H5Gclose);
    for (const std::string& name : attributesOf(group, "values")) {
      const Handle attribute = openAttribute(group, name);
      const Handle type(H5Aget_type(attribute), H5Tclose);
      switch (H5Tget_class(type)) {
      case H5T_STRING:
        contents_.values[name] = textAttribute(group, name);
        break;
      case H5T_FLOAT: {
        double value = 0;
        readScalar(attribute, name, H5T_NATIVE_DOUBLE, &value);
        contents_.values[name] = value;
        break;
      }
      default:
        contents_.values[name] = integerAttribute(group, name);
      }
    }
  }

  Handle openAttribute(hid_t object, const std::string& name) const {
    return {subject_.check(H5Aopen(object, name.c_str(), H5P_DEFAULT), name), H5Aclose};
  }

  // Reads an attribute of one element into *value, which has the HDF5 type `native`.
  void readScalar(hid_t attribute, const std::string& name, hid_t native, void* value) const {
    const Handle space(H5Aget_space(attribute), H5Sclose);
    if (H5Sget_simple_extent_npoints(space) != 1)
      subject_.fail(name, "it is no single value");
    const Handle type(H5Aget_type(attribute), H5Tclose);
    if (H5Tget_class(type) != H5T_STRING && !hdf5::isSoundNumber(type))
      subject_.fail(name, "its type is no number that can be read");
    subject_.check(H5Aread(attribute, native, value), name);
  }

  Index integerAttribute(hid_t object, const std::string& name) const {
    Index value = 0;
    readInteger(object, name, H5T_NATIVE_INT64, &value);
    return value;
  }
  std::uint64_t numberAttribute(hid_t object, const std::string& name) const {
    std::uint64_t value = 0;
    readInteger(object, name, H5T_NATIVE_UINT64, &value);
    return value;
  }
  void readInteger(hid_t object, const std::string& name, hid_t native, void* value) const {
    const Handle attribute = openAttribute(object, name);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    if (H5Tget_class(type) != H5T_INTEGER)
      subject_.fail(name, "it is no integer");
    readScalar(attribute, name, native, value);
  }

  std::string textAttribute(hid_t object, const std::string& name) {
    const Handle attribute = openAttribute(object, name);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    const std::size_t size = H5Tget_size(type);
    // A text of variable length is a pointer, for which HDF5 allocates a length that the file
    // specifies.
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || size > kMaxText)
      subject_.fail(name, "it is no text of fixed length");
    note(name, size);
    std::string text(size, '\0');
    readScalar(attribute, name, type, text.data());
    return text.substr(0, text.find('\0'));
  }

  Subject subject_;
  Handle file_;
  StoredFile contents_;
  std::size_t objects_ = 0; // groups and datasets visited by walk()
  std::size_t noted_ = 0;   // bytes counted by note()
};

} // namespace

StoredFile readStructure(const std::string& path) {
  const Silence silence;
  return StructureReader(path).read();
}

} // namespace tenon
