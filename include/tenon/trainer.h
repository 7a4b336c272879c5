/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonTrainer: the training loop.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A trainer takes batches from a dataset or from a function of the program, applies network and
 *  loss with their adjoints, and steps the optimizer. It validates, reports losses to the
 *  optimizer's schedule and early stop, writes checkpoints, and calls a function of the program
 *  after each step:
 *
 *      TenonTrainerCreate(network, loss, optimizer, &trainer);
 *      TenonTrainerSetDataset(trainer, training);
 *      TenonTrainerSetValidation(trainer, validation);
 *      TenonTrainerSetCheckpoint(trainer, checkpoint, "run1");
 *      TenonObjectSetReal((TenonObject)trainer, "gradient_norm", 1.0);
 *      TenonObjectSetFromOptions((TenonObject)trainer);
 *      TenonTrainerRun(trainer, 8);
 *
 *  Where training stands is the optimizer's number of steps. So a trainer whose network and
 *  optimizer were read from a checkpoint goes on with the next batch of the epoch that was
 *  interrupted.
 *
 *  Losses are means over batches, the same on all ranks.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class.
 *
 *  Settings (tenon/object.h; each is an option -tenon_[prefix_]name too), which may change between
 *  runs. TenonTrainerRun() also agrees on those of the optimizer.
 *
 *  | setting          | kind | default | meaning                                                  |
 *  | ---------------- | ---- | ------- | -------------------------------------------------------- |
 *  | accumulation     | int  | 1       | batches whose gradients are averaged for a step; the     |
 *  |                  |      |         | last step of an epoch has those that are left over       |
 *  | gradient_norm    | real | 0       | largest norm of the gradients of a step                  |
 *  |                  |      |         | (TenonOptimizerClipGradientNorm()), not with the         |
 *  |                  |      |         | optimizer "lbfgs"; 0 for no limit                        |
 *  | validation_every | int  | 0       | steps from one validation to the next; 0: after each     |
 *  |                  |      |         | epoch                                                    |
 *  | checkpoint_every | int  | 0       | steps from one checkpoint to the next; 0: after each     |
 *  |                  |      |         | epoch                                                    |
 */
#ifndef TENON_TRAINER_H
#define TENON_TRAINER_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Handle of a training loop. */
typedef struct TenonTrainer_s* TenonTrainer;

/** @brief What a trainer has just done. */
typedef enum TenonTrainerEvent TENON_ENUM_INT {
  TENON_TRAINER_STEP = 0,       /**< a step of the optimizer */
  TENON_TRAINER_VALIDATION = 1, /**< a validation */
  TENON_TRAINER_EPOCH = 2,      /**< the last step of an epoch, and its validation */
  TENON_TRAINER_EVENT_MAX_ = 0x7fff
} TenonTrainerEvent;

/** @brief User function that is called by TenonTrainerRun(), on all ranks.
 *  @param[in] trainer  trainer; TenonTrainerStop() ends its run
 *  @param[in] event    what has happened
 *  @param[in] context  context of TenonTrainerSetCallback(). May be NULL, in which case none was
 *                      passed.
 *  @return TENON_SUCCESS, or an error that TenonTrainerRun() then returns */
typedef TenonErrorCode (*TenonTrainerCallback)(TenonTrainer trainer, TenonTrainerEvent event,
                                               void* context);

/** @brief User function that fills the tensors of TenonTrainerSetBatches() with a batch.
 *
 *  All ranks call it together, each for its own block.
 *
 *  @param[in] trainer  trainer
 *  @param[in] epoch    epoch, counted from 0
 *  @param[in] batch    batch of the epoch, counted from 0
 *  @param[in] context  context of TenonTrainerSetBatches(). May be NULL, in which case none was
 *                      passed.
 *  @return TENON_SUCCESS, or an error that TenonTrainerRun() then returns */
