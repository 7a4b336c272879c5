// SPDX-License-Identifier: BSD-2-Clause
// A layer for given inputs as a short list of maps between values, without derivatives and without
// anything that runs: an operator moves data between ranks, a kernel computes, a stage is a copy
// into contiguous memory, a source brings itself up to date (a parameter in its use layout).
//
// A value is the sum of what its writers give, or the union of their parts. So its cotangent is the
// sum of what its readers give back, and tangent and adjoint follow from the list (pass.hpp). A
// value is complete before it is read.
//
// Operators are known by their layouts and kind, kernels by what they need and keep. Whoever runs the
// list has an object for each operator, kernel, source and constant, in the order of the tables here;
// whoever plans counts.
#pragma once

#include "geometry/layout.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

using ValueId = int;
inline constexpr ValueId kNoValue = -1;

// Kept, of a derivative's pass: what its Apply has left.
struct Value {
  enum class Place { Argument, Own, Constant, Kept };
  std::string name;
  Layout layout;
  Place place = Place::Own;
  // The argument whose memory serves where that is contiguous. Of an expanded value: what was kept for it, which
  // serves where that is no rounding.
  ValueId standsIn = kNoValue;
  int constant = -1;     // index of a constant
  bool kept = false;     // a derivative reads it,
  bool exact = false;    // and not a rounding of it
  bool rounded = false;  // is a rounding, in bfloat16
  ValueId of = kNoValue; // of Kept: the value of Apply's pass

  // In the caller's memory, or where it can be.
  bool isCallers() const { return place == Place::Argument || standsIn != kNoValue; }
};

// Conversion: sums where addends meet. Exchange: a conversion as one exchange. Maximum: the largest
// instead of the sum, an exchange too; not linear. Without messages: Crop, to fewer of the cells that
// each rank holds, and the boundary's two, the mask of the caller's cells on the range, from the
// range itself or from one number.
enum class OperatorKind { Conversion, Exchange, Maximum, Crop, BoundaryValues, BoundaryNumber };

struct OperatorEntry {
  OperatorKind kind;
  Layout from, to;

  bool isLocal() const {
    return kind == OperatorKind::Crop || kind == OperatorKind::BoundaryValues ||
           kind == OperatorKind::BoundaryNumber;
  }
};

// Where a kernel's adjoint adds to parameters' gradients: nowhere; in what it does for its inputs'
// cotangents, so that it runs even if nobody wants these; or apart, where nobody waits for it.
enum class Gradients { None, Within, Apart };

// What a kernel keeps for its derivatives beside values: so many bytes, or so many for each cell that
// a rank holds in a layout.
struct Workspace {
  Index bytes = 0;
  std::optional<Layout> cellsOf = {};

  Index bytesOfRank(int rank) const;
};

struct KernelEntry {
  std::string name;
  bool keepsInputs = false;
  bool keepsOutput = false;
  bool addsCotangent = false; // its adjoint can add to the cotangent of its one input
  bool anyStrides = false;    // reads and writes arrays as they lie; else they are contiguous
  Gradients gradients = Gradients::None;
  Workspace workspace = {};
  std::vector<int> sources = {}; // that it reads
};

// A parameter or a state of the form, or what a loss compares with, which may come in any layout: a target,
// real or the numbers of classes, and the weights of its terms.
struct SourceEntry {
  enum class Of { Parameter, State, Target, Labels, Weights };
  std::string name;
  Of of = Of::Parameter;
  Layout use;
  int parameter = -1;                 // its number in the form,
  std::optional<Layout> storage = {}; // and where it comes from
};

// Where a map runs: batch normalisation has other statistics in inference than in training.
enum class When { Always, Training, Inference };

struct Map {
  enum class Kind { Operator, Kernel, Stage, Source };
  Kind kind;
  int object = -1;             // of an operator, kernel or source
  std::vector<ValueId> x = {}; // one, but for kernels; none of a source
  ValueId y = kNoValue;        // none of a source
  bool part = false;           // writes its own part of y alone
  bool fixed = false;          // is not differentiated: a maximum, a statistic
  int node = 0;                // of a network: whose map it is
  When when = When::Always;

