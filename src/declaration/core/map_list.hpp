// SPDX-License-Identifier: BSD-2-Clause
// The map list of a layer for given inputs: the maps that one evaluation runs, in order, without
// derivatives. A map reads values, which are tensors, and writes one value:
//
//   operator  redistributes data between ranks: a halo exchange, a conversion of layouts
//   kernel    computes on the local blocks of its values
//   stage     copies an array into contiguous memory, or back
//   source    converts a parameter from its storage layout to the layout in which kernels use it
//
// The list of a convolution whose rows are split over ranks:
//
//   source    W              the weights, in the layout in which the kernel reads them
//   operator  x -> xUse      the halo exchange
//   kernel    xUse, W -> y
//
// If several maps write a value, it is the sum of their results, or their union if each writes
// another part of the elements. The cotangent of a value is therefore the sum of the contributions
// of the maps that read it, and pass.hpp derives tangent and adjoint from the list. All writers of
// a value precede its readers.
//
// The list holds descriptions only. An operator is described by its layouts and kind, a kernel by
// its requirements and the values that it saves. To run a list, the module `layer` makes an object
// for each operator, kernel, source and constant, in the order of the tables below; the planner
// prices the descriptions without objects.
#pragma once

#include "geometry/layout/layout.hpp"
#include "geometry/patches/patch_links.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

using ValueId = int;
inline constexpr ValueId kNoValue = -1;

// A tensor of the list, and the place of its memory. Argument: the caller's array. Own: memory of
// the library. Constant: filled with one number. Saved: only in the pass of a derivative, an array
// that Apply has saved for it.
struct Value {
  enum class Place { Argument, Own, Constant, Saved };
  std::string name;
  Layout layout;
  Place place = Place::Own;
  // Another value whose memory is used instead of a copy, or kNoValue. For a copy in contiguous
  // memory: the argument, if it is contiguous itself. For a value expanded from bfloat16: the saved
  // value, if it was not rounded.
  ValueId sharesMemoryOf = kNoValue;
  int constant = -1;       // index in constants(), or -1
  bool saved = false;      // a derivative reads it, so Apply saves it
  bool exact = false;      // must be saved with all its digits, not rounded to bfloat16
  bool recomputed = false; // not saved: a derivative computes it again, by the maps that write it
  bool rounded = false;    // is the rounding of another value to bfloat16
  ValueId of = kNoValue;   // for place Saved: the same value in the pass of Apply

  // Whether the value is in the caller's memory, or can be.
  bool isUserSupplied() const { return place == Place::Argument || sharesMemoryOf != kNoValue; }
};

// The kinds of operators:
//   Conversion      changes the layout; sums contributions; can take several exchanges
//   Exchange        a conversion in a single exchange
//   Maximum         as Exchange, with the maximum instead of the sum; not linear
//   IndexMap        copies by the lists of an index map, or by a rule that defines them
//   IndexSum        the transpose of IndexMap
// and without messages:
//   Crop            restricts to fewer of the elements that each rank holds
//   Refill          fills the elements outside the domain again (geometry/schedule/refill.hpp)
//   BoundaryValues  inserts the caller's boundary values from a tensor in the use layout
//   BoundaryNumber  inserts them from one number
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

// An operator of the list: what it does and between which layouts.
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

// When a kernel's adjoint adds to the gradients of parameters. None: never. Within: in the step for
// the cotangents of its inputs, which then runs even if these are not needed. Separate: in a
// separate step, on which no other step waits.
enum class Gradients { None, Within, Separate };

// Memory that a kernel saves for its derivatives besides values: a number of bytes, or of bytes per
// element that a rank holds in the layout `elementsOf`.
struct Workspace {
  Index bytes = 0;
  std::optional<Layout> elementsOf = {};

  Index bytesOfRank(int rank) const;
};

// What a kernel does with the rows of a matrix, for the fusion of row kernels (row_fusion.cpp). A
// list contains a row number for each of its entries. Taken: copies the rows in the list; Placed:
// row i of the input belongs to entry i; Each: computes on each row separately; Summed: adds each
// row to the row in the list.
enum class RowWork { Other, Taken, Placed, Each, Summed };

// The kernels that a fused kernel replaces, by their numbers. `given` is the value that the kernel
// of the network, which computes on each row, would write without the fusion.
struct FusedRows {
  std::vector<int> taken = {};
  int contribution = -1; // index into `taken` of the rows that are added to the network's output
  int summed = -1;
  ValueId given = kNoValue;

