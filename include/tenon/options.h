/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Options: named values from a file, the environment, the command line and calls.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  An option of Tenon is written -tenon_[prefix_]name. With a prefix it applies to the objects of
 *  this prefix, without a prefix to all objects. Sources in order of increasing precedence:
 *
 *  1. the default
 *  2. the options file (-tenon_options_file)
 *  3. the environment variable TENON_OPTIONS
 *  4. the command line (passed to TenonInitialize())
 *  5. TenonOptionsSet()
 *
 *  If a source has an undeclared name, a value of the wrong type, or a value out of the option's
 *  bounds, the call returns TENON_ERR_OPTION, and no option of the source is set. TenonFinalize()
 *  reports each option that was set but not used, with the most similar option that was read.
 *
 *  On the command line Tenon reads only names that begin with -tenon_, and names that the program
 *  has declared; other names can belong to another library. A program whose command line has no
 *  options of other libraries calls TenonOptionsOwnCommandLine(): unknown names are then errors,
 *  and -help prints the help. In TENON_OPTIONS, in an options file and in TenonOptionsSet() every
 *  name must be declared.
 *
 *  No call in this file is collective, but all ranks must set the same options.
 */
#ifndef TENON_OPTIONS_H
#define TENON_OPTIONS_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Type of an option's value. */
typedef enum TenonOptionType TENON_ENUM_INT {
  TENON_OPTION_FLAG = 0,     /**< true or false; true if no value is written */
  TENON_OPTION_INT = 1,      /**< an integer of 64 bits */
  TENON_OPTION_REAL = 2,     /**< a real number */
  TENON_OPTION_STRING = 3,   /**< any text */
  TENON_OPTION_CHOICE = 4,   /**< one of a list of words */
  TENON_OPTION_WORD = 5,     /**< text that may be left out */
  TENON_OPTION_INTEGERS = 6, /**< integers, separated by commas */
  TENON_OPTION_TYPE_MAX_ = 0x7fff
} TenonOptionType;

/** @brief Declares an option of the program, written -name. Local; call on all ranks.
 *
 *  Call before TenonInitialize(), which reads the command line. Repeating a declaration has no
 *  effect.
 *
 *  @param[in] owner         name of the program, under which the help lists the option; not empty
 *  @param[in] name          name of the option, without the leading dash: letters, digits, '_', '.'
 *                           and '-'; not a number, and not beginning with tenon_
 *  @param[in] type          type of the value
 *  @param[in] defaultValue  default value as text. May be NULL, in which case there is none, and
 *                           the call TenonOptionsGet... of its type returns TENON_ERR_OPTION
 *                           unless a value was set (TenonOptionsHas()).
 *  @param[in] help          one sentence for the help. May be NULL, in which case there is none.
 *  @param[in] choices       words "a|b|c" of a TENON_OPTION_CHOICE; "" for the other types. May be
 *                           NULL, in which case it is "".
 *  @return TENON_ERR_NULL    owner or name is NULL
 *  @return TENON_ERR_OPTION  the owner, the name, the choices or the default do not have this
 *                            form, or the name is already declared with another type, default or
 *                            text
 *  @return TENON_ERR_ARG     type is not an option type
 */
TENON_EXTERN TenonErrorCode TenonOptionsDeclare(const char* owner, const char* name,
                                                TenonOptionType type, const char* defaultValue,
                                                const char* help,
                                                const char* choices) TENON_NOEXCEPT;

/** @brief Declares that the command line has no options of other libraries. Not collective.
 *
 *  Call it before TenonInitialize(), which then returns TENON_ERR_OPTION for every undeclared
 *  option. If the command line has -help (or -h, --help), and the program has not declared an
 *  option of this name, rank 0 prints the help text passed to TenonInitialize() and the program's
 *  options with their defaults. If Tenon initialised MPI, TenonInitialize() then finalises MPI and
 *  ends the process with exit(0), or with exit(1) if the text could not be written. Otherwise
 *  TenonInitialize() returns as usual, and the flag "help" is set: TenonOptionsGetFlag("-", "help",
 *  &isHelpRequested).
 *
 *  @return TENON_ERR_STATE  Tenon is already initialised
 */
TENON_EXTERN TenonErrorCode TenonOptionsOwnCommandLine(void) TENON_NOEXCEPT;

/** @brief Sets an option. Local; call on all ranks.
 *  @param[in] key    option as on a command line: "-tenon_conv1_backend"
 *  @param[in] value  value as text. May be NULL, in which case the option is a flag or word without
 *                    a value.
 *  @return TENON_ERR_OPTION  the option is not declared, or the value is of the wrong type or out
 *                            of bounds */
TENON_EXTERN TenonErrorCode TenonOptionsSet(const char* key, const char* value) TENON_NOEXCEPT;

/** @brief Reads an options file: one option per line, # begins a comment. Local; call on all ranks.
 *  @param[in] path  path of the file
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_OPTION  a line is not a valid option; the message names the line */
TENON_EXTERN TenonErrorCode TenonOptionsInsertFile(const char* path) TENON_NOEXCEPT;

/** @brief Returns the value of a flag, or its default. Not collective.
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[out] value   TENON_TRUE or TENON_FALSE
 *  @return TENON_ERR_OPTION  no such flag is declared, or it has neither a value nor a default */
TENON_EXTERN TenonErrorCode TenonOptionsGetFlag(const char* prefix, const char* name,
                                                TenonBool* value) TENON_NOEXCEPT;

/** @brief Returns the value of an integer option, or its default. Not collective.
 *
 *  See TenonOptionsGetFlag() for the errors.
 *
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[out] value   value
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetInt(const char* prefix, const char* name,
                                               TenonInt* value) TENON_NOEXCEPT;

/** @brief Returns the values of an option of integers, or its default. Not collective.
 *
 *  See TenonOptionsGetFlag() for the errors.
 *
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[in]  length  length of the array values
 *  @param[out] values  [length] values. May be NULL, in which case only count is returned.
 *  @param[out] count   number of values. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the values do not fit into the array */
TENON_EXTERN TenonErrorCode TenonOptionsGetIntegers(const char* prefix, const char* name,
                                                    TenonInt length, TenonInt values[],
                                                    TenonInt* count) TENON_NOEXCEPT;

/** @brief Returns the value of a real option, or its default. Not collective.
 *
 *  See TenonOptionsGetFlag() for the errors.
 *
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[out] value   value
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetReal(const char* prefix, const char* name,
                                                double* value) TENON_NOEXCEPT;

/** @brief Returns the value of a text, choice or word, or its default. Not collective.
 *
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[out] value   [length] value. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the value needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_OPTION  no such option of text is declared
 *  @return TENON_ERR_ARG     the value does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetString(const char* prefix, const char* name,
                                                  char value[], TenonInt length,
                                                  TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns whether an option was given by any source. Not collective.
 *
 *  See TenonOptionsGetFlag() for the errors.
 *
 *  @param[in]  prefix  prefix of an object ("conv1_"), or "-" for options of the program. May be
 *                      NULL, in which case there is no prefix.
 *  @param[in]  name    name of a declared option, without a dash
 *  @param[out] given   TENON_TRUE or TENON_FALSE
 */
TENON_EXTERN TenonErrorCode TenonOptionsHas(const char* prefix, const char* name,
                                            TenonBool* given) TENON_NOEXCEPT;

/** @brief Prints the options that contain a word, with default, value and source. Not collective.
 *  @param[in] word  word to search for. May be NULL, in which case all options are printed. */
TENON_EXTERN TenonErrorCode TenonOptionsHelp(const char* word) TENON_NOEXCEPT;

#endif
