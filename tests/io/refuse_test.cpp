// SPDX-License-Identifier: BSD-2-Clause
// Files that are damaged, foreign or do not fit, and places where none can be written: an error that
// names the file and the reason, on all ranks, and the state as it was.
#include "training_run.hpp"

#include "comm/mpi.hpp"
#include "sys/options.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>

namespace tenon {
namespace {

using test::SharedFolder;
using test::TrainingRun;
using test::world;

std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// By rank 0 of the world.
void replace(const std::string& path, const std::string& bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

template <class Call>
std::optional<Error> errorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// The same error on all ranks, with these words, and the state as it was.
template <class Call>
void expectRefused(TrainingRun& run, TenonErrorCode code, const std::vector<std::string>& words,
                   Call call) {
  const auto before = run.state();
  const auto error = errorOf(call);
  ASSERT_TRUE(error) << words.front();
  EXPECT_EQ(error->code(), code) << error->text();
  for (const std::string& word : words)
    EXPECT_NE(error->text().find(word), std::string::npos) << error->text();
  EXPECT_EQ(run.state(), before) << error->text();
}

class Refuse : public ::testing::Test {
protected:
  Refuse() : folder_("refuse"), path_(folder_ / "run.h5"), run_(world(), {"S0,B", "adam"}) {
    run_.steps(2);
    run_.checkpoint().setValue("time", 0.5);
    run_.checkpoint().write(path_);
    run_.step();
  }
  void read() { run_.checkpoint().read(path_); }

  void readChanged(const std::string& bytes, const std::string& what) {
    replace(path_, bytes);
    const auto before = run_.state();
    const auto error = errorOf([&] { read(); });
    ASSERT_TRUE(error) << what;
    EXPECT_EQ(error->code(), TENON_ERR_FORMAT) << what << ": " << error->text();
    EXPECT_NE(error->text().find(path_), std::string::npos) << what << ": " << error->text();
    EXPECT_EQ(run_.state(), before) << what << ": " << error->text();
  }

  SharedFolder folder_;
  std::string path_;
  TrainingRun run_;
};

TEST_F(Refuse, FlippedBits) {
  const std::string whole = bytesOf(path_);
  // On several ranks a few, since each takes longer.
  const int count = world()->size() == 1 ? 500 : 20;
  for (int i = 0; i < count; ++i) {
    std::string bytes = whole;
    const std::uint64_t bit = bitsAt(7, 1, static_cast<std::uint64_t>(i)) % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    readChanged(bytes, "bit " + std::to_string(bit));
  }
}

TEST_F(Refuse, TruncatedFiles) {
  const std::string whole = bytesOf(path_);
  const std::size_t count = world()->size() == 1 ? 50 : 10;
  for (std::size_t i = 0; i < count; ++i)
    readChanged(whole.substr(0, whole.size() * i / count), "part " + std::to_string(i));
}

TEST_F(Refuse, ForeignAndNewerFiles) {
  std::string newer = bytesOf(path_);
  const std::string first = "tenon-checkpoint 1\n";
  ASSERT_TRUE(newer.starts_with(first));
  newer[first.size() - 2] = '2';
  replace(path_, newer);
  expectRefused(run_, TENON_ERR_FORMAT, {path_, "has format 2", "reads format 1"}, [&] { read(); });
  replace(path_, "a text");
  expectRefused(run_, TENON_ERR_FORMAT, {path_, "not a checkpoint of Tenon"}, [&] { read(); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0)
    H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  MPI_Barrier(MPI_COMM_WORLD);
  expectRefused(run_, TENON_ERR_FORMAT, {path_, "not a checkpoint of Tenon"}, [&] { read(); });
  expectRefused(run_, TENON_ERR_FILE, {"nothing.h5", "No such file"},
                [&] { run_.checkpoint().read(folder_ / "nothing.h5"); });
}

TEST_F(Refuse, FilesThatDoNotFitTheObjects) {
  const auto wider = test::newAffine(world(), 75, 21);
  wider->setUp(Layout({.shape = {12, 75},
                       .mesh = Mesh::make({world()->size()}),
                       .properties = parseProperties("S0")}));
  Checkpoint other(world());
  other.addLayer(wider, "net");
  expectRefused(run_, TENON_ERR_SHAPE,
                {path_, "lacks network/net/weight, network/net/bias",
                 "the objects have no network/net/conv/bias"},
                [&] { other.read(path_); });
  TrainingRun sgd(world(), {"use", "sgd"});
  expectRefused(
      sgd, TENON_ERR_SHAPE,
      {path_, "lacks optimizer/optimizer/velocity/conv/weight", "have no optimizer/optimizer/mean"},
      [&] { sgd.checkpoint().read(path_); });
  // The layers alone, for a run that does not train.
  Checkpoint alone(world());
  alone.addLayer(sgd.net(), "net");
  alone.read(path_);
}

TEST_F(Refuse, TheDamagedFileOfAFolderForTheOneBefore) {
  run_.checkpoint().writeStep(folder_.path(), 1);
  const auto first = run_.state();
  run_.step();
  run_.checkpoint().writeStep(folder_.path(), 2);
  const std::string last = folder_ / "step-2.h5", whole = bytesOf(last);
  replace(last, whole.substr(0, whole.size() / 2));
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_.checkpoint().readLatest(folder_.path()), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("file '" + last + "': it has") != std::string::npos, world()->rank() == 0)
      << said;
  EXPECT_EQ(run_.state(), first);
  replace(folder_ / "step-1.h5", "");
  expectRefused(run_, TENON_ERR_FORMAT, {"step-1.h5"},
                [&] { run_.checkpoint().readLatest(folder_.path()); });
}

TEST_F(Refuse, PlacesWhereNothingCanBeWritten) {
  const std::string before = bytesOf(path_);
  const auto write = [&](const std::string& path) {
    return [this, path] { run_.checkpoint().write(path); };
  };
  expectRefused(run_, TENON_ERR_FILE, {"nowhere/run.h5", "No such file"},
                write(folder_ / "nowhere/run.h5"));
  expectRefused(run_, TENON_ERR_FILE, {"run.h5/run.h5", "Not a directory"},
                write(path_ + "/run.h5"));
  expectRefused(run_, TENON_ERR_FILE, {folder_.path(), "a folder"}, write(folder_.path()));
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const struct rlimit small { 4096, limit.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  expectRefused(run_, TENON_ERR_FILE, {path_, "only write files of 4.0 KiB"}, write(path_));
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(bytesOf(path_), before);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"run.h5"});
}

// Where a disk can be mounted.
class RefuseDisk : public Refuse {
protected:
  void expectNothingWritten(unsigned long flags, const char* size, const char* reason) {
    const std::string disk = folder_ / "disk";
    int status = 0;
    if (world()->rank() == 0) {
      mkdir(disk.c_str(), 0777);
      status = mount("tenon", disk.c_str(), "tmpfs", flags, size);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status != 0)
      GTEST_SKIP() << "no disk can be mounted here";
    expectRefused(run_, TENON_ERR_FILE, {disk + "/run.h5", reason},
                  [&] { run_.checkpoint().write(disk + "/run.h5"); });
    MPI_Barrier(MPI_COMM_WORLD);
    if (world()->rank() == 0) {
      EXPECT_TRUE(std::filesystem::is_empty(disk));
      EXPECT_EQ(umount(disk.c_str()), 0);
    }
  }
};

TEST_F(RefuseDisk, ThatIsFull) {
  expectNothingWritten(0, "size=128k", "No space left on device");
}

TEST_F(RefuseDisk, ThatCannotBeWritten) {
  expectNothingWritten(MS_RDONLY, "size=16m", "Read-only file system");
}

} // namespace
} // namespace tenon
