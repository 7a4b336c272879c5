// SPDX-License-Identifier: BSD-2-Clause
// The common part of all optimizers (sgd, adam, adamw, lbfgs): a step, its check for values that
// are not finite, clipping, and state. Each rank updates its own block of each parameter. Whether a
// step is taken follows from sums over all ranks, so all ranks decide alike. One step:
//
//   reduceGradients()   sums the gradients over the ranks, in one conversion for all parameters
//                       with copies on the same ranks
//   isFinite()          one sum over all elements and ranks: NaN or infinite if one of them is;
//                       not needed after clipGradientNorm(), which computes the norm
//   stepParameter()          by type: updates this rank's block of a parameter
//   endStep()                clears the gradients
#include "train/optimizer.hpp"

#include "comm/agreement/batched.hpp"
#include "dtensor/measure.hpp"
#include "layer/core/gradient_bucket.hpp"
#include "sys/errors/at_work.hpp"
#include "sys/errors/registry.hpp"
#include "sys/log/log.hpp"
#include "sys/text/output.hpp"
#include "train/adam.hpp"
#include "train/lbfgs.hpp"
#include "train/sgd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace tenon {

namespace {

constexpr OptionSpec kOptimizerOptions[] = {
    kGradientBucketOption,
    {"not_finite", OptionSpec::Choice, "error",
     "what is done at a step whose loss or gradients are infinite or NaN; warning: leave it out",
     "error|warning"},
};
const OptionRegistration kOptimizerRegistration{{"optimizer", kOptimizerOptions}};
const OptionRegistration kScheduleRegistration{{"optimizer", RateSchedule::options()}};

// The settings of a type, of the rate schedule and of all optimizers.
Settings settingsOf(std::vector<std::span<const OptionSpec>> tables) {
  tables.insert(tables.end(), {RateSchedule::options(), kOptimizerOptions});
  return Settings(tables);
}

using Factory = Ref<Optimizer> (*)(Ref<Layer>);

template <class Type>
Ref<Optimizer> make(Ref<Layer> layer) {
  return makeRef<Type>(std::move(layer));
}

// The optimizers by name.
TypeRegistry<Factory>& optimizerTypes() {
  static TypeRegistry<Factory> types("optimizer type");
  static std::once_flag filled;
  std::call_once(filled, [] {
    types.add("sgd", make<Sgd>);
    types.add("adam", make<Adam>);
    types.add("adamw", [](Ref<Layer> layer) -> Ref<Optimizer> {
      return makeRef<Adam>(std::move(layer), Adam::Decay::Decoupled);
    });
    types.add("lbfgs", make<Lbfgs>);
  });
  return types;
}

} // namespace

Optimizer::Optimizer(Ref<Layer> layer, OptionTables tables)
    : SettableObject(kClass), layer_(std::move(layer)), settings_(settingsOf(std::move(tables))) {
  if (!layer_->isSetUp())
    throw Error(
        TENON_ERR_STATE,
        fmt::format(
            "{} has no parameters yet; call TenonLayerSetUp() before TenonOptimizerCreate()",
            layer_->title()));
  parameters_ = unprepared_ = layer_->parameters();
}

void Optimizer::applySettings(Settings after, const Settings::Names&) {
  const auto bucketBytes = after.value<Index>("gradient_bucket", owner());
  if (bucketBytes != bucketBytes_ && unprepared_.size() < parameters_.size())
    throw Error(TENON_ERR_STATE,
                fmt::format("gradient_bucket of {} cannot change after its first step", title()));
  bucketBytes_ = bucketBytes;
  learningRate_ = after.value<double>("learning_rate", owner());
  weightDecay_ = after.value<double>("weight_decay", owner());
  isNotFiniteError_ = after.value<std::string>("not_finite", owner()) == "error";
  schedule_.update(after);
  settings_ = std::move(after);
}

// A missing schedule period is reported when options are set, instead of in a step, where it would
// end a run.
void Optimizer::setFromOptions() {
  SettableObject::setFromOptions();
  schedule_.check();
}

void Optimizer::checkIdle() const {
  if (atWork_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is taking a step, and its closure asks for another; let the "
                            "closure evaluate loss and gradients alone",
                            title()));
}

void Optimizer::step() {
  checkIdle();
  checkSets();
  update(std::nullopt);
}

