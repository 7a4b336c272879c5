/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonCheckpoint: saves the state of a run to a file and restores it on any number of
 *         ranks.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  A checkpoint holds layers (parameters, the state of dropout, running statistics, states of
 *  user-defined layers), optimizers (steps, momenta), tensors of the program and named values
 *  (time, epoch). The program adds its objects once, sets values and writes at any time, and reads
 *  after a restart:
 *
 *      TenonCheckpointCreate(comm, &checkpoint);
 *      TenonCheckpointAddLayer(checkpoint, network, "network");
 *      TenonCheckpointAddOptimizer(checkpoint, optimizer, "adam");
 *      TenonCheckpointReadLatest(checkpoint, "run1", &step);       (step = -1: nothing to read)
 *      while (...) {
 *        ...
 *        if (++step % 100 == 0)
 *          TenonCheckpointWriteStep(checkpoint, "run1", step);
 *      }
 *
 *  Files are HDF5 (.h5): h5ls and h5dump show names, global shapes and values. A file can be read
 *  on any number of ranks and with any distribution of the tensors; values are restored bitwise.
 *  Settings such as the learning rate are listed in the file but not restored.
 *
 *  A file is written under a temporary name in the same folder, synchronised with the disk, and
 *  renamed: after a failure, or if the program is killed, the previous file is intact. On reading,
 *  every tensor is verified by a digest; if a file is damaged or does not fit, no object changes.
 *
 *  Settings (tenon/object.h; each is an option -tenon_[prefix_]name too), which may change between
 *  any two files:
 *
 *  - checkpoint_keep (int, 2): number of files that TenonCheckpointWriteStep() keeps, the latest
 *    ones
 *  - checkpoint_transport (text, "auto"): which ranks write and read: with "together" all ranks,
 *    which requires parallel HDF5; with "root" rank 0, to which the other ranks send their data;
 *    with "auto" all ranks if HDF5 is parallel, otherwise rank 0. The files are the same.
 *
 *  Settings of any other name are named values: integers, texts, or real numbers, which need not be
 *  finite. They are written to the file and read from it. The values of rank 0 are written.
 *
 *      TenonObject values = (TenonObject)checkpoint;
 *      TenonObjectSetReal(values, "time", time);                     (before a file is written)
 *      TenonObjectSetIntegers(values, "epoch", 1, &epoch);
 *      TenonObjectGetReal(values, "time", &time);                    (after a file was read)
 *
 *  Errors of named values, whose existence TenonObjectIsSet() returns:
 *
 *  | calls   | error          | reason                                                         |
 *  | ------- | -------------- | -------------------------------------------------------------- |
 *  | setters | TENON_ERR_ARG  | the name is empty, has a control character or is not UTF-8;    |
 *  |         |                | the text is not UTF-8; or a list does not have one integer     |
 *  | setters | TENON_ERR_TYPE | the value is a truth value; or the name begins with            |
 *  |         |                | "checkpoint_" but is not the name of a setting                 |
 *  | getters | TENON_ERR_ARG  | there is no value of this name                                 |
 *  | getters | TENON_ERR_TYPE | the value has another type                                     |
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks, and name the file, the tensor and the reason. If Tenon was built without
 *  HDF5, TenonCheckpointCreate() returns TENON_ERR_SUPPORT.
 */
#ifndef TENON_CHECKPOINT_H
#define TENON_CHECKPOINT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Creates an empty checkpoint. Collective on comm.
 *  @param[in]  comm        communicator of the objects that will be added
 *  @param[out] checkpoint  new checkpoint; destroy it with TenonCheckpointDestroy()
 *  @return TENON_ERR_SUPPORT  Tenon was built without HDF5
 */
TENON_EXTERN TenonErrorCode TenonCheckpointCreate(MPI_Comm comm,
                                                  TenonCheckpoint* checkpoint) TENON_NOEXCEPT;

/** @brief Adds a layer with the layers in it. Local; call on all ranks.
 *
 *  The layer must be set up when the checkpoint is written or read. In the file, the path of a
 *  parameter is /network/name/.../weight, with the names of the layers; a layer without a name is
 *  denoted by its number.
 *
 *  @param[in] checkpoint  checkpoint, which keeps a reference to the layer
 *  @param[in] layer       layer or network
 *  @param[in] name        name in the file, a word without a slash
 *  @return TENON_ERR_ARG  the name is taken or not usable, or the layer is on another communicator
 */
TENON_EXTERN TenonErrorCode TenonCheckpointAddLayer(TenonCheckpoint checkpoint, TenonLayer layer,
                                                    const char* name) TENON_NOEXCEPT;

