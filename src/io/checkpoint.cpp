// SPDX-License-Identifier: BSD-2-Clause
// Class Checkpoint without its reading (checkpoint_read.cpp) and writing (checkpoint_write.cpp):
// the objects and values that the user adds, the options, the list of all state, and the recording
// of a signal, such as the SIGTERM that a batch system sends before a job's time limit.
//
// contents() lists the state by visiting the objects each time a file is written or read, because
// layers and optimizers can change in between. It ends with an agreement (a small collective
// message), which verifies that all ranks have the same names, types and shapes before any data are
// transferred.
//
// Signals: a signal handler belongs to the whole process and gets no pointer, so all checkpoints
// that record the same signal share one entry of watchedSignals, with a count of holders:
//   setSignal(SIGTERM)            holdSignal(): the first holder installs the handler
//   the signal arrives            the handler sets hasArrived[SIGTERM]
//   signal()                      a reduction over all ranks of hasArrived
//   setSignal(0), ~Checkpoint()   releaseSignal(): the last holder restores the previous handler
#include "io/checkpoint.hpp"

#include "comm/agreement/agreement.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/progress.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <map>

namespace tenon {

namespace {

// A signal that is recorded instead of ending the process.
struct WatchedSignal {
  int holders = 0;            // checkpoints that record it
  struct sigaction before {}; // the previous handler
};
// By the number of the signal. Never destroyed, because static checkpoints could outlive it.
auto& watchedSignals = *new std::map<int, WatchedSignal>;
volatile std::sig_atomic_t hasArrived[NSIG]; // element 0 stays 0

extern "C" void tenonRecordSignal(int signal) {
  hasArrived[signal] = 1;
}

// Whether a signal reports a fault. Such a signal cannot be recorded: a fault recurs when the
// handler returns, and abort() ends the process after it.
bool isFault(int signal) {
  constexpr int kFaults[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  return std::find(std::begin(kFaults), std::end(kFaults), signal) != std::end(kFaults);
}

// Starts to record this signal. If another checkpoint records it already, adds one to the count of
// holders. Throws TENON_ERR_ARG for a signal that cannot be caught.
void holdSignal(int signal) {
  if (isFault(signal))
    throw Error(TENON_ERR_ARG,
                fmt::format("signal {} tells of a fault, after which a program cannot "
                            "go on; use SIGTERM or SIGUSR1",
                            signal));
  const auto existing = watchedSignals.find(signal);
  if (existing != watchedSignals.end()) {
    ++existing->second.holders;
    return;
  }
  const auto failed = [&](int reason) {
    return Error(TENON_ERR_ARG,
                 fmt::format("signal {} cannot be caught: {}; use SIGTERM or SIGUSR1", signal,
                             std::strerror(reason)));
  };
  if (signal < 1 || signal >= NSIG)
    throw failed(EINVAL);
  // Insert the entry before the handler is installed: a handler without entry could never be
  // restored.
  WatchedSignal& watched = watchedSignals[signal];
  struct sigaction action {};
  action.sa_handler = tenonRecordSignal;
  action.sa_flags = SA_RESTART; // system calls of the program continue after the signal
  hasArrived[signal] = 0;
  if (sigaction(signal, &action, &watched.before) != 0) {
    const int reason = errno;
    watchedSignals.erase(signal);
    throw failed(reason);
  }
  watched.holders = 1;
}

// Restores the previous handler, unless another one has been installed since.
void restoreHandler(int signal, const WatchedSignal& watched) noexcept {
  struct sigaction current {};
  if (sigaction(signal, nullptr, &current) == 0 && current.sa_handler == tenonRecordSignal)
    sigaction(signal, &watched.before, nullptr);
}

// Restores all handlers when the library is unloaded, because its handler is unloaded too.
struct HandlersRestoredAtUnload {
  HandlersRestoredAtUnload() = default;
  HandlersRestoredAtUnload(const HandlersRestoredAtUnload&) = delete;
  HandlersRestoredAtUnload& operator=(const HandlersRestoredAtUnload&) = delete;
  ~HandlersRestoredAtUnload() {
    for (const auto& [signal, watched] : watchedSignals)
      restoreHandler(signal, watched);
  }
};
const HandlersRestoredAtUnload handlersRestoredAtUnload;

// Removes a holder; the last one restores the signal's handler.
void releaseSignal(int signal) noexcept {
  const auto watched = watchedSignals.find(signal);
  if (watched == watchedSignals.end() || --watched->second.holders > 0)
    return;
  restoreHandler(signal, watched->second);
  watchedSignals.erase(watched);
}

constexpr OptionSpec kKeepOption[] = {
    {"checkpoint_keep", OptionSpec::Int, "2",
     "how many files step-N.h5 of a folder are kept, the latest ones", nullptr, atLeast(1)},
};
constexpr OptionSpec kTransportOption[] = {
    {"checkpoint_transport", OptionSpec::Choice, "auto",
     "who writes and reads checkpoint files: together = all ranks, by parallel HDF5; root = rank "
     "0, "
     "with messages from and to the others; auto = together if HDF5 is parallel",
     "auto|together|root"},
};
const OptionRegistration kKeepRegistration{{"checkpoint", kKeepOption}};
const OptionRegistration kTransportRegistration{{"checkpoint", kTransportOption}};

constexpr Index kMebibyte = Index(1) << 20;

// Lists all state that it visits: paths and shapes for the file, and the addresses of the values in
// the objects. A template because Contents is private to Checkpoint.
template <class Contents>
class ContentsVisitor final : public StateVisitor {
public:
  explicit ContentsVisitor(Contents& contents) : contents_(contents) {}
  void tensor(const std::string& path, DTensor& value) override {
    checkStorable(value.layout(), fmt::format("tensor \"{}\"", path));
    contents_.pointers.push_back(&value);
    contents_.tensors.push_back({.path = path,
                                 .type = value.dataType(),
                                 .shape = value.layout().shape(),
                                 .digest = 0}); // computed or read later
    contents_.targets.push_back({&value});
  }
  void parameter(const std::string& path, Parameter& owner) override {
    StateVisitor::parameter(path, owner); // calls tensor()
    contents_.targets.back().parameter = &owner;
  }
  void state(const std::string& path, StateTensor& owner) override {
    StateVisitor::state(path, owner);
    contents_.targets.back().state = &owner;
  }
  void number(const std::string& path, std::uint64_t& value) override {
    add({path, value}, &value);
  }
  void numberOrOlder(const std::string& path, std::uint64_t& value,
                     const std::string& older) override {
    add({path, value, older}, &value);
  }
  void real(const std::string& path, double& value) override {
    add({path, std::bit_cast<std::uint64_t>(value)}, &value);
  }

private:
  void add(StoredNumber number, void* place) {
    contents_.numbers.push_back(std::move(number));
    contents_.places.push_back(place);
  }
  Contents& contents_;
};

// Paths must be unique, and no path may be a prefix of another, because HDF5 would need a dataset
// and a group of the same name. Sorted with a trailing slash, such paths are neighbours.
void checkPaths(const std::vector<StoredDataset>& tensors,
                const std::vector<StoredNumber>& numbers) {
  std::vector<std::string> paths;
  for (const StoredDataset& tensor : tensors)
    paths.push_back(tensor.path + "/");
  for (const StoredNumber& number : numbers)
    paths.push_back(number.path + "/");
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    for (const std::string& word : split(path.substr(0, path.size() - 1), '/'))
      if (word.empty() || word == "." || word == "..")
        throw Error(TENON_ERR_ARG, fmt::format("a checkpoint cannot name '{}'; give the layer "
                                               "another name than '{}'",
                                               path, word));
  for (std::size_t i = 0; i + 1 < paths.size(); ++i)
    if (paths[i + 1].starts_with(paths[i]))
      throw Error(TENON_ERR_ARG,
                  fmt::format("a checkpoint cannot have both '{}' and '{}'; give the layers of a "
                              "network different names",
                              paths[i], paths[i + 1]));
}

} // namespace

Checkpoint::Checkpoint(CommPtr comm)
    : SettableObject(kClass), comm_(std::move(comm)), settings_({kKeepOption, kTransportOption}) {
  requireHdf5();
  applySettings(settings_, {});
}

Checkpoint::~Checkpoint() {
  releaseSignal(signal_);
}

std::span<const OptionSpec> Checkpoint::transportOption() noexcept {
  return kTransportOption;
}

void Checkpoint::applySettings(Settings after, const Settings::Names&) {
  keep_ = after.value<Index>("checkpoint_keep", owner());
  transport_ = after.value<std::string>("checkpoint_transport", owner());
  settings_ = std::move(after);
}

std::string Checkpoint::checkedRoot(const char* folder, const std::string& name,
                                    const char* what) const {
  checkPlain(fmt::format("the name of the {} in a checkpoint", what), name);
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos)
    throw Error(TENON_ERR_ARG,
                fmt::format("the {} cannot have the name '{}' in a checkpoint; pass a word without "
                            "a slash",
                            what, name));
  std::string root = fmt::format("{}/{}", folder, name);
  const auto check = [&](const auto& objects) {
    for (const auto& existing : objects)
      if (existing.root == root)
        throw Error(TENON_ERR_ARG, fmt::format("the checkpoint has a {} '{}' already; pass another "
                                               "name",
                                               what, name));
  };
  check(layers_);
  check(optimizers_);
  check(tensors_);
  return root;
}

void Checkpoint::checkComm(const CommPtr& comm, const Object& object) const {
  if (comm != comm_)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} and {} are on different communicators; create both on the same one",
                            title(), object.title()));
}

