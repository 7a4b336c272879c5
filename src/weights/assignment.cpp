// SPDX-License-Identifier: BSD-2-Clause
// Decides which tensor each parameter takes: by a map, else by names, else by position. All faults
// are collected before anything is refused, since a user who converts a network needs the whole
// list at once.
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

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::string_view kDigits = "0123456789";

// Tensors whose names differ after the last dot only.
struct Module {
  std::string name;
  std::vector<std::size_t> tensors;
};

// Parameters of one layer that belong together, by number of the wanted one, and their names
// without the unit's number.
struct Unit {
  std::string layer, number;
  std::vector<std::pair<std::size_t, std::string>> parameters;
};

std::string moduleOf(const std::string& tensor) {
  const std::size_t dot = tensor.rfind('.');
  return dot == tensor.npos ? "" : tensor.substr(0, dot);
}

// "features.10" in pieces that are numbers or not: {"features.", "10"}.
std::vector<std::string> pieces(const std::string& name) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < name.size();) {
    const bool isNumber = kDigits.find(name[at]) != kDigits.npos;
    const std::size_t end =
        isNumber ? name.find_first_not_of(kDigits, at) : name.find_first_of(kDigits, at);
    found.push_back(name.substr(at, end - at));
    at = std::min(end, name.size());
  }
  return found;
}

// Whether each two of the names first differ in a number: then the numbers tell their order, into
// which they are brought.
bool sortByNumbers(std::vector<Module>& modules) {
  bool isTold = true;
  const auto isLess = [&](const Module& a, const Module& b) {
    const auto x = pieces(a.name), y = pieces(b.name);
    const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
    if (p == x.end() && q == y.end())
      return false;
    const auto isNumber = [](const std::string& piece) {
      return kDigits.find(piece.front()) != kDigits.npos;
    };
    if (p == x.end() || q == y.end() || !isNumber(*p) || !isNumber(*q)) {
      isTold = false;
      return a.name < b.name;
    }
    const auto value = [](const std::string& digits) {
      const std::size_t first = digits.find_first_not_of('0');
      return first == digits.npos ? std::string() : digits.substr(first);
    };
    const std::string m = value(*p), n = value(*q);
    return m.size() != n.size() ? m.size() < n.size() : m != n ? m < n : *p < *q;
  };
  std::sort(modules.begin(), modules.end(), isLess);
  return isTold;
}

