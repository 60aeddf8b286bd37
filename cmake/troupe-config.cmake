# find_package(troupe): the library is troupe::troupe. It needs nothing else to compile and link; programs that include
# troupe/api/caf.hpp find CAF for themselves.
include("${CMAKE_CURRENT_LIST_DIR}/troupe-targets.cmake")
