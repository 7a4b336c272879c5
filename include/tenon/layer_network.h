/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Networks: layers that contain others, the calls for layers with several inputs, networks
 *         and weights as files, and layers and parameters by a path of names. See tenon/layer.h for
 *         life cycle and common errors.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  A residual block, y = tanh(x + f(x)), as a graph:
 *
 *      const int input[1] = {-1};                                    // -1: the input of the graph
 *      int sum[2] = {-1, 0}, last[1];
 *      TenonLayerCreateGraph(comm, &graph);
 *      TenonLayerGraphAddNode(graph, f, 1, input, &sum[1]);          // f(x)
 *      TenonLayerGraphAddNode(graph, add, 2, sum, &last[0]);         // x + f(x)
 *      TenonLayerGraphAddNode(graph, tanh, 1, last, NULL);
 *
 *  Each node redistributes its inputs as its signature requires, as in a sequential layer. The
 *  cotangent of a value that several nodes read is the sum of their cotangents. A graph is a layer:
 *  it can be evaluated, differentiated, and used as a node of another graph.
 */
#ifndef TENON_LAYER_NETWORK_H
#define TENON_LAYER_NETWORK_H

#include <tenon/layer.h>

/** @name Layers in sequence */
/**@{*/

/** @brief Creates a sequential layer, to be filled by TenonLayerSequentialAdd(). Collective on
 *         comm.
 *
 *  Setting halo_depth (int, 1): the largest number of consecutive convolutions and poolings that
 *  share one halo exchange. The first of these layers exchanges a halo that is wide enough for all,
 *  and each process computes the cells around its part that the next of these layers reads.
 *  Elementwise functions and columnmlp (a multilayer perceptron applied to each cell) may be
 *  between them and are not counted. All other layers, such as normalisation, and inner containers
 *  end the sequence. An inner container has the setting of the outer one unless its own is set.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy() */
TENON_EXTERN TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm,
                                                       TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Appends a layer to a sequential layer. Local; call on all ranks.
 *
 *  TenonLayerSetUp() of the container sets up the layer for the output of the previous one, with
 *  the data type and stack depth of the container. The layer also takes its storage, backend and
 *  initializer from the container where they are at their defaults. The container holds a reference
 *  to the layer.
 *
 *  @param[in] container  sequential layer, not set up
 *  @param[in] layer      layer on the communicator of the container
 *  @return TENON_ERR_TYPE  the container is not a sequential layer
 *  @return TENON_ERR_ARG   the layer has another communicator, is the container or contains it, or
 *                          containers would be nested more than 30 deep
 */
TENON_EXTERN TenonErrorCode TenonLayerSequentialAdd(TenonLayer container,
                                                    TenonLayer layer) TENON_NOEXCEPT;
/**@}*/

/** @name Graphs */
/**@{*/

/** @brief Creates a graph, to be filled by TenonLayerGraphAddNode(). Collective on comm.
 *
 *  A graph allows skip connections, several inputs and outputs, and shared layers. The setting
 *  input_count (int, 1) is the number of its inputs; alternatively, the setting input_names lists
 *  their names. Set either before the first node is added. Setting halo_depth: see
 *  TenonLayerCreateSequential().
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Adds a node that evaluates a layer. Local; call on all ranks.
 *
 *  The node reads outputs of earlier nodes or inputs of the graph. The output of the graph is the
 *  output of its last node, unless the setting output_names names other nodes. All inputs, and all
 *  nodes that are not outputs, must be read by a node. TenonLayerSetUp() of the graph sets up each
 *  layer for its inputs, with the data type and stack depth of the graph. The graph holds a
 *  reference to the layer. A layer can be added several times: its nodes share the parameters, and
 *  their gradients accumulate.
 *
 *  @param[in]  graph   graph, not set up
 *  @param[in]  layer   layer on the communicator of the graph
 *  @param[in]  count   number of inputs of the layer; must be >= 1
 *  @param[in]  inputs  [count] sources of the inputs: i >= 0 for the output of node i, -1 for the
 *                      first input of the graph, -2 for its second, and so on
 *  @param[out] node    index of the new node, counted from 0. May be NULL, in which case it is not
 *                      returned.
 *  @return TENON_ERR_TYPE  graph is not a graph
 *  @return TENON_ERR_ARG   there is no such node or input, count is below 1, the layer has another
 *                          communicator, is the graph or contains it, or containers would be nested
 *                          more than 30 deep
 */
