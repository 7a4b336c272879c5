/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief For authors of own layers: a shell that calls one's functions, and types registered
 *         under a name.
 *
 *  TenonLayerCreateShell() makes an empty layer; the setters here give it functions, parameters and
 *  a context. To make that a type write a function which does so to a given layer, and pass it to
 *  TenonLayerRegister(): TenonLayerCreateType() then makes layers of the type, which stand beside the
 *  library's own in networks, with the same options and checks. Not included by tenon.h.
 *
 *  What the functions get. Input and output of a call are in the layouts that the layer was set up
 *  for, after the conversion to the chosen signature, and lie contiguously (TenonDTensorGetArray()).
 *  The handles are lent for the call and are not destroyed. All ranks of the layer call the
 *  functions together, ranks with empty boxes too. A parameter is used in full on every rank. In
 *  the adjoint a rank adds to it what its own part of dy gives; nobody has to sum over ranks,
 *  whatever the layout: where x is S each rank adds for its part, and where y is B the cotangents
 *  of the copies are addends.
 *
 *  All setters return TENON_ERR_TYPE if the layer is no shell, and TENON_ERR_STATE after SetUp. They
 *  are not collective, but must be called alike on all ranks.
 */
#ifndef TENON_EXT_LAYER_H
#define TENON_EXT_LAYER_H

#include <tenon/layer.h>
#include <tenon/layer_create.h>

/** @brief The layout of the output for one of the input.
 *
 *  @param[in]  layer    shell
 *  @param[in]  input    lent
 *  @param[out] output   a new handle, which the library gives back
 *  @param[in]  context  of TenonLayerShellSetContext()
 *  @return TENON_SUCCESS, or an error, with which SetUp fails on all ranks
 */
typedef TenonErrorCode (*TenonLayerShellSetUp)(TenonLayer layer, TenonLayout input,
                                               TenonLayout* output, void* context);
/** @brief y <- f(x). */
typedef TenonErrorCode (*TenonLayerShellApply)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                               void* context);
/** @brief dy <- J dx + the derivative in the parameters' tangents, at the point x, y.
 *
 *  x and y are NULL unless TenonLayerShellSetKept() keeps them; dx is NULL for zero. */
typedef TenonErrorCode (*TenonLayerShellTangent)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                                 TenonDTensor dx, TenonDTensor dy, void* context);
/** @brief dx <- J* dy, and the parameters' gradients are added to, at the point x, y.
 *
 *  x and y are NULL unless TenonLayerShellSetKept() keeps them; dx is NULL if it is not wanted. dy
 *  and dx lie in the duals of the layouts of y and x. */
typedef TenonErrorCode (*TenonLayerShellAdjoint)(TenonLayer layer, TenonDTensor x, TenonDTensor y,
                                                 TenonDTensor dy, TenonDTensor dx, void* context);
/** @brief Frees the context when the layer is gone. */
typedef void (*TenonLayerShellDestroyer)(void* context);

/** @brief The functions of a shell. */
typedef struct TenonLayerShellFunctions {
  TenonLayerShellSetUp setUp;          /**< NULL: the output lies as the input does */
  TenonLayerShellApply apply;          /**< needed */
  TenonLayerShellTangent applyTangent; /**< NULL: ApplyTangent is TENON_ERR_SUPPORT */
  TenonLayerShellAdjoint applyAdjoint; /**< NULL: ApplyAdjoint is TENON_ERR_SUPPORT */
} TenonLayerShellFunctions;

/** @brief A layer without functions. Collective on comm.
 *  @param[out] layer  to be given back with TenonLayerDestroy() */