void Checkpoint::addLayer(Ref<Layer> layer, const std::string& name) {
  checkComm(layer->comm(), *layer);
  layers_.push_back({checkedRoot("network", name, "layer"), std::move(layer)});
}

void Checkpoint::addOptimizer(Ref<Optimizer> optimizer, const std::string& name) {
  checkComm(optimizer->comm(), *optimizer);
  optimizers_.push_back({checkedRoot("optimizer", name, "optimizer"), std::move(optimizer)});
}

void Checkpoint::addTensor(Ref<DTensor> tensor, const std::string& name) {
  checkComm(tensor->comm(), *tensor);
  checkStorable(tensor->layout(), tensor->title());
  tensors_.push_back({checkedRoot("tensors", name, "tensor"), std::move(tensor)});
}

// Whether a name is that of a setting, or of none: a misspelt setting is not stored as a value.
bool Checkpoint::isSetting(std::string_view name) const {
  return settings_.has(name) ||
         (name.starts_with("checkpoint_") && !values_.contains(std::string(name)));
}

SettingValue Checkpoint::get(std::string_view name) const {
  if (isSetting(name))
    return SettableObject::get(name);
  return std::visit([](const auto& stored) { return SettingValue(stored); },
                    value(std::string(name)));
}

bool Checkpoint::isSet(std::string_view name) const {
  return isSetting(name) ? SettableObject::isSet(name) : values_.contains(std::string(name));
}

