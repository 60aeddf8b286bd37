# Writes `output`, the source that identifies this build to peers and users (serialization/wire/build_identity.hpp): a hash
# of the schema of messages, and the commit of the sources, or a hash of them without a repository. The file is
# not written if its content is the same, so that a build without changes compiles nothing.
#   cmake -Dsource=FOLDER -Dschema=FILE -Doutput=FILE -P build_identity.cmake
cmake_minimum_required(VERSION 3.25)

# Comments and spaces do not change the messages, so the hash ignores them.
file(READ "${schema}" text)
string(REGEX REPLACE "#[^\n]*" "" text "${text}")
string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
string(SHA256 schema_hash "${text}")
string(SUBSTRING "${schema_hash}" 0 16 schema_hash)

set(folders actors api devices ops runtime serialization cmake)
# Only a repository at the root counts: one that encloses an unpacked archive has other commits.
set(commit "")
find_program(git git)
if(git AND EXISTS "${source}/.git")
  execute_process(COMMAND "${git}" -C "${source}" rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "")
  else()
    execute_process(COMMAND "${git}" -C "${source}" diff --quiet HEAD -- ${folders} CMakeLists.txt
      OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE changed)
    if(changed)
      string(APPEND commit "-modified")
    endif()
  endif()
endif()
if(NOT commit)
  set(patterns ${folders})
  list(TRANSFORM patterns REPLACE "(.+)" "${source}/\\1/*")
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${source}" ${patterns})
  list(SORT files)
  set(hashes "")
  foreach(name IN LISTS files)
    file(SHA256 "${source}/${name}" hash)
    string(APPEND hashes "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING "${hash}" 0 12 hash)
  set(commit "sources-${hash}")
endif()

file(CONFIGURE OUTPUT "${output}" CONTENT
"// Written by cmake/build_identity.cmake.
#include \"troupe/serialization/wire/build_identity.hpp\"

namespace troupe {

uint64_t wire_schema_hash() noexcept { return 0x${schema_hash}; }
std::string_view build_commit() noexcept { return \"${commit}\"; }

} // namespace troupe
" @ONLY)
