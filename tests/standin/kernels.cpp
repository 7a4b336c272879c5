// SPDX-License-Identifier: BSD-2-Clause
// The table of the process's kernels, with their names, twins and translations (kernels.hpp), and
// how one of them runs.
#include "standin/kernels.hpp"

#include "standin/memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace tenon::standin {

namespace {

#ifdef TENON_STANDIN_PTX
constexpr bool kTranslates = true;
#else
constexpr bool kTranslates = false;
#endif

struct Entry {
  std::string name;
  std::size_t bytes = 0;
  TenonTwin twin = nullptr;
};

// Of the process. It is used before main(), or while the lock of the stand-in is held (Call in
// streams.hpp).
struct Kernels {
  std::map<const void*, Entry> entries;
  std::map<std::string, Translated> translated; // by name
  std::set<std::string> ran;                    // names of kernels that have run
  const std::string* running = nullptr;         // name of the kernel that runs
  Counts counts;
};

Kernels& kernels() {
  static auto* all = new Kernels;
  return *all;
}

// Appends the name to the file TENON_STANDIN_RAN when the kernel runs for the first time: by one
// write(), because several processes append to the file.
void noteThatRuns(const std::string& name) {
  static const char* const file = std::getenv("TENON_STANDIN_RAN");
  if (!file || name.empty() || !kernels().ran.insert(name).second)
    return;
  const std::string line = name + "\n";
  const int to = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (to < 0 || write(to, line.data(), line.size()) != ssize_t(line.size()) || close(to) != 0)
    refuse("the name of a kernel cannot be added to " + std::string(file));
}

const Translated& translationOf(const Entry& kernel) {
  const auto found = kernels().translated.find(kernel.name);
  if (found == kernels().translated.end())
    refuse("there is no translation of the kernel '" + kernel.name + "'");
  return found->second;
}

} // namespace

Registered::Registered(const Translated* first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    kernels().translated[first[i].name] = first[i];
}

void nameKernel(const void* entry, const char* name) {
  kernels().entries[entry].name = name;
}

void giveTwin(const void* entry, std::size_t bytes, TenonTwin run) {
  Entry& kernel = kernels().entries[entry];
  kernel.bytes = bytes;
  kernel.twin = run;
}

std::size_t parameterBytes(const void* entry) {
  const auto found = kernels().entries.find(entry);
  if (found == kernels().entries.end() || !found->second.twin)
    refuse("a kernel without a twin on the host is launched");
  return found->second.bytes;
}

void runKernel(const void* entry, const Launch& launch) {
  Kernels& all = kernels();
  const Entry& kernel = all.entries.at(entry);
  noteThatRuns(kernel.name);
  ++all.counts.kernels;
  all.running = &kernel.name;
  if (kTranslates)
    translationOf(kernel).run(launch, all.counts);
  else
    kernel.twin(launch.parameter, launch.blocks, launch.threads, launch.order);
  all.running = nullptr;
}

std::string runningKernel() {
  const std::string* name = kernels().running;
  return name && !name->empty() ? " (kernel " + *name + ")" : "";
}

void refuseKernel(const std::string& what) {
  refuse(what + runningKernel());
}

void refuseAccess(const char* what, std::uint64_t address, unsigned bytes, int line) {
  const Kernels& all = kernels();
  char place[80];
  std::snprintf(place, sizeof place, ": %u bytes at 0x%llx, line %d of ", bytes,
                static_cast<unsigned long long>(address), line);
  refuseKernel(std::string(what) + place + all.translated.at(*all.running).file);
}

} // namespace tenon::standin

tenon::standin::Counts tenonStandinCounts() {
  return tenon::standin::kernels().counts;
}
