/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief What all objects have in common: class, name, options prefix and references; settings by
 *         name; views.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  A handle of any class can be passed as a TenonObject: TenonObjectSetName((TenonObject)x,
 *  "velocity"). Handles are counted references: each call that creates or returns a handle, and
 *  TenonObjectRetain(), adds a reference, which the destroy call of the class releases. No call in
 *  this file is collective.
 *
 *  Layers, optimizers, datasets, checkpoints, series of fields and plans have settings. The name of
 *  a setting is also the name of its option -tenon_[prefix_]name and, for a layer, of its key in a
 *  network file:
 *
 *      TenonObject conv = (TenonObject)layer;
 *      TenonObjectSetIntegers(conv, "kernel", 2, (TenonInt[]){3, 3});
 *      TenonObjectSetBool(conv, "bias", TENON_FALSE);
 *      TenonObjectSetReal((TenonObject)optimizer, "momentum", 0.9);
 *
 *  A checkpoint also accepts settings of any other name, and stores their values.
 *
 *  The option -tenon_help lists the settings of each type with their defaults. Some settings also
 *  have a call, such as TenonLayerSetPadding(), which sets the same value.
 *
 *  All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and TENON_ERR_HANDLE if
 *  the handle is not valid.
 */
#ifndef TENON_OBJECT_H
#define TENON_OBJECT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Handle of any class. */
typedef struct TenonObject_s* TenonObject;

/** @brief Sets the name of an object, used in messages, views and reports. Not collective.
 *  @param[in] object  object of any class
 *  @param[in] name    name, in UTF-8 and without control characters; copied. May be NULL, in which
 *                     case the object has no name.
 *  @return TENON_ERR_ARG  the name has a control character or is not UTF-8 */
TENON_EXTERN TenonErrorCode TenonObjectSetName(TenonObject object, const char* name) TENON_NOEXCEPT;

/** @brief Returns the name of an object. Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] name    [length] name; "" if there is none. May be NULL, in which case only needed
 *                      is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetName(TenonObject object, char name[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Sets the prefix of the object's options. Not collective.
 *
 *  With prefix "conv1_" the object reads -tenon_conv1_backend before -tenon_backend.
 *
 *  @param[in] object  object of any class
 *  @param[in] prefix  prefix; copied. May be NULL, in which case there is none.
 *  @return TENON_ERR_ARG  the prefix has a control character or is not UTF-8
 */
TENON_EXTERN TenonErrorCode TenonObjectSetOptionsPrefix(TenonObject object,
                                                        const char* prefix) TENON_NOEXCEPT;

/** @brief Returns the prefix of the object's options. Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] prefix  [length] prefix; "" if there is none. May be NULL, in which case only needed
 *                      is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the prefix needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the prefix does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetOptionsPrefix(TenonObject object, char prefix[],
                                                        TenonInt length,
                                                        TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the class of an object: "Partition", "Layout", "DTensor", ... Not collective.
 *  @param[in]  object  object of any class
 *  @param[out] name    [length] class name. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetClass(TenonObject object, char name[], TenonInt length,
                                                TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the type of an object within its class: "conv", "adam", "halo", ... Not
 *  collective.
 *  @param[in]  object  object of any class
 *  @param[out] type    [length] type, such as that of TenonLayerCreateType(); "" if the class has
 *                      none. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the type needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the type does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonObjectGetType(TenonObject object, char type[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the communicator of an object. Not collective.
 *
 *  The result is Tenon's duplicate of the communicator with which the object was created. It has
 *  the same ranks in the same order. All objects that are created with this communicator, or with
 *  the duplicate, share the duplicate. It is valid while the object exists.
 *
 *  @note Do not free the duplicate. Do not send messages on it, since they could match messages of
 *        Tenon; duplicate it with MPI_Comm_dup() for messages.
 *
 *  @param[in]  object  process grid, layout, tensor, operator, index map, links, edges, layer,
 *                      optimizer, dataset, checkpoint, series of fields, plan of a network of
 *                      layers, or machine of a job
 *  @param[out] comm    communicator
 *  @return TENON_ERR_SUPPORT  the object has no communicator, such as a described machine or a list
 *                             of placements
 */