TENON_EXTERN TenonErrorCode TenonLayerGraphAddNode(TenonLayer graph, TenonLayer layer, int count,
                                                   const int inputs[], int* node) TENON_NOEXCEPT;

/**@}*/

/** @name Layers with several inputs */
/**@{*/

/** @brief Returns the layout of a layer's user-supplied boundary values. Not collective.
 *
 *  A convolution or pooling with sides of TENON_BOUNDARY_VALUES, and without the setting
 *  boundary_constant, has two inputs: x, and the values beyond these sides. The second input is one
 *  of the following:
 *
 *  - A tensor in the layout that this call returns: the layout in which the layer's signature uses
 *    x, with the halo that the windows of each process read. The layer reads only the elements
 *    beyond sides of mode values, corners included. Each process fills these elements within its
 *    own box (TenonLayoutGetBox()), or passes the ghost cells of its solver by
 *    TenonDTensorPlaceArray(). If the layout has property P, the values are partial sums, as those
 *    of x are.
 *  - One number: a tensor of shape [1], in any layout without halos.
 *
 *  The cotangent of the second input has the dual layout (TenonLayerCreateInputCotangent() of input
 *  1). It holds the derivatives with respect to the values, and zeros elsewhere. For one number, it
 *  is the sum of these derivatives.
 *
 *      const TenonBoundary mode[1] = {TENON_BOUNDARY_VALUES};
 *      TenonLayerSetBoundary(conv, mode, NULL);
 *      TenonLayerGetBoundaryLayout(conv, lx, &lv);        // create v in layout lv and fill it
 *      TenonLayout layouts[2] = {lx, lv};
 *      TenonLayerSetUpMany(conv, 2, layouts);
 *      TenonDTensor inputs[2] = {x, v};
 *      TenonLayerApplyMany(conv, 2, inputs, 1, &y);
 *
 *  @param[in]  layer     convolution or pooling layer; can be set up or not
 *  @param[in]  input     layout of x
 *  @param[out] boundary  new handle; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE  the layer has no such input
 *  @return TENON_ERR_TYPE   the layer is neither a convolution nor a pooling
 *  @return TENON_ERR_ARG    layer and input have different communicators
 *  @note   If x does not match the layer, the call returns the error that TenonLayerSetUp() would
 *          return.
 */
TENON_EXTERN TenonErrorCode TenonLayerGetBoundaryLayout(TenonLayer layer, TenonLayout input,
                                                        TenonLayout* boundary) TENON_NOEXCEPT;

/** @brief Prepares a layer with several inputs. Collective on the layer.
 *
 *  See TenonLayerSetUp().
 *
 *  @param[in] layer   layer
 *  @param[in] count   number of inputs
 *  @param[in] inputs  [count] layout of each input
 *  @return TENON_ERR_ARG  the layer has another number of inputs
 */
TENON_EXTERN TenonErrorCode TenonLayerSetUpMany(TenonLayer layer, int count,
                                                const TenonLayout inputs[]) TENON_NOEXCEPT;

