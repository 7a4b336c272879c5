// SPDX-License-Identifier: BSD-2-Clause
// TenonMachine, the model of a machine: a hierarchy of levels, such as node, socket and core, and
// the links between their units, with latency and bandwidth.
//   Create, CreateFromFile, CreateLocal   described by the program, a file or this node: local
//   CreateFromComm, Measure               found or measured on the ranks of a job: collective
// A machine of the last two calls has the communicator of the job: rank 0 writes it to a file or
// prints it. The calls are declared in tenon/machine.h, those that describe a machine in
// tenon/ext/machine.h.
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

// Converts the rule that says which groups of devices use a link, see TenonLinkRule.
LinkRule ruleOf(TenonLinkRule rule) {
  static_assert(LinkRule::Touching == static_cast<int>(TENON_LINK_TOUCHING) &&
                LinkRule::Filling == static_cast<int>(TENON_LINK_FILLING) &&
                LinkRule::Leaving == static_cast<int>(TENON_LINK_LEAVING));
  if (rule < TENON_LINK_TOUCHING || rule > TENON_LINK_LEAVING)
    throw Error(TENON_ERR_ARG,
                fmt::format("rule is {}; use a TENON_LINK_... constant", static_cast<int>(rule)));
  return {static_cast<LinkRule::When>(rule)};
}

// Element `number` of a list of the machine; `what` names its elements in the error.
template <class T>
const T& numbered(const std::vector<T>& list, int number, const char* what) {
  if (number < 0 || number >= static_cast<int>(list.size()))
    throw Error(TENON_ERR_ARG,
                fmt::format("{} {} is out of range; the machine has {}, numbered from 0", what,
                            number, list.size()));
  return list[number];
}

const Level& levelOf(TenonMachine machine, int level) {
  return numbered(deref(machine, "machine").machine().levels(), level, "level");
}

const Link& linkOf(TenonMachine machine, int link) {
  return numbered(deref(machine, "machine").machine().links(), link, "link");
}

// Writes a result whose address may be NULL.
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
    std::vector<Level> levelList;
    for (int l = 0; l < levels; ++l)
      levelList.push_back({textOf(words[l], "one of names"), units[l]});
    giveHandle(machine,
               makeRef<MachineObject>(Machine::make(textOf(name, "name"), std::move(levelList))));
  });
}

TenonErrorCode TenonMachineCreateFromFile(const char* nameOrPath, TenonInt nodes,
                                          TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    required(machine, "machine");
    // 0 nodes: the number in the file.
    const auto count = nodes == 0 ? std::nullopt : std::optional<Index>(nodes);
    giveHandle(machine,
               makeRef<MachineObject>(readMachine(textOf(nameOrPath, "nameOrPath"), count)));
  });
}

TenonErrorCode TenonMachineCreateLocal(TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    required(machine, "machine");
    giveHandle(machine, makeRef<MachineObject>(localMachine(LocalTopology()), nullptr));
  });
}

TenonErrorCode TenonMachineCreateFromComm(MPI_Comm comm, TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    createCollectively(
        *communicator, machine, "machine", "the machine",
        [&] { return makeRef<MachineObject>(findJobMachine(*communicator), communicator); },
        [](const Ref<MachineObject>& object) { return object->describe(); });
  });
}

TenonErrorCode TenonMachineMeasure(MPI_Comm comm, TenonMemorySpace space, int rounds,
                                   TenonMachine* machine) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    const Space arrays = spaceOf(space);
    // The ranks agree before the first message: with different numbers of rounds they would
    // deadlock.
    agreeOnText(*communicator, "what is measured", [&] {
      return fmt::format("{}, arrays on the {}", counted(rounds, "round"), spaceName(arrays));
    });
    createCollectively(
        *communicator, machine, "machine", "the machine",
        [&] {
          const std::string source =
              fmt::format("measured on {}, the fastest of {}",
                          counted(communicator->size(), "rank"), counted(rounds, "round"));
          return makeRef<MachineObject>(measuredMachine(communicator, arrays, rounds), communicator,
                                        source);
        },
        [](const Ref<MachineObject>& object) { return object->describe(); });
  });
}

TenonErrorCode TenonMachineSave(TenonMachine machine, const char* path) noexcept {
  return guard(__func__, [&] {
    const MachineObject& object = deref(machine, "machine");
    const auto write = [&](bool isWriter) {
      const std::string name = textOf(path, "path"); // checked on all ranks
      if (!isWriter)
        return;
      NewFile file(name);
      file.write(textOf(object.machine(), "Written by TenonMachineSave().", object.source()));
      file.commit();
    };
    if (object.comm())
      runCollectively(*object.comm(), [&] { write(object.comm()->rank() == 0); });
    else
      write(/*isWriter=*/true);
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
    const Machine& object = deref(machine, "machine").machine();
    giveValue(levels, static_cast<int>(object.levels().size()));
    giveValue(links, static_cast<int>(object.links().size()));
    giveValue(devices, object.devices());
  });
}

TenonErrorCode TenonMachineGetLevel(TenonMachine machine, int level, char name[], TenonInt length,
                                    TenonInt* needed, TenonInt* size) noexcept {
  return guard(__func__, [&] {
    const Level& entry = levelOf(machine, level);
    giveValue(size, entry.size);
    copyTextIfWanted(entry.name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonMachineGetLink(TenonMachine machine, int link, char name[], TenonInt length,
                                   TenonInt* needed, int* level, TenonInt* units, double* bandwidth,
                                   double* latency) noexcept {
  return guard(__func__, [&] {
    const Link& entry = linkOf(machine, link);
    giveValue(level, entry.level);
    giveValue(units, entry.units);
    giveValue(bandwidth, entry.bandwidth);
    giveValue(latency, entry.latency);
    copyTextIfWanted(entry.name, {name, length, needed}, "name");
  });
}

TenonErrorCode TenonMachineGetRanks(TenonMachine machine, TenonInt ranks[]) noexcept {
  return guard(__func__, [&] {
    const MachineObject& object = deref(machine, "machine");
    required(ranks, "ranks");
    // ranks[d] is the rank, or the core, that has device d of the machine.
    for (Index device = 0; device < object.machine().devices(); ++device)
      ranks[device] = object.rankOrCore(device);
  });
}

TenonErrorCode TenonMachineDestroy(TenonMachine* machine) noexcept {
  return guard(__func__, [&] { destroy(machine, "machine"); });
}
