// SPDX-License-Identifier: BSD-2-Clause
// A layer for given inputs as a short list of maps between values, without derivatives and without
// anything that runs: an operator moves data between ranks, a kernel computes, a stage is a copy
// into contiguous memory, a source brings itself up to date (a parameter in its use layout).
//
// A value is the sum of what its writers give, or the union of their parts. So its cotangent is the
// sum of what its readers give back, and tangent and adjoint follow from the list (pass.hpp). A
// value is complete before it is read.
//
// Operators are known by their layouts and kind, kernels by what they need and keep. Whoever runs
// the list has an object for each operator, kernel, source and constant, in the order of the tables
// here; whoever plans counts.
#pragma once

#include "geometry/layout/layout.hpp"
#include "geometry/patches/patch_links.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

using ValueId = int;
inline constexpr ValueId kNoValue = -1;

// Saved, of a derivative's pass: what its Apply has left.
struct Value {
  enum class Place { Argument, Own, Constant, Saved };
  std::string name;
  Layout layout;
  Place place = Place::Own;
  // The argument whose memory serves where that is contiguous. Of an expanded value: what was kept
  // for it, which serves where that is no rounding.
  ValueId standsIn = kNoValue;
  int constant = -1;     // index of a constant
  bool saved = false;    // a derivative reads it,
  bool exact = false;    // and not a rounding of it
  bool again = false;    // a derivative that needs it runs its maps again
  bool rounded = false;  // is a rounding, in bfloat16
  ValueId of = kNoValue; // of Saved: the value of Apply's pass

  // In the caller's memory, or where it can be.
  bool isUsers() const { return place == Place::Argument || standsIn != kNoValue; }
};

// The kinds of operators. A Conversion sums where contributions meet, and an Exchange is a
// conversion in one exchange. Maximum takes the largest instead of the sum, in one exchange too; it
// is not linear. IndexMap goes by the lists of an index map, or by a rule of which each rank makes
// its lists, and IndexSum is its transpose. The others send no messages: Crop goes to fewer of the
// elements that each rank holds, Refill makes what lies beyond the domain anew from these
// (geometry/schedule/refill.hpp), and the two of the boundary take the elements that the caller
// supplies from a tensor in the use layout or from one number.
enum class OperatorKind {
  Conversion,
  Exchange,
  Maximum,
  IndexMap,
  IndexSum,
  Crop,
  Refill,
  BoundaryValues,
  BoundaryNumber
};

struct OperatorEntry {
  OperatorKind kind;
  Layout from, to;
  IndexMapPtr map = nullptr;
  std::optional<PatchRule> rule = {};

  bool isLocal() const {
    return kind == OperatorKind::Crop || kind == OperatorKind::Refill ||
           kind == OperatorKind::BoundaryValues || kind == OperatorKind::BoundaryNumber;
  }
};

// Where a kernel's adjoint adds to the gradients of parameters: nowhere; within the step for the
// cotangents of its inputs, which then runs even if nobody wants these; or apart, in a step for
// which nobody waits.
enum class Gradients { None, Within, Apart };

// What a kernel keeps for its derivatives besides values: a number of bytes, or a number of bytes
// for each element that a rank holds in a layout.
struct Workspace {
  Index bytes = 0;
  std::optional<Layout> elementsOf = {};

  Index bytesOfRank(int rank) const;
};

// What a kernel does with rows, as far as it matters to who fuses several (row_fusion.cpp): it
// takes rows by a list, or each for that of its number, computes on each by itself, or sums them by
// a list.
enum class RowWork { Other, Taken, Placed, Each, Summed };

// Of a kernel that does the work of several: theirs by their numbers, and the value that it would
// give by itself.
struct FusedRows {
  std::vector<int> taken = {};
  int contribution = -1; // of `taken`: is added to what the network gives
  int summed = -1;
  ValueId given = kNoValue;

  bool operator==(const FusedRows&) const = default;
};