  // Inference has no derivatives.
  bool isDifferentiated() const { return !fixed && when != When::Inference; }
};

// Where the objects of a list that was joined begin in the tables of the other.
struct JoinedObjects {
  int operators = 0, kernels = 0, sources = 0, constants = 0;
};

class MapList {
public:
  static constexpr int kMostInputs = 8; // of one kernel

  // Values, by a short name for views.
  ValueId input(std::string name, const Layout& layout);
  ValueId output(std::string name, const Layout& layout);
  ValueId value(std::string name, const Layout& layout);
  ValueId constant(std::string name, const Layout& layout, double value);
  // That a derivative reads with all its digits, and so what is converted from it: statistics, and what a loss
  // compares.
  ValueId exact(ValueId v);
  // An input in contiguous memory; a value of the library's is that already.
  ValueId staged(ValueId input);
  // Likewise where the output is written; unstage() follows its writers.
  ValueId stagedOutput();
  void unstage(ValueId stagedOutput);

  // What derivatives read is kept in bfloat16, but for exact values. Of a network this is said of the whole.
  void keepRounded() noexcept { keepsRounded_ = true; }
  bool keepsRounded(ValueId v) const {
    return keepsRounded_ && values_[v].kept && !values_[v].exact;
  }

  // Maps added from now on run there.
  void during(When when) noexcept { when_ = when; }

  // Maps, in the order in which they run. All return the index of their object.
  int source(SourceEntry source);
  int apply(OperatorKind kind, ValueId x, ValueId y);
  // A value of that name and layout, from x.
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

  // Copies the maps of a node, its inputs bound to values of this list and its output to `write`.
  // What it stages of values that are the library's here is these values. Its objects follow those
  // of the tables, or are those of an earlier join: a layer that is two nodes.
  JoinedObjects join(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                     const JoinedObjects* earlier = nullptr);

  const std::vector<Value>& values() const noexcept { return values_; }
  const std::vector<Map>& maps() const noexcept { return maps_; }
  const std::vector<OperatorEntry>& operators() const noexcept { return operators_; }
  const std::vector<KernelEntry>& kernels() const noexcept { return kernels_; }
  const std::vector<SourceEntry>& sources() const noexcept { return sources_; }
  const std::vector<double>& constants() const noexcept { return constants_; }
  // That were joined, a network's nodes counted.
  int nodes() const noexcept { return nodes_; }
  const std::vector<ValueId>& inputs() const noexcept { return inputs_; }
  ValueId output() const noexcept { return output_; }
  // What a rank keeps from Apply to its adjoint, with values of so many bytes a cell if they are not rounded; those of
  // its own are aligned.
  Index keptBytes(int rank, Index cellBytes) const;

private:
  ValueId addValue(Value value);
  ValueId stagedOf(ValueId argument) const;
  bool isWritten(ValueId v) const;
  void addObjects(const MapList& node, const JoinedObjects& at);
  std::vector<ValueId> bind(const MapList& node, const std::vector<ValueId>& reads, ValueId write,
                            const JoinedObjects& at);
  void add(Map map);
  int addKernel(KernelEntry kernel, std::vector<ValueId> x, ValueId y, bool part, bool fixed);

  std::vector<Value> values_;
  std::vector<Map> maps_;
  std::vector<OperatorEntry> operators_;
  std::vector<KernelEntry> kernels_;
  std::vector<SourceEntry> sources_;
  std::vector<ValueId> inputs_;
  std::vector<double> constants_;
  std::vector<bool> read_; // by value: a map reads it
  ValueId output_ = kNoValue;
  int nodes_ = 0;
  When when_ = When::Always;
  bool keepsRounded_ = false;
};

} // namespace tenon