double Optimizer::stepWith(const Closure& closure) {
  checkIdle();
  checkSets();
  const AtWork atWork(atWork_);
  return updateWith(closure);
}

double Optimizer::updateWith(const Closure& closure) {
  // The closure accumulates, so gradients that an earlier adjoint has left must be cleared.
  for (const Ref<Parameter>& p : parameters_)
    p->zeroGradient();
  const double loss = valueOfFirstRank(*comm(), closure());
  update(loss);
  return loss;
}

// Reductions are made in the first step in which a parameter is not frozen, when the caller has
// shown which gradients he holds. These, and parameters with copies where no other has copies, are
// reduced alone. All ranks know the same of each parameter.
void Optimizer::prepareReductions() {
  const auto isFrozen = [](const Ref<Parameter>& p) { return p->isFrozen(); };
  if (std::ranges::all_of(unprepared_, isFrozen))
    return;
  // A negative setting leaves the size open: a plan has made buckets for its network already, and
  // without a plan a bucket takes all gradients.
  const Index bytes = bucketBytes_ >= 0      ? bucketBytes_
                      : layer_->assignment() ? 0
                                             : std::numeric_limits<Index>::max();
  inOneAgreement(*comm(), [&] {
    std::vector<BucketCandidate> candidates;
    for (const Ref<Parameter>& p : unprepared_)
      if (bytes > 0 && !p->isFrozen() && p->isSummed() && !p->isInBucket() &&
          !p->isGradientExposed())
        candidates.push_back({p.get()});
    makeBuckets(comm(), candidates, bytes, /*least=*/2);
    for (const Ref<Parameter>& p : unprepared_)
      if (!p->isFrozen() && !p->isInBucket())
        p->prepareReduction();
    return true;
  });
  std::erase_if(unprepared_, [&](const Ref<Parameter>& p) { return !isFrozen(p); });
}

void Optimizer::reduceGradients() {
  prepareReductions();
  for (const Ref<Parameter>& p : parameters_)
    p->collect();
  for (const Ref<Parameter>& p : parameters_)
    p->reduceBucket();
}

std::uint64_t Optimizer::gradientChanges() const {
  std::uint64_t sum = 0;
  for (const Ref<Parameter>& p : parameters_)
    sum += p->gradientChanges();
  return sum;
}

// Whether all gradients are those that clipGradientNorm() has left. That they are reduced does not
// suffice: a plan also reduces those of an adjoint after it.
bool Optimizer::isAsClipped() const {
  return clippedNorm_ && gradientChanges() == clippedChanges_ &&
         std::ranges::all_of(
             parameters_, [](const Ref<Parameter>& p) { return p->isFrozen() || p->isReduced(); });
}

