# Decides whether CUDA devices are built (troupe_with_cuda); devices/no_cuda stands in. The driver needs the
# toolkit's libraries only; a CUDA compiler is asked for where there are kernels (*.cuda.cu).
set(troupe_with_cuda OFF)
file(GLOB_RECURSE troupe_cuda_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/devices/cuda/*.cpp" "${PROJECT_SOURCE_DIR}/devices/cuda/*.cu")
file(GLOB_RECURSE troupe_cuda_kernels CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/devices/cuda/*.cu" "${PROJECT_SOURCE_DIR}/ops/*.cuda.cu")
if(NOT TROUPE_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  set(troupe_with_cuda ${CUDAToolkit_FOUND})
  if(troupe_with_cuda AND troupe_cuda_kernels)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90) # Hopper; its PTX serves what comes later
      endif()
      enable_language(CUDA)
      set(CMAKE_CUDA_STANDARD 20)
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    else()
      set(troupe_with_cuda OFF)
    endif()
  endif()
  if(TROUPE_CUDA STREQUAL "ON" AND NOT troupe_with_cuda)
    message(FATAL_ERROR "TROUPE_CUDA is ON, but the CUDA toolkit, or its compiler, was not found")
  endif()
endif()
message(STATUS "CUDA devices: ${troupe_with_cuda}")
