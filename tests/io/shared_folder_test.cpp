// SPDX-License-Identifier: BSD-2-Clause
// Two programs that write into one folder. A temporary file (.NAME.part.RANDOM) of a running
// program must not be removed by the other one, which prints a warning with the process and the
// host. After a program has been killed, the next write of another one removes the temporary files
// that it has left. The second program is a forked process here.
#include "training_run.hpp"

#include "io/checkpoint_files.hpp"
#include "sys/expect_error.hpp"
#include "sys/files/part_file.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

using test::SharedFolder;
using test::world;

// Another process that has begun to write a file, and then waits until it is killed.
class OtherWriter {
public:
  explicit OtherWriter(const std::string& path) {
    int ends[2];
    if (pipe(ends) != 0)
      throw Error(TENON_ERR_FILE, "no pipe");
    process_ = fork();
    if (process_ == 0) {
      const PartFile part(path, PartFile::Owner::Named);
      const char done = write(part.descriptor(), "half", 4) == 4 ? 'y' : 'n';
      if (write(ends[1], &done, 1) == 1)
        for (;;)
          pause();
      _exit(1);
    }
    char done = 'n';
    begun = read(ends[0], &done, 1) == 1 && done == 'y';
    close(ends[0]);
    close(ends[1]);
  }
  ~OtherWriter() { kill(); }
  OtherWriter(const OtherWriter&) = delete;
  OtherWriter& operator=(const OtherWriter&) = delete;

  void kill() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
      process_ = 0;
    }
  }
  std::string text() const { return "process " + std::to_string(process_) + " on host "; }
  bool begun = false;

private:
  pid_t process_ = 0;
};

// Returns the number of temporary files in a folder, those with the name of the writer included.
std::size_t partsIn(const SharedFolder& folder) {
  std::size_t parts = 0;
  for (const std::string& name : folder.names())
    parts += name.find(".part.") != name.npos ? 1 : 0;
  return parts;
}

TEST(SharedFolders, TheTemporaryFileOfARunningProgramIsNotRemoved) {
  const SharedFolder folder("shared_folder");
  const bool isFirst = world()->rank() == 0;
  std::optional<OtherWriter> other;
  if (isFirst) {
    other.emplace(folder / "step-3.h5");
    ASSERT_TRUE(other->begun);
    // Temporary files of earlier programs, one of them with an owner on another host, and an owner
    // file alone.
    for (const char* name : {".step-7.h5.part.0123", ".step-8.h5.part.4567",
                             ".step-8.h5.part.4567.owner", ".step-9.h5.part.89ab.owner"})
      std::ofstream(folder / name) << "812 elsewhere\n";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Checkpoint checkpoint(world());
  checkpoint.setValue("time", 0.5);
  const auto written = [&](Index step) {
    testing::internal::CaptureStderr();
    checkpoint.writeStep(folder / "", step);
    return testing::internal::GetCapturedStderr();
  };
  const std::string warning = written(5);
  if (isFirst) {
    EXPECT_NE(warning.find(other->text()), warning.npos) << warning;
    EXPECT_NE(warning.find("a folder of its own"), warning.npos) << warning;
    EXPECT_EQ(partsIn(folder), 2u); // the part and its owner
  }
  EXPECT_EQ(written(6), ""); // the warning is printed once
  if (isFirst) {
    EXPECT_EQ(partsIn(folder), 2u);
    other->kill();
    EXPECT_EQ(partsIn(folder), 2u);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(written(7), "");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"step-6.h5", "step-7.h5"}));
}

TEST(SharedFolders, AnErrorSaysThatATemporaryFileWasRemoved) {
  const SharedFolder folder("gone_part");
  if (world()->rank() != 0)
    return;
  PartFile part(folder / "a.h5", PartFile::Owner::Named);
  EXPECT_EQ(partsIn(folder), 2u);
  EXPECT_EQ(removeParts(folder / "b.h5"), std::nullopt);
  EXPECT_TRUE(removeParts(folder / "a.h5")); // this process itself writes it
  std::filesystem::remove(part.name());
  expectError(TENON_ERR_FILE, {"a.h5", "another program has removed it", "a folder of its own"},
              [&] { part.commit(); });
  PartFile again(folder / "a.h5", PartFile::Owner::Named);
  again.commit();
  EXPECT_EQ(removeParts(folder / "c.h5"), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(folder / "a.h5"));
}

} // namespace
} // namespace tenon
