# Third-party libraries, all from the system. Those that static linking of an installed Troupe needs
# are repeated in cmake/troupe-config.cmake.in and cmake/troupe.pc.in.
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter) # lists of ops, tests
find_package(CAF 0.17...<0.18 REQUIRED) # actors, api; docs/caf-versions.md
set(troupe_caf_instrumented OFF)
if(TROUPE_SANITIZE STREQUAL "thread")
  if(CAF_CORE_LIBRARY MATCHES "/caf-tsan/")
    set(troupe_caf_instrumented ON)
  else()
    message(STATUS "CAF is not instrumented: the thread sanitizer cannot judge actors "
      "(scripts/instrumented-caf builds one)")
  endif()
endif()
# Cap'n Proto's package (0.9) looks for libatomic with a check that cannot compile as C++, and so
# fails in a project without C; the answer is known.
set(FOUND_LIBATOMIC TRUE)
find_package(CapnProto REQUIRED)  # serialization
find_package(xxHash REQUIRED)     # serialization
# New Protobuf's own package knows what it needs; that of Debian 12 has none, CMake finds it.
find_package(Protobuf CONFIG QUIET) # serialization
if(NOT Protobuf_FOUND)
  find_package(Protobuf 3.21 REQUIRED)
endif()
find_package(ZLIB REQUIRED)       # serialization, api
find_package(Snappy REQUIRED)     # serialization
find_package(OpenSSL 3.0 REQUIRED COMPONENTS SSL Crypto) # serialization
find_package(DNNL REQUIRED)       # devices, ops
find_package(RE2 REQUIRED)        # ops
find_package(FarmHash REQUIRED)   # ops
find_package(PNG REQUIRED)        # ops
find_package(JPEG REQUIRED)       # ops
find_package(GIF REQUIRED)        # ops

# Header-only: named in HEADER_DEPENDS, they leave no trace in the installed package.
find_package(Eigen3 REQUIRED NO_MODULE) # a request for 3.4 would refuse 5
if(Eigen3_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "Troupe needs Eigen 3.4 or later, found ${Eigen3_VERSION} (${Eigen3_DIR})")
endif()
find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED CONFIG) # CMake has no module for it any more

if(TROUPE_BUILD_TESTS)
  find_package(Catch2 REQUIRED)
  message(STATUS "Catch2 ${Catch2_VERSION}")
endif()
if(TROUPE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
# The `troupe` command and the examples parse their arguments with it.
find_package(CLI11 REQUIRED)
