# Lists ops by stem. troupe_add_ops(nn/softmax) means:
#   ops/nn/softmax.cpp       defines `extern const op_def softmax` in namespace troupe::ops
#   ops/nn/softmax.cpu.cpp   defines `extern const kernel_def softmax_cpu`, if the file exists
#   ops/nn/softmax.cuda.cu   defines `extern const kernel_def softmax_cuda`, if the file exists
# A name that is a C++ keyword carries a trailing underscore (control/switch_).
function(troupe_add_ops)
  foreach(stem IN LISTS ARGN)
    set(source "${PROJECT_SOURCE_DIR}/ops/${stem}.cpp")
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "op '${stem}' is listed in ${CMAKE_CURRENT_LIST_FILE}, "
        "but ops/${stem}.cpp does not exist")
    endif()
    get_filename_component(name "${stem}" NAME)
    get_property(names GLOBAL PROPERTY TROUPE_OP_NAMES)
    if(name IN_LIST names)
      message(FATAL_ERROR "two ops are called '${name}'; the second is '${stem}'")
    endif()
    set_property(GLOBAL APPEND PROPERTY TROUPE_OP_NAMES "${name}")
    set_property(GLOBAL APPEND PROPERTY TROUPE_OP_SOURCES "${source}")
    foreach(kernel IN ITEMS cpu.cpp cuda.cu)
      get_filename_component(device "${kernel}" NAME_WLE)
      set(source "${PROJECT_SOURCE_DIR}/ops/${stem}.${kernel}")
      if(EXISTS "${source}" AND (troupe_with_cuda OR NOT device STREQUAL "cuda"))
        set_property(GLOBAL APPEND PROPERTY TROUPE_OP_SOURCES "${source}")
        set_property(GLOBAL APPEND PROPERTY TROUPE_KERNEL_NAMES "${name}_${device}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Writes the lists of all ops and kernels, and yields all sources in the variable named.
function(troupe_collect_ops sources)
  get_property(ops GLOBAL PROPERTY TROUPE_OP_NAMES)
  get_property(kernels GLOBAL PROPERTY TROUPE_KERNEL_NAMES)
  get_property(files GLOBAL PROPERTY TROUPE_OP_SOURCES)
  foreach(list IN ITEMS op kernel)
    set(${list}_externs "")
    set(${list}_entries "")
    foreach(name IN LISTS ${list}s)
      string(APPEND ${list}_externs "extern const ${list}_def ${name};\n")
      string(APPEND ${list}_entries "    &${name},\n")
    endforeach()
    list(LENGTH ${list}s ${list}_count)
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/all.gen.cpp.in"
    "${CMAKE_CURRENT_BINARY_DIR}/all.gen.cpp" @ONLY)
  set(${sources} ${files} "${CMAKE_CURRENT_BINARY_DIR}/all.gen.cpp" PARENT_SCOPE)
endfunction()