typedef TenonErrorCode (*TenonTrainerBatch)(TenonTrainer trainer, TenonInt epoch, TenonInt batch,
                                            void* context);

/** @brief User function that frees a context when the trainer no longer uses it.
 *  @param[in] context  context of TenonTrainerSetCallback() or TenonTrainerSetBatches(). May be
 *                      NULL, in which case none was passed. */
typedef void (*TenonTrainerDestroyer)(void* context);

/** @brief Creates a trainer. Collective on the network.
 *  @param[in]  network    layer that is set up, with one input; held by reference
 *  @param[in]  loss       loss, which the trainer sets up for the output of the network, in its
 *                         data type and memory space unless it is set up already; held by reference
 *  @param[in]  optimizer  optimizer of the network; held by reference
 *  @param[out] trainer    new trainer; destroy it with TenonTrainerDestroy()
 *  @return TENON_ERR_STATE  the network is not set up */
TENON_EXTERN TenonErrorCode TenonTrainerCreate(TenonLayer network, TenonLayer loss,
                                               TenonOptimizer optimizer,
                                               TenonTrainer* trainer) TENON_NOEXCEPT;

/** @brief Sets the dataset to train with. Local; call on all ranks.
 *
 *  Its labels are the loss's target. Set up without labels, it leaves the target alone, which the
 *  program then sets with TenonLayerSetTarget().
 *
 *  @param[in] trainer  trainer
 *  @param[in] dataset  dataset that is set up; held by reference
 *  @return TENON_ERR_STATE  the dataset is not set up, or the trainer is running */
TENON_EXTERN TenonErrorCode TenonTrainerSetDataset(TenonTrainer trainer,
                                                   TenonDataset dataset) TENON_NOEXCEPT;

/** @brief Sets a function that provides the batches to train with. Local; call on all ranks.
 *
 *  Use it for samples that a solver computes while it trains.
 *
 *  @param[in] trainer   trainer
 *  @param[in] count     batches in an epoch; must be >= 1
 *  @param[in] x         input of the network, which the function fills; held by reference
 *  @param[in] target    target of the loss, which the function fills; held by reference. May be
 *                       NULL, in which case the trainer leaves the target of the loss alone.
 *  @param[in] function  function that fills x and target
 *  @param[in] context   passed to the function. May be NULL, in which case it gets NULL.
 *  @param[in] destroy   function called with the context when the trainer is destroyed or gets
 *                       other batches; not called if this call fails. May be NULL, in which case
 *                       nothing is called.
 *  @return TENON_ERR_ARG    count is out of range
 *  @return TENON_ERR_STATE  the trainer is running */
TENON_EXTERN TenonErrorCode TenonTrainerSetBatches(TenonTrainer trainer, TenonInt count,
                                                   TenonDTensor x, TenonDTensor target,
                                                   TenonTrainerBatch function, void* context,
                                                   TenonTrainerDestroyer destroy) TENON_NOEXCEPT;

/** @brief Sets the dataset to validate with. Local; call on all ranks.
 *
 *  The network is evaluated as in inference. The mean loss is reported to the optimizer
 *  (TenonOptimizerReport()); without validation that is the mean loss of each epoch's steps. When
 *  the optimizer's patience before a stop (its setting stop_patience) is used up, training ends.
 *
 *  @param[in] trainer  trainer
 *  @param[in] dataset  dataset that is set up, its batches of any size; held by reference
 *  @return TENON_ERR_STATE  the dataset is not set up, or the trainer is running */
TENON_EXTERN TenonErrorCode TenonTrainerSetValidation(TenonTrainer trainer,
                                                      TenonDataset dataset) TENON_NOEXCEPT;