/** @brief Evaluates a layer with several inputs and outputs. Collective on the layer.
 *
 *  See TenonLayerApply().
 *
 *  @param[in] layer    layer that is set up for the layouts of the inputs
 *  @param[in] inputs   number of inputs; must be <= 64
 *  @param[in] x        [inputs] input tensors; a tensor can occur several times
 *  @param[in] outputs  number of outputs; must be <= 64
 *  @param[in] y        [outputs] tensors from TenonLayerCreateOutput(); overwritten
 *  @return TENON_ERR_ARG  a count is out of range or differs from that of the layer, or two of
 *                         the tensors y are the same or have overlapping arrays
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyMany(TenonLayer layer, int inputs,
                                                const TenonDTensor x[], int outputs,
                                                const TenonDTensor y[]) TENON_NOEXCEPT;

/** @brief Evaluates the tangent of a layer with several inputs and outputs. Collective on the
 *  layer.
 *
 *  See TenonLayerApplyTangent().
 *
 *  @param[in] layer    layer that has been applied in training mode
 *  @param[in] inputs   number of inputs
 *  @param[in] dx       [inputs] tangents of the inputs. Elements can be NULL, in which case they
 *                      are zero.
 *  @param[in] outputs  number of outputs
 *  @param[in] dy       [outputs] tangents of the outputs; overwritten
 *  @return TENON_ERR_ARG  a count is not that of the layer, or two of dy are the same tensor or
 *                         their arrays overlap
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyTangentMany(TenonLayer layer, int inputs,
                                                       const TenonDTensor dx[], int outputs,
                                                       const TenonDTensor dy[]) TENON_NOEXCEPT;

/** @brief Evaluates the adjoint of a layer with several inputs and outputs. Collective on the
 *  layer.
 *
 *  See TenonLayerApplyAdjoint().
 *
 *  @param[in] layer    layer that has been applied in training mode
 *  @param[in] outputs  number of outputs
 *  @param[in] dy       [outputs] cotangents of the outputs. Elements can be NULL, in which case
 *                      they are zero; on all ranks alike.
 *  @param[in] inputs   number of inputs
 *  @param[in] dx       [inputs] tensors for the cotangents of the inputs; overwritten. Elements can
 *                      be NULL, in which case they are not computed.
 *  @return TENON_ERR_ARG  a count is not that of the layer, or two of dx are the same tensor or
 *                         their arrays overlap
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyAdjointMany(TenonLayer layer, int outputs,
                                                       const TenonDTensor dy[], int inputs,
                                                       const TenonDTensor dx[]) TENON_NOEXCEPT;

/** @brief Returns the number of inputs of a layer. Not collective.
 *  @param[in]  layer  layer
 *  @param[out] count  number of inputs
 *  @return TENON_ERR_STATE  the layer takes any number of inputs and is not set up */
TENON_EXTERN TenonErrorCode TenonLayerGetInputCount(TenonLayer layer, int* count) TENON_NOEXCEPT;

/** @brief Returns the name of an input. Not collective.
 *
 *  A graph can name its inputs by the setting input_names (text, separated by commas). Without
 *  names they are x, or x0, x1, and so on.
 *
 *  @param[in]  layer   layer
 *  @param[in]  input   index of the input, counted from 0
 *  @param[out] name    [length] the name. May be NULL, in which case only the size is returned.
 *  @param[in]  length  size of name in bytes
 *  @param[out] needed  number of bytes that the name needs, with its terminating zero. May be NULL,
 *                      in which case it is not returned.
 *  @return TENON_ERR_ARG    there is no such input, or length is too small
 *  @return TENON_ERR_STATE  the layer takes any number of inputs and is not set up */
TENON_EXTERN TenonErrorCode TenonLayerGetInputName(TenonLayer layer, int input, char name[],
                                                   TenonInt length,
                                                   TenonInt* needed) TENON_NOEXCEPT;
/**@}*/

/** @name Graphs with several outputs
 *
 *  The setting output_names of a graph (text) lists its outputs, separated by commas: each is the
 *  name of a node, or a name and the number of a node, such as "h,c=5". An output may also be read
 *  by other nodes. A graph with several outputs cannot be a node of another container.
 */
/**@{*/

/** @brief Returns the number of outputs of a layer. Not collective.
 *
 *  It is 1, except for graphs with the setting output_names.
 *
 *  @param[in]  layer  layer
 *  @param[out] count  number of outputs */
TENON_EXTERN TenonErrorCode TenonLayerGetOutputCount(TenonLayer layer, int* count) TENON_NOEXCEPT;

/** @brief Returns the name of an output. Not collective.
 *
 *  The setting output_names of a graph defines the names. A layer without this setting has one
 *  output, y.
 *
 *  @param[in]  layer   layer
 *  @param[in]  output  index of the output, counted from 0
 *  @param[out] name    [length] the name. May be NULL, in which case only the size is returned.
 *  @param[in]  length  size of name in bytes
 *  @param[out] needed  number of bytes that the name needs, with its terminating zero. May be NULL,
 *                      in which case it is not returned.
 *  @return TENON_ERR_ARG  there is no such output, or length is too small */
TENON_EXTERN TenonErrorCode TenonLayerGetOutputName(TenonLayer layer, int output, char name[],
                                                    TenonInt length,
                                                    TenonInt* needed) TENON_NOEXCEPT;
/**@}*/

/** @name Networks as files */
/**@{*/