// An operator of the list that a kernel applies within itself, and how often in Apply and in the
// adjoint.
struct OwnMove {
  int op;
  Index inApply = 0, inAdjoint = 0;
};

struct KernelEntry {
  std::string name;
  bool keepsInputs = false;
  bool keepsOutput = false;
  bool addsCotangent = false;   // its adjoint can add to the cotangent of its one input
  bool anyStrides = false;      // reads and writes arrays as they lie; else they are contiguous
  bool isFunction = false;      // of each element by itself,
  bool appliesFunction = false; // or can apply such a function to what it writes (epilogues.cpp)
  bool isSource = false;        // does not depend on what its inputs hold
  bool runsOnce = false;        // draws numbers, or moves states on, each time that it runs
  Gradients gradients = Gradients::None;
  Workspace workspace = {};
  std::vector<int> sources = {}; // that it reads
  RowWork rows = RowWork::Other;
  std::vector<OwnMove> moves = {};
  std::optional<FusedRows> fused = {};
};

// What a kernel reads besides values: a parameter or a state of the form, or what a loss compares
// with, which may come in any layout. That is a target of real numbers or of class labels, and the
// weights of the terms.
struct SourceEntry {
  enum class Of { Parameter, State, Target, Labels, Weights };
  std::string name;
  Of of = Of::Parameter;
  Layout use;
  int parameter = -1;                 // its number in the form,
  std::optional<Layout> storage = {}; // and where it comes from
};

// When a map runs: batch normalisation has other statistics in inference than in training.
enum class When { Always, Training, Inference };

struct Map {
  enum class Kind { Operator, Kernel, Stage, Source };
  Kind kind;
  int object = -1;             // index of the operator, kernel or source
  std::vector<ValueId> x = {}; // one, several for a kernel, none for a source
  ValueId y = kNoValue;        // none for a source
  bool part = false;           // writes its own part of y alone
  bool fixed = false;          // not differentiated: a maximum, a statistic
  int node = 0;                // the node of a network that the map belongs to
  When when = When::Always;
};

// Where the objects of a list that was joined begin in the tables of the other.
struct JoinedObjects {
  int operators = 0, kernels = 0, sources = 0, constants = 0;
};

class MapList {
public:
  static constexpr int kMaxInputs = 8; // of one kernel

  // Adds a value; its short name is for views.
  ValueId input(std::string name, const Layout& layout);
  ValueId output(std::string name, const Layout& layout);
  // Makes an output a copy of a value that other maps read too; call it after all other maps.
  void copy(ValueId v, ValueId output);
  ValueId value(std::string name, const Layout& layout);
  ValueId constant(std::string name, const Layout& layout, double value);
  // Says that a derivative reads the value with all its digits, and with it what is converted from
  // it: statistics, and what a loss compares.
  ValueId exact(ValueId v);
  // An input in contiguous memory. A value of the library is contiguous already and is returned as
  // it is.
  ValueId staged(ValueId input);
  // The same for the output: a value that the kernels write, which unstage() copies to the output;
  // call it after all of its writers.
  ValueId stagedOutput();
  void unstage(ValueId stagedOutput);

  // Derivatives read what is kept in bfloat16, but for exact values. A network says so for the
  // whole list.
  void keepRounded() noexcept { keepsRounded_ = true; }
  bool keepsRounded(ValueId v) const {
    return keepsRounded_ && values_[v].saved && !values_[v].exact;
  }

  // Says that kernels do not apply functions to their parts of a value, as on the device.
  void leaveFunctionsOfParts() noexcept { appliesToParts_ = false; }
  bool appliesToParts() const noexcept { return appliesToParts_; }

  // Lets derivatives run the maps of some nodes again for what they read, in place of keeping it:
  // call it when all is joined. Kept all the same are what other nodes write and these maps read,
  // what is made of the caller's memory on the way to the first kernel, exact values, which are
  // small, and what a kernel writes that runs once.
  void recompute(const std::vector<bool>& nodes);
  // By value: whether recompute() of its writers' nodes would let it go.
  std::vector<bool> mayRunAgain(const std::vector<bool>& nodes) const;

