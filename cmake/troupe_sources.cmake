# Joins sources to units of compilation, and lists the ops and kernels that sources define.

# Writes units of EACH sources each to the build folder, and sets VARIABLE to the list of units: most of the time to
# compile a small source is spent on its headers. A unit joins sources of one folder and one kind (.cpp, .cpu.cpp,
# .cuda.cu ...); with ACROSS, sources of all folders, in units with that name. Units have no absolute paths, so that a
# compiler cache finds them in every checkout. Generated sources are not joined. With -DTROUPE_UNITY=OFF, VARIABLE is the
# list of sources.
#   troupe_join_sources(VARIABLE [EXTENSION .cpp] [EACH n] [ACROSS name] SOURCES...)
function(troupe_join_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXTENSION;EACH;ACROSS" "SOURCES")
  set(${variable} ${arg_SOURCES} PARENT_SCOPE)
  if(NOT TROUPE_UNITY)
    return()
  endif()
  set(groups "")
  set(joined "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" generated)
    if(generated)
      list(APPEND joined "${source}")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    cmake_path(GET path PARENT_PATH folder)
    string(REGEX REPLACE "/shared$" "" folder "${folder}")
    if(arg_ACROSS)
      set(folder "${arg_ACROSS}")
    endif()
    cmake_path(GET path EXTENSION kind)
    string(MAKE_C_IDENTIFIER "${folder}${kind}" group)
    list(APPEND groups ${group})
    list(APPEND sources_of_${group} "#include \"${path}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH sources_of_${group} count)
    math(EXPR batches "(${count} + ${arg_EACH} - 1) / ${arg_EACH}")
    foreach(batch RANGE 1 ${batches})
      # Batches of equal length.
      math(EXPR begin "(${batch} - 1) * ${count} / ${batches}")
      math(EXPR length "${batch} * ${count} / ${batches} - ${begin}")
      list(SUBLIST sources_of_${group} ${begin} ${length} lines)
      list(JOIN lines "" text)
      set(output "${CMAKE_CURRENT_BINARY_DIR}/joined/${group}_${batch}${arg_EXTENSION}")
      file(CONFIGURE OUTPUT "${output}" CONTENT "${text}" @ONLY)
      list(APPEND joined "${output}")
    endforeach()
  endforeach()
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

# Adds a source to the target that lists what the sources define (cmake/list_ops.py):
#   troupe_list_ops(TARGET FILE HEADER h FUNCTION f DEFINE op|kernel|devices|folders [GPU_SUFFIX s] SOURCES...)
function(troupe_list_ops target file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;FUNCTION;DEFINE;GPU_SUFFIX" "SOURCES")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${file}")
  list(JOIN arg_SOURCES "\n" text)
  file(CONFIGURE OUTPUT "${output}.sources" CONTENT "${text}\n" @ONLY)
  set(options --header "${arg_HEADER}" --function "${arg_FUNCTION}" --define "${arg_DEFINE}"
    --sources "${output}.sources")
  if(arg_GPU_SUFFIX)
    list(APPEND options --gpu-suffix "${arg_GPU_SUFFIX}")
  endif()
  add_custom_command(OUTPUT "${output}"
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/list_ops.py" "${output}" ${options}
    DEPENDS ${arg_SOURCES} "${output}.sources" "${PROJECT_SOURCE_DIR}/cmake/list_ops.py"
    COMMENT "Writing ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
