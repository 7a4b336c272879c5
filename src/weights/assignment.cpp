// SPDX-License-Identifier: BSD-2-Clause
// Assigns a tensor of a weights file to each parameter of a network: by a map, by name, or by
// position (assignment.hpp has the rules and an example of a map). All faults are collected before
// an error is thrown, because a user who converts a network needs the complete list. Local; all
// ranks do the same.
//
// A position is that of a module, which is a group of tensors with one prefix: "features.10" of
// "features.10.weight" and "features.10.bias". On the side of the network, the parameters that
// correspond to one module are a unit: usually all of a layer, or those with one number ("weight0",
// "bias0"). Unit k of the network gets the tensors of module k of the file.
#include "weights/assignment.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/text/text.hpp"
#include "weights/stored_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tenon {

namespace {

constexpr const char* kFormat = "tenon-weights-map-1";

// Parses the list "transpose" of a rule, which must be a permutation.
std::vector<int> parseAxes(const JsonView& list) {
  std::vector<int> axes;
  for (const JsonView& axis : list.list()) {
    if (axes.size() == kMaxDimensions)
      list.fail(fmt::format("has more than {} dimensions", kMaxDimensions));
    axes.push_back(static_cast<int>(std::min<Index>(axis.integer(0), kMaxDimensions)));
  }
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != static_cast<int>(d))
      list.fail(fmt::format("must name each of the dimensions 0 to {} once", sorted.size() - 1));
  if (axes.empty())
    list.fail("is empty; name the dimensions, or leave it out");
  return axes;
}

} // namespace

WeightsMap parseWeightsMap(const std::string& text, const std::string& file) {
  const JsonNode tree = parseJson(text, file);
  const JsonView root(tree, file);
  root.allow({"format", "parameters", "unused"});
  if (root.at("format").text() != kFormat)
    root.at("format").fail(fmt::format("is another format; expected \"{}\"", kFormat));
  WeightsMap map;
  for (const auto& [to, value] : root.at("parameters").members()) {
    if (value.isText()) {
      map.rules.push_back({to, value.text()});
      continue;
    }
    value.allow({"name", "transpose"});
    map.rules.push_back(
        {to, value.at("name").text(),
         value.has("transpose") ? parseAxes(value.at("transpose")) : std::vector<int>()});
  }
  if (root.has("unused"))
    for (const JsonView& name : root.at("unused").list())
      map.unused.push_back(name.text());
  return map;
}

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1); // index: no tensor
constexpr std::string_view kDigits = "0123456789";

// A module: the tensors whose names differ only after the last dot, such as "conv1.weight" and
// "conv1.bias".
struct Module {
  std::string name;
  std::vector<std::size_t> tensors;
};

// Parameters of one layer that correspond to one module: their indices in wanted_, and their names
// without the unit's number.
struct Unit {
  std::string layer, number;
  std::vector<std::pair<std::size_t, std::string>> parameters;
};

// Returns "conv1" for the tensor "conv1.weight"; "" if its name has no dot.
std::string moduleOf(const std::string& tensor) {
  const std::size_t dot = tensor.rfind('.');
  return dot == tensor.npos ? "" : tensor.substr(0, dot);
}

// Splits "features.10" into pieces that are numbers and pieces that are not: {"features.", "10"}.
std::vector<std::string> pieces(const std::string& name) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < name.size();) {
    const bool isNumber = kDigits.find(name[at]) != kDigits.npos;
    const std::size_t end =
        isNumber ? name.find_first_not_of(kDigits, at) : name.find_first_of(kDigits, at);
    result.push_back(name.substr(at, end - at));
    at = std::min(end, name.size());
  }
  return result;
}