  bool operator==(const FusedRows&) const = default;
};

// An operator of the list that a kernel applies itself, and the number of times that it does so in
// Apply and in the adjoint.
struct OwnMove {
  int op;
  Index inApply = 0, inAdjoint = 0;
};

// A kernel of the list: its name, what its derivatives read, and what it can do.
struct KernelEntry {
  std::string name;
  bool savesInputs = false;
  bool savesOutput = false;
  bool addsCotangent = false; // its adjoint can add to the cotangent of its one input
  // Reads and writes strided arrays in place; otherwise they are contiguous.
  bool anyStrides = false;
  bool isFunction = false;      // is an elementwise function, which another kernel can apply
  bool appliesFunction = false; // can apply such a function to its output (epilogues.cpp)
  bool isSource = false;        // does not depend on the values of its inputs
  bool runsOnce = false;        // draws random numbers or updates states in each run
  Gradients gradients = Gradients::None;
  Workspace workspace = {};
  std::vector<int> sources = {}; // indices of the sources that it reads
  RowWork rows = RowWork::Other;
  std::vector<OwnMove> moves = {};
  std::optional<FusedRows> fused = {};
};

// An array that a kernel reads besides values: a parameter or state of the form, or of a loss its
// target (real numbers or class labels) or the weights of its terms, which can have any layout.
struct SourceEntry {
  enum class Of { Parameter, State, Target, Labels, Weights };
  std::string name;
  Of of = Of::Parameter;
  Layout use;
  int parameter = -1;                 // index of the parameter or state in the form
  std::optional<Layout> storage = {}; // the layout in which it is stored
};

// When a map runs: batch normalisation uses different statistics in inference than in training.
enum class When { Always, Training, Inference };

// An entry of the list: the object that it applies, and the values that it reads and writes.
struct Map {
  enum class Kind { Operator, Kernel, Stage, Source };
  Kind kind;
  int object = -1;             // index of the operator, kernel or source
  std::vector<ValueId> x = {}; // one value, several for a kernel, none for a source
  ValueId y = kNoValue;        // none for a source
  bool part = false;           // writes only its own part of y
  bool fixed = false;          // not differentiated: a maximum, a statistic
  int node = 0;                // the node of a network that the map belongs to
  When when = When::Always;
};

// When the list of a node is joined to the list of a network: for each table of the network, the
// index of the first entry that comes from the node.
struct JoinedObjects {
  int operators = 0, kernels = 0, sources = 0, constants = 0;
};

// The list, and the tables of its values, operators, kernels and sources. A declaration fills it by
// the calls below, in the order in which the maps run.
class MapList {
public:
  static constexpr int kMaxInputs = 8; // of one kernel

  // Adds a value. The short name is for views.
  ValueId input(std::string name, const Layout& layout);
  ValueId output(std::string name, const Layout& layout);
  // Makes an output a copy of a value that other maps also read. Call it after all other maps.
  void copy(ValueId v, ValueId output);
  ValueId value(std::string name, const Layout& layout);
  ValueId constant(std::string name, const Layout& layout, double value);
  // Declares that a derivative reads the value, and values converted from it, with all digits:
  // statistics, and the values that a loss compares.
  ValueId exact(ValueId v);
  // A copy of an input in contiguous memory. A value of the library is contiguous and is returned
  // unchanged.
  ValueId staged(ValueId input);
  // Contiguous memory for the output: kernels write the returned value, and unstage() copies it to
  // the output. Call unstage() after all writers.
  ValueId stagedOutput();
  void unstage(ValueId stagedOutput);

  // Saves values for derivatives in bfloat16, except exact ones. Set by a network for its whole
  // list.
  void saveRounded() noexcept { savesRounded_ = true; }
  bool savesRounded(ValueId v) const {
    return savesRounded_ && values_[v].saved && !values_[v].exact;
  }

  // Declares that a kernel that writes only a part of a value cannot apply an elementwise function
  // to it (epilogues.cpp), as on the device.
  void leaveFunctionsOfParts() noexcept { appliesToParts_ = false; }
  bool appliesToParts() const noexcept { return appliesToParts_; }

