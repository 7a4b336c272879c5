/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Weights from other programs and for them: files in the formats safetensors and npz.
 *
 *  A network trained in PyTorch goes into a simulation as a file. share/tenon/export_torch.py
 *  writes it in Python, with the constants of the normalisation as tensors of their own:
 *
 *      from export_torch import export
 *      export(model, "closure.safetensors", mean=[0.1, -2.0], std=[1.5, 0.3])
 *
 *  and the program reads it into a network of the same layers, with a layer of type "channelaffine"
 *  first for the normalisation:
 *
 *      TenonLayerSetUp(network, layout);
 *      TenonLayerLoadWeights(network, "closure.safetensors", NULL);
 *
 *  A file has the parameters of all layers and the running statistics of batch normalisation
 *  ("running_mean", "running_var"), and states of shells, which all are called parameters here.
 *  Parameters and tensors are matched in one of three ways:
 *
 *  - by name, if the file has a tensor for the path of every parameter, written with dots:
 *    "encoder.conv1.weight" for "encoder/conv1/weight", as in files of TenonLayerSaveWeights().
 *  - by position otherwise: the layers with parameters take the modules of the file in their order.
 *    A module consists of the tensors whose names differ after the last dot only, and each
 *    parameter takes the tensor of its own name; "scale" and "shift" of a channelaffine layer are
 *    "weight" and "bias" if the module has no tensors of these names, and "weight0", "weight1", ...
 *    of a columnmlp layer are "weight" in one module each.
 *  - by a map, a JSON file:
 *
 *        {"format": "tenon-weights-map-1",
 *         "parameters": {"encoder/conv1": "features.0",
 *                        "dense/weight": {"name": "dense.kernel", "transpose": [1, 0]}},
 *         "unused": ["classifier.bias"]}
 *
 *    A key is the path of a layer, which takes a module, or of a parameter, which takes a tensor.
 *    "transpose" lists for each dimension of the parameter the dimension of the tensor, as numpy's
 *    transpose does. Parameters that the map does not name take the tensor of their own name.
 *
 *  In every way each parameter must find a tensor of its shape, and each tensor of the file must be
 *  used, or named as unused by a map; only PyTorch's "num_batches_tracked" beside a running mean is
 *  skipped. Convolutions ([out, in, kernel...]) and affine layers ([out, in]) have PyTorch's order
 *  of dimensions.
 *
 *  The order of modules is that of a npz file, or what the metadata "tenon.order" of a safetensors
 *  file says (the names of the tensors separated by newlines), since the safetensors library sorts
 *  tensors by type and name. Without it the order is that of the numbers in the names, if the names
 *  differ in numbers only, as those of PyTorch's Sequential do; otherwise there is none, which is
 *  an error.
 *
 *  Tensors have elements F16, BF16, F32 or F64 (npz: float16, float32, float64), and are converted
 *  to the data type of the layer. npz files may be compressed, and arrays in Fortran order; zip64
 *  is read. Files are checked before anything is read from them: damaged ones are errors that name
 *  the file and the tensor.
 */
#ifndef TENON_LAYER_WEIGHTS_H
#define TENON_LAYER_WEIGHTS_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Reads all parameters and running statistics from a weights file. Collective on the layer.
 *
 *  Each rank opens the file and reads its own block of each parameter; of a npz file it reads each
 *  array to its end, to compare the checksum. After an error all parameters are as before, on all
 *  ranks. Option: -tenon_[prefix_]weights_map, the map if none is passed.
 *
 *  @param[in] layer  layer or network that is set up
 *  @param[in] path   safetensors or npz file, readable on all ranks
 *  @param[in] map    path of a weights map. May be NULL, in which case the option weights_map, or
 *                    none, is used.
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
 *  The tensors have the paths of the parameters as names, with dots, and the data type of the
 *  layer. One parameter after the other is gathered on rank 0, which writes the file beside its
 *  place and renames it, so that a failure leaves what was there. PyTorch reads the file with
 *  safetensors.torch.load_file(), numpy with numpy.load().
 *
 *  @param[in] layer  layer or network that is set up
 *  @param[in] path   file to be written, used on rank 0; its name ends with .safetensors or .npz
 *  @return TENON_ERR_STATE    the layer is not set up
 *  @return TENON_ERR_ARG      the name ends otherwise, or two parameters would have one name
 *  @return TENON_ERR_SUPPORT  a npz file would exceed 4 GiB
 *  @return TENON_ERR_FILE     the file cannot be written
 */
TENON_EXTERN TenonErrorCode TenonLayerSaveWeights(TenonLayer layer,
                                                  const char* path) TENON_NOEXCEPT;

#endif
