// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonMachine. A machine that is described, by the program or in a file, is local;
// one that is found or measured belongs to the communicator of its job, whose ranks agree on it,
// and then one rank writes it to files and to the output.
#include "comm/machine_object.hpp"

#include "capi/collective.hpp"
#include "machine/machine_file.hpp"
#include "plan/machine_measurement.hpp"
#include "sys/errors/guard.hpp"
#include "sys/files/part_file.hpp"
#include "sys/text/text.hpp"

#include <tenon/ext/machine.h>

using namespace tenon;

namespace {

LinkRule ruleOf(TenonLinkRule rule) {
  static_assert(LinkRule::Touching == static_cast<int>(TENON_LINK_TOUCHING) &&
                LinkRule::Filling == static_cast<int>(TENON_LINK_FILLING) &&
                LinkRule::Leaving == static_cast<int>(TENON_LINK_LEAVING));
  if (rule < TENON_LINK_TOUCHING || rule > TENON_LINK_LEAVING)
    throw Error(TENON_ERR_ARG,
                fmt::format("rule is {}; use a TENON_LINK_... constant", static_cast<int>(rule)));
  return {static_cast<LinkRule::When>(rule)};
}

template <class T>
const T& numbered(const std::vector<T>& all, int number, const char* what) {
  if (number < 0 || number >= static_cast<int>(all.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} {} is out of range; the machine has {}, numbered from 0", what,
                            number, all.size()));
  return all[number];
}

const Level& levelOf(TenonMachine machine, int level) {
  return numbered(deref(machine, "machine").machine().levels(), level, "level");
}

const Link& linkOf(TenonMachine machine, int link) {
  return numbered(deref(machine, "machine").machine().links(), link, "link");
}

template <class T, class V>
void giveValue(T* address, V value) {
  if (address)
    *address = value;
}

} // namespace

TenonErrorCode TenonMachineCreate(const char* name, int levels, const char* const names[],
                                  const TenonInt sizes[], TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    required(machine, "machine");
    const auto words = listOf(names, levels, "names");
    const auto units = listOf(sizes, levels, "sizes");
    std::vector<Level> made;
    for (int l = 0; l < levels; ++l)
      made.push_back({textOf(words[l], "one of names"), units[l]});
    give(machine, makeRef<MachineObject>(Machine::make(textOf(name, "name"), std::move(made))));
  });
}

TenonErrorCode TenonMachineCreateFromFile(const char* nameOrPath, TenonInt nodes,
                                          TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    required(machine, "machine");
    const auto count = nodes == 0 ? std::nullopt : std::optional<Index>(nodes);
    give(machine, makeRef<MachineObject>(readMachine(textOf(nameOrPath, "nameOrPath"), count)));
  });
}

TenonErrorCode TenonMachineCreateLocal(TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    required(machine, "machine");
    give(machine, makeRef<MachineObject>(localMachine(LocalTopology()), nullptr));
  });
}

TenonErrorCode TenonMachineCreateFromComm(MPI_Comm comm, TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    createTogether(
        *own, machine, "machine", "the machine",
        [&] { return makeRef<MachineObject>(findJobMachine(*own), own); },
        [](const Ref<MachineObject>& made) { return made->describe(); });
  });
}

TenonErrorCode TenonMachineMeasure(MPI_Comm comm, TenonMemorySpace space, int rounds,
                                   TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr own = Communicator::of(comm);
    const Space arrays = spaceOf(space);
    // Before any message: with different numbers of rounds the ranks would wait for each other
    // without end.
    agreeOnText(*own, "what is measured", [&] {
      return fmt::format("{}, arrays on the {}", counted(rounds, "round"), spaceName(arrays));
    });
    createTogether(
        *own, machine, "machine", "the machine",
        [&] {
          const std::string source =
              fmt::format("measured on {}, the fastest of {}", counted(own->size(), "rank"),
                          counted(rounds, "round"));
          return makeRef<MachineObject>(measuredMachine(own, arrays, rounds), own, source);
        },
        [](const Ref<MachineObject>& made) { return made->describe(); });
  });
}

TenonErrorCode TenonMachineSave(TenonMachine machine, const char* path) noexcept {
  return guard(__func__, [&] {
    const MachineObject& saved = deref(machine, "machine");
    const auto write = [&](bool isWriter) {
      const std::string name = textOf(path, "path");
      if (!isWriter)
        return false;
      NewFile file(name);
      file.write(textOf(saved.machine(), "Written by TenonMachineSave().", saved.source()));
      file.commit();
      return true;
    };
    if (saved.comm())
      collectively(*saved.comm(), [&] { return write(saved.comm()->rank() == 0); });
    else
      write(true);
  });
}

TenonErrorCode TenonMachineAddLink(TenonMachine machine, const char* name, int level,
                                   TenonInt units, double bandwidth, double latency,
                                   TenonLinkRule rule) noexcept {
  return guard(__func__, [&] {
    deref(machine, "machine")
        .addLink({textOf(name, "name"), level, units, bandwidth, latency, {ruleOf(rule)}});
  });
}

TenonErrorCode TenonMachineGetCounts(TenonMachine machine, int* levels, int* links,
                                     TenonInt* devices) noexcept {
  return guard(__func__, [&] {
    const Machine& counted = deref(machine, "machine").machine();
    giveValue(levels, static_cast<int>(counted.levels().size()));
    giveValue(links, static_cast<int>(counted.links().size()));
    giveValue(devices, counted.devices());
  });
}

TenonErrorCode TenonMachineGetLevel(TenonMachine machine, int level, char name[], TenonInt length,
                                    TenonInt* needed, TenonInt* size) noexcept {
  return guard(__func__, [&] {
    const Level& found = levelOf(machine, level);
    giveValue(size, found.size);
    copyTextIfWanted(found.name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonMachineGetLink(TenonMachine machine, int link, char name[], TenonInt length,
                                   TenonInt* needed, int* level, TenonInt* units, double* bandwidth,
                                   double* latency) noexcept {
  return guard(__func__, [&] {
    const Link& found = linkOf(machine, link);
    giveValue(level, found.level);
    giveValue(units, found.units);
    giveValue(bandwidth, found.bandwidth);
    giveValue(latency, found.latency);
    copyTextIfWanted(found.name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonMachineGetRanks(TenonMachine machine, TenonInt ranks[]) noexcept {
  return guard(__func__, [&] {
    const MachineObject& requested = deref(machine, "machine");
    required(ranks, "ranks");
    for (Index device = 0; device < requested.machine().devices(); ++device)
      ranks[device] = requested.placed(device);
  });
}

TenonErrorCode TenonMachineDestroy(TenonMachine* machine) noexcept {
  return guard(__func__, [&] { destroy(machine, "machine"); });
}
