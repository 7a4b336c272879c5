// SPDX-License-Identifier: BSD-2-Clause
// The loop over batches and steps. Where it is follows from the optimizer's number of steps alone,
// which a checkpoint restores: no counter of its own can disagree with it.
#include "train/trainer.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/fill.hpp"
#include "dtensor/host_view.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/errors/at_work.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

constexpr OptionSpec kTrainerOptions[] = {
    {"accumulation", OptionSpec::Int, "1", "batches whose mean gradient makes a step", nullptr,
     atLeast(1)},
    {"gradient_norm", OptionSpec::Real, "0",
     "largest norm of the gradients, to which larger ones are scaled; 0: no limit", nullptr,
     atLeast(0)},
    {"validation_every", OptionSpec::Int, "0",
     "steps from one validation to the next; 0: after each epoch", nullptr, atLeast(0)},
    {"checkpoint_every", OptionSpec::Int, "0",
     "steps from one checkpoint of a trainer to the next; 0: after each epoch", nullptr,
     atLeast(0)},
};
const OptionRegistration kTrainerRegistration{{"trainer", kTrainerOptions}};

Layout onAllRanks(const CommPtr& comm, const Shape& shape) {
  return Layout(
      {.shape = shape, .grid = Grid::make({comm->size()}), .properties = {Property::broadcast()}});
}

} // namespace

Trainer::Trainer(Ref<Layer> network, Ref<Layer> loss, Ref<Optimizer> optimizer)
    : SettableObject(kClass), network_(std::move(network)), criterion_(std::move(loss)),
      optimizer_(std::move(optimizer)), settings_({kTrainerOptions}) {
  takeOver(settings_, {});
  if (!network_->isSetUp())
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonLayerSetUp() before TenonTrainerCreate()",
                            network_->title()));
  if (!criterion_->isSetUp()) {
    criterion_->setDataType(network_->dataType());
    criterion_->setSpace(network_->space());
  }
}

void Trainer::checkChange(const std::string& call) const {
  if (isRunning_)
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} is not allowed while {} is running; do it between runs", call, title()));
}

void Trainer::takeOver(Settings after, const Settings::Names&) {
  accumulation_ = after.value<Index>("accumulation", owner());
  gradientNorm_ = after.value<double>("gradient_norm", owner());
  validationEvery_ = after.value<Index>("validation_every", owner());
  saveEvery_ = after.value<Index>("checkpoint_every", owner());
  settings_ = std::move(after);
}

Trainer::Batches Trainer::batchesOf(const Ref<Dataset>& dataset) const {
  const Index count = dataset->batches();
  auto [x, labels] = dataset->makeTensors(network_->dataType(), network_->space());
  return {count, std::move(x), std::move(labels),
          [dataset](Index epoch, Index batch, DTensor& to, DTensor* target) {
            dataset->getBatch(epoch, batch, to, target);
          }};
}

Index Trainer::stepsPerEpoch() const {
  // A number of batches is at least 1, and both numbers may be as large as integers are.
  return (training_.batches.count - 1) / accumulation_ + 1;
}

Index Trainer::epochs() const {
  return training_.batches.count > 0 ? steps() / stepsPerEpoch() : 0;
}

void Trainer::checkReady(Index epochs) const {
  if (isRunning_)
    throw Error(TENON_ERR_STATE, fmt::format("{} is running already", title()));
  if (training_.batches.count < 1)
    throw Error(TENON_ERR_STATE, fmt::format("{} has no batches; call TenonTrainerSetDataset() or "
                                             "TenonTrainerSetBatches() with at least one",
                                             title()));
  if (epochs < 0)
    throw Error(TENON_ERR_ARG, fmt::format("{} epochs; the number must be >= 0", epochs));
  if (gradientNorm_ > 0 && optimizer_->type() == "lbfgs")
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} limits the norm of the gradients, which a line search cannot "
                            "follow; use another optimizer than lbfgs, or no limit",
                            title()));
}

// Network and loss for the batches' layout, and what lies between them.
void Trainer::prepare(Feed& feed) {
  if (feed.gather || feed.batches.count < 1)
    return;
  const Layout& x = feed.batches.x->layout();
  network_->setUp(x);
  const Layout y = network_->outputLayout(x);
  criterion_->setUp(y);
  const Layout value = criterion_->outputLayout(y);
  const TenonDataType type = network_->dataType();
  const auto made = [&](const Layout& layout) {
    return makeRef<DTensor>(comm(), layout, type, network_->space());
  };
  feed.y = made(y);
  feed.dy = made(y.dual());
  feed.value = made(value);
  feed.dvalue = made(value.dual());
  feed.everywhere = made(onAllRanks(comm(), value.shape()));
  feed.gather = makeConversion(comm(), value, feed.everywhere->layout(), type);
}