TENON_EXTERN TenonErrorCode TenonLayerCreateShell(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Sets the functions, which are copied. */
TENON_EXTERN TenonErrorCode TenonLayerShellSetFunctions(
    TenonLayer layer, const TenonLayerShellFunctions* functions) TENON_NOEXCEPT;

/** @brief What the functions get as their context. Legal at any time.
 *  @param[in] layer    shell
 *  @param[in] context  may be NULL
 *  @param[in] destroy  called with the context when the layer is gone or gets another; may be NULL */
TENON_EXTERN TenonErrorCode TenonLayerShellSetContext(
    TenonLayer layer, void* context, TenonLayerShellDestroyer destroy) TENON_NOEXCEPT;

/** @brief The context, for setters of one's own type. Legal at any time. */
TENON_EXTERN TenonErrorCode TenonLayerShellGetContext(TenonLayer layer,
                                                      void** context) TENON_NOEXCEPT;

/** @brief Which properties of the input on a mesh axis the functions can do, the best first.
 *
 *  They are the layer's signature letters: an input that lies otherwise is converted to the first of
 *  them. P is for functions that are linear in the input. By default all splits, B and R.
 *
 *  @param[in] layer    shell
 *  @param[in] letters  such as "S0,B"
 *  @return also TENON_ERR_LAYOUT for another text
 */
TENON_EXTERN TenonErrorCode TenonLayerShellSetLetters(TenonLayer layer,
                                                      const char* letters) TENON_NOEXCEPT;

/** @brief Whether input and output of Apply are kept for tangent and adjoint; by default the input
 *         is. What is kept must not change until the adjoint. */
TENON_EXTERN TenonErrorCode TenonLayerShellSetKept(TenonLayer layer, TenonBool input,
                                                   TenonBool output) TENON_NOEXCEPT;

/** @brief Declares a parameter; they are counted from 0 in the order of the calls.
 *
 *  @param[in] layer   shell
 *  @param[in] name    copied; not declared before
 *  @param[in] rank    number of dimensions, at least 1
 *  @param[in] shape   [rank] at least 1
 *  @param[in] fanIn   for the initializer; 0 for a bias, which starts at zero
 *  @param[in] fanOut  likewise
 *  @return also TENON_ERR_ARG if there is one of that name, TENON_ERR_SHAPE for a shape out of range
 */
TENON_EXTERN TenonErrorCode TenonLayerShellAddParameter(TenonLayer layer, const char* name,
                                                        int rank, const TenonInt shape[],
                                                        TenonInt fanIn,
                                                        TenonInt fanOut) TENON_NOEXCEPT;

/** @brief How many bytes each Apply may leave on this rank for its tangent and adjoint. Legal in the
 *         function setUp too, and may differ between ranks.
 *  @return also TENON_ERR_ARG for a negative number */
TENON_EXTERN TenonErrorCode TenonLayerShellSetWorkspace(TenonLayer layer,
                                                        TenonInt bytes) TENON_NOEXCEPT;

/** @name Inside the functions apply, applyTangent and applyAdjoint
 *  Outside them these calls return TENON_ERR_STATE. The tensors are lent for the call. */
/**@{*/

/** @brief The value of a parameter, in full on every rank.
 *  @return TENON_ERR_ARG if there is no such parameter */
TENON_EXTERN TenonErrorCode TenonLayerShellGetValue(TenonLayer layer, int parameter,
                                                    TenonDTensor* value) TENON_NOEXCEPT;

/** @brief The direction of a parameter, in full on every rank; NULL if it has none, and outside the
 *         tangent. */
TENON_EXTERN TenonErrorCode TenonLayerShellGetTangent(TenonLayer layer, int parameter,
                                                      TenonDTensor* tangent) TENON_NOEXCEPT;

/** @brief What this rank adds its addend of a parameter's gradient to; NULL outside the adjoint. */
TENON_EXTERN TenonErrorCode TenonLayerShellGetGradient(TenonLayer layer, int parameter,
                                                       TenonDTensor* gradient) TENON_NOEXCEPT;

/** @brief The memory of TenonLayerShellSetWorkspace() that belongs to this Apply; NULL in inference
 *         and where there are no bytes. */
TENON_EXTERN TenonErrorCode TenonLayerShellGetWorkspace(TenonLayer layer,
                                                        void** workspace) TENON_NOEXCEPT;
/**@}*/

/** @brief Makes of a shell that TenonLayerCreateType() has created a layer of one's own type: sets its
 *         functions, context and parameters. */
typedef TenonErrorCode (*TenonLayerCreator)(TenonLayer shell);

/** @brief Registers a type of layers. Not collective, but all ranks must do it alike. It stays until
 *         the program ends, and so must the code of its functions.
 *
 *  @param[in] name    copied
 *  @param[in] create  called on every rank by each TenonLayerCreateType() of that name; its error is
 *                     the error of that call, on all ranks
 *  @return TENON_ERR_ARG if the name is empty or taken; TENON_ERR_NULL without create
 */
TENON_EXTERN TenonErrorCode TenonLayerRegister(const char* name,
                                               TenonLayerCreator create) TENON_NOEXCEPT;

#endif
