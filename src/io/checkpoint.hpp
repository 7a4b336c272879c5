// SPDX-License-Identifier: BSD-2-Clause
// The state of a run in a file: layers with their state between steps, optimizers, the user's
// tensors and values. The state of a layer or optimizer is enumerated by visitState()
// (layer/networks/state.hpp), so a new kind of state needs no change here.
//
// A file is written under a temporary name, and renamed once all of it is on the disk. A file that
// is read goes to scratch memory first, and to the objects only when its digests are right on every
// rank. So an error, or the end of the process at any moment, leaves the old file and the old state
// intact.
#pragma once

#include "io/transport.hpp"
#include "layer/networks/state.hpp"
#include "sys/files/part_file.hpp"
#include "train/optimizer.hpp"

#include <optional>

namespace tenon {

// Calls: addLayer(), addOptimizer(), addTensor() and setValue() once, then write() or read() at any
// time.
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

  void setValue(const std::string& key, StoredValue value);
  // Throws TENON_ERR_ARG, listing the existing keys, if there is no value with this key.
  const StoredValue& value(const std::string& key) const;

  // Collective on comm. Must be called inside collectively(), which turns an error on one rank into
  // an error on all ranks.
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
  struct Named {
    std::string root; // "network/net"
    Ref<T> object;
  };
  // A tensor of the objects, and the owner that is notified after it has been read.
  struct Target {
    DTensor* tensor;
    Parameter* parameter = nullptr;
    StateTensor* state = nullptr;
  };
  // All state of the objects; rebuilt for each file.
  struct Contents {
    TensorPointers pointers; // the tensors, or copies of them on the host
    std::vector<StoredDataset> tensors;
    std::vector<StoredNumber> numbers;
    std::vector<Target> targets;
    // Locations of the numbers, which are std::uint64_t or the bits of a double.
    std::vector<void*> places;
  };
  // Data that was read, in memory that is allocated in advance, so updating the objects cannot
  // fail.
  struct Arrived {
    std::vector<Buffer> elements;
    std::vector<Box> boxes;
    std::vector<Ref<DTensor>> copies; // on the host, for tensors on the device
    StoredValues values;
  };
  // The last operation, for describe().
  struct Report {
    const char* done = ""; // "wrote" or "read"
    std::string path = {};
    Index bytes = 0;
    double seconds = 0;
  };
  std::string checkedRoot(const char* folder, const std::string& name, const char* what) const;
  void checkComm(const CommPtr& comm, const Object& object) const;
  void takeOver(Settings after, const Settings::Names& names) override;
  void visit(StateVisitor& visitor);
  // Returns the tensors and numbers of all objects. Collective; all ranks must pass the same
  // `doing`.
  Contents contents(const std::string& doing);
  FileData fileData(const std::string& path, const Contents& contents, const char* doing) const;

  std::vector<StoredText> texts() const;
  void addState(Contents& contents, std::vector<Ref<DTensor>>& copies) const;
  // Whether all values of layers and optimizers are finite. The user's tensors are not tested,
  // because NaN can mark missing data. Collective.
  bool isFinite(const Contents& contents) const;
  void writeNewFile(const PartFile& part, const std::string& path, const Contents& contents) const;
  void writeContents(const std::string& path, Contents& contents);
  // Copies digests and numbers from a file to the contents that they belong to. Throws
  // TENON_ERR_SHAPE, with a list of everything that does not match.
  void fit(const StoredFile& file, const std::string& path, Contents& contents) const;
  // Reads the structure of a file on rank 0 and broadcasts it as a message. Collective, as are the
  // four functions below.
  std::string readStated(const std::string& path, Contents& contents) const;
  // Stores the digests and numbers of the message in the contents, and allocates memory for the
  // data.
  Arrived prepare(const std::string& stated, Contents& contents) const;
  void checkDigests(const std::string& path, const Contents& contents,
                    const Arrived& arrived) const;
  void readContents(const std::string& path, Contents& contents);
  // Copies data that was read to the objects. Local; it allocates nothing, so it cannot fail.
  void take(const Contents& contents, Arrived arrived);

  CommPtr comm_;
  Settings settings_;
  Index keep_ = 0; // number of files to retain, as set
  std::string transport_;
  int signal_ = 0;
  std::vector<Named<Layer>> layers_;
  std::vector<Named<Optimizer>> optimizers_;
  std::vector<Named<DTensor>> tensors_;
  StoredValues values_;
  std::optional<Report> lastReport_;
  // Path of the last file whose state was not finite; empty after a finite one.
  std::string notFinite_;
  // Whether the warning about another program in the same folder has been printed.
  bool saysSharedFolder_ = false;
};

} // namespace tenon