  // Maps that are added from now on run in these evaluations only.
  void during(When when) noexcept { when_ = when; }

  // Maps, in the order in which they run. All return the index of their object.
  int source(SourceEntry source);
  int apply(OperatorKind kind, ValueId x, ValueId y);
  // y <- E x, or E^T x if `transposed`, between layouts that the map has for each other.
  int applyMap(IndexMapPtr map, bool transposed, ValueId x, ValueId y);
  // The same of the map that fills linked halos by a rule (linked_map.cpp).
  int applyLinks(PatchRule rule, bool transposed, ValueId x, ValueId y);
  // An operator that no map applies but kernels do.
  int ownOperator(OperatorKind kind, const Layout& from, const Layout& to);
  // Adds a value of that name and layout, and the operator that makes it from x.
  ValueId convert(std::string name, ValueId x, const Layout& to,
                  OperatorKind kind = OperatorKind::Conversion);
  // y <- A x with an operator of the list.
  void applyAgain(int op, ValueId x, ValueId y);
  int run(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, false, false);
  }
  int runPart(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, true, false);
  }
  int runFixed(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, false, true);
  }

  // Adds the maps of a node, with its inputs bound to values of this list and its one output to
  // `write`. Copies into contiguous memory fall away where the value is one of the library's here.
  // The node's objects are appended to the tables, or, for a layer that is two nodes, are those of
  // the earlier join. Throws TENON_ERR_INTERNAL for a list that was rewritten: what was joined once
  // may be joined to other lists too, and is the same to each.
  JoinedObjects join(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                     const JoinedObjects* earlier = nullptr);

  // Makes one map of maps that take rows, compute on each and sum them, where nobody else needs the
  // values between (row_fusion.cpp). It is one of the network's kernel, which then reads what the
  // rows are taken from.
  void fuseRows();

  const std::vector<Value>& values() const noexcept { return values_; }
  const std::vector<Map>& maps() const noexcept { return maps_; }
  const std::vector<OperatorEntry>& operators() const noexcept { return operators_; }
  const std::vector<KernelEntry>& kernels() const noexcept { return kernels_; }
  const std::vector<SourceEntry>& sources() const noexcept { return sources_; }
  const std::vector<double>& constants() const noexcept { return constants_; }
  // The number of nodes that were joined, with those of networks inside.
  int nodes() const noexcept { return nodes_; }
  const std::vector<ValueId>& inputs() const noexcept { return inputs_; }
  const std::vector<ValueId>& outputs() const noexcept { return outputs_; }
  // The one output of a layer; the first of a network's.
  ValueId output() const noexcept { return outputs_.front(); }
  // The bytes that a rank keeps from Apply to its adjoint, with `elementBytes` for each element
  // that is not rounded. The library's own values are aligned.
  Index savedBytes(int rank, Index elementBytes) const;

private:
  ValueId addValue(Value value);
  ValueId stagedOf(ValueId argument) const;
  bool isWritten(ValueId v) const;
  void addObjects(const MapList& node, const JoinedObjects& at);
  std::vector<ValueId> bind(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                            const JoinedObjects& at);
  void add(Map map);
  int addKernel(KernelEntry kernel, std::vector<ValueId> x, ValueId y, bool part, bool fixed);
  struct RowRun;
  class RowRunSearch;
  void fuse(const std::vector<RowRun>& runs);

  std::vector<Value> values_;
  std::vector<Map> maps_;
  std::vector<OperatorEntry> operators_;
  std::vector<KernelEntry> kernels_;
  std::vector<SourceEntry> sources_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<double> constants_;
  std::vector<bool> read_; // by value: a map reads it
  int nodes_ = 0;
  bool appliesToParts_ = true;
  When when_ = When::Always;
  bool keepsRounded_ = false;
  bool isRewritten_ = false;
};

} // namespace tenon
