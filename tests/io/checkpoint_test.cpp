// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints: a run that continues from a file has the same state, bit by bit, and the same next
// losses as the run that wrote it, for any number of ranks that write and read, and for any layout
// in which parameters are stored. Further tests: contents of files, rotation of old files, names
// and values that are refused, and the recording of signals. Some tests run with several ranks only
// where needed; the complete state of a run is gathered by training_run.hpp.
#include "training_run.hpp"

#include "dtensor/arithmetic.hpp"
#include "io/checkpoint_files.hpp"
#include "io/file_view.hpp"
#include "io/hdf5_file.hpp"
#include "layer/types/shell.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"
#include "train/sgd.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>

namespace tenon {
namespace {

using test::Kind;
using test::SharedFolder;
using test::TrainingRun;
using test::world;

using State = std::map<std::string, std::vector<double>>;

void expectNear(const std::vector<double>& found, const std::vector<double>& expected,
                const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-12 * std::abs(expected[i])) << what << ", step " << i;
}

// Writes a checkpoint on the first `writers` ranks, and continues from it on 1, 2, ... ranks, with
// another storage of the parameters.
void continueOnRanks(int writers, const Kind& kind, const std::string& otherStorage,
                     const std::string& path) {
  State state;
  std::vector<double> next;
  // Rank 0 takes part in all runs, so it has the results of the writing run for the comparison.
  if (const CommPtr comm = test::firstRanks(writers)) {
    TrainingRun run(comm, kind);
    run.steps(3);
    run.checkpoint().setValue("time", 0.75);
    run.checkpoint().write(path);
    state = run.state();
    next = run.steps(2);
  }
  for (int readers = 1; readers <= world()->size(); ++readers) {
    MPI_Barrier(MPI_COMM_WORLD);
    const CommPtr comm = test::firstRanks(readers);
    if (!comm)
      continue;
    const std::string what = kind.optimizer + ", " + kind.storage + " on " +
                             std::to_string(writers) + " ranks, " + otherStorage + " on " +
                             std::to_string(readers);
    TrainingRun run(comm, {otherStorage, kind.optimizer}, 4);
    run.step(); // changes the state, which reading must then replace
    run.checkpoint().read(path);
    const State read = run.state();
    const std::vector<double> further = run.steps(2);
    EXPECT_EQ(std::get<double>(run.checkpoint().value("time")), 0.75);
    if (world()->rank() == 0) {
      EXPECT_EQ(read, state) << what;
      expectNear(further, next, what);
      if (readers == writers && otherStorage == kind.storage) {
        EXPECT_EQ(further, next) << what;
      }
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Checkpoint, GoesOnOnAnyNumberOfRanksInAnyStorage) {
  const SharedFolder folder("checkpoint_ranks");
  const std::vector<std::string> storages{"use", "root", "S0,B"};
  for (const char* optimizer : {"adam", "sgd"})
    for (int writers = 1; writers <= world()->size(); ++writers)
      for (std::size_t s = 0; s < storages.size(); ++s)
        continueOnRanks(writers, {storages[s], optimizer},
                        storages[(s + static_cast<std::size_t>(writers)) % storages.size()],
                        folder / "run.h5");
}

TEST(Checkpoint, IsTheSameFileByEveryTransport) {
  const SharedFolder folder("checkpoint_transport");
  TrainingRun run(world(), {"S0,B", "adam"});
  run.steps(2);
  std::vector<std::string> texts;
  for (const char* transport : {"root", "auto"}) {
    options().set("-tenon_checkpoint_transport", transport);
    run.checkpoint().setFromOptions();
    const std::string path = folder / transport + std::string(".h5");
    run.checkpoint().write(path);
    const std::string text = fileContents(path, Digests::Verified);
    EXPECT_NE(text.find("\"digest\":\"right\""), text.npos) << text;
    EXPECT_EQ(text.find("\"digest\":\"wrong\""), text.npos) << text;
    texts.push_back(text.substr(text.find("\"values\"")));
    const State state = run.state();
    run.steps(1);
    run.checkpoint().read(path);
    EXPECT_EQ(run.state(), state) << transport;
  }
  EXPECT_EQ(texts[0], texts[1]);
  options().set("-tenon_checkpoint_transport", "auto");
}

// The user's tensors: a float32 array of the caller with ghosts and columns first, and int64
// numbers with a copy on each rank. Ghosts are neither written nor read.
TEST(Checkpoint, KeepsTheUserTensors) {
  const SharedFolder folder("checkpoint_tensors");
  const int ranks = world()->size();
  std::vector<Index> cuts(static_cast<std::size_t>(ranks) + 1,
                          1); // rank 0 has one row, others none
  cuts.front() = 0;
  cuts.back() = 7;
  const Layout uneven({.shape = {7, 5},
                       .grid = Grid::make({ranks}),
                       .properties = parseProperties("S0"),
                       .cuts = {cuts, {}}});
  const auto field = makeRef<DTensor>(world(), uneven, TENON_FLOAT32);
  const auto copies = makeRef<DTensor>(
      world(),
      Layout({.shape = {4}, .grid = Grid::make({ranks}), .properties = parseProperties("B")}),
      TENON_INT64);
  const Shape extent = field->extent();
  std::vector<float> array(static_cast<std::size_t>((extent[0] + 2) * (extent[1] + 4)), -1);
  // Columns one after the other, a ghost row and two ghost columns on each side.
  const std::vector<Index> strides{1, extent[0] + 2}, ghosts{1, 2};
  field->placeArray(array.data() + 1 + 2 * (extent[0] + 2), strides, ghosts, ghosts,
                    /*readOnly=*/false, static_cast<Index>(array.size()));
  fillByIndex(*field, [](Index i) { return double(i) + 0.5; });
  fillByIndex(*copies, [](Index i) { return double(1000 + i); });
  const std::vector<float> before = array;
  Checkpoint checkpoint(world());
  checkpoint.addTensor(field, "field");
  checkpoint.addTensor(copies, "copies");
  checkpoint.setValue("name", std::string("α"));
  checkpoint.setValue("epoch", Index(-3));
  checkpoint.write(folder / "fields.h5");
  fillConstant(*field, 0);
  fillConstant(*copies, 0);
  checkpoint.setValue("epoch", Index(0));
  checkpoint.read(folder / "fields.h5");
  EXPECT_EQ(array, before); // the ghosts too are as they were
  const HostView<const std::int64_t> held(*copies);
  for (Index i = 0; i < 4; ++i)
    EXPECT_EQ(held[i], 1000 + i);
  EXPECT_EQ(std::get<Index>(checkpoint.value("epoch")), -3);
  EXPECT_EQ(std::get<std::string>(checkpoint.value("name")), "α");
}

// Checkpoint::load() reads one dataset of a file, without the other objects, into any layout; and
// fileContents() lists a file.
TEST(Checkpoint, GivesOneDatasetToATensor) {
  const SharedFolder folder("checkpoint_load");
  TrainingRun run(world(), {});
  const auto layout = [](const char* properties) {
    return Layout({.shape = {9, 3},
                   .grid = Grid::make({world()->size()}),
                   .properties = parseProperties(properties)});
  };
  const auto field = makeRef<DTensor>(world(), layout("S0"), TENON_FLOAT64);
  fillByIndex(*field, [](Index i) { return double(i) + 0.5; });
  run.checkpoint().addTensor(field, "field");
  run.checkpoint().setValue("note", std::string("a\nb"));
  run.checkpoint().setValue("time", 0.25);
  run.checkpoint().write(folder / "run.h5");
  const std::string contents = fileContents(folder / "run.h5");
  EXPECT_NE(contents.find("\"values\":{\"note\":\"a\\nb\",\"time\":0.25}"), contents.npos)
      << contents;
  EXPECT_NE(contents.find("{\"path\":\"tensors/field\",\"type\":\"float64\",\"shape\":[9,3]}"),
            contents.npos)
      << contents;
  const auto copies = makeRef<DTensor>(world(), layout("B"), TENON_FLOAT64);
  Checkpoint::load(copies, folder / "run.h5", "tensors/field");
  {
    const HostView<const double> held(*copies);
    for (Index i = 0; i < 27; ++i)
      EXPECT_EQ(held[i], double(i) + 0.5);
  }
  expectError(TENON_ERR_SHAPE, {"lacks tensors/other"},
              [&] { Checkpoint::load(copies, folder / "run.h5", "tensors/other"); });
  const HostView<const double> held(*copies);
  EXPECT_EQ(held[26], 26.5); // as before
}

// A mesh's integers are stored as they are, and are read into a tensor of their type only.
TEST(Checkpoint, KeepsTheTypeOfIntegers) {
  const SharedFolder folder("checkpoint_int32");
  const auto tensorOf = [](const char* properties, TenonDataType type) {
    return makeRef<DTensor>(world(),
                            Layout({.shape = {9, 3},
                                    .grid = Grid::make({world()->size()}),
                                    .properties = parseProperties(properties)}),
                            type);
  };
  const auto number = [](Index i) { return std::numeric_limits<std::int32_t>::min() + 7 * i; };
  const auto labels = tensorOf("S0", TENON_INT32);
  fillByIndex(*labels, [&](Index i) { return double(number(i)); });
  Checkpoint written(world());
  written.addTensor(labels, "labels");
  written.write(folder / "labels.h5");
  EXPECT_NE(fileContents(folder / "labels.h5", Digests::Verified)
                .find("{\"path\":\"tensors/labels\",\"type\":\"int32\",\"shape\":[9,3]"),
            std::string::npos);
  const auto copies = tensorOf("B", TENON_INT32);
  Checkpoint read(world());
  read.addTensor(copies, "labels");
  read.read(folder / "labels.h5");
  const HostView<const std::int32_t> held(*copies);
  for (Index i = 0; i < 27; ++i)
    EXPECT_EQ(held[i], number(i));
  for (TenonDataType other : {TENON_INT64, TENON_FLOAT32}) {
    const std::string expected = "expected " + std::string(dataTypeName(other));
    expectError(TENON_ERR_SHAPE, {"tensors/labels is int32 [9,3]", expected.c_str()}, [&] {
      Checkpoint::load(tensorOf("S1", other), folder / "labels.h5", "tensors/labels");
    });
  }
}

// A state of a shell (a layer of user functions), here a number that each Apply doubles: 1 to 8 in
// three calls.
TEST(Checkpoint, KeepsTheStatesOfShells) {
  const SharedFolder folder("checkpoint_shell");
  const Layout input(
      {.shape = {6}, .grid = Grid::make({world()->size()}), .properties = parseProperties("S0")});
  const auto make = [&] {
    const Ref<Layer> layer = test::newLayer(world(), "shell");
    ShellDeclaration& shell = shellOf(*layer);
    shell.addState("count", {2, 3}, 1);
    shell.functions().apply = [&shell](const DTensor& x, DTensor& y) {
      DTensor& count = *shell.call().states.front();
      scaleArray(2, count);
      copyLocal(x, y);
    };
    layer->setUp(input);
    layer->setTraining(false);
    return layer;
  };
  const Ref<Layer> first = make(), second = make();
  const auto x = makeRef<DTensor>(world(), input, first->dataType()),
             y = makeRef<DTensor>(world(), input, first->dataType());
  for (int i = 0; i < 3; ++i)
    first->apply(*x, *y);
  Checkpoint written(world()), read(world());
  written.addLayer(first, "net");
  written.write(folder / "x.h5");
  read.addLayer(second, "net");
  read.read(folder / "x.h5");
  const HostView<const float> count(second->ownStates().front()->value());
  for (Index i = 0; i < 6; ++i)
    EXPECT_EQ(count[i], 8);
}

// Older files have only the optimizer's number of steps, newer ones also a number of updates for
// each parameter. From an older file each parameter gets the optimizer's steps. The older file is
// made here with its structure only; its tensors are then zero, so all tensors of the run are set
// to zero.
TEST(Checkpoint, ReadsFilesWithoutTheUpdatesOfEachParameter) {
  const SharedFolder folder("checkpoint_older");
  const auto net = test::newAffine(world(), 2, 3);
  net->setUp(Layout({.shape = {4, 2},
                     .grid = Grid::make({world()->size()}),
                     .properties = parseProperties("S0")}));
  for (const auto& parameter : net->parameters())
    fillConstant(parameter->value(), 0);
  const auto adam = makeOptimizer("adam", net), other = makeOptimizer("adam", net);
  for (int i = 0; i < 3; ++i)
    adam->step();
  Checkpoint written(world()), read(world());
  written.addOptimizer(adam, "adam");
  written.write(folder / "new.h5");
  if (world()->rank() == 0) {
    StoredFile file = readStructure(folder / "new.h5");
    EXPECT_EQ(std::erase_if(file.numbers,
                            [](const StoredNumber& number) {
                              return number.path.starts_with("optimizer/adam/updates/");
                            }),
              2u);
    writeStructure(folder / "old.h5", file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  read.addOptimizer(other, "adam");
  read.read(folder / "old.h5");
  EXPECT_EQ(other->steps(), 3);
  read.write(folder / "read.h5");
  for (const StoredNumber& number : readStructure(folder / "read.h5").numbers)
    EXPECT_EQ(number.value, 3u) << number.path;
}

TEST(Checkpoint, KeepsTheLatestFilesOfAFolder) {
  const SharedFolder folder("checkpoint_steps");
  TrainingRun run(world(), {});
  EXPECT_EQ(run.checkpoint().readLatest(folder / "none"), std::nullopt);
  for (const Index step : {5, 10, 100})
    run.checkpoint().writeStep(folder.path(), step);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-10.h5", "step-100.h5"}));
  EXPECT_EQ(run.checkpoint().readLatest(folder.path()), 100);
  EXPECT_EQ(std::get<Index>(run.checkpoint().value("step")), 100);
}

// Files whose names writeStep() would not generate, such as those with leading zeros, are never
// removed or read.
TEST(Checkpoint, RemovesOnlyFilesWithItsOwnNames) {
  const SharedFolder folder("checkpoint_names");
  TrainingRun run(world(), {});
  const std::vector<std::string> foreign{"step-+7.h5", "step-000003.h5", "step-0003.h5"};
  if (world()->rank() == 0)
    for (const std::string& name : foreign)
      std::ofstream(folder / name) << "a text";
  run.checkpoint().writeStep(folder.path(), 3);
  EXPECT_EQ(run.checkpoint().readLatest(folder.path()),
            3); // though it is beside two of that number
  run.checkpoint().writeStep(folder.path(), 4);
  run.checkpoint().writeStep(folder.path(), 5);
  std::vector<std::string> expected = foreign;
  expected.insert(expected.end(), {"step-4.h5", "step-5.h5"});
  EXPECT_EQ(folder.names(), expected);
  EXPECT_EQ(run.checkpoint().readLatest(folder.path()), 5);
}

// Files of other programs with names that writeStep() would generate are never removed.
TEST(Checkpoint, RemovesOnlyCheckpoints) {
  const SharedFolder folder("checkpoint_foreign");
  TrainingRun run(world(), {});
  run.checkpoint().writeStep(folder.path(), 1);
  if (world()->rank() == 0) {
    std::ofstream(folder / "step-2.h5") << "the results of a solver";
    std::ofstream(folder / "step-3.h5");
    std::filesystem::create_directory(folder / "step-4.h5");
    ASSERT_EQ(mkfifo((folder / "step-5.h5").c_str(), 0600), 0);
  }
  for (const Index step : {6, 7, 8})
    run.checkpoint().writeStep(folder.path(), step);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-2.h5", "step-3.h5", "step-4.h5",
                                                      "step-5.h5", "step-7.h5", "step-8.h5"}));
}

TEST(Checkpoint, KeepsThePermissionsOfTheFileThatItReplaces) {
  const SharedFolder folder("checkpoint_mode");
  TrainingRun run(world(), {});
  const std::string path = folder / "run.h5";
  run.checkpoint().write(path);
  for (const auto mode : {std::filesystem::perms(0600), std::filesystem::perms(0666)}) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world()->rank() == 0)
      std::filesystem::permissions(path, mode);
    run.checkpoint().write(path);
    EXPECT_EQ(std::filesystem::status(path).permissions(), mode);
  }
}