// Sorts the modules by the numbers in their names. Returns whether the names determine the order:
// whether the first difference between any two is a number. "features.2" is before "features.10",
// but the names do not tell which of "encoder.1" and "decoder.1" is first. It is enough that the
// sort compares all neighbours of the result: of all pairs they have the longest common beginnings.
bool sortByNumbers(std::vector<Module>& modules) {
  bool isDetermined = true;
  const auto isLess = [&](const Module& a, const Module& b) {
    const auto x = pieces(a.name), y = pieces(b.name);
    const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (p == x.end() && q == y.end())
      return false;
    const auto isNumber = [](const std::string& piece) {
      return kDigits.find(piece.front()) != kDigits.npos;
    };
    if (p == x.end() || q == y.end() || !isNumber(*p) || !isNumber(*q)) {
      isDetermined = false;
      return a.name < b.name;
    }
    // Numbers of any length, compared without conversion: by length, then by digits.
    const auto value = [](const std::string& digits) {
      const std::size_t first = digits.find_first_not_of('0');
      return first == digits.npos ? std::string() : digits.substr(first);
    };
    const std::string m = value(*p), n = value(*q);
    // Numbers that differ in leading zeros only, as 01 and 1, are ordered as texts.
    return m.size() != n.size() ? m.size() < n.size() : m != n ? m < n : *p < *q;
  };
  std::sort(modules.begin(), modules.end(), isLess);
  return isDetermined;
}

// Returns "encoder.conv1.weight" for "encoder/conv1/weight".
std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// One assignment. Parameter i is wanted_[i], and gets the tensor with index sources_[i].tensor.
class Assigner {
public:
  Assigner(const std::vector<WantedTensor>& wanted, const WeightsFile& file, const WeightsMap* map,
           const std::string& network)
      : wanted_(wanted), file_(file), map_(map), network_(network),
        sources_(wanted.size(), {kNone}), isUsed_(file.tensors().size(), false) {
    for (std::size_t i = 0; i < file.tensors().size(); ++i)
      places_.emplace(file.tensors()[i].name, i);
  }

