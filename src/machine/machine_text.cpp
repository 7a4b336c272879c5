// SPDX-License-Identifier: BSD-2-Clause
// Writes machine descriptions, which machine_file.cpp reads. The reader requires a source for each
// number, and overhead and copy bandwidth together; a machine that has only one of them is written
// without both. textOf() is declared in machine_file.hpp.
#include "machine/machine_file.hpp"

#include "sys/files/json_text.hpp"

namespace tenon {

namespace {

class MachineText {
public:
  MachineText(const Machine& machine, const std::string& source)
      : machine_(machine), source_(source) {}

  Json of(const std::string& about) const {
    Json json = {{"name", machine_.name()},
                 {"about", about},
                 {"levels", Json::array()},
                 {"links", Json::array()}};
    for (const Level& level : machine_.levels())
      json["levels"].push_back({{"name", level.name}, {"size", counted(level.size)}});
    for (const Link& link : machine_.links())
      json["links"].push_back(of(link));
    const MachineRates& rates = machine_.rates();
    if (rates.overhead && rates.copyBandwidth)
      json["messages"] = {{"overhead", number(*rates.overhead, "s")},
                          {"copy_bandwidth", number(*rates.copyBandwidth, "B/s")}};
    if (rates.space != Space::Host)
      json["arrays"] = spaceName(rates.space);
    if (rates.kernels)
      json["kernels"] = of(*rates.kernels);
    return json;
  }

private:
  // A number with a unit, and one without, both with the source.
  Json number(double value, const char* unit) const {
    return {{"value", value}, {"unit", unit}, {"source", source_}};
  }
  Json counted(Index value) const { return {{"value", value}, {"source", source_}}; }

  Json of(const Link& link) const {
    Json json = {{"name", link.name}, {"level", machine_.levels()[link.level].name}};
    if (link.units != 1)
      json["units"] = counted(link.units);
    json["bandwidth"] = number(link.bandwidth, "B/s");
    json["latency"] = number(link.latency, "s");
    json["rules"] = Json::array();
    for (const LinkRule& rule : link.rules)
      json["rules"].push_back(of(rule));
    return json;
  }

  Json of(const LinkRule& rule) const {
    Json json = {{"groups", ruleName(rule.when)}};
    if (rule.when == LinkRule::Crossing)
      json["between"] = {{"level", machine_.levels()[rule.level].name},
                         {"units", counted(rule.units)}};
    if (rule.unless != LinkRule::kNone)
      json["unless"] = machine_.links()[rule.unless].name;
    if (rule.each)
      json["each"] = true;
    return json;
  }

  Json of(const KernelRates& kernels) const {
    Json json = {{"flops", number(kernels.flops, "1/s")},
                 {"memory", number(kernels.memory, "B/s")},
                 {"call", number(kernels.call, "s")},
                 {"measured", Json::array()}};
    for (const KernelTimes& times : kernels.measured)
      json["measured"].push_back({{"kind", times.kind},
                                  {"pass", kernelPassName(times.pass)},
                                  {"data_type", times.elementBytes == 8 ? "float64" : "float32"},
                                  {"source", source_},
                                  {"flop", times.flop},
                                  {"byte", times.byte},
                                  {"row", times.row},
                                  {"column", times.column}});
    return json;
  }

  const Machine& machine_;
  const std::string& source_;
};

} // namespace

std::string textOf(const Machine& machine, const std::string& about, const std::string& source) {
  return MachineText(machine, source).of(about).dump(/*indent=*/1) + "\n";
}

} // namespace tenon