TEST(Checkpoint, ShowsControlCharactersAsText) {
  const SharedFolder folder("checkpoint_control");
  TrainingRun run(world(), {});
  run.checkpoint().setValue("a", std::string("b\x07\x1b[2J"));
  run.checkpoint().write(folder / "run.h5");
  const std::string text = fileContents(folder / "run.h5");
  EXPECT_NE(text.find(R"("a":"b\\x07\\x1b[2J")"), text.npos) << text;
}

TEST(Checkpoint, RefusesNamesThatAFileOrATerminalCannotShow) {
  TrainingRun run(world(), {});
  Checkpoint& checkpoint = run.checkpoint();
  expectError(TENON_ERR_ARG, {"name", "control"},
              [&] { checkpoint.setValue("a\x1b[2J", Index(1)); });
  expectError(TENON_ERR_ARG, {"name", "UTF-8"}, [&] { checkpoint.setValue("\xe4", Index(1)); });
  expectError(TENON_ERR_ARG, {"value of 'a'", "\\xe4 at position 3", "UTF-8"},
              [&] { checkpoint.setValue("a", std::string("b\n\xe4")); });
  const auto tensor = makeRef<DTensor>(world(),
                                       Layout({.shape = {4},
                                               .grid = Grid::make({world()->size()}),
                                               .properties = parseProperties("B")}),
                                       TENON_FLOAT64);
  for (const char* name : {"a\n", "\xe4"})
    expectError(TENON_ERR_ARG, {"name of the tensor"}, [&] { checkpoint.addTensor(tensor, name); });
}

TEST(Checkpoint, RefusesSignalsThatCannotBeNoted) {
  Checkpoint checkpoint(world());
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGKILL, 999})
    expectError(TENON_ERR_ARG, {std::to_string(signal).c_str(), "SIGTERM"},
                [&] { checkpoint.setSignal(signal); });
}

