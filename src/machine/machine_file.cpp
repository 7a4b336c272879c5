// SPDX-License-Identifier: BSD-2-Clause
// Reads machine descriptions. Keys and values are checked here. Consistency is checked by Machine,
// which is created again after each link, so an error is reported at the position in the file that
// caused it.
#include "machine/machine_file.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/files/part_file.hpp"
#include "sys/files/share_folder.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

namespace {

constexpr OptionSpec kFileOptions[] = {
    {"machine_file", OptionSpec::String, "",
     "machine description: a name (a100x16) or the path of a JSON file; detected if empty"},
    {"machine_path", OptionSpec::String, "",
     "folder searched for machine descriptions before that of the library"},
};
const OptionRegistration kFileRegistration{{"machine", kFileOptions}};

// Checks that a number has a source and the expected unit, and returns its value.
JsonView sourced(const JsonView& number, const char* unit) {
  if (unit)
    number.allow({"value", "unit", "source"});
  else
    number.allow({"value", "source"});
  if (unit && number.at("unit").text() != unit)
    number.at("unit").fail(
        fmt::format("is \"{}\"; expected \"{}\"", number.at("unit").text(), unit));
  if (number.at("source").text().empty())
    number.at("source").fail("is empty; state where the number comes from");
  return number.at("value");
}

// Reads a number with a source that must be > 0 or, if it may be zero, >= 0.
double positive(const JsonView& number, const char* unit, bool mayBeZero) {
  const JsonView value = sourced(number, unit);
  if (mayBeZero ? value.real() < 0 : value.real() <= 0)
    value.fail(fmt::format("is {}; it must be {}", value.real(), mayBeZero ? ">= 0" : "> 0"));
  return value.real();
}

// Index of a name among items that are listed before it in the file.
template <class Named>
int indexOf(const JsonView& name, const std::vector<Named>& items, const char* what) {
  std::vector<std::string> names;
  for (const Named& item : items)
    names.push_back(item.name);
  const auto position = std::find(names.begin(), names.end(), name.text());
  if (position == names.end())
    name.fail(fmt::format("there is no {} '{}' before this; known are: {}", what, name.text(),
                          names.empty() ? "none" : joined(names)));
  return static_cast<int>(position - names.begin());
}

Level readLevel(const JsonView& level) {
  level.allow({"name", "size"});
  return {level.at("name").name(), sourced(level.at("size"), nullptr).integer(1)};
}

Index readUnits(const JsonView& object) {
  return object.has("units") ? sourced(object.at("units"), nullptr).integer(1) : 1;
}

LinkRule readRule(const JsonView& rule, const std::vector<Level>& levels,
                  const std::vector<Link>& before) {
  rule.allow({"groups", "between", "unless", "each"});
  LinkRule result;
  std::vector<std::string> words;
  for (const auto when :
       {LinkRule::Touching, LinkRule::Filling, LinkRule::Leaving, LinkRule::Crossing})
    words.push_back(ruleName(when));
  const auto position = std::find(words.begin(), words.end(), rule.at("groups").text());
  if (position == words.end())
    rule.at("groups").fail(
        fmt::format("is \"{}\"; expected one of {}", rule.at("groups").text(), joined(words)));
  result.when = static_cast<LinkRule::When>(position - words.begin());
  if ((result.when == LinkRule::Crossing) != rule.has("between"))
    rule.fail("'between' is required with groups \"crossing\" and allowed only there");
  if (rule.has("between")) {
    rule.at("between").allow({"level", "units"});
    result.level = indexOf(rule.at("between").at("level"), levels, "level");
    result.units = readUnits(rule.at("between"));
  }
  if (rule.has("unless"))
    result.unless = indexOf(rule.at("unless"), before, "link");
  if (rule.has("each"))
    result.each = rule.at("each").flag();
  return result;
}

Link readLink(const JsonView& link, const std::vector<Level>& levels,
              const std::vector<Link>& before) {
  link.allow({"name", "level", "units", "bandwidth", "latency", "rules"});
  Link result;
  result.name = link.at("name").name();
  result.level = indexOf(link.at("level"), levels, "level");
  result.units = readUnits(link);
  result.bandwidth = positive(link.at("bandwidth"), "B/s", /*mayBeZero=*/false);
  result.latency = positive(link.at("latency"), "s", /*mayBeZero=*/true);
  for (const JsonView& rule : link.at("rules").list())
    result.rules.push_back(readRule(rule, levels, before));
  return result;
}

MachineRates readMessages(const JsonView& messages) {
  messages.allow({"overhead", "copy_bandwidth"});
  return {.overhead = positive(messages.at("overhead"), "s", /*mayBeZero=*/true),
          .copyBandwidth = positive(messages.at("copy_bandwidth"), "B/s", /*mayBeZero=*/false),
          .kernels = {}};
}

Index readElementBytes(const JsonView& type) {
  if (type.text() != "float32" && type.text() != "float64")
    type.fail(fmt::format("is \"{}\"; expected float32 or float64", type.text()));
  return type.text() == "float64" ? 8 : 4;
}

KernelPass readPass(const JsonView& pass) {
  for (const auto candidate : {KernelPass::Apply, KernelPass::Adjoint, KernelPass::Parameters})
    if (pass.text() == kernelPassName(candidate))
      return candidate;
  pass.fail(fmt::format("is \"{}\"; expected apply, adjoint or parameters", pass.text()));
}

KernelTimes readTimes(const JsonView& times) {
  times.allow({"kind", "pass", "data_type", "source", "flop", "byte", "row", "column"});
  if (times.at("source").text().empty())
    times.at("source").fail("is empty; state where the numbers come from");
  const auto seconds = [&](const char* key) {
    const JsonView value = times.at(key);
    if (!(value.real() >= 0))
      value.fail(fmt::format("is {}; it must be >= 0", value.real()));
    return value.real();
  };
  return {.kind = times.at("kind").name(),
          .pass = readPass(times.at("pass")),
          .elementBytes = readElementBytes(times.at("data_type")),
          .flop = seconds("flop"),
          .byte = seconds("byte"),
          .row = seconds("row"),
          .column = seconds("column")};
}

Space readSpace(const JsonView& arrays) {
  for (const Space space : {Space::Host, Space::Device})
    if (arrays.text() == spaceName(space))
      return space;
  arrays.fail(fmt::format("is \"{}\"; expected host or device", arrays.text()));
}

KernelRates readKernels(const JsonView& kernels) {
  if (kernels.has("curves"))
    kernels.at("curves").fail("are no longer read, since kernels have times by their kind instead; "
                              "measure the machine again with tenon bench -machine_out FILE");
  kernels.allow({"flops", "memory", "call", "measured"});
  KernelRates result{.flops = positive(kernels.at("flops"), "1/s", /*mayBeZero=*/false),
                     .memory = positive(kernels.at("memory"), "B/s", /*mayBeZero=*/false),
                     .call = positive(kernels.at("call"), "s", /*mayBeZero=*/true)};
  for (const JsonView& times : kernels.at("measured").list())
    result.measured.push_back(readTimes(times));
  return result;
}

// Creates a machine; an error of its consistency checks is reported at the part of the file that
// was added last.
template <class Make>
auto madeAt(const JsonView& part, Make&& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_ARG)
      throw;
    part.fail(error.text());
  }
}

} // namespace

