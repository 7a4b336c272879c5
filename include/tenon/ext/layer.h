/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief User-defined layers: a shell that calls user functions, and types registered under a
 *         name; signature tables and examples of all types.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  TenonLayerCreateType() with the type "shell" creates an empty layer; the setters here give it
 *  functions, parameters and a context. To make a type of such layers, write a function that calls
 *  the setters for a given layer, and pass this function to TenonLayerRegister().
 *  TenonLayerCreateType() then creates layers of the type, which can be used in networks like
 *  Tenon's own layers, with the same options and checks. tenon.h does not include this header.
 *
 *  Arguments of the functions. Input and output have the layouts for which the layer was set up,
 *  after the conversion to the chosen signature, and are contiguous (TenonDTensorGetArray()). The
 *  handles are valid during the call and must not be destroyed. All ranks of the layer call the
 *  functions together, including ranks with empty boxes. Each rank has every parameter in full.
 *
 *  A function must not set up, apply or differentiate its own layer, or the network that runs it;
 *  the function setUp must not use any layer of the network that is set up (TENON_ERR_STATE). If a
 *  function destroys the program's handle of the layer or network, the object exists until the call
 *  that runs the function returns.
 *
 *  Gradients. In the adjoint each rank adds to the gradient of a parameter the contribution of its
 *  own local block of dy. The function does not sum over ranks in any layout: if x is sharded, each
 *  rank contributes the term of its block; if y is replicated, the cotangents of the copies are
 *  partial sums.
 *
 *  Common errors. All setters return TENON_ERR_TYPE if the layer is not a shell, and
 *  TENON_ERR_STATE after TenonLayerSetUp(). They are local and must be called on all ranks with the
 *  same arguments.
 */
#ifndef TENON_EXT_LAYER_H
#define TENON_EXT_LAYER_H

#include <tenon/layer.h>
#include <tenon/layer_types.h>

/** @brief User function that returns the layout of the output for a layout of the input.
 *
 *  It is called for each network that the layer becomes a part of, and when the layer is first
 *  applied by itself, also for a layout for which it was called before; it must return the same
 *  layout then.
 *
 *  @param[in]  layer    shell
 *  @param[in]  input    layout of the input; must not be destroyed
 *  @param[out] output   new handle, which Tenon destroys
 *  @param[in]  context  context of TenonLayerShellSetContext(). May be NULL, in which case none was
 *                       set.
 *  @return TENON_SUCCESS, or an error with which TenonLayerSetUp() fails on all ranks
 */
typedef TenonErrorCode (*TenonLayerShellSetUp)(TenonLayer layer, TenonLayout input,
                                               TenonLayout* output, void* context);
/** @brief User function that evaluates y <- f(x).
 *  @param[in]  layer    shell
 *  @param[in]  x        input
 *  @param[out] y        output; to be overwritten
 *  @param[in]  context  context of TenonLayerShellSetContext(). May be NULL, in which case none was
 *                       set.
 *  @return TENON_SUCCESS, or an error that TenonLayerApply() then returns */
typedef TenonErrorCode (*TenonLayerShellApply)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                               void* context);
/** @brief User function that evaluates the tangent at (x, y).
 *
 *  Computes dy <- J dx plus the derivative in the direction of the parameters' tangents, see
 *  TENON_SHELL_PARAMETER_TANGENT.
 *
 *  @param[in]  layer    shell
 *  @param[in]  x        input of the evaluation. May be NULL, in which case it was not saved
 *                       (TenonLayerShellSetSaved()).
 *  @param[in]  y        output of the evaluation. May be NULL, in which case it was not saved.
 *  @param[in]  dx       tangent of the input. May be NULL, in which case it is zero.
 *  @param[out] dy       tangent of the output; to be overwritten
 *  @param[in]  context  context of TenonLayerShellSetContext(). May be NULL, in which case none was
 *                       set.
 *  @return TENON_SUCCESS, or an error that TenonLayerApplyTangent() then returns
 */
typedef TenonErrorCode (*TenonLayerShellTangent)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                                 TenonDTensor dx, TenonDTensor dy, void* context);
/** @brief User function that evaluates the adjoint at (x, y).
 *
 *  Computes dx <- J* dy and adds to the gradients of the parameters, see
 *  TENON_SHELL_PARAMETER_GRADIENT.
 *
 *  @param[in]  layer    shell
 *  @param[in]  x        input of the evaluation. May be NULL, in which case it was not saved
 *                       (TenonLayerShellSetSaved()).
 *  @param[in]  y        output of the evaluation. May be NULL, in which case it was not saved.
 *  @param[in]  dy       cotangent dL/dy, in the dual of the output's layout
 *  @param[out] dx       cotangent dL/dx, in the dual of the input's layout; to be overwritten. May
 *                       be NULL, in which case it is not needed.
 *  @param[in]  context  context of TenonLayerShellSetContext(). May be NULL, in which case none was
 *                       set.
 *  @return TENON_SUCCESS, or an error that TenonLayerApplyAdjoint() then returns
 */
