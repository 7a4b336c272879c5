// SPDX-License-Identifier: BSD-2-Clause
// Checkpoints that cannot be read or written: damaged, truncated and foreign files, files that do
// not match the objects, and places where no file can be written. Each must give the same error on
// all ranks, with the file's name and the reason, and must leave the state of the run as it was.
// The state is compared before and after, element by element (training_run.hpp).
#include "training_run.hpp"

#include "comm/mpi.hpp"
#include "io/dataset/sample_file.hpp"
#include "io/file_header.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>
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

// Replaces a file by one with these bytes. Rank 0 writes it; collective on the world.
void replace(const std::string& path, const std::string& bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Returns the error of a call; none if it succeeds.
template <class Call>
std::optional<Error> errorOf(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// Expects an error with this code, whose text contains all words, and an unchanged state.
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

// A run that has written a valid checkpoint after two steps, and has then made a third step.
class RefusedCheckpoint : public ::testing::Test {
protected:
  RefusedCheckpoint()
      : folder_("refuse"), path_(folder_ / "run.h5"), run_(world(), {"S0,B", "adam"}) {
    run_.steps(2);
    run_.checkpoint().setValue("time", 0.5);
    run_.checkpoint().write(path_);
    run_.step();
  }
  void read() { run_.checkpoint().read(path_); }

  // Expects that the checkpoint is refused if its file has these bytes; `what` is the change.
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

// The bits are pseudo-random, the same in each run.
TEST_F(RefusedCheckpoint, FlippedBits) {
  const std::string undamaged = bytesOf(path_);
  // Fewer on several ranks, where each takes longer.
  const int count = world()->size() == 1 ? 500 : 20;
  for (int i = 0; i < count; ++i) {
    std::string bytes = undamaged;
    const std::uint64_t bit = bitsAt(7, 1, static_cast<std::uint64_t>(i)) % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    readChanged(bytes, "bit " + std::to_string(bit));
  }
}

TEST_F(RefusedCheckpoint, TruncatedFiles) {
  const std::string undamaged = bytesOf(path_);
  const std::size_t count = world()->size() == 1 ? 50 : 10;
  for (std::size_t i = 0; i < count; ++i)
    readChanged(undamaged.substr(0, undamaged.size() * i / count), "part " + std::to_string(i));
}

TEST_F(RefusedCheckpoint, ForeignAndNewerFiles) {
  std::string newer = bytesOf(path_);
  const std::string first = "tenon-checkpoint 1\n";
  ASSERT_TRUE(newer.starts_with(first));
  newer[first.size() - 2] = '2'; // the version of the format
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

// Opening a pipe would wait for a writer forever.
TEST_F(RefusedCheckpoint, Pipes) {
  const std::string pipe = folder_ / "pipe";
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expectRefused(run_, TENON_ERR_FILE, {pipe, "not a regular file"},
                [&] { run_.checkpoint().read(pipe); });
  expectError(TENON_ERR_FILE, {pipe.c_str(), "not a regular file"},
              [&] { openSampleFile(pipe, "x"); });
}

// A file with a valid header, but with HDF5's older metadata without checksums, which Tenon does
// not write.
TEST_F(RefusedCheckpoint, OldMetadataOfHdf5) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    constexpr Index kHeaderBytes = 512;
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, kHeaderBytes);
    H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT));
    H5Pclose(creation);
    writeHeader(path_, kHeaderBytes, /*data=*/{});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expectRefused(run_, TENON_ERR_FORMAT, {path_, "superblock", "version 0"}, [&] { read(); });
}

// Changes a checkpoint with HDF5, by change(file), and writes a header with the right digest again.
template <class Change>
void changeFile(const std::string& path, Change change) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world()->rank() == 0) {
    std::string bytes = bytesOf(path);
    std::size_t header = 0;
    ASSERT_EQ(std::sscanf(bytes.c_str(), "%*s %*d header %zu", &header), 1);
    bytes.replace(0, header, header, '\0');
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
    ASSERT_GE(file, 0);
    change(file);
    H5Pclose(access);
    ASSERT_GE(H5Fclose(file), 0);
    writeHeader(path, static_cast<Index>(header), {});
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void putAttribute(hid_t object, const char* name, hid_t type, const void* value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, value);
  H5Aclose(attribute);
  H5Sclose(space);
}

