// SPDX-License-Identifier: BSD-2-Clause
// The state of a run, kept in a file: layers with what they carry from step to step, optimizers, the
// caller's tensors and values. What a layer or an optimizer has is asked of visitState() (layer/networks/state.hpp),
// so that a new kind of state is kept without a change here.
//
// A file is written beside its place and renamed once it is whole and on the disk; one that is read goes
// into scratch memory first, and into the objects when its digests are right on every rank. So
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

  // Collective, all.
  void write(const std::string& path);
  // Writes step-STEP.h5 in the folder, of which the latest are kept; also sets the value "step".
  void writeStep(const std::string& folder, Index step);
  void read(const std::string& path);
  // The latest file of the folder that is whole, with a warning for each that is not; none where the
  // folder has no file. Throws the error of the last if none is whole. The step of the file's name.
  std::optional<Index> readLatest(const std::string& folder);

  // Notes this signal until the object is destroyed; 0 turns that off.
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
  struct Contents {
    TensorPointers pointers;
    std::vector<StoredDataset> tensors;
    std::vector<StoredNumber> numbers;
  };
  std::string checkedRoot(const char* folder, const std::string& name, const char* what) const;
  void checkComm(const CommPtr& comm, const Object& object) const;
  bool hasTypes() const noexcept override { return false; }
  void takeOver(Settings after, const Settings::Names& names) override;
  void visit(StateVisitor& visitor);
  // The tensors and numbers of all objects. Collective; `doing` is agreed on.
  Contents contents(const std::string& doing);
  FileData fileData(const std::string& path, const Contents& contents, const char* doing) const;
  void report(const char* done, const std::string& path, const Contents& contents, double seconds);

  std::vector<StoredText> texts() const;
  void addState(Contents& contents) const;
  // Whether all values of the layers and optimizers are finite; the caller's tensors may mark what is missing by NaN.
  // Collective.
  bool isFinite(const Contents& contents) const;
  void writeNewFile(const PartFile& part, const std::string& path, const Contents& contents) const;
  void writeContents(const std::string& path, Contents& contents);
  // Gives the digests and numbers of a file to what they belong to. Throws TENON_ERR_SHAPE, listing all
  // that does not fit.
  void fit(const StoredFile& file, const std::string& path, Contents& contents) const;
  // Puts the digests and numbers of the file into the contents and returns its values. Collective, as the two below are.
  StoredValues readStated(const std::string& path, Contents& contents) const;
  void checkDigests(const std::string& path, const Contents& contents,
                    const std::vector<Buffer>& cells) const;
  void readContents(const std::string& path, Contents& contents);

  CommPtr comm_;
  Settings settings_;
  Index keep_ = 0; // as it is set
  std::string transport_;
  int signal_ = 0;
  std::vector<Named<Layer>> layers_;
  std::vector<Named<Optimizer>> optimizers_;
  std::vector<Named<DTensor>> tensors_;
  StoredValues values_;
  std::string lastReport_;
  // The latest file of a state that was not finite; empty after one that was.
  std::string notFinite_;
};

} // namespace tenon
