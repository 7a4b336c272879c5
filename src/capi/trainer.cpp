// SPDX-License-Identifier: BSD-2-Clause
// The calls of TenonTrainer. A user's context is held by the function object that passes it on, in
// a shared pointer whose deleter is the user's own: so it is freed once, with the last copy of that
// function, whoever drops it.
#include "train/trainer.hpp"

#include "capi/collective.hpp"
#include "dtensor/dtensor.hpp"
#include "io/checkpoint.hpp"
#include "layer/core/layer.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/trainer.h>

#include <memory>

using namespace tenon;

namespace {

static_assert(static_cast<int>(Trainer::Event::Step) == TENON_TRAINER_STEP &&
              static_cast<int>(Trainer::Event::Validation) == TENON_TRAINER_VALIDATION &&
              static_cast<int>(Trainer::Event::Epoch) == TENON_TRAINER_EPOCH);

Ref<Dataset> datasetOf(TenonDataset handle) {
  return Ref<Dataset>::share(&deref(handle, "dataset"));
}

// For a call that replaces what a run works on. Whoever hands over a context asks for it first,
// since a call that fails must not free that.
Trainer& betweenRuns(TenonTrainer handle, const char* call) {
  Trainer& trainer = deref(handle, "trainer");
  trainer.checkChange(fmt::format("{}()", call));
  return trainer;
}

// A user's context, which is freed with the last copy of the pointer.
std::shared_ptr<void> owned(void* context, TenonTrainerDestroyer destroy) {
  return {context, [destroy](void* own) { callDestroyer(destroy, own); }};
}

} // namespace

TenonErrorCode TenonTrainerCreate(TenonLayer network, TenonLayer loss, TenonOptimizer optimizer,
                                  TenonTrainer* trainer) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("network", network, loss, optimizer);
    createTogether(
        *comm, trainer, "trainer", "a new trainer",
        [&] {
          return makeRef<Trainer>(Ref<Layer>::share(&deref(network, "network")),
                                  Ref<Layer>::share(&deref(loss, "loss")),
                                  Ref<Optimizer>::share(&deref(optimizer, "optimizer")));
        },
        [](const Ref<Trainer>&) { return std::string("of a network"); });
  });
}

TenonErrorCode TenonTrainerSetDataset(TenonTrainer trainer, TenonDataset dataset) noexcept {
  return guard(__func__, [&] {
    Trainer& own = betweenRuns(trainer, "TenonTrainerSetDataset");
    own.setBatches(own.batchesOf(datasetOf(dataset)));
  });
}

TenonErrorCode TenonTrainerSetBatches(TenonTrainer trainer, TenonInt count, TenonDTensor x,
                                      TenonDTensor target, TenonTrainerBatch function,
                                      void* context, TenonTrainerDestroyer destroy) noexcept {
  return guard(__func__, [&] {
    Trainer& own = betweenRuns(trainer, "TenonTrainerSetBatches");
    if (count < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("an epoch has {} batches; it needs at least 1", count));
    if (!function)
      throw Error(TENON_ERR_NULL, "function is NULL; pass a function that fills x and target");
    const auto input = Ref<DTensor>::share(&deref(x, "x"));
    const auto goal = target ? Ref<DTensor>::share(&deref(target, "target")) : Ref<DTensor>();
    own.setBatches({count, input, goal,
                    [trainer, function, held = owned(context, destroy)](Index epoch, Index batch,
                                                                        DTensor&, DTensor*) {
                      callUser("the function of a trainer's batches",
                               [&] { return function(trainer, epoch, batch, held.get()); });
                    }});
  });
}

TenonErrorCode TenonTrainerSetValidation(TenonTrainer trainer, TenonDataset dataset) noexcept {
  return guard(__func__, [&] {
    Trainer& own = betweenRuns(trainer, "TenonTrainerSetValidation");
    own.setValidation(own.batchesOf(datasetOf(dataset)));
  });
}

TenonErrorCode TenonTrainerSetCallback(TenonTrainer trainer, TenonTrainerCallback callback,
                                       void* context, TenonTrainerDestroyer destroy) noexcept {
  return guard(__func__, [&] {
    Trainer& own = deref(trainer, "trainer");
    const auto held = owned(context, destroy);
    if (!callback)
      return own.setListener({});
    own.setListener([trainer, callback, held](Trainer::Event event) {
      callUser("the callback of a trainer", [&] {
        return callback(trainer, static_cast<TenonTrainerEvent>(event), held.get());
      });
    });
  });
}

TenonErrorCode TenonTrainerSetCheckpoint(TenonTrainer trainer, TenonCheckpoint checkpoint,
                                         const char* folder) noexcept {
  return guard(__func__, [&] {
    // The trainer knows a function that saves, and no files: train stands below io.
    const auto file = Ref<Checkpoint>::share(&deref(checkpoint, "checkpoint"));
    deref(trainer, "trainer").setSave([file, path = textOf(folder, "folder")](Index step) {
      together(*file->comm(), [&] { file->writeStep(path, step); });
    });
  });
}

TenonErrorCode TenonTrainerRun(TenonTrainer trainer, TenonInt epochs) noexcept {
  return guardApply(
      __func__, [&] { derefToApply(trainer, "trainer").run(epochs); }, isAlone(trainer));
}

TenonErrorCode TenonTrainerStop(TenonTrainer trainer) noexcept {
  return guard(__func__, [&] { deref(trainer, "trainer").stop(); });
}

TenonErrorCode TenonTrainerGetProgress(TenonTrainer trainer, TenonInt* epochs,
                                       TenonInt* steps) noexcept {
  return guard(__func__, [&] {
    const Trainer& own = deref(trainer, "trainer");
    if (epochs)
      *epochs = own.epochs();
    if (steps)
      *steps = own.steps();
  });
}

TenonErrorCode TenonTrainerGetLosses(TenonTrainer trainer, double* step, double* epoch,
                                     double* validation) noexcept {
  return guard(__func__, [&] {
    const Trainer& own = deref(trainer, "trainer");
    for (const auto& [to, value] : {std::pair(step, own.loss()),
                                    {epoch, own.epochLoss()},
                                    {validation, own.validationLoss()}})
      if (to)
        *to = value;
  });
}

TenonErrorCode TenonTrainerDestroy(TenonTrainer* trainer) noexcept {
  return guard(__func__, [&] { destroy(trainer, "trainer"); });
}
