# Every option of the build. A misspelt one is an error: silently ignoring -DTROUPE_SANITISE=address
# would pass for a clean sanitizer run.
option(TROUPE_NATIVE "Compile for this machine's processor (-march=native); not portable" OFF)
# For users, the preset `release` sets these to OFF.
option(TROUPE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_UNITY "Compile many sources as one; OFF shows whether each includes what it needs" ON)
option(TROUPE_WERROR "Treat warnings in Troupe's own code as errors: for its developers (scripts/test --werror)" OFF)
option(TROUPE_LIBFUZZER "Drive the fuzz targets with clang's libFuzzer instead of the built-in driver" OFF)

# Options with a fixed set of values: choice(NAME DEFAULT DOC VALUES...).
function(troupe_choice name default doc)
  set(${name} "${default}" CACHE STRING "${doc}")
  set_property(CACHE ${name} PROPERTY STRINGS ${ARGN})
  if(NOT "${${name}}" IN_LIST ARGN)
    list(JOIN ARGN "', '" values)
    message(FATAL_ERROR "${name} is '${${name}}'; it may be one of '${values}'")
  endif()
endfunction()

troupe_choice(TROUPE_SANITIZE "" "Sanitizer; address includes undefined" "" address thread)
troupe_choice(TROUPE_CUDA AUTO "CUDA devices and kernels: where there is a GPU, required, or never" AUTO ON OFF)

set(troupe_known_options
  TROUPE_UNITY TROUPE_NATIVE TROUPE_BUILD_TESTS TROUPE_BUILD_EXAMPLES TROUPE_BUILD_BENCH TROUPE_WERROR
  TROUPE_LIBFUZZER TROUPE_SANITIZE TROUPE_CUDA)
get_cmake_property(troupe_cached CACHE_VARIABLES)
list(FILTER troupe_cached INCLUDE REGEX "^TROUPE_")
list(REMOVE_ITEM troupe_cached ${troupe_known_options})
if(troupe_cached)
  foreach(name IN LISTS troupe_cached)
    # Otherwise the misspelt name stays cached and fails the corrected configure, too.
    unset(${name} CACHE)
  endforeach()
  list(JOIN troupe_cached " " unknown)
  list(JOIN troupe_known_options " " known)
  message(FATAL_ERROR "unknown option ${unknown}; Troupe knows ${known}")
endif()