TENON_EXTERN TenonErrorCode TenonObjectGetComm(TenonObject object, MPI_Comm* comm) TENON_NOEXCEPT;

/** @brief Adds a reference, after which one more destroy call is needed. Not collective.
 *  @param[in] object  object of any class */
TENON_EXTERN TenonErrorCode TenonObjectRetain(TenonObject object) TENON_NOEXCEPT;

/** @brief Returns the number of references, Tenon's own included. Not collective.
 *  @param[in]  object      object of any class
 *  @param[out] references  number of references */
TENON_EXTERN TenonErrorCode TenonObjectGetReferences(TenonObject object,
                                                     int* references) TENON_NOEXCEPT;

/** @brief Prints an object, on rank 0 of its communicator. Not collective.
 *
 *  Prints on every rank that makes the call if the object has no communicator, such as a described
 *  machine, and for index maps, links and edges, of which each rank prints its part. What is
 *  printed:
 *
 *  - process grid, layout: all that defines them
 *  - tensor: layout, data type, and whose memory the array is
 *  - operator: type, domain, range and traffic
 *  - layer: for each configuration, layouts, signature, and the messages and bytes of the
 *    communication of one evaluation; then the parameters; the user arrays that the last calls
 *    copied, with their bytes (strided arrays, since kernels need contiguous ones, and arrays that
 *    are saved for the adjoint); then the memory allocated on rank 0 for parameters and gradients,
 *    for buffers, and for saved activations
 *  - optimizer, dataset: type and settings
 *  - checkpoint, series of fields: what was added, and size and speed of the last file
 *  - index map, links, edges: the whole in one line, and what this rank has or sends
 *  - machine: levels, links, and levels left out by discovery
 *  - plan that is set up: for each layer its parallelization as a grid; the second-best
 *    parallelization and the cost of the plan with it; layouts of inputs and output; predicted
 *    time, memory and floating-point operations; and messages and bytes
 *  - plan that is not set up: its request, that is network, processes and limits
 *
 *  @param[in] object  object of any class */
TENON_EXTERN TenonErrorCode TenonObjectView(TenonObject object) TENON_NOEXCEPT;

/** @name Settings by name
 *
 *  Errors of the setters:
 *
 *  | error           | reason                                                                    |
 *  | --------------- | ------------------------------------------------------------------------- |
 *  | TENON_ERR_TYPE  | the class has no settings; the type has no such setting (the message      |
 *  |                 | suggests a similar name); or the setting takes another kind of value      |
 *  | TENON_ERR_ARG   | a value is out of range, or contradicts other values that are set         |
 *  | TENON_ERR_STATE | the setting can no longer have an effect, such as after TenonLayerSetUp() |
 *
 *  If a setter fails and does not succeed later for the same setting, the next set-up or use of the
 *  object returns its error. */
/**@{*/

/** @brief Sets a setting that takes integers. Local; call on all ranks.
 *  @param[in] object  object of a class with settings
 *  @param[in] name    name of the setting, such as "kernel" or "in_channels"
 *  @param[in] length  number of values; 1 for a setting of one integer
 *  @param[in] values  [length] values */
TENON_EXTERN TenonErrorCode TenonObjectSetIntegers(TenonObject object, const char* name,
                                                   TenonInt length,
                                                   const TenonInt values[]) TENON_NOEXCEPT;

/** @brief Sets a setting that takes a real number. Local; call on all ranks.
 *  @param[in] object  object of a class with settings
 *  @param[in] name    name of the setting, such as "rate"
 *  @param[in] value   value; must be finite, unless a checkpoint stores it */
TENON_EXTERN TenonErrorCode TenonObjectSetReal(TenonObject object, const char* name,
                                               double value) TENON_NOEXCEPT;