typedef TenonErrorCode (*TenonLayerShellAdjoint)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                                 TenonDTensor dy, TenonDTensor dx, void* context);
/** @brief User function that frees the context when the layer is destroyed.
 *  @param[in] context  context of TenonLayerShellSetContext(). May be NULL, in which case none was
 *                      set. */
typedef void (*TenonLayerShellDestroyer)(void* context);

/** @brief User functions of a shell. */
typedef struct TenonLayerShellFunctions {
  TenonLayerShellSetUp setUp;          /**< may be NULL: the output then has the input's layout */
  TenonLayerShellApply apply;          /**< required */
  TenonLayerShellTangent applyTangent; /**< may be NULL: the tangent is then TENON_ERR_SUPPORT */
  TenonLayerShellAdjoint applyAdjoint; /**< may be NULL: the adjoint is then TENON_ERR_SUPPORT */
} TenonLayerShellFunctions;

/** @brief Sets the user functions. Local; call on all ranks.
 *  @param[in] layer      shell
 *  @param[in] functions  table of functions; copied
 *  @return TENON_ERR_NULL  functions or functions->apply is NULL */
TENON_EXTERN TenonErrorCode TenonLayerShellSetFunctions(
    TenonLayer layer, const TenonLayerShellFunctions* functions) TENON_NOEXCEPT;

/** @brief Sets the context passed to the user functions. Local; call on all ranks.
 *
 *  The call can be made at any time.
 *
 *  @param[in] layer    shell
 *  @param[in] context  context. May be NULL, in which case the functions receive NULL.
 *  @param[in] destroy  function called with the context when the layer is destroyed or gets another
 *                      context. May be NULL, in which case nothing is called.
 */
TENON_EXTERN TenonErrorCode TenonLayerShellSetContext(
    TenonLayer layer, void* context, TenonLayerShellDestroyer destroy) TENON_NOEXCEPT;

/** @brief Returns the context, for setters of a user-defined type. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in]  layer    shell
 *  @param[out] context  context
 */
TENON_EXTERN TenonErrorCode TenonLayerShellGetContext(TenonLayer layer,
                                                      void** context) TENON_NOEXCEPT;

/** @brief Sets the input properties that the functions support. Local; call on all ranks.
 *
 *  These are the index labels of the layer's signature: along each grid axis, an input with another
 *  property is converted to the first label. The default is all S, B and R. P is for functions that
 *  are linear in the input.
 *
 *  @param[in] layer    shell
 *  @param[in] labels   properties separated by commas, the preferred one first, such as "S0,B"
 *  @return TENON_ERR_LAYOUT  the text is not a list of properties
 */
TENON_EXTERN TenonErrorCode TenonLayerShellSetLabels(TenonLayer layer,
                                                     const char* labels) TENON_NOEXCEPT;

/** @brief Sets what is saved for tangent and adjoint. Local; call on all ranks.
 *  @param[in] layer   shell
 *  @param[in] input   TENON_TRUE to save the input, the default
 *  @param[in] output  TENON_TRUE to save the output; TENON_FALSE by default
 *  @note   Saved tensors must not be modified before TenonLayerApplyAdjoint(). */
TENON_EXTERN TenonErrorCode TenonLayerShellSetSaved(TenonLayer layer, TenonBool input,
                                                    TenonBool output) TENON_NOEXCEPT;

/** @brief Declares a parameter. Local; call on all ranks.
 *
 *  Parameters are numbered from 0 in the order of the calls.
 *
 *  @param[in] layer   shell
 *  @param[in] name    name, different from those declared before; copied
 *  @param[in] rank    number of dimensions; must be >= 1
 *  @param[in] shape   [rank] extents; must be >= 1
 *  @param[in] fanIn   number of inputs per output, for the initializer; 0 for a bias, which is
 *                     zero at first
 *  @param[in] fanOut  number of outputs per input, for the initializer; 0 for a bias
 *  @return TENON_ERR_ARG    there is a parameter of this name, or the name has a control character
 *                           or is not UTF-8
 *  @return TENON_ERR_SHAPE  the number of dimensions or an extent is out of range
 */