  std::vector<TensorSource> run() {
    if (map_)
      byMap();
    else if (hasAllNames())
      byNames();
    else
      byPosition();
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (sources_[i].tensor != kNone)
        check(i);
    for (std::size_t i = 0; i < isUsed_.size(); ++i)
      if (!isUsed_[i] && !isCounter(file_.tensors()[i].name))
        faults_.push_back(fmt::format("no parameter takes '{}'", file_.tensors()[i].name));
    if (!faults_.empty())
      refuse();
    return std::move(sources_);
  }

private:
  // Returns the index of a tensor; kNone if the file does not have it.
  std::size_t find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? kNone : found->second;
  }
  // PyTorch's batch counter beside the running mean; no output depends on it.
  bool isCounter(const std::string& name) const {
    constexpr std::string_view kCounter = "num_batches_tracked";
    if (!name.ends_with(kCounter))
      return false;
    const std::size_t mean = find(name.substr(0, name.size() - kCounter.size()) + "running_mean");
    return mean != kNone && isUsed_[mean];
  }
  bool hasAllNames() const {
    return std::all_of(wanted_.begin(), wanted_.end(), [&](const WantedTensor& w) {
      return w.isOptional || find(nameOf(w)) != kNone;
    });
  }
  void byNames() {
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      assign(i, nameOf(wanted_[i]));
  }
  // Returns the name of a parameter in this file: the name that its layer gives to it in files, if
  // the file has it, or its path with dots. For the value of a constant layer, ".value" can be
  // present or absent.
  std::string nameOf(const WantedTensor& wanted) const {
    if (find(wanted.file) != kNone)
      return wanted.file;
    const std::string name = nameInFile(wanted.path()), dottedPath = dotted(wanted.path());
    return find(name) == kNone && find(dottedPath) != kNone ? dottedPath : name;
  }

  // Assigns the named tensor to parameter i, or records a fault.
  void assign(std::size_t i, const std::string& name, const std::vector<int>& axes = {}) {
    const std::size_t tensor = find(name);
    if (tensor == kNone && wanted_[i].isOptional)
      return;
    if (tensor == kNone) {
      faults_.push_back(fmt::format("{}: there is no '{}'", wanted_[i].path(), name));
      return;
    }
    sources_[i] = {tensor, axes};
    if (isUsed_[tensor])
      faults_.push_back(fmt::format("{}: '{}' is taken twice", wanted_[i].path(), name));
    isUsed_[tensor] = true;
  }
  // Assigns the module's tensor for a parameter of this name. PyTorch's normalisations call their
  // scale "weight" and their shift "bias".
  void takeFrom(std::size_t i, const std::string& module, const std::string& parameter) {
    const std::string start = module.empty() ? "" : module + ".";
    const std::string alias = parameter == "scale" ? "weight" : parameter == "shift" ? "bias" : "";
    // The parameter's own name has precedence, so a file that has both is read as expected.
    const bool useAlias = find(start + parameter) == kNone && !alias.empty();
    assign(i, start + (useAlias ? alias : parameter));
  }

  // A rule for a parameter has precedence over a rule for its layer.
  void byMap() {
    std::map<std::string_view, const WeightsMap::Rule*> rules;
    std::set<std::string_view> unread; // rules that no parameter has used
    for (const WeightsMap::Rule& rule : map_->rules) {
      rules.emplace(rule.to, &rule);
      unread.insert(rule.to);
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string path = wanted_[i].path();
      if (const auto rule = rules.find(path); rule != rules.end()) {
        assign(i, rule->second->from, rule->second->axes);
        unread.erase(path);
      } else if (const auto layer = rules.find(wanted_[i].layer); layer != rules.end()) {
        takeOfLayer(i, *layer->second);
        unread.erase(wanted_[i].layer);
      } else {
        assign(i, nameOf(wanted_[i]));
      }
    }
    for (std::string_view to : unread)
      faults_.push_back(fmt::format("the map names '{}', which is no layer with parameters and no "
                                    "parameter",
                                    to));
    for (const std::string& name : map_->unused) {
      const std::size_t tensor = find(name);
      if (tensor == kNone || isUsed_[tensor])
        faults_.push_back(fmt::format("the map says that '{}' is unused, but {}", name,
                                      tensor == kNone ? "there is no such tensor" : "it is used"));
      else
        isUsed_[tensor] = true;
    }
  }
  // Applies the rule of a layer to its parameter i. A layer's parameters have different numbers of
  // dimensions, so a rule for all of them cannot have a transposition.
  void takeOfLayer(std::size_t i, const WeightsMap::Rule& rule) {
    if (rule.axes.empty())
      takeFrom(i, rule.from, wanted_[i].name);
    else
      faults_.push_back(fmt::format("{}: the map transposes a layer; name its parameter, '{}'",
                                    wanted_[i].path(), wanted_[i].path()));
  }

  // Modules in the order of their first tensor in the file.
  std::vector<Module> modules() const {
    std::vector<Module> result;
    std::map<std::string, std::size_t> indexOf;
    for (std::size_t i = 0; i < file_.tensors().size(); ++i) {
      const std::string name = moduleOf(file_.tensors()[i].name);
      const auto [entry, isNew] = indexOf.emplace(name, result.size());
      if (isNew)
        result.push_back({name, {}});
      result[entry->second].tensors.push_back(i);
    }
    return result;
  }
  // Groups of required parameters, in the network's order.
  std::vector<Unit> units() const {
    std::vector<Unit> result;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const WantedTensor& w = wanted_[i];
      if (w.isOptional)
        continue;
      const std::size_t end = w.name.find_last_not_of(kDigits) + 1;
      const std::string number = w.name.substr(end);
      if (result.empty() || result.back().layer != w.layer || result.back().number != number)
        result.push_back({w.layer, number, {}});
      result.back().parameters.emplace_back(i, w.name.substr(0, end));
    }
    return result;
  }
  void byPosition() {
    std::vector<Module> fileModules = modules();
    // Without an order of modules, a position has no meaning: a wrong guess would load weights into
    // the wrong layers.
    if (!file_.isOrdered() && !sortByNumbers(fileModules))
      throw Error(TENON_ERR_FORMAT,
                  fmt::format("weights file '{}' does not tell the order of its modules, and not "
                              "all of its names are those of the parameters of {}; pass a map, or "
                              "write the file with share/tenon/export_weights.py",
                              file_.name(), network_));
    const std::vector<Unit> wanted = units();
    if (wanted.size() != fileModules.size()) {
      std::vector<std::string> wantedNames, moduleNames;
      for (const Unit& unit : wanted)
        wantedNames.push_back(wanted_[unit.parameters.front().first].path());
      for (const Module& module : fileModules)
        moduleNames.push_back(file_.tensors()[module.tensors.front()].name);
      throw Error(TENON_ERR_FORMAT,
                  fmt::format("weights file '{}' has {} ({}), but {} takes {} ({}); pass a map",
                              file_.name(), counted(Index(moduleNames.size()), "module"),
                              shortened(moduleNames), network_, wantedNames.size(),
                              shortened(wantedNames)));
    }
    for (std::size_t u = 0; u < wanted.size(); ++u)
      for (const auto& [i, name] : wanted[u].parameters)
        takeFrom(i, fileModules[u].name, name);
  }

  // Checks shape and type, and determines the order of dimensions.
  void check(std::size_t i) {
    const StoredTensor& tensor = file_.tensors()[sources_[i].tensor];
    std::vector<int>& axes = sources_[i].axes;
    const std::string axesText =
        axes.empty() ? "" : fmt::format(" transposed by [{}]", fmt::join(axes, ","));
    const bool isUntransposed = axes.empty();
    if (isUntransposed) {
      axes.resize(tensor.shape.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    bool hasShape = axes.size() == tensor.shape.size() && axes.size() == wanted_[i].shape.size();
    for (std::size_t d = 0; hasShape && d < axes.size(); ++d)
      hasShape = tensor.shape[static_cast<std::size_t>(axes[d])] == wanted_[i].shape[d];
    if (!hasShape && isUntransposed)
      hasShape = matchWithoutOnes(tensor.shape, wanted_[i].shape, axes);
    if (!hasShape)
      faults_.push_back(fmt::format("{} has shape [{}], but '{}' has [{}]{}", wanted_[i].path(),
                                    fmt::join(wanted_[i].shape, ","), tensor.name,
                                    fmt::join(tensor.shape, ","), axesText));
    if (!isReal(tensor.type))
      faults_.push_back(fmt::format("{}: '{}' has elements of type {}; expected F16, BF16, F32 or "
                                    "F64",
                                    wanted_[i].path(), tensor.name, elementTypeName(tensor.type)));
  }

  // Whether the shapes are equal apart from extents of 1; stores in `axes` the dimension of the
  // tensor for each dimension of the parameter. PyTorch's weight of a linear layer is a matrix
  // [out, in], but that of a layer on the points of a field is [out, in, 1, 1], with the dimensions
  // of the window.
  static bool matchWithoutOnes(const std::vector<Index>& stored, const std::vector<Index>& wanted,
                               std::vector<int>& axes) {
    const auto isNotOne = [](Index extent) { return extent != 1; };
    axes.assign(wanted.size(), -1);
    std::size_t next = 0;
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      if (!isNotOne(wanted[d]))
        continue;
      next = static_cast<std::size_t>(
          std::find_if(stored.begin() + static_cast<std::ptrdiff_t>(next), stored.end(), isNotOne) -
          stored.begin());
      if (next == stored.size() || stored[next] != wanted[d])
        return false;
      axes[d] = static_cast<int>(next++);
    }
    return std::none_of(stored.begin() + static_cast<std::ptrdiff_t>(next), stored.end(), isNotOne);
  }

  // Joins at most 12 texts.
  static std::string shortened(std::vector<std::string> words) {
    constexpr std::size_t kShown = 12;
    const std::size_t omitted = words.size() > kShown ? words.size() - kShown : 0;
    words.resize(words.size() - omitted);
    return joined(words, "; ") + (omitted > 0 ? fmt::format("; and {} more", omitted) : "");
  }
  [[noreturn]] void refuse() const {
    throw Error(TENON_ERR_FORMAT, fmt::format("weights file '{}' does not fit {}: {}", file_.name(),
                                              network_, shortened(faults_)));
  }

  const std::vector<WantedTensor>& wanted_;
  const WeightsFile& file_;
  const WeightsMap* map_;
  const std::string& network_;
  std::vector<TensorSource> sources_;
  std::vector<bool> isUsed_;                       // by index of the tensor
  std::map<std::string_view, std::size_t> places_; // index of a tensor by its name
  std::vector<std::string> faults_;
};

} // namespace

std::string nameInFile(const std::string& path) {
  constexpr std::string_view kValue = "/value";
  return dotted(path.ends_with(kValue) ? path.substr(0, path.size() - kValue.size()) : path);
}

std::vector<TensorSource> assignTensors(const std::vector<WantedTensor>& wanted,
                                        const WeightsFile& file, const WeightsMap* map,
                                        const std::string& network) {
  return Assigner(wanted, file, map, network).run();
}

} // namespace tenon