std::vector<int> ownSignals; // signals that the program's own handler has received

// Installs the program's own handler of two signals; the destructor restores the previous ones.
class OwnAction {
public:
  OwnAction() {
    ownSignals.clear();
    for (const int signal : {SIGUSR1, SIGUSR2})
      before_.push_back(std::signal(signal, [](int arrived) { ownSignals.push_back(arrived); }));
  }
  ~OwnAction() {
    std::signal(SIGUSR1, before_[0]);
    std::signal(SIGUSR2, before_[1]);
  }

private:
  std::vector<void (*)(int)> before_;
};

TEST(Checkpoint, RestoresTheHandlerOfItsOwnSignalOnly) {
  for (const bool firstGoesFirst : {true, false}) {
    const OwnAction own;
    auto one = makeRef<Checkpoint>(world()), other = makeRef<Checkpoint>(world());
    one->setSignal(SIGUSR1);
    other->setSignal(SIGUSR2);
    Ref<Checkpoint>&goes = firstGoesFirst ? one : other, &stays = firstGoesFirst ? other : one;
    const int gone = firstGoesFirst ? SIGUSR1 : SIGUSR2, kept = firstGoesFirst ? SIGUSR2 : SIGUSR1;
    goes = {};
    EXPECT_EQ(stays->signal(), 0);
    std::raise(gone);
    std::raise(kept);
    EXPECT_EQ(ownSignals, std::vector<int>{gone});
    EXPECT_EQ(stays->signal(), kept);
    stays = {};
    std::raise(kept);
    EXPECT_EQ(ownSignals, (std::vector<int>{gone, kept}));
  }
}

