# troupe_library(name
#   SOURCES ...          files relative to the calling folder; none yet makes an INTERFACE library
#   DEPENDS ...          what the library's headers include
#   PRIVATE_DEPENDS ...  linked, but not visible to users' compiles
#   HEADER_DEPENDS ...)  header-only targets that only the library's own sources include
#
# Makes the static library troupe_<name> with the alias troupe::<name>, and installs it.
function(troupe_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS;HEADER_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "troupe_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(target troupe_${name})
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_DEPENDS})
    troupe_header_depends(${target} ${arg_HEADER_DEPENDS})
    troupe_warnings(${target})
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(troupe::${name} ALIAS ${target})

  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>")
  target_link_libraries(${target} ${scope} ${arg_DEPENDS})
  troupe_export(${name})
endfunction()

# Lets a target's own sources include header-only libraries without telling anybody: a PRIVATE link of
# a static library would make every user of the installed package find them, too.
function(troupe_header_depends target)
  foreach(dependency IN LISTS ARGN)
    target_include_directories(${target} SYSTEM PRIVATE
      "$<TARGET_PROPERTY:${dependency},INTERFACE_INCLUDE_DIRECTORIES>")
    target_compile_definitions(${target} PRIVATE
      "$<TARGET_PROPERTY:${dependency},INTERFACE_COMPILE_DEFINITIONS>")
  endforeach()
endfunction()

# Makes an executable with our warnings and include root: troupe_executable(name SOURCES... DEPENDS...).
function(troupe_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;HEADER_DEPENDS")
  add_executable(${target} ${arg_SOURCES})
  if(TROUPE_SANITIZE)
    set(defaults "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp")
    target_sources(${target} PRIVATE "${defaults}")
    set_source_files_properties("${defaults}" PROPERTIES
      COMPILE_DEFINITIONS "CAF_INSTRUMENTED=$<BOOL:${troupe_caf_instrumented}>")
  endif()
  target_link_libraries(${target} PRIVATE ${arg_DEPENDS})
  troupe_header_depends(${target} ${arg_HEADER_DEPENDS})
  troupe_warnings(${target})
endfunction()

# Adds troupe_<name> to the installed package, as troupe::<name>.
function(troupe_export name)
  set_target_properties(troupe_${name} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY TROUPE_EXPORTED troupe_${name})
endfunction()
