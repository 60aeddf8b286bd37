# Finds xxHash, whose Debian package ships only a pkg-config file. Defines xxHash::xxhash.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
find_library(XXHASH_LIBRARY xxhash)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash REQUIRED_VARS XXHASH_LIBRARY XXHASH_INCLUDE_DIR)
# Most packages for x86 include a dispatcher that selects the widest vector instructions at run time.
if(xxHash_FOUND AND NOT DEFINED XXHASH_HAS_DISPATCH)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES "${XXHASH_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${XXHASH_LIBRARY}")
  check_cxx_source_compiles("#include <xxh_x86dispatch.h>
    int main() { return static_cast<int>(XXH3_64bits_dispatch(nullptr, 0)); }" XXHASH_HAS_DISPATCH)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
mark_as_advanced(XXHASH_INCLUDE_DIR XXHASH_LIBRARY)

if(xxHash_FOUND AND NOT TARGET xxHash::xxhash)
  add_library(xxHash::xxhash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxhash PROPERTIES
    IMPORTED_LOCATION "${XXHASH_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${XXHASH_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "$<$<BOOL:${XXHASH_HAS_DISPATCH}>:TROUPE_XXHASH_DISPATCH>")
endif()
