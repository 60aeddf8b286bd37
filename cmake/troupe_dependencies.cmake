# Third-party libraries, all from the system. The shared library is linked with them; an installed
# Troupe names none of them, except CAF for the component caf (cmake/troupe-config.cmake). The comment
# after a library names the layers that include it.
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
# Cap'n Proto's package (0.9) checks for libatomic with code that does not compile as C++. The check
# would fail in a project without C, so its result is set here.
set(FOUND_LIBATOMIC TRUE)
find_package(CapnProto REQUIRED)  # serialization
find_package(xxHash REQUIRED)     # serialization
# Recent releases of Protobuf have a CMake package with their dependencies. Debian 12's has none, and
# is found by CMake's own module.
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

# Header-only libraries: targets name them in HEADER_ONLY, so the installed package does not need them.
find_package(Eigen3 REQUIRED NO_MODULE) # find_package(Eigen3 3.4) would refuse Eigen 5
if(Eigen3_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "Troupe needs Eigen 3.4 or later, found ${Eigen3_VERSION} (${Eigen3_DIR})")
endif()
find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED CONFIG) # CMake's module for Boost is removed

if(TROUPE_BUILD_TESTS)
  find_package(Catch2 REQUIRED)
  message(STATUS "Catch2 ${Catch2_VERSION}")
endif()
if(TROUPE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
# The `troupe` command, the examples and some tests parse their arguments with CLI11.
find_package(CLI11 REQUIRED)
