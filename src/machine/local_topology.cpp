// SPDX-License-Identifier: BSD-2-Clause
// Reads the topology of this computer by hwloc. All functions have two versions, with and without
// the library. Without it only the number of processors is known, and a note says that the rest is
// missing.
#include "machine/local_topology.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#ifdef TENON_HAS_HWLOC
#include <hwloc.h>
#else
#include <algorithm>
#include <thread>
#endif

namespace tenon {

JoinedPlaces localMachine(const LocalTopology& topology) {
  JoinedPlaces machine = joinPlaces(
      "this computer",
      {.device = "core", .levels = LocalTopology::levels(), .places = topology.corePlaces()});
  machine.notes.insert(machine.notes.end(), LocalTopology::notes().begin(),
                       LocalTopology::notes().end());
  return machine;
}

LocalTopology::~LocalTopology() = default;

#ifdef TENON_HAS_HWLOC

namespace {

// The types of the units of levels().
constexpr hwloc_obj_type_t kTypes[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE, HWLOC_OBJ_L3CACHE,
                                       HWLOC_OBJ_CORE};

} // namespace

struct LocalTopology::Impl {
  hwloc_topology_t topology = nullptr;
  hwloc_bitmap_t own = hwloc_bitmap_alloc(); // The processors on which this process can run.

  explicit Impl(const char* synthetic) {
    const bool fails = !own || hwloc_topology_init(&topology) != 0 ||
                       (synthetic && hwloc_topology_set_synthetic(topology, synthetic) != 0) ||
                       hwloc_topology_load(topology) != 0;
    if (!fails)
      return;
    clear();
    throw Error(TENON_ERR_LIBRARY,
                fmt::format("hwloc cannot describe {}", synthetic ? synthetic : "this computer"));
  }
  ~Impl() { clear(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Returns the unit of a type that contains all of these processors. A computer without units of a
  // type has one such unit.
  Index unitOf(hwloc_obj_type_t type, hwloc_const_bitmap_t processors) const {
    if (hwloc_get_nbobjs_by_type(topology, type) <= 0)
      return 0;
    hwloc_obj_t unit = nullptr;
    while ((unit = hwloc_get_next_obj_by_type(topology, type, unit)))
      if (hwloc_bitmap_isincluded(processors, unit->cpuset))
        return static_cast<Index>(unit->logical_index);
    return kNoUnit;
  }
  std::vector<Index> placeOf(hwloc_const_bitmap_t processors) const {
    std::vector<Index> place;
    for (const auto type : kTypes)
      place.push_back(unitOf(type, processors));
    return place;
  }

private:
  void clear() {
    if (topology)
      hwloc_topology_destroy(topology);
    hwloc_bitmap_free(own);
  }
};

LocalTopology::LocalTopology() : impl_(std::make_unique<Impl>(nullptr)) {
  // If the binding cannot be read, assume that the process can run on all processors.
  if (hwloc_get_cpubind(impl_->topology, impl_->own, HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_copy(impl_->own, hwloc_topology_get_topology_cpuset(impl_->topology));
  hwloc_bitmap_and(impl_->own, impl_->own, hwloc_topology_get_topology_cpuset(impl_->topology));
}

LocalTopology::LocalTopology(const std::string& synthetic, int first, int last)
    : impl_(std::make_unique<Impl>(synthetic.c_str())) {
  hwloc_bitmap_set_range(impl_->own, static_cast<unsigned>(first), last);
}

const std::vector<std::string>& LocalTopology::levels() {
  static const std::vector<std::string> names{"package", "numa", "l3", "core"};
  return names;
}

const std::vector<std::string>& LocalTopology::notes() {
  static const std::vector<std::string> none;
  return none;
}

std::string LocalTopology::library() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("interface {}.{}", version >> 16, (version >> 8) & 0xff);
}

std::vector<Index> LocalTopology::ownPlace() const {
  return impl_->placeOf(impl_->own);
}

std::vector<std::vector<Index>> LocalTopology::corePlaces() const {
  const bool hasCores = hwloc_get_nbobjs_by_type(impl_->topology, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = hasCores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<std::vector<Index>> places;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(impl_->topology, type, core))) {
    places.push_back(impl_->placeOf(core->cpuset));
    // If hwloc sees no cores, use processors as cores; the last entry is set in both cases.
    places.back().back() = static_cast<Index>(core->logical_index);
  }
  return places;
}

#else

struct LocalTopology::Impl {};

LocalTopology::LocalTopology() = default;

LocalTopology::LocalTopology(const std::string&, int, int) {
  throw Error(TENON_ERR_SUPPORT, "synthetic machines need hwloc, but Tenon was built without it");
}

const std::vector<std::string>& LocalTopology::levels() {
  static const std::vector<std::string> none;
  return none;
}

const std::vector<std::string>& LocalTopology::notes() {
  static const std::vector<std::string> note{
      "packages, caches and cores are unknown, since Tenon was built without hwloc (TENON_HWLOC)"};
  return note;
}

std::string LocalTopology::library() {
  return "none; build with hwloc (Debian: libhwloc-dev; -DTENON_HWLOC=ON) for packages, caches and "
         "bindings";
}

std::vector<Index> LocalTopology::ownPlace() const {
  return {};
}

std::vector<std::vector<Index>> LocalTopology::corePlaces() const {
  return std::vector<std::vector<Index>>(std::max(1U, std::thread::hardware_concurrency()));
}

#endif

} // namespace tenon
