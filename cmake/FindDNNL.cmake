# Finds oneDNN (2.6 or 3) and defines DNNL::dnnl. Debian's CMake package requires the
# OpenCL headers, which libdnnl-dev does not install and CPU kernels do not need.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)

if(DNNL_INCLUDE_DIR)
  set(DNNL_VERSION "")
  file(STRINGS "${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" dnnl_version_lines
       REGEX "^#define DNNL_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
  foreach(line IN LISTS dnnl_version_lines)
    string(REGEX MATCH "[0-9]+$" number "${line}")
    string(APPEND DNNL_VERSION "${number}.")
  endforeach()
  string(REGEX REPLACE "\\.$" "" DNNL_VERSION "${DNNL_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DNNL
  REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR
  VERSION_VAR DNNL_VERSION)
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)

if(DNNL_FOUND AND NOT TARGET DNNL::dnnl)
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION "${DNNL_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
endif()
