// SPDX-License-Identifier: BSD-2-Clause
#include "tools/checkpoint.hpp"

#include "tools/program.hpp"

#include <cstdio>

namespace tenon::tools {

int runCheckpoint(int argc, char** argv) {
  if (argc == 3 && asksHelp(argv[2])) {
    std::printf("usage: tenon checkpoint FILE ...\n\nPrints the contents of checkpoint files and "
                "verifies their digests,\nwithout MPI.\n");
    return 0;
  }
  if (argc < 3 || isOption(argv[2])) {
    std::fprintf(stderr, "tenon checkpoint: pass the path of one or more checkpoint files\n");
    return kExitUsage;
  }
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  int status = 0;
  for (int i = 2; i < argc; ++i) {
    if (TenonCheckpointViewFile(argv[i]) == TENON_SUCCESS)
      continue;
    char message[2048] = "";
    TenonGetLastError(nullptr, message, sizeof message, nullptr);
    std::fflush(stdout);
    std::fprintf(stderr, "tenon checkpoint: %s\n", message);
    status = kExitFailed;
  }
  TenonPopErrorHandler();
  return status;
}

} // namespace tenon::tools