// One group with a text of 16,000 bytes that has 20,000 names (hard links): a file of less than 4
// MiB, of which 320 MB would have to be read.
TEST_F(RefusedCheckpoint, ASmallFileThatClaimsLargeContents) {
  changeFile(path_, [](hid_t file) {
    const hid_t group = H5Gcreate2(file, "network/many", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t one = H5Gcreate2(group, "one", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, 16000);
    putAttribute(one, "text", type, std::string(16000, 'a').c_str());
    for (int i = 0; i < 20000; ++i)
      H5Lcreate_hard(group, "one", group, std::to_string(i).c_str(), H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
    H5Gclose(one);
    H5Gclose(group);
  });
  EXPECT_LT(std::filesystem::file_size(path_), 4 << 20);
  expectRefused(run_, TENON_ERR_FORMAT, {path_, "more than 256 MiB"}, [&] { read(); });
}

TEST_F(RefusedCheckpoint, AnInvalidNumberOfRanks) {
  for (const std::int64_t ranks : {(std::int64_t(1) << 32) + 1, std::int64_t(0)}) {
    changeFile(path_, [&](hid_t file) {
      H5Adelete(file, "ranks_written");
      putAttribute(file, "ranks_written", H5T_NATIVE_INT64, &ranks);
    });
    expectRefused(run_, TENON_ERR_FORMAT, {path_, "ranks_written", std::to_string(ranks)},
                  [&] { read(); });
  }
}

TEST_F(RefusedCheckpoint, FilesThatDoNotFitTheObjects) {
  const auto wider = test::newAffine(world(), 75, 21);
  wider->setUp(Layout({.shape = {12, 75},
                       .grid = Grid::make({world()->size()}),
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
  // A checkpoint with only the layers can be read, for a run that does not train.
  Checkpoint alone(world());
  alone.addLayer(sgd.net(), "net");
  alone.read(path_);
}

TEST_F(RefusedCheckpoint, TheDamagedFileOfAFolderAndReadTheOneBefore) {
  run_.checkpoint().writeStep(folder_.path(), 1);
  const auto first = run_.state();
  run_.step();
  run_.checkpoint().writeStep(folder_.path(), 2);
  const std::string last = folder_ / "step-2.h5", whole = bytesOf(last);
  replace(last, whole.substr(0, whole.size() / 2));
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_.checkpoint().readLatest(folder_.path()), 1);
  const std::string warnings = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings.find("file '" + last + "': it has") != std::string::npos, world()->rank() == 0)
      << warnings;
  EXPECT_EQ(run_.state(), first);
  replace(folder_ / "step-1.h5", "");
  expectRefused(run_, TENON_ERR_FORMAT, {"step-1.h5"},
                [&] { run_.checkpoint().readLatest(folder_.path()); });
}

TEST_F(RefusedCheckpoint, PlacesWhereNothingCanBeWritten) {
  const std::string before = bytesOf(path_);
  const auto write = [&](const std::string& path) {
    return [this, path] { run_.checkpoint().write(path); };
  };
  expectRefused(run_, TENON_ERR_FILE, {"nowhere/run.h5", "No such file"},
                write(folder_ / "nowhere/run.h5"));
  expectRefused(run_, TENON_ERR_FILE, {"run.h5/run.h5", "Not a directory"},
                write(path_ + "/run.h5"));
  expectRefused(run_, TENON_ERR_FILE, {folder_.path(), "a folder"}, write(folder_.path()));
  expectRefused(run_, TENON_ERR_FILE, {"cannot make folder", "File name too long"},
                [&] { run_.checkpoint().writeStep(folder_ / std::string(300, 'a'), 1); });
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const struct rlimit small { 4096, limit.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  expectRefused(run_, TENON_ERR_FILE, {path_, "only write files of 4.0 KiB"}, write(path_));
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(bytesOf(path_), before);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"run.h5"});
}

// Writes to a file system that is full or read-only. Skipped where none can be mounted (without
// root).
class RefuseDisk : public RefusedCheckpoint {
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

TEST_F(RefuseDisk, WhenItIsFull) {
  expectNothingWritten(0, "size=128k", "No space left on device");
}

TEST_F(RefuseDisk, ThatCannotBeWritten) {
  expectNothingWritten(MS_RDONLY, "size=16m", "Read-only file system");
}

} // namespace
} // namespace tenon