void Checkpoint::set(std::string_view name, SettingValue value) {
  if (isSetting(name)) {
    SettableObject::set(name, std::move(value));
    return;
  }
  const std::string key(name);
  if (std::holds_alternative<bool>(value))
    throw Error(TENON_ERR_TYPE,
                fmt::format("the value '{}' of {} is true or false, which a file does not store; "
                            "set the integer 0 or 1",
                            key, title()));
  if (const auto* integers = std::get_if<std::vector<Index>>(&value)) {
    if (integers->size() != 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the value '{}' of {} is {}; a file stores one of each name", key,
                              title(), counted(static_cast<Index>(integers->size()), "integer")));
    setValue(key, integers->front());
  } else if (const auto* integer = std::get_if<Index>(&value))
    setValue(key, *integer);
  else if (const auto* real = std::get_if<double>(&value))
    setValue(key, *real);
  else
    setValue(key, std::get<std::string>(std::move(value)));
}

void Checkpoint::setValue(const std::string& key, StoredValue value) {
  if (key.empty())
    throw Error(TENON_ERR_ARG, "the name of a checkpoint's value is empty; pass a word");
  checkPlain("the name of a checkpoint's value", key);
  if (const auto* text = std::get_if<std::string>(&value))
    checkUtf8(fmt::format("the value of '{}' in a checkpoint", key), *text);
  values_[key] = std::move(value);
}

const StoredValue& Checkpoint::value(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end())
    return found->second;
  std::vector<std::string> keys;
  for (const auto& [name, value] : values_)
    keys.push_back(name);
  throw Error(TENON_ERR_ARG, fmt::format("{} has no value '{}'; it has {}", title(), key,
                                         keys.empty() ? "none" : joined(keys)));
}

