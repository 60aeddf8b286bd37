# Runs `program`, with `argument`, and compares what it prints with the last comment of `source`:
#   // Prints:
#   // the first line
#   // the second line
file(READ "${source}" text)
set(mark "\n// Prints:\n")
string(FIND "${text}" "${mark}" at REVERSE)
if(at EQUAL -1)
  message(FATAL_ERROR "${source} does not end with a comment that opens with '// Prints:'")
endif()
string(LENGTH "${mark}" length)
math(EXPR at "${at} + ${length}")
string(SUBSTRING "${text}" ${at} -1 promised)
if(NOT promised MATCHES "^(//[^\n]*\n)+$")
  message(FATAL_ERROR "in ${source}, something follows the comment that says what it prints")
endif()
# Each line without its slashes; a leading newline makes the first line like the others.
string(REGEX REPLACE "\n// ?" "\n" promised "\n${promised}")
string(SUBSTRING "${promised}" 1 -1 promised)

execute_process(COMMAND "${program}" ${argument} OUTPUT_VARIABLE printed RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} failed with ${result}; it printed\n${printed}")
endif()
if(NOT printed STREQUAL promised)
  message(FATAL_ERROR "${source} promises\n${promised}\nbut prints\n${printed}")
endif()
