// SPDX-License-Identifier: BSD-2-Clause
#include "tools/info.hpp"

#include "tools/handles.hpp"

#include <cstdio>

namespace tenon::tools {

const std::vector<ProgramOption> kInfoOptions{
    {"job", TENON_OPTION_FLAG, "false", "print the machine of this job (mpiexec -n 4 ...)"},
    {"machine", TENON_OPTION_STRING, "", "print a machine by description: a100x16, or a JSON file"},
};

namespace {

void printBuild() {
  char text[4096] = "";
  TenonCallAbort(TenonGetBuildInfo(text, sizeof text));
  std::fputs(text, stdout);
  TenonCallAbort(TenonGetPerformanceAdvice(text, sizeof text));
  if (text[0] != '\0')
    std::printf("warning: %s\n", text);
}

void printLocal() {
  Machine machine;
  TenonCallAbort(TenonMachineCreateLocal(machine.out()));
  TenonCallAbort(TenonMachineView(machine));
}

} // namespace

void printInfo() {
  printBuild();
  printLocal();
}

int runInfo() {
  char described[4096] = "";
  TenonBool isJob = TENON_FALSE;
  require(TenonOptionsGetString("-", "machine", described, sizeof described));
  require(TenonOptionsGetFlag("-", "job", &isJob));
  if (worldRank() == 0) {
    printBuild();
    if (!isJob && described[0] == '\0')
      printLocal();
  }
  Machine machine;
  if (isJob) {
    TenonCallAbort(TenonMachineCreateFromComm(MPI_COMM_WORLD, machine.out()));
    TenonCallAbort(TenonMachineView(machine));
  } else if (described[0] != '\0' && worldRank() == 0) {
    TenonCallAbort(TenonMachineCreateFromFile(described, 0, machine.out()));
    TenonCallAbort(TenonMachineView(machine));
  }
  return 0;
}

} // namespace tenon::tools