/** @brief Creates a layer or network from a network file. Collective on comm.
 *
 *  The file is JSON: types, names, option prefixes and settings, no weights. A layer is an object
 *  with its type and its settings by name, a container has a list of layers:
 *
 *      {"format": "tenon-network-1", "dimensions": "z,y,x", "type": "sequential", "layers": [
 *        {"type": "conv", "name": "c1", "in_channels": 1, "out_channels": 8, "kernel": [5]},
 *        {"type": "tanh"}]}
 *
 *  Lists by spatial dimension (kernel, padding, boundary, ...) are in the order z, y, x. The
 *  optional key "dimensions" of the outermost object states this order; it is the same in programs
 *  in Fortran. Files that Tenon writes have this key.
 *  Every layer may have the key "frozen" (true or false), see TenonLayerSetFrozen(). The keys
 *  "inputs" and "outputs" of a graph are the lists of its settings input_names and output_names. A
 *  layer of a graph has the key "reads", the list `inputs` of TenonLayerGraphAddNode(). An entry
 *  with the key "same_as" instead of a layer is another node of a layer that the graph has already;
 *  the key is the number of an earlier node of this layer. Options are not read: call
 *  TenonObjectSetFromOptions(). Each rank reads the file.
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

/** @brief Creates a layer from the file of a network that was trained in PyTorch. Collective on
 *         comm.
 *
 *  The file contains the graph of the model and its weights. It is an ONNX file, or a file of
 *  torch.export.save(program, "closure.pt2"), which share/tenon/export_torch.py writes, or a NetCDF
 *  file in the layout of the ocean model MOM6, if Tenon was built with NetCDF. Rank 0
 *  reads the graph. TenonLayerSetUp() determines the extents of the batch and of space from its
 *  layouts. It makes layers from the graph, each rank reads its own blocks of the weights, and the
 *  test in the file is run, if there is one (TenonLayerTestModel()). The inputs have the shapes of
 *  the model's inputs, in the same order. A Fortran array u(x, y, channel, batch) is an input
 *  [batch, channel, y, x].
 *
 *      TenonLayerCreateFromModel(comm, "closure.pt2", &net);
 *      TenonLayerSetUp(net, layout);
 *      TenonLayerApply(net, x, y);
 *
 *  The result is a container: it can be trained, differentiated, and be a node of another network,
 *  in a network file as {"type": "model", "path": "closure.pt2"}. Parameters have the names that
 *  they have in PyTorch, and TenonLayerSaveWeights() writes them with these names. Constants of the
 *  model, such as those of a normalisation, are frozen. doc/import.md lists the operators that can
 *  be imported. Option: -tenon_[prefix_]model_test, see TenonLayerTestModel().
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[in]  path   file of the model, readable on all ranks
 *  @param[out] layer  new layer of type "model"; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_FILE     the file cannot be read
 *  @return TENON_ERR_FORMAT   the file is damaged, or is not a model
 *  @return TENON_ERR_SUPPORT  the file has a version that is not known, or is a NetCDF file and
 *                             Tenon was built without NetCDF
 *  @note   TenonLayerSetUp() returns TENON_ERR_SUPPORT with a list of all operators that cannot be
 *          imported, TENON_ERR_SHAPE if an extent is not the one that the file fixes, and
 *          TENON_ERR_TEST if the test fails.
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateFromModel(MPI_Comm comm, const char* path,
                                                      TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Runs the test in a model's file. Collective on the layer.
 *
 *  share/tenon/export_torch.py computes inputs, outputs, cotangents and gradients with PyTorch in
 *  float64 and writes them into the file. The test sets up a second instance of the network, with
 *  the weights in the file and with the layouts of the layer's inputs, evaluates it on the inputs
 *  in the file, and compares its outputs and gradients with those in the file. The weights of the
 *  layer are not used. TenonLayerSetUp() runs the test once. The option -tenon_[prefix_]model_test
 *  selects how:
 *
 *  | value          | the test is run                                                            |
 *  | -------------- | -------------------------------------------------------------------------- |
 *  | both (default) | in float64 on the host, then in the layer's data type, space and backend   |
 *  | run            | in the layer's data type, space and backend only                           |
 *  | off            | not at all by TenonLayerSetUp(); by this call as with "both"               |
 *
 *  @param[in] layer  layer of type "model" that is set up
 *  @return TENON_ERR_TEST   a result differs by more than the file allows; the message says where
 *  @return TENON_ERR_STATE  the file has no test, or the layer is not set up
 *  @return TENON_ERR_TYPE   the layer is not a model
 */
