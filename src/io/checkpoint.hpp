// SPDX-License-Identifier: BSD-2-Clause
// Saves the state of a run to an HDF5 file, and restores it: layers with their state between steps,
// optimizers, the user's tensors and values. visitState() (layer/networks/state.hpp) enumerates the
// state of a layer or optimizer, so a new kind of state needs no change here. The file's groups and
// datasets are described in stored_file.hpp; "structure" means all of it without the values of
// tensors.
//
// A file is written under a temporary name, and renamed when all of it is on the disk. A file is
// read into scratch memory, and copied to the objects after its digests (64-bit checksums of
// tensors) have been verified on all ranks. So an error, or the end of the process at any moment,
// leaves the old file and the old state intact.
//
//   write():  contents()            lists tensors and numbers; all ranks must have the same list
//             writeContents()       rank 0 writes the structure, then all ranks the values; the
//                                   file is synchronised with the disk and renamed
//   read():   contents()            as above
//             broadcastStructure()  rank 0 reads the structure, compares it (matchFile()), and
//                                   broadcasts digests and numbers as a message
//             prepare()             each rank parses the message and allocates scratch memory
//             readTensors()         reads the values into it (transport.hpp)
//             checkDigests()        verifies them
//             copyToObjects()       copies them to the objects; cannot fail
#pragma once

#include "io/transport.hpp"
#include "layer/networks/state.hpp"
#include "sys/files/part_file.hpp"
#include "train/optimizer.hpp"

#include <optional>

namespace tenon {

// Calls: addLayer(), addOptimizer() and addTensor() once, then set() for values, and write() or
// read() at any time.
class Checkpoint final : public SettableObject {
public:
  static constexpr const char* kClass = "Checkpoint";
  explicit Checkpoint(CommPtr comm);
  ~Checkpoint() override;

  const CommPtr& comm() const noexcept { return comm_; }
  // Settings can change between files.
  const Settings& settings() const noexcept override { return settings_; }
  // The option checkpoint_transport, for objects that contain a checkpoint.
  static std::span<const OptionSpec> transportOption() noexcept;

  // Throw TENON_ERR_ARG if the name is taken, or is not valid in a file.
  void addLayer(Ref<Layer> layer, const std::string& name);
  void addOptimizer(Ref<Optimizer> optimizer, const std::string& name);
  void addTensor(Ref<DTensor> tensor, const std::string& name);

  // The user's values are settings of any name that does not begin with "checkpoint_". A file
  // stores one integer, a real number or a text.
  SettingValue get(std::string_view name) const override;
  bool isSet(std::string_view name) const override;
  void set(std::string_view name, SettingValue value) override;
  void setValue(const std::string& key, StoredValue value);
  // Throws TENON_ERR_ARG, listing the existing keys, if there is no value with this key.
  const StoredValue& value(const std::string& key) const;

  // write() to readLatest() are collective on comm, and must be called inside collectively(), which
  // turns an error on one rank into an error on all ranks.
  void write(const std::string& path);
  // Writes FOLDER/step-STEP.h5 and removes old files, except the latest; also sets the value
  // "step".
  void writeStep(const std::string& folder, Index step);
  void read(const std::string& path);
  // Reads one dataset of a file into a tensor, whatever kind of object wrote it.
  static void load(Ref<DTensor> tensor, const std::string& path, const std::string& dataset);
  // Reads the latest complete file of the folder, with a warning for each damaged one, and returns
  // the step in its name. Returns none if the folder has no file. If all files are damaged, throws
  // the error of the last one.
  std::optional<Index> readLatest(const std::string& folder);

  // Records this signal instead of its default action, until the object is destroyed or the signal
  // is set to 0. Several checkpoints can record the same signal or different ones.
  void setSignal(int signal);
  // Collective on comm. Returns the signal if any rank has received it, otherwise 0.
  int signal() const;

