/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The list of declared options, for programs that print it or generate documentation.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  Options are those of Tenon's classes and those of the program (TenonOptionsDeclare()). tenon.h
 *  does not include this header.
 */
#ifndef TENON_EXT_OPTIONS_H
#define TENON_EXT_OPTIONS_H

#include <tenon/options.h>

/** @brief Returns the number of declared options, of all classes and the program. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[out] count  number of options
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetDeclaredCount(int* count) TENON_NOEXCEPT;

/** @brief Text of an option's declaration. */
typedef enum TenonOptionText TENON_ENUM_INT {
  TENON_OPTION_TEXT_OWNER = 0,   /**< class or program that reads the option */
  TENON_OPTION_TEXT_KEY = 1,     /**< option without a prefix: "-tenon_backend" */
  TENON_OPTION_TEXT_DEFAULT = 2, /**< default value; "" if there is none */
  TENON_OPTION_TEXT_HELP = 3,    /**< one sentence */
  TENON_OPTION_TEXT_CHOICES = 4, /**< words "a|b|c" of a TENON_OPTION_CHOICE, otherwise "" */
  TENON_OPTION_TEXT_TYPE = 5,    /**< flag, integer, integers, real, string, choice or word */
  TENON_OPTION_TEXT_MAX_ = 0x7fff
} TenonOptionText;

/** @brief Returns a text of a declared option. Not collective.
 *
 *  The call can be made at any time.
 *
 *  @param[in]  index   index of the option, counted from 0 in order of declaration
 *  @param[in]  which   which of its texts
 *  @param[out] text    [length] text. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  there is no such option or text, or the text does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonOptionsGetDeclaredText(int index, TenonOptionText which,
                                                        char text[], TenonInt length,
                                                        TenonInt* needed) TENON_NOEXCEPT;

#endif