/** @brief Sets a setting that takes text. Local; call on all ranks.
 *  @param[in] object  object of a class with settings
 *  @param[in] name    name of the setting, such as "boundary" or "signature"
 *  @param[in] text    value; copied */
TENON_EXTERN TenonErrorCode TenonObjectSetText(TenonObject object, const char* name,
                                               const char* text) TENON_NOEXCEPT;

/** @brief Sets a setting that is true or false. Local; call on all ranks.
 *  @param[in] object  object of a class with settings
 *  @param[in] name    name of the setting, such as "bias"
 *  @param[in] value   value */
TENON_EXTERN TenonErrorCode TenonObjectSetBool(TenonObject object, const char* name,
                                               TenonBool value) TENON_NOEXCEPT;

/** @brief Reads the options -tenon_[prefix_]name of all settings. Local; call on all ranks.
 *
 *  The layers of a container also read their options. TenonObjectSetOptionsPrefix() sets the
 *  prefix.
 *
 *  @param[in] object  object of a class with settings
 *  @return TENON_ERR_OPTION  the value of an option is not valid, or contradicts other settings */
TENON_EXTERN TenonErrorCode TenonObjectSetFromOptions(TenonObject object) TENON_NOEXCEPT;

/** @brief Returns integers as set, or their default. Not collective.
 *  @param[in]  object  object of a class with settings
 *  @param[in]  name    name of the setting
 *  @param[in]  length  length of the array values
 *  @param[out] values  [length] values. May be NULL, in which case only count is returned.
 *  @param[out] count   number of values. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_TYPE   there is no such setting, or it does not take integers
 *  @return TENON_ERR_STATE  the setting was not set and has no default
 *  @return TENON_ERR_ARG    the values do not fit */
TENON_EXTERN TenonErrorCode TenonObjectGetIntegers(TenonObject object, const char* name,
                                                   TenonInt length, TenonInt values[],
                                                   TenonInt* count) TENON_NOEXCEPT;

/** @brief Returns a real number as set, or its default. Not collective.
 *  @param[in]  object  object of a class with settings
 *  @param[in]  name    name of the setting
 *  @param[out] value   value
 *  @return TENON_ERR_TYPE   there is no such setting, or it does not take a real number
 *  @return TENON_ERR_STATE  the setting was not set and has no default */
TENON_EXTERN TenonErrorCode TenonObjectGetReal(TenonObject object, const char* name,
                                               double* value) TENON_NOEXCEPT;

/** @brief Returns text as set, or its default. Not collective.
 *  @param[in]  object  object of a class with settings
 *  @param[in]  name    name of the setting
 *  @param[out] text    [length] value. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the value needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_TYPE   there is no such setting, or it does not take text
 *  @return TENON_ERR_STATE  the setting was not set and has no default
 *  @return TENON_ERR_ARG    the value does not fit */
TENON_EXTERN TenonErrorCode TenonObjectGetText(TenonObject object, const char* name, char text[],
                                               TenonInt length, TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns whether a setting is true, as set or by default. Not collective.
 *  @param[in]  object  object of a class with settings
 *  @param[in]  name    name of the setting
 *  @param[out] value   value
 *  @return TENON_ERR_TYPE  there is no such setting, or it is not true or false */
TENON_EXTERN TenonErrorCode TenonObjectGetBool(TenonObject object, const char* name,
                                               TenonBool* value) TENON_NOEXCEPT;

/** @brief Returns whether a setting has been set, or has its default. Not collective.
 *
 *  A container hands a setting down only to layers for which it was not set.
 *
 *  @param[in]  object  object of a class with settings
 *  @param[in]  name    name of the setting
 *  @param[out] isSet   TENON_TRUE if it was set by a call, an option, a file or a container
 *  @return TENON_ERR_TYPE  there is no such setting */
TENON_EXTERN TenonErrorCode TenonObjectIsSet(TenonObject object, const char* name,
                                             TenonBool* isSet) TENON_NOEXCEPT;
/**@}*/

#endif