void Checkpoint::setSignal(int signal) {
  // In this order, a signal that cannot be caught leaves the previous one in place, and a signal
  // that is set again keeps its entry, with hasArrived.
  if (signal != 0)
    holdSignal(signal);
  releaseSignal(signal_);
  signal_ = signal;
}

int Checkpoint::signal() const {
  int signal = hasArrived[signal_] != 0 ? signal_ : 0;
  checkMpi(MPI_Allreduce(MPI_IN_PLACE, &signal, 1, MPI_INT, MPI_MAX, comm_->mpi()),
           "MPI_Allreduce");
  return signal;
}

void Checkpoint::visit(StateVisitor& visitor) {
  for (const auto& [root, layer] : layers_) {
    if (!layer->isSetUp())
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has no parameters yet; call TenonLayerSetUp() before the "
                              "checkpoint is written or read",
                              layer->title()));
    visitState(*layer, root, visitor);
  }
  for (const auto& [root, optimizer] : optimizers_)
    optimizer->visitState(root, visitor);
  for (const auto& [root, tensor] : tensors_)
    visitor.tensor(root, *tensor);
}

Checkpoint::Contents Checkpoint::contents(const std::string& doing) {
  // Updating the storage of states communicates, so all ranks must agree before it. A rank that has
  // failed earlier reports its error in this agreement.
  if (std::ranges::any_of(layers_,
                          [](const auto& entry) { return statesAreBehind(*entry.object); })) {
    agree(*comm_, std::nullopt);
    for (const auto& entry : layers_)
      settleStates(*entry.object);
  }
  return collectively(
      *comm_, "the contents of the checkpoint",
      [&] {
        checkSets();
        Contents state;
        ContentsVisitor<Contents> visitor(state);
        visit(visitor);
        checkPaths(state.tensors, state.numbers);
        return state;
      },
      [&](const Contents& state) {
        std::string text = fmt::format("{}; {};", doing, settings_.describe());
        for (const StoredDataset& entry : state.tensors)
          text += fmt::format(" {} {} [{}]", entry.path, dataTypeName(entry.type),
                              fmt::join(entry.shape, ","));
        for (const StoredNumber& entry : state.numbers)
          text += " " + entry.path;
        return text;
      });
}

FileData Checkpoint::fileData(const std::string& path, const Contents& contents,
                              const char* doing) const {
  const bool isTogether = transport_ == "together" || (transport_ == "auto" && hasParallelHdf5());
  const std::string work = fmt::format("{} {} (MiB)", doing, path);
  const Index total = bytesOf(contents.tensors) / kMebibyte;
  return {.path = path,
          .stored = &contents.tensors,
          .transport = isTogether ? FileTransport::Together : FileTransport::Root,
          .moved = [work, total, done = Index(0)](Index bytes) mutable {
            done += bytes;
            showProgress(work, done / kMebibyte, total, "", 0);
          }};
}

std::string Checkpoint::describe() const {
  std::string text = fmt::format("{}: {}, {}, {}, {}\n", headingOf(*this),
                                 counted(static_cast<Index>(layers_.size()), "layer"),
                                 counted(static_cast<Index>(optimizers_.size()), "optimizer"),
                                 counted(static_cast<Index>(tensors_.size()), "tensor"),
                                 counted(static_cast<Index>(values_.size()), "value"));
  const auto add = [&](const auto& objects) {
    for (const auto& entry : objects)
      text += fmt::format("  {}: {}\n", entry.root, entry.object->title());
  };
  add(layers_);
  add(optimizers_);
  add(tensors_);
  text += fmt::format("  HDF5 {}, transport {}; the latest {} files of a folder are kept\n",
                      hdf5Library(), transport_, keep_);
  if (lastReport_)
    text += fmt::format("  last {} '{}': {} in {:.3f} s, {:.0f} MiB/s\n", lastReport_->operation,
                        lastReport_->path, sizeText(lastReport_->bytes), lastReport_->seconds,
                        static_cast<double>(lastReport_->bytes) / static_cast<double>(kMebibyte) /
                            lastReport_->seconds);
  return text;
}

} // namespace tenon
