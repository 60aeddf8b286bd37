# Finds FarmHash, whose Debian package ships no description. Defines FarmHash::farmhash.
find_path(FARMHASH_INCLUDE_DIR farmhash.h)
find_library(FARMHASH_LIBRARY farmhash)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FarmHash REQUIRED_VARS FARMHASH_LIBRARY FARMHASH_INCLUDE_DIR)
mark_as_advanced(FARMHASH_INCLUDE_DIR FARMHASH_LIBRARY)

if(FarmHash_FOUND AND NOT TARGET FarmHash::farmhash)
  add_library(FarmHash::farmhash UNKNOWN IMPORTED)
  set_target_properties(FarmHash::farmhash PROPERTIES
    IMPORTED_LOCATION "${FARMHASH_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${FARMHASH_INCLUDE_DIR}")
endif()