TEST(Checkpoint, ShareASignalUntilTheLastIsDestroyed) {
  const OwnAction own;
  auto one = makeRef<Checkpoint>(world()), other = makeRef<Checkpoint>(world());
  one->setSignal(SIGUSR1);
  other->setSignal(SIGUSR1);
  std::raise(SIGUSR1);
  for (const auto& each : {one, other})
    EXPECT_EQ(each->signal(), SIGUSR1);
  one->setSignal(0);
  EXPECT_EQ(one->signal(), 0);
  std::raise(SIGUSR1);
  EXPECT_EQ(other->signal(), SIGUSR1);
  EXPECT_EQ(ownSignals, std::vector<int>{});
  other = {};
  one->setSignal(SIGUSR1); // the earlier signal is discarded
  EXPECT_EQ(one->signal(), 0);
}

TEST(Checkpoint, LeavesAnActionThatTheProgramSetSince) {
  const OwnAction own;
  auto checkpoint = makeRef<Checkpoint>(world());
  checkpoint->setSignal(SIGUSR1);
  std::signal(SIGUSR1, SIG_IGN);
  checkpoint = {};
  std::raise(SIGUSR1);
  EXPECT_EQ(ownSignals, std::vector<int>{});
}

TEST(Checkpoint, KeepsTheFiniteFilesWhenTrainingIsNot) {
  const SharedFolder folder("checkpoint_not_finite");
  TrainingRun run(world(), {});
  const auto write = [&](Index step, double value) {
    fillConstant(run.net()->parameters()[0]->value(), value);
    run.checkpoint().writeStep(folder.path(), step);
  };
  write(1, 0.5);
  write(2, 0.5);
  for (const Index step : {3, 4, 5})
    write(step, step == 4 ? HUGE_VAL : NAN);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-1.h5", "step-2.h5", "step-5.h5"}));
  write(6, 0.5);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-5.h5", "step-6.h5"}));
  write(7, NAN);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-5.h5", "step-6.h5", "step-7.h5"}));
}

} // namespace
} // namespace tenon
