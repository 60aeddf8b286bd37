# Refuses compilers that cannot compile Troupe's headers, with an error that names the reason. Included by Troupe's own build and by
# find_package(troupe). Sets troupe_compiler_refusal, which is empty where the compiler is new enough.
#
# Older compilers lack std::source_location. GCC 12 is the oldest that Troupe is built with, and clang 15 is the first
# that has it with the standard library of GCC.
set(troupe_compiler_refusal "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
    set(troupe_compiler_refusal "GCC ${CMAKE_CXX_COMPILER_VERSION}")
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    set(troupe_compiler_refusal "clang ${CMAKE_CXX_COMPILER_VERSION}")
  endif()
elseif(CMAKE_CXX_COMPILER_ID)
  set(troupe_compiler_refusal "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()
if(troupe_compiler_refusal)
  string(PREPEND troupe_compiler_refusal "Troupe needs GCC 12 or later, or clang 15 or later; the C++ compiler is ")
  string(APPEND troupe_compiler_refusal " (${CMAKE_CXX_COMPILER}). Choose another with -DCMAKE_CXX_COMPILER=g++-12 or the like.")
endif()