/** @brief Adds an optimizer: its number of steps and its tensors. Local; call on all ranks.
 *
 *  In the file, the paths of the tensors are /optimizer/name/mean/..., with the names of the
 *  parameters.
 *
 *  @param[in] checkpoint  checkpoint, which keeps a reference to the optimizer
 *  @param[in] optimizer   optimizer
 *  @param[in] name        name in the file, a word without a slash
 *  @return TENON_ERR_ARG  the name is taken or not usable, or the optimizer is on another
 *                         communicator
 */
TENON_EXTERN TenonErrorCode TenonCheckpointAddOptimizer(TenonCheckpoint checkpoint,
                                                        TenonOptimizer optimizer,
                                                        const char* name) TENON_NOEXCEPT;

/** @brief Adds a tensor, such as a field of the solver. Local; call on all ranks.
 *
 *  The owned elements of the tensor are written, without the halo; reading a file does not change
 *  the halo. User arrays of any strides are written and read in place.
 *
 *  @param[in] checkpoint  checkpoint, which keeps a reference to the tensor
 *  @param[in] tensor      tensor of any type, with properties S, B and R
 *  @param[in] name        name in the file (/tensors/name), a word without a slash
 *  @return TENON_ERR_ARG     the name is taken or not usable, or the tensor is on another
 *                            communicator
 *  @return TENON_ERR_LAYOUT  the tensor holds partial sums, or its halo has a negative width
 */
TENON_EXTERN TenonErrorCode TenonCheckpointAddTensor(TenonCheckpoint checkpoint,
                                                     TenonDTensor tensor,
                                                     const char* name) TENON_NOEXCEPT;

/** @brief Writes a file. Collective on the checkpoint.
 *
 *  An existing file of this name is replaced when the new file is complete and on the disk. Until
 *  then the new file has the name .NAME.part.RANDOM in the same folder. Such files of an earlier
 *  program that was killed are removed.
 *
 *  @param[in] checkpoint  checkpoint
 *  @param[in] path        path, by custom ending in .h5
 *  @return TENON_ERR_FILE     the file cannot be written: no permission, a full disk
 *  @return TENON_ERR_STATE    a layer is not set up
 *  @return TENON_ERR_ARG      two parts of the state have the same name
 *  @return TENON_ERR_SUPPORT  the transport is "together", and HDF5 is serial
 */
TENON_EXTERN TenonErrorCode TenonCheckpointWrite(TenonCheckpoint checkpoint,
                                                 const char* path) TENON_NOEXCEPT;

/** @brief Writes the file step-STEP.h5 of a folder. Collective on the checkpoint.
 *
 *  The folder is created if it does not exist. Of the files of steps up to this one, the latest
 *  checkpoint_keep remain, and the others are removed. If a layer or optimizer has values that are
 *  not finite, rank 0 prints a warning, and no file is removed except that of the last such state.
 *  Files of later steps, and files of other programs with such a name, remain. The step is also
 *  written as the value "step".
 *
 *  @param[in] checkpoint  checkpoint
 *  @param[in] folder      folder of the files of one run
 *  @param[in] step        number of the step; must be >= 0
 *  @return as TenonCheckpointWrite()
 */
TENON_EXTERN TenonErrorCode TenonCheckpointWriteStep(TenonCheckpoint checkpoint, const char* folder,
                                                     TenonInt step) TENON_NOEXCEPT;

/** @brief Reads a file into the objects that were added. Collective on the checkpoint.
 *
 *  The file must contain all tensors and numbers of the objects, with the same names, shapes and
 *  types; data of other objects are not read. Named values in the file replace those of the
 *  checkpoint.
 *
 *  @param[in] checkpoint  checkpoint
 *  @param[in] path        path
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_FORMAT  the file is damaged, truncated, not a checkpoint, or of a later format
 *  @return TENON_ERR_SHAPE   the file does not fit the objects; the message lists the differences
 *  @return TENON_ERR_STATE   a layer is not set up, or a tensor's array is in use
 */
TENON_EXTERN TenonErrorCode TenonCheckpointRead(TenonCheckpoint checkpoint,
                                                const char* path) TENON_NOEXCEPT;

/** @brief Reads the latest whole file step-N.h5 of a folder. Collective on the checkpoint.
 *
 *  If the latest file is damaged, a warning gives its name and the reason, and the file before it
 *  is read.
 *
 *  @param[in]  checkpoint  checkpoint
 *  @param[in]  folder      folder of the files of one run
 *  @param[out] step        step of the file; -1 if the folder has no such file, or does not exist
 *  @return as TenonCheckpointRead(), of the last file that was tried
 */
TENON_EXTERN TenonErrorCode TenonCheckpointReadLatest(TenonCheckpoint checkpoint,
                                                      const char* folder,
                                                      TenonInt* step) TENON_NOEXCEPT;