// The loss of a batch, left in `everywhere`.
void Trainer::applyTo(Feed& feed, Index epoch, Index batch) {
  Batches& b = feed.batches;
  b.fill(epoch, batch, *b.x, b.target.get());
  if (b.target)
    criterion_->setTarget(b.target);
  network_->apply(*b.x, *feed.y);
  criterion_->apply(*feed.y, *feed.value);
  feed.gather->apply(*feed.value, *feed.everywhere);
}

// The loss is requested last, so that a device works while the adjoint is queued.
double Trainer::evaluate(Index epoch, Index first, Index end) {
  double sum = 0;
  for (Index batch = first; batch < end; ++batch) {
    applyTo(training_, epoch, batch);
    // The gradients of the batches add up to the mean by the cotangent of each loss.
    fillConstant(*training_.dvalue, 1 / double(end - first));
    criterion_->applyAdjoint(*training_.dvalue, training_.dy.get());
    network_->applyAdjoint(*training_.dy, nullptr);
    sum += numberOf(*training_.everywhere);
  }
  if (gradientNorm_ > 0)
    optimizer_->clipGradientNorm(gradientNorm_);
  return sum / double(end - first);
}

void Trainer::takeStep() {
  const Index perEpoch = stepsPerEpoch(), epoch = steps() / perEpoch,
              first = steps() % perEpoch * accumulation_,
              end = first + std::min(accumulation_, training_.batches.count - first);
  if (first == 0)
    sum_ = 0, summed_ = 0;
  loss_ = optimizer_->stepWith([&] { return evaluate(epoch, first, end); });
  // Without a finite loss the optimizer has left the step out.
  if (std::isfinite(loss_))
    sum_ += loss_, ++summed_;
  // A NaN says that no step of the epoch counts, and is no improvement to the schedule.
  epochLoss_ = summed_ > 0 ? sum_ / double(summed_) : NAN;
}

void Trainer::tell(Event event) {
  // The listener may set another one, and lives until it returns.
  if (const auto running = listener_)
    (*running)(event);
}

// The mean over the validation batches; evaluated as inference.
void Trainer::validate() {
  const SavedModes ofNetwork(*network_), ofCriterion(*criterion_);
  network_->setTraining(false);
  criterion_->setTraining(false);
  double sum = 0;
  for (Index batch = 0; batch < validation_.batches.count; ++batch) {
    applyTo(validation_, 0, batch);
    sum += numberOf(*validation_.everywhere);
  }
  validationLoss_ = sum / double(validation_.batches.count);
}

bool Trainer::agreeOnStop() {
  int wants = wantsStop_, any = 0;
  checkMpi(MPI_Allreduce(&wants, &any, 1, MPI_INT, MPI_MAX, comm()->mpi()), "MPI_Allreduce");
  return any != 0;
}

void Trainer::run(Index epochs) {
  collectively(
      *comm(), "what the trainer runs with",
      [&] {
        checkSets();
        optimizer_->checkSets();
        checkReady(epochs);
        return true;
      },
      [&](bool) {
        return fmt::format("{} epochs; {}; {}", epochs, settings_.describe(),
                           optimizer_->settings().describe());
      });
  const AtWork running(isRunning_);
  prepare(training_);
  prepare(validation_);
  wantsStop_ = false;
  // Epochs are compared and not their steps, of which there can be more than integers count.
  for (bool stops = false; this->epochs() < epochs && !stops;) {
    takeStep();
    tell(Event::Step);
    const bool endsEpoch = steps() % stepsPerEpoch() == 0;
    const bool validates = validation_.batches.count > 0;
    if (validates && isDue(validationEvery_, endsEpoch)) {
      validate();
      wantsStop_ |= optimizer_->schedule().report(validationLoss_);
      tell(Event::Validation);
    } else if (endsEpoch && !validates) {
      wantsStop_ |= optimizer_->schedule().report(epochLoss_);
    }
    if (endsEpoch)
      tell(Event::Epoch);
    // Ranks agree after every step, since one rank that stopped alone would leave the others
    // waiting.
    stops = agreeOnStop();
    if (save_ && (stops || this->epochs() == epochs || isDue(saveEvery_, endsEpoch)))
      save_(steps());
  }
}

} // namespace tenon
