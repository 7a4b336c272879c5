/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Options: named values from a file, the environment, the command line and calls.
 *
 *  An option of the library is written -tenon_[prefix_]name, where the prefix is that of the object
 *  it is meant for; without one it holds for all objects. Sources, each outranking those before:
 *  default, options file (-tenon_options_file), environment variable TENON_OPTIONS, command line
 *  (handed over by TenonInitialize()), TenonOptionsSet(). A name that no table declares, or a value
 *  of the wrong type, is TENON_ERR_OPTION at once, and its source changes nothing. A value that no
 *  object has asked for is reported at TenonFinalize(), with the nearest option that one asked for.
 *
 *  Nothing here is collective, but all ranks must set the same options.
 */
#ifndef TENON_OPTIONS_H
#define TENON_OPTIONS_H

#include <tenon/error.h>
#include <tenon/types.h>

/** What values an option takes. */
typedef enum TenonOptionType {
  TENON_OPTION_FLAG = 0,   /**< true or false; true if no value is written */
  TENON_OPTION_INT = 1,    /**< an integer of 64 bits */
  TENON_OPTION_REAL = 2,   /**< a real number */
  TENON_OPTION_STRING = 3, /**< any text */
  TENON_OPTION_CHOICE = 4, /**< one of a list of words */
  TENON_OPTION_WORD = 5,   /**< text that may be left out */
  TENON_OPTION_TYPE_MAX_ = 0x7fff
} TenonOptionType;

/** @brief Declares an option of the calling program, written -name. Not collective.
 *
 *  To be called before TenonInitialize() reads the command line. From the first declaration on,
 *  every undeclared option on the command line is an error.
 *
 *  @param[in] owner         the program's name, under which the help lists the option
 *  @param[in] name          without a dash
 *  @param[in] type          what values it takes
 *  @param[in] defaultValue  as text; NULL for none
 *  @param[in] help          one sentence; NULL for none
 *  @param[in] choices       "a|b|c" for TENON_OPTION_CHOICE, else NULL
 *  @return TENON_ERR_OPTION if the name is declared with another type or the default does not fit
 */
TENON_EXTERN TenonErrorCode TenonOptionsDeclare(const char* owner, const char* name,
                                                TenonOptionType type, const char* defaultValue,
                                                const char* help,
                                                const char* choices) TENON_NOEXCEPT;

/** @brief Sets an option. Not collective.
 *
 *  @param[in] key    as written on a command line: "-tenon_conv1_backend"
 *  @param[in] value  NULL for a flag or word that stands alone
 *  @return TENON_ERR_OPTION for an undeclared name or a value of the wrong type
 */
TENON_EXTERN TenonErrorCode TenonOptionsSet(const char* key, const char* value) TENON_NOEXCEPT;

/** @brief Reads an options file: one option a line, # begins a comment. Not collective.
 *  @return TENON_ERR_FILE if it cannot be read; TENON_ERR_OPTION, naming the line, for a bad one */
TENON_EXTERN TenonErrorCode TenonOptionsInsertFile(const char* path) TENON_NOEXCEPT;

/** @brief The value of a flag, or its default. Not collective.
 *
 *  @param[in]  prefix  of an object ("conv1_"); "" or NULL for none; "-" for the program's own
 *  @param[in]  name    declared, without a dash
 *  @param[out] value   TENON_TRUE or TENON_FALSE
 *  @return TENON_ERR_OPTION if no such flag is declared
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetFlag(const char* prefix, const char* name,
                                                TenonBool* value) TENON_NOEXCEPT;

/** @brief The value of an integer option, or its default. As TenonOptionsGetFlag(). */
TENON_EXTERN TenonErrorCode TenonOptionsGetInt(const char* prefix, const char* name,
                                               TenonInt* value) TENON_NOEXCEPT;

/** @brief The value of a real option, or its default. As TenonOptionsGetFlag(). */
TENON_EXTERN TenonErrorCode TenonOptionsGetReal(const char* prefix, const char* name,
                                                double* value) TENON_NOEXCEPT;

/** @brief The value of an option of text, a choice or a word, or its default.
 *         As TenonOptionsGetFlag().
 *
 *  @param[out] value     ends with 0
 *  @param[in]  capacity  size of the buffer in characters
 *  @return also TENON_ERR_ARG if the value does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetString(const char* prefix, const char* name, char* value,
                                                  int capacity) TENON_NOEXCEPT;

/** @brief Whether a value was given from any source, so that the default does not hold.
 *         As TenonOptionsGetFlag(). */
TENON_EXTERN TenonErrorCode TenonOptionsHas(const char* prefix, const char* name,
                                            TenonBool* given) TENON_NOEXCEPT;

/** @brief The number of options that are declared, those of all classes and of the program.
 *         Not collective; may be called at any time. */
TENON_EXTERN TenonErrorCode TenonOptionsGetDeclaredCount(int* count) TENON_NOEXCEPT;

/** @brief One option as declared. Not collective; may be called at any time.
 *
 *  Each of the addresses may be NULL. The texts live as long as the process and are never NULL.
 *
 *  @param[in]  index         from 0, in order of declaration
 *  @param[out] owner         class or program that reads it
 *  @param[out] key           as written without a prefix: "-tenon_backend"
 *  @param[out] type          what values it takes
 *  @param[out] defaultValue  as text; "" for none
 *  @param[out] help          one sentence
 *  @param[out] choices       "a|b|c" for TENON_OPTION_CHOICE, else ""
 *  @return TENON_ERR_ARG if the index is below 0 or not below the number of options
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetDeclared(int index, const char** owner, const char** key,
                                                    TenonOptionType* type,
                                                    const char** defaultValue, const char** help,
                                                    const char** choices) TENON_NOEXCEPT;

/** @brief Prints the options that contain a word, with default, value and source. Not collective.
 *  @param[in] word  NULL or "" for all options */
TENON_EXTERN TenonErrorCode TenonOptionsHelp(const char* word) TENON_NOEXCEPT;

#endif
