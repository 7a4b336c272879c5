// SPDX-License-Identifier: BSD-2-Clause
#include "comm/machine_object.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

MachineObject::MachineObject(Machine machine)
    : Object(kClass), found_{std::move(machine), {}, {}}, isInOrder_(true) {}

MachineObject::MachineObject(JoinedPlaces found, CommPtr comm, std::string source)
    : Object(kClass), found_(std::move(found)), comm_(std::move(comm)), source_(std::move(source)),
      isInOrder_(std::is_sorted(found_.order.begin(), found_.order.end())) {}

void MachineObject::addLink(Link link) {
  found_.machine = found_.machine.linkedBy(std::move(link));
  changed();
}

std::string MachineObject::describe() const {
  std::string text = found_.machine.draw();
  if (!isInOrder_)
    text += fmt::format("  by device: {}\n", fmt::join(found_.order, " "));
  for (const std::string& note : found_.notes)
    text += fmt::format("  note: {}\n", note);
  return text;
}

} // namespace tenon