// All directions are computed before the first parameter is updated, so a step is taken completely
// or not at all.
void Optimizer::update(std::optional<double> loss) {
  static const int event = logEvent("OptimizerStep");
  const LogScope scope(event);
  const bool isKnown = isAsClipped();
  reduceGradients();
  directions_.resize(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    directions_[i] = parameters_[i]->isFrozen() ? nullptr : &parameters_[i]->direction();
  if (isFinite(isKnown ? *clippedNorm_ : normOfCopies(directions_), loss))
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (directions_[i]) {
        stepParameter(i, *directions_[i], parameters_[i]->value());
        parameters_[i]->valueChanged();
      }
  endStep();
}

// Gradients are cleared so the next adjoint starts from 0.
void Optimizer::endStep() {
  for (const Ref<Parameter>& p : parameters_)
    p->zeroGradient();
  clippedNorm_.reset();
  ++steps_;
}

// The norm over all ranks is NaN or infinite if any element is, so one sum checks all of them.
double Optimizer::normOfCopies(const Directions& directions) const {
  return std::sqrt(sumOfRanks(*comm(), localSquares(directions)));
}

bool Optimizer::isFinite(double norm, std::optional<double> loss) {
  if (std::isfinite(norm) && std::isfinite(loss.value_or(0))) {
    warned_ = false;
    return true;
  }
  const std::string what = std::isfinite(norm)
                               ? fmt::format("the loss is {}", *loss)
                               : fmt::format("{}the norm of the gradients is {} ({})",
                                             loss ? fmt::format("the loss is {}, ", *loss) : "",
                                             norm, placeOfNotFinite());
  const bool isFirst = comm()->rank() == 0;
  if (isNotFiniteError_)
    throw Error(
        TENON_ERR_NOT_FINITE,
        fmt::format("in step {} of {}, {}; parameters and optimizer are as before the step. "
                    "Look at the batch, lower the learning rate, or leave such steps out by "
                    "-tenon_[prefix_]not_finite warning",
                    steps_ + 1, title(), what))
        .agreed(isFirst);
  if (isFirst && !warned_)
    printError(
        fmt::format("Tenon: warning: in step {} of {}, {}; the step is left out, and so, without "
                    "another warning, are those that follow until one is finite\n",
                    steps_ + 1, title(), what));
  warned_ = true;
  return false;
}

// Finds where a non-finite value arose. An adjoint runs from the loss to the input, so such a value
// spreads to earlier parameters, and the last one in the network's order is nearest to its origin.
// The gradients are compared before they are summed over ranks, which identifies the rank.
std::string Optimizer::placeOfNotFinite() const {
  const std::vector<NamedParameter> named = namedParameters(*layer_);
  const int count = static_cast<int>(named.size()), none = 2 * count;
  // A place is a position in the search, which begins with the values of parameters: i < count is
  // the value of parameter i; the gradients follow, from the last parameter to the first.
  struct {
    int place, rank;
  } local{none, comm()->rank()}, first{};
  for (int i = count; i-- > 0;) {
    Parameter& p = *named[static_cast<std::size_t>(i)].parameter;
    if (!std::isfinite(localMaxAbsolute(p.value())))
      local.place = i;
    // gradient() would count as a change of the gradient, on some ranks only.
    else if (local.place == none && !p.isFrozen() &&
             !std::isfinite(localMaxAbsolute(p.collectedGradient())))
      local.place = count + (count - 1 - i);
  }
  checkMpi(MPI_Allreduce(&local, &first, 1, MPI_2INT, MPI_MINLOC, comm()->mpi()), "MPI_Allreduce");
  if (first.place == none)
    return "that of each parameter is finite on each rank; their sum overflows";
  const bool isValue = first.place < count;
  const int i = isValue ? first.place : 2 * count - 1 - first.place;
  return fmt::format("the {} of parameter '{}' is not finite on rank {}",
                     isValue ? "value" : "gradient", named[static_cast<std::size_t>(i)].path,
                     first.rank);
}

// The norm of the reduced gradient is that of the tensor, in which each element counts once even if
// there are copies. The reduced gradients are scaled as the gradients are, so the step need not
// reduce them again.
double Optimizer::clipGradientNorm(double maximum) {
  if (!(maximum > 0))
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the maximum of the gradients' norm is {}; it must be above 0", maximum));
  reduceGradients();
  std::vector<TensorPair> pairs;
  for (const Ref<Parameter>& p : parameters_)
    if (!p->isFrozen()) {
      const DTensor* reduced = p->reducedGradient().get();
      pairs.emplace_back(reduced, reduced);
    }
  const double norm = std::sqrt(innerProduct(*comm(), pairs));
  if (std::isfinite(norm) && norm > maximum)
    for (const Ref<Parameter>& p : parameters_)
      if (!p->isFrozen())
        p->scaleGradient(maximum / norm);
  clippedNorm_ = norm;
  clippedChanges_ = gradientChanges();
  return norm;
}

// One tensor per slot and parameter, by the parameter's path.
void Optimizer::visitState(const std::string& path, StateVisitor& visitor) {
  visitor.number(path + "/steps", steps_);
  schedule_.visitState(path, visitor);
  visitNumbers(path, visitor);
  const std::vector<NamedParameter> named = namedParameters(*layer_);
  for (const Slot& slot : slots())
    for (std::size_t i = 0; i < named.size(); ++i)
      visitor.tensor(fmt::format("{}/{}/{}", path, slot.name, named[i].path), *(*slot.tensors)[i]);
}

// State has the storage layout and the memory space of its parameter.
Optimizer::StateTensors Optimizer::makeState() const {
  StateTensors state;
  for (const Ref<Parameter>& p : parameters_)
    state.push_back(
        makeRef<DTensor>(p->value().comm(), p->storage(), p->dataType(), p->value().space()));
  return state;
}

Ref<Optimizer> makeOptimizer(const std::string& type, Ref<Layer> layer) {
  return optimizerTypes().find(type)(std::move(layer));
}

} // namespace tenon