TENON_EXTERN TenonErrorCode TenonLayerTestModel(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Writes a network file of a layer, without weights. Collective on the layer.
 *
 *  Rank 0 writes the settings that were set. It writes a temporary file and renames it, so a
 *  failure leaves the previous file.
 *
 *  @param[in] layer  layer or container, set up or not
 *  @param[in] path   file to be written; used on rank 0
 *  @return TENON_ERR_SUPPORT  a layer has functions of the program without a registered type, or an
 *                             output layout with halos
 *  @return TENON_ERR_FILE     the file cannot be written */
TENON_EXTERN TenonErrorCode TenonLayerSaveNetwork(TenonLayer layer,
                                                  const char* path) TENON_NOEXCEPT;
/**@}*/

/** @name Weights as files
 *
 *  A simulation reads the weights of a network that was trained in PyTorch from a file. In Python,
 *  share/tenon/export_weights.py writes this file, with the constants of a normalisation as
 *  separate tensors:
 *
 *      from export_weights import export_weights
 *      export_weights(model, "closure.safetensors", mean=[0.1, -2.0], std=[1.5, 0.3])
 *
 *  The program reads it into a network of the same layers, whose first layer is of type
 *  "channelaffine" for the normalisation:
 *
 *      TenonLayerSetUp(network, layout);
 *      TenonLayerLoadWeights(network, "closure.safetensors", NULL);
 *
 *  A file contains the parameters of all layers, the running statistics of batch normalisation
 *  ("running_mean", "running_var"), and the states of user-defined (shell) layers. In this section,
 *  parameters include statistics and states. Parameters and tensors are matched in one of three
 *  ways:
 *
 *  - by name, if for each parameter the file has a tensor with its path, written with dots:
 *    "encoder.conv1.weight" for "encoder/conv1/weight". Files of TenonLayerSaveWeights() have these
 *    names.
 *  - by position otherwise. A module of the file consists of the tensors whose names are equal up
 *    to the last dot. The layers with parameters are matched with the modules, both in their order,
 *    and each parameter with the tensor of its own name. Exceptions: "scale" and "shift" of a
 *    channelaffine layer are "weight" and "bias" of the module if the module has no tensors of
 *    these names; "weight0", "weight1", ... of a columnmlp layer are "weight" of one module each.
 *  - by a map, a JSON file:
 *
 *        {"format": "tenon-weights-map-1",
 *         "parameters": {"encoder/conv1": "features.0",
 *                        "dense/weight": {"name": "dense.kernel", "transpose": [1, 0]}},
 *         "unused": ["classifier.bias"]}
 *
 *    A key is the path of a layer, whose value is the name of a module, or the path of a parameter,
 *    whose value is the name of a tensor. "transpose" lists for each dimension of the parameter the
 *    dimension of the tensor, as numpy's transpose does. A parameter that is not in the map is
 *    matched with the tensor of its own name.
 *
 *  In each case the file must have a tensor of the right shape for each parameter, and each tensor
 *  of the file must be used, or listed as unused in a map; only PyTorch's "num_batches_tracked"
 *  beside a running mean is skipped. Convolutions ([out, in, kernel...]) and affine layers ([out,
 *  in]) have PyTorch's order of dimensions.
 *
 *  The order of the modules is the first of these that exists; otherwise matching by position is an
 *  error:
 *
 *  - the order in the file, for a npz file
 *  - for a safetensors file, the order of the names, separated by newlines, in the metadata
 *    "tenon.order": the safetensors library sorts the tensors themselves by type and name
 *  - the order of the numbers in the names, if the names differ in numbers only, as in PyTorch's
 *    Sequential
 *
 *  Tensors have elements F16, BF16, F32 or F64 (npz: float16, float32, float64), and are converted
 *  to the data type of the layer. A npz file may be compressed, be in the format zip64, and contain
 *  arrays in Fortran order. A file is checked before its tensors are read. The error about a
 *  damaged file names the file and the tensor.
 */
/**@{*/

/** @brief Reads all parameters and running statistics from a weights file. Collective on the layer.
 *
 *  Each rank opens the file and reads its own block of each parameter. It reads each array of a npz
 *  file to the end, to compare the checksum. If the call fails, the parameters of all ranks are
 *  unchanged. Option: -tenon_[prefix_]weights_map, the map if the argument map is NULL.
 *
 *  @param[in] layer  layer or network that is set up
 *  @param[in] path   safetensors or npz file, readable on all ranks
 *  @param[in] map    path of a weights map. May be NULL, in which case the map of the option
 *                    weights_map is used, if it is set.
 *  @return TENON_ERR_STATE       the layer is not set up, or the array of a parameter is in use or
 *                                constant
 *  @return TENON_ERR_FILE        a file cannot be read
 *  @return TENON_ERR_FORMAT      a file is damaged, or does not fit the network; the message lists
 *                                what is missing, left over, or of another shape or type
 *  @return TENON_ERR_COLLECTIVE  the files of two ranks differ
 *  @note   The state of an optimizer is left as it is.
 */
TENON_EXTERN TenonErrorCode TenonLayerLoadWeights(TenonLayer layer, const char* path,
                                                  const char* map) TENON_NOEXCEPT;

/** @brief Writes all parameters and running statistics to a weights file. Collective on the layer.
 *
 *  The name of a tensor is the path of its parameter, with dots, and its data type is that of the
 *  layer. The parameters are gathered on rank 0 one after the other. Rank 0 writes a temporary file
 *  and renames it, so a failure leaves the previous file. PyTorch reads the file with
 *  safetensors.torch.load_file(), and numpy reads it with numpy.load().
 *
 *  If the name ends with .nc, the file is in the layout of the ocean model MOM6 (doc/import.md),
 *  with an input x_test and its output y_test. Only networks of affine layers with a relu between
 *  them have this layout; a channelaffine can be the first and the last layer.
 *
 *  @param[in] layer  layer or network that is set up
 *  @param[in] path   file to be written, used on rank 0; its name ends with .safetensors, .npz or
 *                    .nc
 *  @return TENON_ERR_STATE    the layer is not set up
 *  @return TENON_ERR_ARG      the name ends differently, or two parameters would have one name
 *  @return TENON_ERR_SUPPORT  a npz file would exceed 4 GiB; for .nc, another network, or a build
 *                             without NetCDF
 *  @return TENON_ERR_FILE     the file cannot be written
 */
TENON_EXTERN TenonErrorCode TenonLayerSaveWeights(TenonLayer layer,
                                                  const char* path) TENON_NOEXCEPT;
/**@}*/

/** @name Layers and parameters by a path of names */
/**@{*/

/** @brief Returns a layer inside a container. Not collective.
 *
 *  A path has the name of a layer of the container, the name of a layer inside this layer, and so
 *  on: "encoder/conv1". A layer is also denoted by its number in the container, in the order of its
 *  first node, counted from 0, as in "encoder/0"; if another layer has this number as its name,
 *  that one is returned. TenonLayerGetChildCount() returns how many there are.
 *
 *  @param[in]  layer  container
 *  @param[in]  path   path of the layer in it
 *  @param[out] child  new handle to the layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  there is no such layer; the message lists the existing ones
 */
TENON_EXTERN TenonErrorCode TenonLayerGetChild(TenonLayer layer, const char* path,
                                               TenonLayer* child) TENON_NOEXCEPT;

/** @brief Returns the number of layers inside a container. Not collective.
 *  @param[in]  layer  layer
 *  @param[out] count  number of layers; a layer that is several nodes counts once. 0 if the layer
 *                     is not a container, or is a model that is not set up */
TENON_EXTERN TenonErrorCode TenonLayerGetChildCount(TenonLayer layer, int* count) TENON_NOEXCEPT;

/** @brief Returns a parameter by its path, as TenonLayerGetParameter(). Local; call on all ranks.
 *  @param[in]  layer      layer that has been set up
 *  @param[in]  path       name of the parameter, after the path of its layer: "weight",
 *                         "encoder/conv1/weight"
 *  @param[out] parameter  new handle to the parameter itself, in its storage layout; destroy it
 *                         with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter; the message lists the existing ones */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterAt(TenonLayer layer, const char* path,
                                                     TenonDTensor* parameter) TENON_NOEXCEPT;
/**@}*/

#endif
