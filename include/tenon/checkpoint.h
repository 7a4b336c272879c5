/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonCheckpoint: saves the state of a run to a file and restores it on any number of
 *         ranks.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  A checkpoint holds layers (parameters, the state of dropout, running statistics, states of
 *  shells), optimizers (steps, momenta), tensors of the program and named values (time, epoch). The
 *  program adds its objects once, sets values and writes at any time, and reads after a restart:
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
 *  - checkpoint_keep (int, 2): files that TenonCheckpointWriteStep() keeps, the latest ones
 *  - checkpoint_transport (text, "auto"): who writes and reads: "together", all ranks, which needs
 *    parallel HDF5; "root", rank 0, to which the others send their data; "auto", together if HDF5
 *    is parallel. The files are the same.
 *
 *  Values have any other name: an integer, a real number, which need not be finite, or a text is
 *  set and read as a setting of this name, and written to the file. Those of rank 0 count.
 *
 *      TenonObject values = (TenonObject)checkpoint;
 *      TenonObjectSetReal(values, "time", time);                     (before a file is written)
 *      TenonObjectSetIntegers(values, "epoch", 1, &epoch);
 *      TenonObjectGetReal(values, "time", &time);                    (after one was read)
 *
 *  The setters return TENON_ERR_ARG for a name that is empty, has a control character or is not
 *  UTF-8, for a text that is not UTF-8, and for any number of integers but one; TENON_ERR_TYPE for
 *  a truth value, and for a name that begins with "checkpoint_" but is none of the settings. The
 *  getters return TENON_ERR_ARG if there is no value of this name, and TENON_ERR_TYPE if it is of
 *  another type; TenonObjectIsSet() returns whether there is one.
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
 *  The layer must be set up when the checkpoint is written or read. In the file its parameters are
 *  /network/name/.../weight, by the names of the layers; an unnamed one has its number.
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
 *  In the file they are /optimizer/name/mean/... and so on, with the names of the parameters.
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
 *  Its owned elements are written, without the halo; on reading the halo stays as it was. User
 *  arrays are written and read where they are, whatever their strides.
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
 *  A file of this name is replaced once the new one is whole and on the disk. Until then the new
 *  one is .NAME.part.RANDOM in the same folder; what a writer that was killed has left of this name
 *  is removed.
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
 *  The folder is made if there is none. Of the files up to this step, the latest are kept, and the
 *  others removed; see the settings above. Where a layer or optimizer holds values
 *  that are not finite, a warning says so, and only the file of the last such state is removed.
 *  Files of later steps are left alone, and so are those of other programs with such a name. The
 *  step is also written as the value "step".
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
 *  The file must have all that the objects have, with the same names, shapes and types; what it has
 *  of objects that were not added is not read. The values of the file replace those of the same
 *  names.
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
 *  If the latest file is damaged, a warning names it and the reason, and the one before it is read.
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
 *  For SIGTERM, say, which batch systems send before a job's time is over: ask
 *  TenonCheckpointGetSignal() after each step, write a last checkpoint and stop. Off by default.
 *  A checkpoint notes one signal, until it is destroyed; several may note the same signal, of which
 *  each is told, or others. The last to let go of one restores what the program had set for it.
 *
 *  @param[in] checkpoint  checkpoint
 *  @param[in] signal      number of the signal, such as SIGTERM; 0: off
 *  @return TENON_ERR_ARG  the signal cannot be caught, or tells of a fault such as SIGSEGV
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
 *  | datasets | list of objects with path, type ("float32", "float64" or "int64") and shape: of |
 *  |          | the tensors ("tensors/NAME") and of layers and optimizers, for                  |
 *  |          | TenonDTensorLoad(); if verified, also with digest, "right" or "wrong"           |
 *
 *  @param[in]  path    path
 *  @param[in]  verify  TENON_TRUE to read all values too, and compare them with their digests. A
 *                      wrong one is no error; it means that the dataset is damaged.
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
 *  For programs that have no object of the file, such as those that look at results: a field,
 *  a parameter of a layer or a state of an optimizer, on any number of ranks. The dataset is
 *  verified by its digest; if it does not fit or is damaged, the tensor stays as it was.
 *
 *  @param[out] x        tensor of the shape and the type of the dataset, in any layout without
 *                       partial sums; its halo stays as it was
 *  @param[in]  path     path of the file
 *  @param[in]  dataset  path of the dataset in the file, as of TenonCheckpointGetContents():
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