  std::string describe() const override;

private:
  template <class T>
  struct NamedObject {
    std::string root; // path in the file: "network/net"
    Ref<T> object;
  };
  // A tensor to read into. If it belongs to a parameter or a state of a layer, that object is
  // notified afterwards (valueChanged()).
  struct Target {
    DTensor* tensor;
    Parameter* parameter = nullptr;
    StateTensor* state = nullptr;
  };
  // All state of the objects; rebuilt for each file. Element i of `pointers`, `tensors` and
  // `targets` is tensor i, element i of `numbers` and `places` is number i.
  struct Contents {
    TensorPointers pointers; // the tensors, or host copies of tensors on the device
    std::vector<StoredDataset> tensors;
    std::vector<StoredNumber> numbers;
    std::vector<Target> targets;
    // Addresses of the numbers in the objects: a std::uint64_t or a double.
    std::vector<void*> places;
  };
  // Scratch memory for the data of a file: for each tensor the elements of this rank's box. All
  // memory is allocated before reading, so copyToObjects() cannot fail.
  struct Scratch {
    std::vector<Buffer> elements;
    std::vector<Box> boxes;
    std::vector<Ref<DTensor>> copies; // on the host, for tensors on the device
    StoredValues values;
  };
  // The last operation, for describe().
  struct Report {
    const char* operation = ""; // "wrote" or "read"
    std::string path = {};
    Index bytes = 0;
    double seconds = 0;
  };
  bool isSetting(std::string_view name) const;
  // Returns "FOLDER/NAME", the path of an object in the file, after checks of the name. `what` is
  // the kind of the object for error messages.
  std::string checkedRoot(const char* folder, const std::string& name, const char* what) const;
  // Throws TENON_ERR_ARG unless an object has this checkpoint's communicator.
  void checkComm(const CommPtr& comm, const Object& object) const;
  void applySettings(Settings after, const Settings::Names& names) override;
  // Lets a visitor list the state of all layers, optimizers and tensors, in the order of addition.
  void visit(StateVisitor& visitor);
  // Returns the tensors and numbers of all objects. `doing` is the operation, "write 'a.h5':", for
  // error messages. Collective; an error if `doing` or the contents differ between ranks.
  Contents contents(const std::string& doing);
  // Returns the argument of writeTensors() or readTensors() for a file; `doing` names the work in
  // the display of progress.
  FileData fileData(const std::string& path, const Contents& contents, const char* doing) const;

  // Type and settings of each layer and optimizer, which are written for information only.
  std::vector<StoredText> texts() const;
  // Computes the global digests and numbers, and copies tensors on the device to the host: `copies`
  // keeps the copies, and contents.pointers points to them afterwards. Collective.
  void addState(Contents& contents, std::vector<Ref<DTensor>>& copies) const;
  // Whether all values of layers and optimizers are finite. The user's tensors are not tested,
  // because NaN can mark missing data. Collective.
  bool isFinite(const Contents& contents) const;
  // Writes the structure to a new temporary file, for the final path `path`. On rank 0 only.
  void writeNewFile(const PartFile& part, const std::string& path, const Contents& contents) const;
  // Writes contents to a file. Collective.
  void writeContents(const std::string& path, Contents& contents);
  // Copies the digests and numbers of a file to the entries of `contents` with the same paths.
  // Throws TENON_ERR_SHAPE, with a list of all entries that do not match.
  void matchFile(const StoredFile& file, const std::string& path, Contents& contents) const;
  // Reads the structure of a file on rank 0, and returns its digests, numbers and values as a
  // message, which is broadcast to all ranks. Collective.
  std::string broadcastStructure(const std::string& path, Contents& contents) const;
  // Stores the digests and numbers of that message in `contents`, and allocates memory for the
  // data. Local.
  Scratch prepare(const std::string& message, Contents& contents) const;
  // Collective. Throws TENON_ERR_FORMAT on all ranks if a digest is wrong.
  void checkDigests(const std::string& path, const Contents& contents,
                    const Scratch& scratch) const;
  // Reads a file into the objects that the contents refer to. Collective.
  void readContents(const std::string& path, Contents& contents);
  // Copies the data from scratch memory to the objects. Local; allocates nothing, cannot fail.
  void copyToObjects(const Contents& contents, Scratch scratch);

  CommPtr comm_;
  Settings settings_;
  Index keep_ = 0;        // setting checkpoint_keep: number of files step-N.h5 to retain
  std::string transport_; // setting checkpoint_transport: "auto", "together" or "root"
  int signal_ = 0;        // the recorded signal; 0 for none
  std::vector<NamedObject<Layer>> layers_;
  std::vector<NamedObject<Optimizer>> optimizers_;
  std::vector<NamedObject<DTensor>> tensors_;
  StoredValues values_;
  std::optional<Report> lastReport_;
  // Path of the last file whose state was not finite; empty after a finite one.
  std::string notFinite_;
  // Whether the warning about another program in the same folder has been printed.
  bool hasWarnedOfSharedFolder_ = false;
};

} // namespace tenon
