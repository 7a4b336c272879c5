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
  std::fputs(textFrom(TenonGetBuildInfo).c_str(), stdout);
  std::fputs(textFrom(TenonGetDeviceInfo).c_str(), stdout);
  const std::string advice = textFrom(TenonGetPerformanceAdvice);
  if (!advice.empty())
    std::printf("warning: %s\n", advice.c_str());
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
  const std::string described = textOption("machine");
  const bool isJob = flagOption("job");
  if (worldRank() == 0) {
    printBuild();
    if (!isJob && described.empty())
      printLocal();
  }
  Machine machine;
  if (isJob) {
    TenonCallAbort(TenonMachineCreateFromComm(MPI_COMM_WORLD, machine.out()));
    TenonCallAbort(TenonMachineView(machine));
  } else if (!described.empty() && worldRank() == 0) {
    TenonCallAbort(TenonMachineCreateFromFile(described.c_str(), 0, machine.out()));
    TenonCallAbort(TenonMachineView(machine));
  }
  return 0;
}

} // namespace tenon::tools
