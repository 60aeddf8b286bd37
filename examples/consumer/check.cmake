# Installs `build` into a new prefix, then configures, builds and runs the project in `source` with it,
# in `work`, and builds and runs its program again with the flags of pkg-config. `prefix_path` is the
# location of CAF, unless it is the system's.
file(REMOVE_RECURSE "${work}")
set(prefix "${work}/prefix")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed with ${result}:\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

list(JOIN flags " " flags)
run("${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -S "${source}" -B "${work}/build" -G "${generator}"
  "-DCMAKE_PREFIX_PATH=${prefix};${prefix_path}" "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}")
run("${CMAKE_COMMAND}" --build "${work}/build")
run("${work}/build/consumer")
if(NOT output MATCHES "as expected: .*fed twice.*troupe [0-9]+\\.[0-9]+\\.[0-9]+")
  message(FATAL_ERROR "the consumer printed\n${output}")
endif()
message(STATUS "the consumer printed: ${output}")

run("${work}/build/actor")
if(NOT output MATCHES "by an actor: f32\\[2\\] {3, 5}")
  message(FATAL_ERROR "the actor printed\n${output}")
endif()

# A missing component or an unsupported compiler is refused with a clear message.
function(refused sentence)
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${work}/refused" -B "${work}/refused/build" -G "${generator}"
    "-Dtroupe_DIR=${config}" ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(result EQUAL 0 OR NOT out MATCHES "${sentence}")
    message(FATAL_ERROR "expected '${sentence}' with ${ARGN}, got ${result}:\n${out}")
  endif()
endfunction()
file(GLOB_RECURSE config "${prefix}/*/troupe-config.cmake")
cmake_path(GET config PARENT_PATH config)
file(WRITE "${work}/refused/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(refused LANGUAGES NONE)
set(CMAKE_CXX_COMPILER_ID \"\${id}\")
set(CMAKE_CXX_COMPILER_VERSION \"\${version}\")
find_package(troupe REQUIRED \${components})
")
refused("there is no component gpu; the components are: caf" "-Dcomponents=COMPONENTS\;gpu")
refused("needs GCC 12 or later, or clang 15 or later; the C\\+\\+ compiler is clang 14.0.6" -Did=Clang
  -Dversion=14.0.6)
refused("the C\\+\\+ compiler is GCC 11.4" -Did=GNU -Dversion=11.4)

# The installed headers are exactly the public ones.
file(GLOB_RECURSE installed RELATIVE "${prefix}/include" "${prefix}/include/*")
file(STRINGS "${source}/../../api/public_headers.txt" listed REGEX "^troupe/")
list(SORT installed)
list(SORT listed)
if(NOT installed STREQUAL listed)
  message(FATAL_ERROR "installed are the headers\n${installed}\nbut public_headers.txt has\n${listed}")
endif()
separate_arguments(flag_list UNIX_COMMAND "${flags}")

# The same with pkg-config, for projects that do not use CMake.
find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE package "${prefix}/*/troupe.pc")
  get_filename_component(folder "${package}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  run("${pkg_config}" --cflags --libs troupe)
  separate_arguments(package_flags UNIX_COMMAND "${output}")
  run("${compiler}" ${flag_list} "${source}/main.cpp" -o "${work}/by_pkg_config" ${package_flags})
  run("${work}/by_pkg_config")
  message(STATUS "built with pkg-config: ${output}")
endif()
