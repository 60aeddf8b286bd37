# Runs `program` and compares what it prints with the last comment block of `source`:
#   // Prints:
#   // the first line
#   // the second line
file(STRINGS "${source}" lines)
set(expected "")
set(inside OFF)
foreach(line IN LISTS lines)
  if(line MATCHES "^// Prints:")
    set(inside ON)
    set(expected "")
  elseif(inside AND line MATCHES "^// ?(.*)$")
    string(APPEND expected "${CMAKE_MATCH_1}\n")
  else()
    set(inside OFF)
  endif()
endforeach()
if(NOT inside)
  message(FATAL_ERROR "${source} does not end with a comment that opens with '// Prints:'")
endif()

execute_process(COMMAND "${program}" OUTPUT_VARIABLE actual RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} failed with ${result}; it printed\n${actual}")
endif()
if(NOT actual STREQUAL expected)
  message(FATAL_ERROR "${source} promises\n${expected}\nbut prints\n${actual}")
endif()
