# Decides whether CUDA devices are built (troupe_with_cuda); devices/gpu/no_cuda stands in. The driver needs the
# toolkit's libraries only; kernels (*.cuda.cu) need a CUDA compiler. AUTO builds them on machines with a GPU,
# because they take longer to compile than all other sources.
set(troupe_with_cuda OFF)
set(troupe_cuda_unused "${CMAKE_CUDA_FLAGS_RELWITHDEBINFO}") # presets set it: CMake warns of what is not read
set(troupe_cuda_reason "the CUDA toolkit, or its compiler, was not found")
set(troupe_cuda_wanted ${TROUPE_CUDA})
if(TROUPE_CUDA STREQUAL "AUTO")
  file(GLOB gpus /proc/driver/nvidia/gpus/* /dev/nvidia[0-9]*)
  if(gpus)
    set(troupe_cuda_wanted ON)
  else()
    set(troupe_cuda_wanted OFF)
    set(troupe_cuda_reason "there is no GPU here; -DTROUPE_CUDA=ON builds them all the same")
  endif()
elseif(NOT TROUPE_CUDA)
  set(troupe_cuda_reason "TROUPE_CUDA is OFF")
endif()
file(GLOB_RECURSE troupe_cuda_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/devices/gpu/cuda/*.cpp" "${PROJECT_SOURCE_DIR}/devices/gpu/cuda/*.cu")
file(GLOB_RECURSE troupe_cuda_kernels CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/devices/gpu/cuda/*.cu" "${PROJECT_SOURCE_DIR}/ops/*.cuda.cu")
if(troupe_cuda_wanted)
  find_package(CUDAToolkit QUIET)
  set(troupe_with_cuda ${CUDAToolkit_FOUND})
  if(troupe_with_cuda AND troupe_cuda_kernels)
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      # Hopper; its PTX serves what comes later.
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs to compile for, as CMake counts them")
      enable_language(CUDA)
      # Named as a system's folder, the host compiler's own would hide its other headers.
      list(APPEND CMAKE_CUDA_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
      if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know it
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
      endif()
      set(CMAKE_CUDA_STANDARD 20)
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
      # Functions that are constant expressions serve both sides, and give both the same bits: products are
      # rounded before they are added.
      string(APPEND CMAKE_CUDA_FLAGS " --expt-relaxed-constexpr -fmad=false")
    else()
      set(troupe_with_cuda OFF)
    endif()
  endif()
  if(TROUPE_CUDA STREQUAL "ON" AND NOT troupe_with_cuda)
    message(FATAL_ERROR "TROUPE_CUDA is ON, but the CUDA toolkit, or its compiler, was not found")
  endif()
endif()
if(troupe_with_cuda)
  message(STATUS "CUDA devices are built, for sm_${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA devices are not built: ${troupe_cuda_reason}")
endif()

# Links a library to CUDA's runtime, which looks for the driver at run time, and reports its absence. Only the sources
# that call the runtime get its include folder: the objects of all others are the same with CUDA and without.
function(troupe_use_cuda target)
  target_link_libraries(${target} PRIVATE $<LINK_ONLY:CUDA::cudart_static>)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "(^|devices/gpu/)cuda/[^/]+\\.cpp$|\\.cuda\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES
    INCLUDE_DIRECTORIES "${CUDAToolkit_INCLUDE_DIRS}")
endfunction()
