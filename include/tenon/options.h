/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Options: named values from a file, the environment, the command line and calls.
 *
 *  An option of the library is written -tenon_[prefix_]name, where the prefix is that of the object
 *  it is meant for; without one it holds for all objects. Sources, each outranking those before:
 *  default, options file (-tenon_options_file), environment variable TENON_OPTIONS, command line
 *  (handed over by TenonInitialize()), TenonOptionsSet(). A name that no table declares, or a value
 *  of the wrong type or out of the option's bounds, is TENON_ERR_OPTION at once, and its source changes
 *  nothing. A value that no object has asked for is reported at TenonFinalize(), with the nearest
 *  option that one asked for.
 *
 *  On the command line Tenon looks only at names that begin with -tenon_ and at those that the program
 *  has declared; all others may be those of another library. A program whose command line has no others
 *  says so with TenonOptionsOwnCommandLine(): misspelt names are then errors too, and -help is
 *  answered. In TENON_OPTIONS, in an options file and in TenonOptionsSet() every name must be declared.
 *
 *  Nothing here is collective, but all ranks must set the same options.
 */
#ifndef TENON_OPTIONS_H
#define TENON_OPTIONS_H

#include <tenon/error.h>
#include <tenon/types.h>

/** What values an option takes. */
typedef enum TenonOptionType TENON_ENUM_INT {
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
 *  To be called before TenonInitialize() reads the command line. The same declaration twice counts
 *  once.
 *
 *  @param[in] owner         the program's name, under which the help lists the option; not empty
 *  @param[in] name          of letters, digits, '_', '.' and '-', without the dash in front; not a
 *                           number, and not beginning with tenon_
 *  @param[in] type          what values it takes
 *  @param[in] defaultValue  as text; NULL for none: the Get of its type then returns TENON_ERR_OPTION
 *                           unless a value was given, which TenonOptionsHas() tells
 *  @param[in] help          one sentence; NULL for none
 *  @param[in] choices       "a|b|c" for TENON_OPTION_CHOICE, else NULL or ""
 *  @return TENON_ERR_NULL if owner or name is NULL; TENON_ERR_ARG if there is no such type;
 *          TENON_ERR_OPTION if the owner, the name, the choices or the default are not as above, or if
 *          the name is declared already with another type, default or text
 */
TENON_EXTERN TenonErrorCode TenonOptionsDeclare(const char* owner, const char* name,
                                                TenonOptionType type, const char* defaultValue,
                                                const char* help,
                                                const char* choices) TENON_NOEXCEPT;

/** @brief Says that all options on the command line are the program's and Tenon's. Not collective.
 *
 *  To be called before TenonInitialize(), which then returns TENON_ERR_OPTION for every option that
 *  is not declared, and answers -help (or -h, --help), unless the program has declared it before: rank 0
 *  prints the help text handed to TenonInitialize() and the program's options with their defaults. If
 *  Tenon initialised MPI, TenonInitialize() then finalises it and ends the process with exit(0);
 *  otherwise it returns as usual, and the program finds the flag "help" set:
 *  TenonOptionsGetFlag("-", "help", &asked).
 *
 *  @return TENON_ERR_STATE if Tenon is initialised already
 */
TENON_EXTERN TenonErrorCode TenonOptionsOwnCommandLine(void) TENON_NOEXCEPT;

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
 *  @return TENON_ERR_OPTION if no such flag is declared, or if it has neither a value nor a default
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