/** @brief Sets a function that is called after each step, validation and epoch. Local; call on all
 *         ranks.
 *
 *  The callback itself may call this. It then keeps its context until it returns.
 *
 *  @param[in] trainer   trainer
 *  @param[in] callback  function. May be NULL, in which case none is called, and a context that is
 *                       passed is destroyed at once.
 *  @param[in] context   passed to the function. May be NULL, in which case it gets NULL.
 *  @param[in] destroy   function called with the context when the trainer is destroyed or gets
 *                       another callback or none; not called if this call fails. May be NULL, in
 *                       which case nothing is called. */
TENON_EXTERN TenonErrorCode TenonTrainerSetCallback(TenonTrainer trainer,
                                                    TenonTrainerCallback callback, void* context,
                                                    TenonTrainerDestroyer destroy) TENON_NOEXCEPT;

/** @brief Sets the checkpoint to write. Local; call on all ranks.
 *
 *  TenonCheckpointWriteStep() is called as the setting checkpoint_every says, and at the end of a
 *  run, with the number of the optimizer's steps. Add network and optimizer to the checkpoint, and
 *  read the latest file before TenonTrainerRun().
 *
 *  @param[in] trainer     trainer
 *  @param[in] checkpoint  checkpoint; held by reference
 *  @param[in] folder      folder of the files */
TENON_EXTERN TenonErrorCode TenonTrainerSetCheckpoint(TenonTrainer trainer,
                                                      TenonCheckpoint checkpoint,
                                                      const char* folder) TENON_NOEXCEPT;

/** @brief Trains until so many epochs are complete, or until it is stopped. Collective on the
 *         network.
 *  @param[in] trainer  trainer
 *  @param[in] epochs   number of epochs from the optimizer's first step on; must be >= 0
 *  @return TENON_ERR_ARG      epochs is negative
 *  @return TENON_ERR_STATE    there are no batches, or the trainer is running
 *  @return TENON_ERR_COLLECTIVE  ranks pass different numbers, or have different settings
 *  @return TENON_ERR_SUPPORT  the norm of the gradients is limited, and the optimizer is "lbfgs"
 *  @note   On more than one rank an error during the steps calls the fatal handler, see
 *          TenonSetFatalErrorHandler(). */
TENON_EXTERN TenonErrorCode TenonTrainerRun(TenonTrainer trainer, TenonInt epochs) TENON_NOEXCEPT;

/** @brief Ends a run after the present step. Local.
 *
 *  For callbacks and batch functions. One rank that calls it is enough.
 *
 *  @param[in] trainer  trainer */
TENON_EXTERN TenonErrorCode TenonTrainerStop(TenonTrainer trainer) TENON_NOEXCEPT;

/** @brief Returns how far training has come. Not collective.
 *  @param[in]  trainer  trainer
 *  @param[out] epochs   number of complete epochs. May be NULL, in which case it is not returned.
 *  @param[out] steps    number of steps of the optimizer. May be NULL, in which case it is not
 *                       returned. */
TENON_EXTERN TenonErrorCode TenonTrainerGetProgress(TenonTrainer trainer, TenonInt* epochs,
                                                    TenonInt* steps) TENON_NOEXCEPT;

/** @brief Returns losses, NaN where there are none yet. Not collective.
 *
 *  Steps whose loss is not finite, which the optimizer leaves out with the setting not_finite
 *  "warning", do not count in the mean of an epoch. An epoch all of whose steps are such has the
 *  mean NaN, which is no improvement where it is reported to the optimizer.
 *
 *  @param[in]  trainer     trainer
 *  @param[out] step        loss of the last step, as it was. May be NULL, in which case it is not
 *                          returned.
 *  @param[out] epoch       mean of the steps of the present epoch, or of one that has just ended.
 *                          May be NULL, in which case it is not returned.
 *  @param[out] validation  loss of the last validation. May be NULL, in which case it is not
 *                          returned. */
TENON_EXTERN TenonErrorCode TenonTrainerGetLosses(TenonTrainer trainer, double* step, double* epoch,
                                                  double* validation) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] trainer  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonTrainerDestroy(TenonTrainer* trainer) TENON_NOEXCEPT;

#endif
