# Where "troupe/<layer>/..." is found: include/troupe/ has a link to each layer. If a checkout or an archive has
# no links, they are created in the build folder.
set(troupe_include "${PROJECT_SOURCE_DIR}/include")
if(NOT EXISTS "${troupe_include}/troupe/runtime/version.hpp" OR NOT EXISTS "${troupe_include}/troupe/troupe.hpp")
  set(troupe_include "${PROJECT_BINARY_DIR}/include")
  file(MAKE_DIRECTORY "${troupe_include}/troupe")
  foreach(layer IN ITEMS actors api devices ops runtime serialization api/troupe.hpp)
    cmake_path(GET layer FILENAME name)
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${layer}" "${troupe_include}/troupe/${name}" SYMBOLIC)
  endforeach()
endif()