  // Makes derivatives run the maps of these nodes again instead of saving the values that the maps
  // write (recomputation). Call it after all joins. Values of other nodes that these maps read are
  // still saved, as are copies of the caller's memory on the way to the first kernel, exact values,
  // which are small, and the output of a kernel with runsOnce.
  void recompute(const std::vector<bool>& nodes);
  // Returns, by value, whether recompute() of its writers' nodes would avoid saving it.
  std::vector<bool> mayRunAgain(const std::vector<bool>& nodes) const;

  // Maps that are added from now on run only in these evaluations.
  void during(When when) noexcept { when_ = when; }

  // Adds maps, in the order in which they run. All return the index of their object.
  int source(SourceEntry source);
  int apply(OperatorKind kind, ValueId x, ValueId y);
  // y <- E x, or E^T x if `transposed`, between the two layouts that the index map connects.
  int applyMap(IndexMapPtr map, bool transposed, ValueId x, ValueId y);
  // Adds the map that fills linked halos by a rule (linked_map.cpp), or its transpose.
  int applyLinks(PatchRule rule, bool transposed, ValueId x, ValueId y);
  // Adds an operator that no map applies but kernels apply themselves.
  int ownOperator(OperatorKind kind, const Layout& from, const Layout& to);
  // Adds a value with this name and layout, and the operator that makes it from x.
  ValueId convert(std::string name, ValueId x, const Layout& to,
                  OperatorKind kind = OperatorKind::Conversion);
  // y <- A x with an operator that is in the list already.
  void applyAgain(int op, ValueId x, ValueId y);
  // Adds a kernel: run() writes all of y, runPart() only its own part of the elements, as other
  // kernels write the rest, and runFixed() is not differentiated.
  int run(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, false, false);
  }
  int runPart(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, true, false);
  }
  int runFixed(KernelEntry kernel, std::vector<ValueId> x, ValueId y) {
    return addKernel(std::move(kernel), std::move(x), y, false, true);
  }

  // Adds the maps of a node, with its inputs bound to values of this list and its output to
  // `write`. Copies into contiguous memory are dropped if the bound value belongs to the library.
  // The node's objects are appended to the tables; for a layer that is two nodes they are those of
  // the earlier join. Throws TENON_ERR_INTERNAL for a list that was rewritten, because a list can
  // be joined to several others and must be the same for each.
  JoinedObjects join(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                     const JoinedObjects* earlier = nullptr);

  // For rewrites (compile/program/rewriting.cpp) of a list that is joined to no other afterwards:
  // maps that read the value `from` read `to` instead, which must have the same layout and be
  // written before them; and a map is removed. Values keep their numbers.
  void redirect(ValueId from, ValueId to);
  void erase(int map);

  // Fuses maps that gather rows, compute on each and sum them into one map, if no other map reads
  // the values between them (row_fusion.cpp). The fused map belongs to the network's kernel, which
  // then reads the values that the rows are gathered from.
  void fuseRows();

  const std::vector<Value>& values() const noexcept { return values_; }
  const std::vector<Map>& maps() const noexcept { return maps_; }
  const std::vector<OperatorEntry>& operators() const noexcept { return operators_; }
  const std::vector<KernelEntry>& kernels() const noexcept { return kernels_; }
  const std::vector<SourceEntry>& sources() const noexcept { return sources_; }
  const std::vector<double>& constants() const noexcept { return constants_; }
  // The number of joined nodes, including those of nested networks.
  int nodes() const noexcept { return nodes_; }
  const std::vector<ValueId>& inputs() const noexcept { return inputs_; }
  const std::vector<ValueId>& outputs() const noexcept { return outputs_; }
  // The output of a layer; the first output of a network.
  ValueId output() const noexcept { return outputs_.front(); }
  // Bytes that a rank saves from Apply to its adjoint, with `elementBytes` per element that is not
  // rounded. Values of the library are aligned.
  Index savedBytes(int rank, Index elementBytes) const;

private:
  ValueId addValue(Value value);
  ValueId stagedOf(ValueId argument) const;
  bool isWritten(ValueId v) const;
  void addObjects(const MapList& node, const JoinedObjects& offsets);
  std::vector<ValueId> bind(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                            const JoinedObjects& offsets);
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
  std::vector<bool> read_; // by value: whether a map reads it
  int nodes_ = 0;
  bool appliesToParts_ = true;
  When when_ = When::Always;
  bool savesRounded_ = false;
  bool isRewritten_ = false;
};

} // namespace tenon