Machine parseMachine(const std::string& text, const std::string& where) {
  const JsonNode tree = parseJson(text, where);
  const JsonView root(tree, where);
  root.allow({"name", "about", "levels", "links", "messages", "kernels", "arrays"});
  root.at("about").text();
  const std::string name = root.at("name").name();
  std::vector<Level> levels;
  for (const JsonView& level : root.at("levels").list())
    levels.push_back(readLevel(level));
  Machine machine = madeAt(root.at("levels"), [&] { return Machine::make(name, levels); });
  for (const JsonView& link : root.at("links").list())
    machine =
        madeAt(link, [&] { return machine.linkedBy(readLink(link, levels, machine.links())); });
  MachineRates rates;
  if (root.has("messages"))
    rates = readMessages(root.at("messages"));
  if (root.has("kernels"))
    rates.kernels = readKernels(root.at("kernels"));
  if (root.has("arrays"))
    rates.space = readSpace(root.at("arrays"));
  return machine.ratedBy(std::move(rates));
}

// The user's folder is searched before that of the library.
Machine readMachine(const std::string& nameOrPath, std::optional<Index> nodes) {
  const std::string folder = options().getString("", "machine_path");
  const std::string path = findDataFile(nameOrPath, "machine description", "machines", folder);
  Machine machine = parseMachine(readWholeFile(path, "machine description"), path);
  if (!nodes)
    return machine;
  const int level = machine.findLevel("node");
  if (level < 0)
    throw Error(TENON_ERR_ARG, fmt::format("machine '{}' has no level 'node', so its number of "
                                           "nodes cannot be set to {}; leave it out",
                                           machine.name(), *nodes));
  return machine.resized(level, *nodes);
}

Machine machineForRanks(const std::string& file, Index ranks) {
  Machine machine = readMachine(file);
  // The number of nodes depends on the job, so the level 'node' of a file is resized.
  const int node = machine.findLevel("node");
  if (node < 0 && machine.devices() != ranks)
    throw Error(TENON_ERR_ARG,
                fmt::format("machine '{}' has {} devices and no level 'node' to resize, but the "
                            "job has {} ranks; use a machine of that size",
                            machine.name(), machine.devices(), ranks));
  if (node < 0)
    return machine;
  const Index perNode = machine.devices() / machine.levels()[node].size;
  if (ranks % perNode != 0)
    throw Error(TENON_ERR_ARG, fmt::format("machine '{}' has {} devices per node, which does not "
                                           "divide the {} ranks of the job; start a multiple of {}",
                                           machine.name(), perNode, ranks, perNode));
  return machine.resized(node, ranks / perNode);
}

std::string machineFileOption() {
  return options().getString("", "machine_file");
}

} // namespace tenon
