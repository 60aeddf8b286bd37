# Finds CAF 0.17, whose packages ship neither a CMake package nor a pkg-config file.
# Defines CAF::core and CAF::io. The headers are system headers, so CAF causes no warnings.
find_path(CAF_INCLUDE_DIR caf/config.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
if(CAF_CORE_LIBRARY)
  # Of the same build: one that was instrumented for a sanitizer must not be mixed with another.
  get_filename_component(caf_folder "${CAF_CORE_LIBRARY}" DIRECTORY)
  find_library(CAF_IO_LIBRARY caf_io PATHS "${caf_folder}" NO_DEFAULT_PATH)
  if(NOT CAF_IO_LIBRARY)
    set(caf_reason "there is no caf_io beside ${CAF_CORE_LIBRARY}")
  endif()
endif()

if(CAF_INCLUDE_DIR)
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" caf_version_line
       REGEX "^#define CAF_VERSION [0-9]+")
  if(caf_version_line MATCHES "CAF_VERSION ([0-9]+)")
    # 1706 means 0.17.6.
    math(EXPR caf_major "${CMAKE_MATCH_1} / 10000")
    math(EXPR caf_minor "${CMAKE_MATCH_1} / 100 % 100")
    math(EXPR caf_patch "${CMAKE_MATCH_1} % 100")
    set(CAF_VERSION "${caf_major}.${caf_minor}.${caf_patch}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_CORE_LIBRARY CAF_IO_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "${caf_reason}")
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY)

if(CAF_FOUND AND NOT TARGET CAF::core)
  include(CMakeFindDependencyMacro)
  find_dependency(Threads)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  add_library(CAF::io UNKNOWN IMPORTED)
  set_target_properties(CAF::io PROPERTIES
    IMPORTED_LOCATION "${CAF_IO_LIBRARY}"
    INTERFACE_LINK_LIBRARIES CAF::core)
endif()
