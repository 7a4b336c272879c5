// SPDX-License-Identifier: BSD-2-Clause
// The state of a run, kept in a file: layers with what they carry from step to step, optimizers,
// the caller's tensors and values. What a layer or an optimizer has is asked of visitState()
// (layer/networks/state.hpp), so that a new kind of state is kept without a change here.
//
// A file is written beside its place and renamed once it is whole and on the disk; one that is read
// goes into scratch memory first, and into the objects when its digests are right on every rank. So
// a failure, and the end of the process at any moment, leave the old file and the old state.
#pragma once

#include "io/transport.hpp"
#include "layer/networks/state.hpp"
#include "sys/files/part_file.hpp"
#include "train/optimizer.hpp"

#include <optional>

namespace tenon {

class Checkpoint final : public SettableObject {
public:
  static constexpr const char* kClass = "Checkpoint";
  explicit Checkpoint(CommPtr comm);
  ~Checkpoint() override;

  const CommPtr& comm() const noexcept { return comm_; }
  // They may change between any two files.
  const Settings& settings() const noexcept override { return settings_; }
  // The setting that says who writes and reads files, for objects that have a checkpoint inside.
  static std::span<const OptionSpec> transportOption() noexcept;

  // Throw TENON_ERR_ARG if the name is taken or cannot stand in a file.
  void addLayer(Ref<Layer> layer, const std::string& name);
  void addOptimizer(Ref<Optimizer> optimizer, const std::string& name);
  void addTensor(Ref<DTensor> tensor, const std::string& name);

  void setValue(const std::string& key, StoredValue value);
  // Throws TENON_ERR_ARG if there is none, naming those that there are.
  const StoredValue& value(const std::string& key) const;

  // Collective, all, and called in a body of collectively(): what one rank cannot do becomes an
  // error of all there.
  void write(const std::string& path);
  // Writes step-STEP.h5 in the folder, of which the latest are kept; also sets the value "step".
  void writeStep(const std::string& folder, Index step);
  void read(const std::string& path);
  // Reads one dataset of a file into a tensor, whatever object of the writer it belonged to.
  static void load(Ref<DTensor> tensor, const std::string& path, const std::string& dataset);
  // The latest file of the folder that is whole, with a warning for each that is not; none where
  // the folder has no file. Throws the error of the last if none is whole. The step of the file's
  // name.
  std::optional<Index> readLatest(const std::string& folder);

  // Notes this signal until the object is destroyed; 0 turns that off. Other checkpoints may note
  // the same signal or others.
  void setSignal(int signal);
  // Collective: the signal that has come to any rank; 0 if none.
  int signal() const;

  std::string describe() const override;

private:
  template <class T>
  struct Named {
    std::string root; // "network/net"
    Ref<T> object;
  };
  // A tensor of the objects, and who is told when it has been written.
  struct Target {
    DTensor* tensor;
    Parameter* parameter = nullptr;
    StateTensor* state = nullptr;
  };
  struct Contents {
    TensorPointers pointers; // to the tensors, or to copies of them on the host
    std::vector<StoredDataset> tensors;
    std::vector<StoredNumber> numbers;
    std::vector<Target> targets;
    std::vector<void*> places; // of the numbers, which are a std::uint64_t or the bits of a double
  };
  // What was read before the objects change, so that changing them allocates nothing.
  struct Arrived {
    std::vector<Buffer> elements;
    std::vector<Box> boxes;
    std::vector<Ref<DTensor>> copies; // on the host, of tensors that are on the device
    StoredValues values;
  };
  struct Report {
    const char* done = ""; // "wrote"
    std::string path = {};
    Index bytes = 0;
    double seconds = 0;
  };
  std::string checkedRoot(const char* folder, const std::string& name, const char* what) const;
  void checkComm(const CommPtr& comm, const Object& object) const;
  void takeOver(Settings after, const Settings::Names& names) override;
  void visit(StateVisitor& visitor);
  // The tensors and numbers of all objects. Collective; `doing` is agreed on.
  Contents contents(const std::string& doing);
  FileData fileData(const std::string& path, const Contents& contents, const char* doing) const;

  std::vector<StoredText> texts() const;
  void addState(Contents& contents, std::vector<Ref<DTensor>>& copies) const;
  // Whether all values of the layers and optimizers are finite; the caller's tensors may mark what
  // is missing by NaN. Collective.
  bool isFinite(const Contents& contents) const;
  void writeNewFile(const PartFile& part, const std::string& path, const Contents& contents) const;
  void writeContents(const std::string& path, Contents& contents);
  // Gives the digests and numbers of a file to what they belong to. Throws TENON_ERR_SHAPE, listing
  // all that does not fit.
  void fit(const StoredFile& file, const std::string& path, Contents& contents) const;
  // What the file says, as rank 0 tells it to all. Collective, as the four below are.
  std::string readStated(const std::string& path, Contents& contents) const;
  // Puts the digests and numbers that were told into the contents, and makes room for the data.
  Arrived prepare(const std::string& stated, Contents& contents) const;
  void checkDigests(const std::string& path, const Contents& contents,
                    const Arrived& arrived) const;
  void readContents(const std::string& path, Contents& contents);
  // Gives the objects what has arrived. Local; it allocates nothing.
  void take(const Contents& contents, Arrived arrived);

  CommPtr comm_;
  Settings settings_;
  Index keep_ = 0; // as it is set
  std::string transport_;
  int signal_ = 0;
  std::vector<Named<Layer>> layers_;
  std::vector<Named<Optimizer>> optimizers_;
  std::vector<Named<DTensor>> tensors_;
  StoredValues values_;
  std::optional<Report> lastReport_;
  // The latest file of a state that was not finite; empty after one that was.
  std::string notFinite_;
  bool saysSharedFolder_ = false; // that another program writes such files has been said
};

} // namespace tenon
