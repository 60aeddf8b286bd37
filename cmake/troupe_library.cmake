# troupe_component(name
#   SOURCES ...        compiled to objects, many to a unit where they are not generated
#   EACH n             the number of sources in a unit
#   ACROSS             units join sources of several folders
#   PRECOMPILE ...     headers that are compiled once for all units
#   LIBRARIES ...      linked; only the component's own sources include them
#   HEADER_ONLY ...    header-only libraries that only the component's own sources include
#   OPTIONS ...)       of the compiler
#
# Makes the object library troupe_<name>, which is part of the product and of troupe_internals, which tests link.
function(troupe_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ACROSS" "EACH" "SOURCES;PRECOMPILE;LIBRARIES;HEADER_ONLY;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "troupe_component(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_EACH)
    set(across "")
    if(arg_ACROSS)
      set(across ACROSS ${name})
    endif()
    troupe_join_sources(arg_SOURCES EXTENSION .cpp EACH ${arg_EACH} ${across} SOURCES ${arg_SOURCES})
  endif()
  set(target troupe_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}" "${troupe_include}")
  target_link_libraries(${target} PRIVATE Threads::Threads ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  troupe_header_only(${target} ${arg_HEADER_ONLY})
  troupe_warnings(${target})
  troupe_precompile(${target} ${arg_PRECOMPILE})
  set_property(GLOBAL APPEND PROPERTY TROUPE_COMPONENTS ${target})
endfunction()

# Lets only a target's own sources include header-only libraries. With target_link_libraries, every user of the
# installed package would have to find them, too.
function(troupe_header_only target)
  foreach(dependency IN LISTS ARGN)
    target_include_directories(${target} SYSTEM PRIVATE
      "$<TARGET_PROPERTY:${dependency},INTERFACE_INCLUDE_DIRECTORIES>")
    target_compile_definitions(${target} PRIVATE
      "$<TARGET_PROPERTY:${dependency},INTERFACE_COMPILE_DEFINITIONS>")
  endforeach()
endfunction()

# Precompiles headers that most sources of a target include. They are written as in the sources: "troupe/..." or <...>.
function(troupe_precompile target)
  set(headers ${ARGN})
  list(TRANSFORM headers REPLACE "^troupe/" "${troupe_include}/troupe/")
  list(TRANSFORM headers REPLACE "^tests/" "${PROJECT_SOURCE_DIR}/tests/")
  if(headers AND TROUPE_UNITY)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()

# troupe_executable(name SOURCES ... [EACH n] [PRECOMPILE ...] LIBRARIES ... HEADER_ONLY ...)
function(troupe_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EACH" "SOURCES;PRECOMPILE;LIBRARIES;HEADER_ONLY")
  if(arg_EACH)
    troupe_join_sources(arg_SOURCES EXTENSION .cpp EACH ${arg_EACH} SOURCES ${arg_SOURCES})
  endif()
  add_executable(${target} ${arg_SOURCES})
  if(TROUPE_SANITIZE)
    set(defaults "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp")
    target_sources(${target} PRIVATE "${defaults}")
    set_source_files_properties("${defaults}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON
      COMPILE_DEFINITIONS "CAF_INSTRUMENTED=$<BOOL:${troupe_caf_instrumented}>")
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${troupe_include}")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  troupe_header_only(${target} ${arg_HEADER_ONLY})
  troupe_warnings(${target})
  troupe_precompile(${target} ${arg_PRECOMPILE})
endfunction()