TENON_EXTERN TenonErrorCode TenonLayerShellAddParameter(TenonLayer layer, const char* name,
                                                        int rank, const TenonInt shape[],
                                                        TenonInt fanIn,
                                                        TenonInt fanOut) TENON_NOEXCEPT;

/** @brief Declares a state, such as running statistics. Local; call on all ranks.
 *
 *  A state is a tensor that is passed from one evaluation to the next; checkpoints and weights
 *  files contain it under its name. States are numbered from 0 in the order of the calls. A layer
 *  with states cannot be in a container that recomputes.
 *
 *  @param[in] layer    shell
 *  @param[in] name     name, different from those declared before; copied
 *  @param[in] rank     number of dimensions; must be >= 1
 *  @param[in] shape    [rank] extents; must be >= 1
 *  @param[in] initial  value of all elements at first
 *  @return TENON_ERR_ARG    there is a parameter or state of this name, or the name has a control
 *                           character or is not UTF-8
 *  @return TENON_ERR_SHAPE  the number of dimensions or an extent is out of range
 *  @see    TENON_SHELL_STATE
 */
TENON_EXTERN TenonErrorCode TenonLayerShellAddState(TenonLayer layer, const char* name, int rank,
                                                    const TenonInt shape[],
                                                    double initial) TENON_NOEXCEPT;

/** @brief Sets the size of the memory that an evaluation saves on this rank. Not collective.
 *
 *  Each pending evaluation has such a block of memory, see TenonLayerShellGetWorkspace(). The call
 *  can also be made in the function setUp, and sizes can differ between ranks.
 *
 *  @param[in] layer  shell
 *  @param[in] bytes  size in bytes; must be >= 0
 *  @return TENON_ERR_ARG  bytes is negative
 */
TENON_EXTERN TenonErrorCode TenonLayerShellSetWorkspace(TenonLayer layer,
                                                        TenonInt bytes) TENON_NOEXCEPT;

/** @name Access inside the user functions apply, applyTangent and applyAdjoint
 *
 *  Outside these functions the calls return TENON_ERR_STATE. The tensors are valid during the
 *  function and must not be destroyed.
 */
/**@{*/

/** @brief Tensors of a shell that its user functions read and write, each in full on every rank. */
typedef enum TenonShellTensor TENON_ENUM_INT {
  TENON_SHELL_PARAMETER = 0,          /**< value of a parameter */
  TENON_SHELL_PARAMETER_TANGENT = 1,  /**< tangent of a parameter; NULL if there is
                                           none, and outside applyTangent */
  TENON_SHELL_PARAMETER_GRADIENT = 2, /**< tensor to which applyAdjoint adds this
                                           rank's contribution to the gradient of a
                                           parameter; NULL outside applyAdjoint */
  TENON_SHELL_STATE = 3,              /**< state. The function apply can modify it,
                                           on all ranks and with the same values. The
                                           other functions see the state after the
                                           last evaluation. */
  TENON_SHELL_TENSOR_MAX_ = 0x7fff
} TenonShellTensor;

/** @brief Returns a parameter, its tangent or gradient, or a state. Not collective.
 *  @param[in]  layer   shell
 *  @param[in]  which   which of the tensors
 *  @param[in]  index   index of the parameter or state, counted from 0 in the order of
 *                      TenonLayerShellAddParameter() or TenonLayerShellAddState()
 *  @param[out] tensor  tensor, which must not be destroyed; NULL if there is none
 *  @return TENON_ERR_ARG  there is no such parameter or state, or no such tensor */
TENON_EXTERN TenonErrorCode TenonLayerShellGetTensor(TenonLayer layer, TenonShellTensor which,
                                                     int index,
                                                     TenonDTensor* tensor) TENON_NOEXCEPT;

/** @brief Returns the workspace of the current evaluation. Not collective.
 *  @param[in]  layer      shell
 *  @param[out] workspace  memory of TenonLayerShellSetWorkspace(); NULL in inference mode and if
 *                         its size is 0 */
TENON_EXTERN TenonErrorCode TenonLayerShellGetWorkspace(TenonLayer layer,
                                                        void** workspace) TENON_NOEXCEPT;
/**@}*/

/** @brief User function that turns a shell into a layer of a registered type.
 *
 *  Called by TenonLayerCreateType(); sets functions, context and parameters of the shell.
 *
 *  @param[in] shell  new shell
 *  @return TENON_SUCCESS, or an error with which the creation fails
 */
