# Compiler, linker and cache settings shared by all targets of this build (none of them exported).
include("${CMAKE_CURRENT_LIST_DIR}/troupe-compilers.cmake")
if(troupe_compiler_refusal)
  message(FATAL_ERROR "${troupe_compiler_refusal}")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()

  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # ccache needs the exceptions (sloppiness) to cache sources with a precompiled header. Depend mode compares the
    # contents of headers: without it, ccache compares preprocessed text, and after an edit of a comment it returns the
    # precompiled header of the former text, in which GCC does not recognize the edited header as included already
    # (#pragma once compares size and checksum). The namespace separates the results of the two modes.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_DEPEND=1 CCACHE_NAMESPACE=troupe-depend "${CCACHE_PROGRAM}")
  endif()
  if(CCACHE_PROGRAM AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  endif()
  mark_as_advanced(CCACHE_PROGRAM)
endif()

if(TROUPE_NATIVE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-march=native>)
endif()

if(TROUPE_SANITIZE STREQUAL "address")
  # Undefined behaviour stops the test: a message on stderr of a passing test is read by nobody.
  # Not -fsanitize=null: CAF 0.17's headers bind references to null that nobody reads
  # (init_fun_factory.hpp), and reading through null ends the test in any case.
  set(troupe_sanitize -fsanitize=address,undefined -fno-sanitize=null -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
elseif(TROUPE_SANITIZE STREQUAL "thread")
  set(troupe_sanitize -fsanitize=thread -fno-omit-frame-pointer)
  # The sanitizer does not know fences. A thread that waits in Asio takes a lock as well.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(TROUPE_SANITIZE)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${troupe_sanitize}>")
  add_link_options(${troupe_sanitize})
endif()

# By default GCC collects garbage repeatedly once a unit needs 128 MiB: an eighth of the time of large units.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=600000>")
endif()

# Kernels are optimized in all builds. With this cost model, -O3 vectorizes only a few more loops over integers than
# -O2, and takes a third of the compile time of kernels.
set(troupe_kernel_options "$<$<CONFIG:RelWithDebInfo>:-O2>$<$<CONFIG:Release>:-O3>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND troupe_kernel_options -fvect-cost-model=dynamic)
endif()

# Warnings for our own targets; third-party headers are SYSTEM and stay quiet.
function(troupe_warnings target)
  # A local that hides a member or a namespace's name is harmless, and GCC reports it in places
  # that clang does not; one that hides a local is a mistake.
  set(warnings -Wall -Wextra -Wpedantic -Wnon-virtual-dtor)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wshadow=local)
  else()
    list(APPEND warnings -Wshadow)
  endif()
  if(TROUPE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wno-maybe-uninitialized) # false alarms in instrumented library templates
  endif()
  if(TROUPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND warnings -Wno-subobject-linkage) # a joined source is no header
  endif()
  if(TROUPE_WERROR)
    list(APPEND warnings -Werror)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
endfunction()