/** @brief Lets a signal be noted instead of ending the program. Local; call on all ranks.
 *
 *  For example SIGTERM, which batch systems send before the time of a job ends: call
 *  TenonCheckpointGetSignal() after each step, and when the signal has arrived, write a last
 *  checkpoint and stop. Off by default. A checkpoint notes one signal until it is destroyed.
 *  Several checkpoints can note the same signal or different ones. When the last checkpoint that
 *  notes a signal is destroyed, or notes another one, the program's previous signal handler is
 *  restored.
 *
 *  @param[in] checkpoint  checkpoint
 *  @param[in] signal      number of the signal, such as SIGTERM; 0: off
 *  @return TENON_ERR_ARG  the signal cannot be caught, or reports a fault, as SIGSEGV does
 */
TENON_EXTERN TenonErrorCode TenonCheckpointOnSignal(TenonCheckpoint checkpoint,
                                                    int signal) TENON_NOEXCEPT;

/** @brief Returns whether the signal has come to any rank. Collective on the checkpoint.
 *  @param[in]  checkpoint  checkpoint
 *  @param[out] signal      signal of TenonCheckpointOnSignal(); 0 if it has not come to any rank */
TENON_EXTERN TenonErrorCode TenonCheckpointGetSignal(TenonCheckpoint checkpoint,
                                                     int* signal) TENON_NOEXCEPT;

/** @brief Returns what a file holds, without the values of its tensors. Not collective.
 *
 *  The text is a JSON object. Needs neither TenonInitialize() nor MPI. The command "tenon
 *  checkpoint FILE" prints it as lines, with verified digests.
 *
 *  | key      | value                                                                           |
 *  | -------- | ------------------------------------------------------------------------------- |
 *  | format   | version of the format, 1                                                        |
 *  | writer   | version of Tenon that wrote it                                                  |
 *  | created  | date and time                                                                   |
 *  | ranks    | number of ranks that wrote it                                                   |
 *  | values   | object: the named values; real numbers that are not finite are null             |
 *  | texts    | list of objects with path, name ("type" or "settings") and text: what layers    |
 *  |          | and optimizers were                                                             |
 *  | numbers  | object: numbers of the state by path, such as the steps of an optimizer         |
 *  | datasets | list of objects with path, type ("float32", "float64", "int64" or "int32") and  |
 *  |          | shape: of the tensors ("tensors/NAME") and of layers and optimizers, for        |
 *  |          | TenonDTensorLoad(); if verified, also with digest, "right" or "wrong"           |
 *
 *  @param[in]  path    path
 *  @param[in]  verify  TENON_TRUE to read all values too, and compare them with their digests. A
 *                      wrong digest is not an error of this call; the dataset is damaged.
 *  @param[out] text    [length] text. May be NULL, in which case only needed is returned, and no
 *                      values are read.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_FILE     the file cannot be read
 *  @return TENON_ERR_FORMAT   the file is damaged in other places than values, truncated, not a
 *                             checkpoint, or of a later format
 *  @return TENON_ERR_SUPPORT  Tenon was built without HDF5
 *  @return TENON_ERR_ARG      the text does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonCheckpointGetContents(const char* path, TenonBool verify,
                                                       char text[], TenonInt length,
                                                       TenonInt* needed) TENON_NOEXCEPT;

/** @brief Reads one dataset of a file into a tensor. Collective on the tensor.
 *
 *  For programs without the objects of the file, such as programs that analyse results: the dataset
 *  is a field, a parameter of a layer or a state of an optimizer. It can be read on any number of
 *  ranks and is verified by its digest. If the call fails, the tensor is unchanged.
 *
 *  @param[out] x        tensor of the shape and the type of the dataset, in any layout without
 *                       partial sums; its halo is not changed
 *  @param[in]  path     path of the file
 *  @param[in]  dataset  path of the dataset in the file, from TenonCheckpointGetContents():
 *                       "tensors/temperature", "network/net/conv1/weight"
 *  @return TENON_ERR_FILE     the file cannot be read
 *  @return TENON_ERR_FORMAT   the file is damaged, truncated, not a checkpoint, or of a later
 *                             format
 *  @return TENON_ERR_SHAPE    the file has no such dataset, or one of another shape or type
 *  @return TENON_ERR_LAYOUT   the tensor holds partial sums, or its halo has a negative width
 *  @return TENON_ERR_STATE    the tensor's array is in use
 *  @return TENON_ERR_SUPPORT  Tenon was built without HDF5
 */
TENON_EXTERN TenonErrorCode TenonDTensorLoad(TenonDTensor x, const char* path,
                                             const char* dataset) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] checkpoint  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonCheckpointDestroy(TenonCheckpoint* checkpoint) TENON_NOEXCEPT;

#endif