typedef TenonErrorCode (*TenonLayerCreator)(TenonLayer shell);

/** @brief Registers a layer type. Local; call on all ranks.
 *
 *  The type stays registered until the program ends, and the code of its functions must stay
 *  loaded.
 *
 *  @param[in] name    type name; copied
 *  @param[in] create  function called on every rank by TenonLayerCreateType() for this name, which
 *                     returns its error on all ranks
 *  @return TENON_ERR_ARG   the name is empty or already registered
 *  @return TENON_ERR_NULL  name or create is NULL
 */
TENON_EXTERN TenonErrorCode TenonLayerRegister(const char* name,
                                               TenonLayerCreator create) TENON_NOEXCEPT;

/** @brief Returns the signature table of a type of layers: which properties of the parameters and
 *  of the output follow from which properties of the inputs along a grid axis. Not collective.
 *
 *  The text has one line for each index label, the preferred label first: "k: S1,S0 -> P", or, with
 *  parameters in brackets, "o: B [S0,S0] -> S1". The labels can depend on settings: the table is
 *  for the settings of an example, for instance for a convolution without groups.
 *
 *  @param[in]  type        type of the library, as for TenonLayerCreateType()
 *  @param[in]  ndim        number of dimensions of the first input; 0 for the smallest number that
 *                          the type accepts
 *  @param[out] signatures  [length] lines. May be NULL, in which case only needed is returned.
 *  @param[in]  length      size of the buffer in characters
 *  @param[out] needed      size that the lines need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_TYPE     the name is unknown; the message suggests a similar one
 *  @return TENON_ERR_SHAPE    the type has no inputs of so many dimensions
 *  @return TENON_ERR_SUPPORT  the type is a container; its layers have tables
 *  @return TENON_ERR_ARG      the lines do not fit into the buffer
 *  @see    TenonLayerGetLabels() */
TENON_EXTERN TenonErrorCode TenonLayerGetTypeSignatures(const char* type, int ndim,
                                                        char signatures[], TenonInt length,
                                                        TenonInt* needed) TENON_NOEXCEPT;

/** @name Examples, for programs that test every type, as `tenon check` does */
/**@{*/

/** @brief Gives a layer the settings of a random example of its type. Local; call on all ranks.
 *
 *  An example has consistent settings, and shapes of inputs and target that match them. It depends
 *  only on the type and the seed.
 *
 *  @param[in]  layer    layer that is not set up
 *  @param[in]  seed     random seed; the same on all ranks
 *  @param[out] inputs   number of inputs
 *  @param[out] classes  number of classes if the layer is a loss whose target has labels, which are
 *                       0 to classes - 1; otherwise 0
 *  @return TENON_ERR_SUPPORT  the type has no examples: it is a container, needs an output layout,
 *                             or was made or registered by the program
 *  @return TENON_ERR_STATE    the layer is set up */
TENON_EXTERN TenonErrorCode TenonLayerSetExample(TenonLayer layer, TenonInt seed, int* inputs,
                                                 TenonInt* classes) TENON_NOEXCEPT;

/** @brief Returns shape and range of an input, or of the target, of an example. Not collective.
 *
 *  The values of the tensor are in the range [low, high]. For inputs it is [-1, 1], or positive if
 *  the type is not defined for all numbers, such as log and divide. For targets it is [0, classes -
 *  1], see TenonLayerSetExample(), or [-1, 1] if the target has real numbers.
 *
 *  @param[in]  layer   layer of the type of the example
 *  @param[in]  seed    seed of TenonLayerSetExample()
 *  @param[in]  tensor  number of the input, counted from 0; the number of inputs for the target
 *  @param[in]  length  length of the array shape
 *  @param[out] shape   [length] shape. May be NULL, in which case it is not returned.
 *  @param[out] ndim    number of dimensions; 0 for the target of a layer that takes none. May be
 *                      NULL, in which case it is not returned.
 *  @param[out] low     lower bound. May be NULL, in which case it is not returned.
 *  @param[out] high    upper bound. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_SUPPORT  the type has no examples, see TenonLayerSetExample()
 *  @return TENON_ERR_ARG      there is no such tensor, or the shape does not fit */
TENON_EXTERN TenonErrorCode TenonLayerGetExampleTensor(TenonLayer layer, TenonInt seed, int tensor,
                                                       TenonInt length, TenonInt shape[], int* ndim,
                                                       double* low, double* high) TENON_NOEXCEPT;
/**@}*/

#endif
