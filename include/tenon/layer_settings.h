/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Layers by the name of their type, in network files, and by a path of names.
 *
 *  Every type of layer can be made by name, and its settings are set by name (tenon/object.h):
 *
 *      TenonLayerCreate(comm, &layer);
 *      TenonLayerSetType(layer, "conv");
 *      TenonObjectSetIntegers((TenonObject)layer, "kernel", 2, (TenonInt[]){3, 3});
 *      TenonObjectSetIntegers((TenonObject)layer, "in_channels", 1, &three);
 *      TenonObjectSetBool((TenonObject)layer, "bias", TENON_FALSE);
 */
#ifndef TENON_LAYER_SETTINGS_H
#define TENON_LAYER_SETTINGS_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @name Type */
/**@{*/

/** @brief Creates a layer to be given a type by TenonLayerSetType(). Collective on comm.
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy() */
TENON_EXTERN TenonErrorCode TenonLayerCreate(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Sets the type of a layer. Local; call on all ranks.
 *
 *  Settings that the previous type has too, such as the data type, keep their values.
 *
 *  @param[in] layer  layer that is not set up and contains no layers
 *  @param[in] type   a type that TenonLayerGetTypes() returns ("conv", "affine", "batchnorm", ...;
 *                    doc/layers.md), "shell", or a type registered with TenonLayerRegister()
 *                    (tenon/ext/layer.h)
 *  @return TENON_ERR_TYPE   the name is unknown; the message names the nearest
 *  @return TENON_ERR_STATE  the layer is set up, or contains layers
 *  @note   A registered type can return any other error.
 */
TENON_EXTERN TenonErrorCode TenonLayerSetType(TenonLayer layer, const char* type) TENON_NOEXCEPT;

/** @brief Returns the names of all types of the library but "shell". Not collective.
 *  @param[out] types   [length] names in alphabetical order, separated by commas. May be NULL, in
 *                      which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the names need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the names do not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonLayerGetTypes(char types[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the index labels of a layer, of which a signature has one for each grid axis. Not
 *  collective.
 *  @param[in]  layer   layer whose required settings are set
 *  @param[in]  ndim    number of dimensions of the input; of the first if there are several
 *  @param[in]  shape   [ndim] shape of that input
 *  @param[out] labels  [length] labels, separated by commas, such as "n,o,i,B,R,P". May be NULL, in
 *                      which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the labels need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  a required setting is not set, or the layer has no type
 *  @return TENON_ERR_TYPE   the layer is a container, whose layers have labels
 *  @return TENON_ERR_ARG    the labels do not fit into the buffer
 *  @see    TenonLayerSetSignature() */
TENON_EXTERN TenonErrorCode TenonLayerGetLabels(TenonLayer layer, int ndim, const TenonInt shape[],
                                                char labels[], TenonInt length,
                                                TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the signature table of a type of layers: which properties of the parameters and
 *  of the output follow from which properties of the inputs along a grid axis. Not collective.
 *
 *  One line for each index label, "k: S1,S0 -> P" or, with parameters in brackets,
 *  "o: B [S0,S0] -> S1", the preferred label first (DistPar, Table 1). The settings are those of
 *  an example; groups of a convolution, for instance, have another label.
 *
 *  @param[in]  type        type of the library, as for TenonLayerSetType()
 *  @param[in]  ndim        number of dimensions of the first input; 0: the fewest that the type
 *                          takes
 *  @param[out] signatures  [length] lines. May be NULL, in which case only needed is returned.
 *  @param[in]  length      size of the buffer in characters
 *  @param[out] needed      size that the lines need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_TYPE     the name is unknown; the message names the nearest
 *  @return TENON_ERR_SHAPE    the type has no inputs of so many dimensions
 *  @return TENON_ERR_SUPPORT  the type is a container, whose layers have tables
 *  @return TENON_ERR_ARG      the lines do not fit into the buffer
 *  @see    TenonLayerGetLabels() */
TENON_EXTERN TenonErrorCode TenonLayerGetTypeSignatures(const char* type, int ndim,
                                                        char signatures[], TenonInt length,
                                                        TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns what views say of the settings of a layer. Not collective.
 *  @param[in]  layer    layer
 *  @param[out] summary  [length] one line, such as "3 -> 4 features, no bias"; "" if there is
 *                       nothing to say. May be NULL, in which case only needed is returned.
 *  @param[in]  length   size of the buffer in characters
 *  @param[out] needed   size that the summary needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the summary does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonLayerGetSummary(TenonLayer layer, char summary[], TenonInt length,
                                                 TenonInt* needed) TENON_NOEXCEPT;
/**@}*/

/** @name Examples, for programs that try every type, as `tenon check` does */
/**@{*/

/** @brief Gives a layer the settings of a random example of its type. Local; call on all ranks.
 *
 *  An example has settings that fit each other, and the shapes of inputs and target that fit them.
 *  It depends only on the type and the seed.
 *
 *  @param[in]  layer    layer that is not set up
 *  @param[in]  seed     random seed; the same on all ranks
 *  @param[out] inputs   number of inputs
 *  @param[out] classes  for a loss, the target's labels are in 0 to classes - 1; 0 if the target
 *                       holds real numbers, or there is none
 *  @return TENON_ERR_SUPPORT  the type has no examples: it is a container, needs an output layout,
 *                             or was made or registered by the program
 *  @return TENON_ERR_STATE    the layer is set up */
TENON_EXTERN TenonErrorCode TenonLayerSetExample(TenonLayer layer, TenonInt seed, int* inputs,
                                                 TenonInt* classes) TENON_NOEXCEPT;

/** @brief Returns the shape of an input, or of the target, of an example. Not collective.
 *  @param[in]  layer   layer of the type of the example
 *  @param[in]  seed    seed of TenonLayerSetExample()
 *  @param[in]  tensor  number of the input, counted from 0; the number of inputs for the target
 *  @param[in]  length  length of the array shape
 *  @param[out] shape   [length] shape. May be NULL, in which case only ndim is returned.
 *  @param[out] ndim    number of dimensions; 0 for the target of a layer that takes none. May be
 *                      NULL, in which case it is not returned.
 *  @return TENON_ERR_SUPPORT  the type has no examples
 *  @return TENON_ERR_ARG      there is no such tensor, or the shape does not fit */
TENON_EXTERN TenonErrorCode TenonLayerGetExampleShape(TenonLayer layer, TenonInt seed, int tensor,
                                                      TenonInt length, TenonInt shape[],
                                                      int* ndim) TENON_NOEXCEPT;
/**@}*/

/** @name Networks as files */
/**@{*/

/** @brief Creates a layer or network from a network file. Collective on comm.
 *
 *  The file is JSON: types, names, option prefixes and settings, no weights. A layer is an object
 *  with its type and its settings by name, a container has a list of layers:
 *
 *      {"format": "tenon-network-1", "type": "sequential", "name": "closure", "layers": [
 *        {"type": "conv", "name": "c1", "in_channels": 1, "out_channels": 8, "kernel": [5]},
 *        {"type": "tanh"}]}
 *
 *  A layer of a graph has a key "reads", the inputs of TenonLayerGraphAddNode(); the key "same_as"
 *  in place of a layer is the number of the node whose layer is used again. Options are not read:
 *  call TenonObjectSetFromOptions(). Each rank reads the file.
 *
 *  @param[in]  comm        communicator of the input's layout
 *  @param[in]  nameOrPath  path, if it contains a slash or ends with .json; otherwise the name of a
 *                          network in share/tenon/networks, such as "lenet5"
 *  @param[out] layer       new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_FORMAT  the file is not a network; the message names the file, the key and the
 *                            byte
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateFromFile(MPI_Comm comm, const char* nameOrPath,
                                                     TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Writes a network file of a layer, without weights. Collective on the layer.
 *
 *  Rank 0 writes the settings that were set. The file is written beside its place and renamed, so
 *  that a failure leaves what was there.
 *
 *  @param[in] layer  layer or container, set up or not
 *  @param[in] path   file to be written; used on rank 0
 *  @return TENON_ERR_SUPPORT  a layer has functions of the program without a registered type, or an
 *                             output layout with halos
 *  @return TENON_ERR_FILE     the file cannot be written */
TENON_EXTERN TenonErrorCode TenonLayerSaveNetwork(TenonLayer layer,
                                                  const char* path) TENON_NOEXCEPT;
/**@}*/

/** @name Layers and parameters by a path of names */
/**@{*/

/** @brief Returns a layer inside a container. Not collective.
 *
 *  A path names a layer of the container, a layer of that one, and so on: "encoder/conv1". A layer
 *  without a name has its number in the container, counted from 0, as in "encoder/0".
 *
 *  @param[in]  layer  container
 *  @param[in]  path   path of the layer in it
 *  @param[out] child  new handle to the layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  there is no such layer; the message names those that there are
 */
TENON_EXTERN TenonErrorCode TenonLayerGetChild(TenonLayer layer, const char* path,
                                               TenonLayer* child) TENON_NOEXCEPT;

/** @brief Returns a parameter by its path, as TenonLayerGetParameter(). Local; call on all ranks.
 *  @param[in]  layer      layer that has been set up
 *  @param[in]  path       name of the parameter, after the path of its layer: "weight",
 *                         "encoder/conv1/weight"
 *  @param[out] parameter  new handle to the parameter itself, in its storage layout; destroy it
 *                         with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter; the message names those that there are */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterAt(TenonLayer layer, const char* path,
                                                     TenonDTensor* parameter) TENON_NOEXCEPT;
/**@}*/

#endif