std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

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
  std::size_t find(const std::string& name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? kNone : found->second;
  }
  // PyTorch counts batches beside the running mean, which no output depends on.
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
      take(i, nameOf(wanted_[i]));
  }
  // The name that a parameter has in this file: a parameter as a value may have ".value" behind its
  // name.
  std::string nameOf(const WantedTensor& wanted) const {
    if (find(wanted.file) != kNone)
      return wanted.file;
    const std::string name = nameInFile(wanted.path()), other = dotted(wanted.path());
    return find(name) == kNone && find(other) != kNone ? other : name;
  }

  void take(std::size_t i, const std::string& name, const std::vector<int>& axes = {}) {
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
  // The tensor of a module that a parameter of this name takes.
  void takeFrom(std::size_t i, const std::string& module, const std::string& parameter) {
    const std::string start = module.empty() ? "" : module + ".";
    const std::string other = parameter == "scale" ? "weight" : parameter == "shift" ? "bias" : "";
    // The own name comes first, so that a file that has both is read as it says.
    const bool isOther = find(start + parameter) == kNone && !other.empty();
    take(i, start + (isOther ? other : parameter));
  }

  void byMap() {
    std::map<std::string_view, const WeightsMap::Rule*> rules;
    std::set<std::string_view> unread;
    for (const WeightsMap::Rule& rule : map_->rules) {
      rules.emplace(rule.to, &rule);
      unread.insert(rule.to);
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string path = wanted_[i].path();
      if (const auto own = rules.find(path); own != rules.end()) {
        take(i, own->second->from, own->second->axes);
        unread.erase(path);
      } else if (const auto layer = rules.find(wanted_[i].layer); layer != rules.end()) {
        takeOfLayer(i, *layer->second);
        unread.erase(wanted_[i].layer);
      } else {
        take(i, nameOf(wanted_[i]));
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
  void takeOfLayer(std::size_t i, const WeightsMap::Rule& rule) {
    if (rule.axes.empty())
      takeFrom(i, rule.from, wanted_[i].name);
    else
      faults_.push_back(fmt::format("{}: the map transposes a layer; name its parameter, '{}'",
                                    wanted_[i].path(), wanted_[i].path()));
  }

  std::vector<Module> modules() const {
    std::vector<Module> all;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < file_.tensors().size(); ++i) {
      const std::string name = moduleOf(file_.tensors()[i].name);
      const auto [place, isNew] = known.emplace(name, all.size());
      if (isNew)
        all.push_back({name, {}});
      all[place->second].tensors.push_back(i);
    }
    return all;
  }
  std::vector<Unit> units() const {
    std::vector<Unit> all;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const WantedTensor& w = wanted_[i];
      if (w.isOptional)
        continue;
      const std::size_t end = w.name.find_last_not_of(kDigits) + 1;
      const std::string number = w.name.substr(end);
      if (all.empty() || all.back().layer != w.layer || all.back().number != number)
        all.push_back({w.layer, number, {}});
      all.back().parameters.emplace_back(i, w.name.substr(0, end));
    }
    return all;
  }
  void byPosition() {
    std::vector<Module> taken = modules();
    // Position means nothing where neither the file nor the numbers in its names tell an order: a
    // wrong guess would load weights into the wrong layers.
    if (!file_.isOrdered() && !sortByNumbers(taken))
      throw Error(TENON_ERR_FORMAT,
                  fmt::format("weights file '{}' does not tell the order of its modules, and not "
                              "all of its names are those of the parameters of {}; pass a map, or "
                              "write the file with share/tenon/export_weights.py",
                              file_.name(), network_));
    const std::vector<Unit> wanted = units();
    if (wanted.size() != taken.size()) {
      std::vector<std::string> here, there;
      for (const Unit& unit : wanted)
        here.push_back(wanted_[unit.parameters.front().first].path());
      for (const Module& module : taken)
        there.push_back(file_.tensors()[module.tensors.front()].name);
      throw Error(TENON_ERR_FORMAT,
                  fmt::format("weights file '{}' has {} ({}), but {} takes {} ({}); pass a map",
                              file_.name(), counted(Index(there.size()), "module"),
                              shortened(there), network_, here.size(), shortened(here)));
    }
    for (std::size_t u = 0; u < wanted.size(); ++u)
      for (const auto& [i, name] : wanted[u].parameters)
        takeFrom(i, taken[u].name, name);
  }

  void check(std::size_t i) {
    const StoredTensor& tensor = file_.tensors()[sources_[i].tensor];
    std::vector<int>& axes = sources_[i].axes;
    const std::string axesText =
        axes.empty() ? "" : fmt::format(" transposed by [{}]", fmt::join(axes, ","));
    const bool isAsItIs = axes.empty();
    if (isAsItIs) {
      axes.resize(tensor.shape.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    bool fits = axes.size() == tensor.shape.size() && axes.size() == wanted_[i].shape.size();
    for (std::size_t d = 0; fits && d < axes.size(); ++d)
      fits = tensor.shape[static_cast<std::size_t>(axes[d])] == wanted_[i].shape[d];
    if (!fits && isAsItIs)
      fits = fitsButForOnes(tensor.shape, wanted_[i].shape, axes);
    if (!fits)
      faults_.push_back(fmt::format("{} has shape [{}], but '{}' has [{}]{}", wanted_[i].path(),
                                    fmt::join(wanted_[i].shape, ","), tensor.name,
                                    fmt::join(tensor.shape, ","), axesText));
    if (!isReal(tensor.type))
      faults_.push_back(fmt::format("{}: '{}' has elements of type {}; expected F16, BF16, F32 or "
                                    "F64",
                                    wanted_[i].path(), tensor.name, elementTypeName(tensor.type)));
  }

  // Of a linear layer on the points of a field PyTorch's weight is a matrix, without the extents of
  // the window.
  static bool fitsButForOnes(const std::vector<Index>& stored, const std::vector<Index>& wanted,
                             std::vector<int>& axes) {
    const auto isLong = [](Index extent) { return extent != 1; };
    axes.assign(wanted.size(), -1);
    std::size_t at = 0;
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      if (!isLong(wanted[d]))
        continue;
      at = static_cast<std::size_t>(
          std::find_if(stored.begin() + static_cast<std::ptrdiff_t>(at), stored.end(), isLong) -
          stored.begin());
      if (at == stored.size() || stored[at] != wanted[d])
        return false;
      axes[d] = static_cast<int>(at++);
    }
    return std::none_of(stored.begin() + static_cast<std::ptrdiff_t>(at), stored.end(), isLong);
  }

  static std::string shortened(std::vector<std::string> words) {
    constexpr std::size_t kShown = 12;
    const std::size_t more = words.size() > kShown ? words.size() - kShown : 0;
    words.resize(words.size() - more);
    return joined(words, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
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
  std::vector<bool> isUsed_; // by tensor
  std::map<std::string_view, std::size_t> places_;
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
