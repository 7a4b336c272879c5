// SPDX-License-Identifier: BSD-2-Clause
// The manual's indexes, as Markdown tables made of the tables that the library itself uses.
#pragma once

// Every option of every class, under the class that reads it.
void printOptionIndex();
// Every error code.
void printErrorIndex();
