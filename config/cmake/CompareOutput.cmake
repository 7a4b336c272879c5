# SPDX-License-Identifier: BSD-2-Clause
# cmake -DCOMMAND="program;arguments" -DEXPECTED=FILE -P CompareOutput.cmake: runs the command and
# compares what it prints with the file.
execute_process(COMMAND ${COMMAND} OUTPUT_VARIABLE printed RESULT_VARIABLE code)
if(code)
  message(FATAL_ERROR "${COMMAND} ended with ${code}\n${printed}")
endif()
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "expected, from ${EXPECTED}:\n${expected}\nprinted:\n${printed}")
endif()
