# Installation: `find_package(troupe)` and `pkg-config troupe` both work from it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")

get_property(exported GLOBAL PROPERTY TROUPE_EXPORTED)
foreach(target IN LISTS exported)
  target_include_directories(${target} INTERFACE
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
install(TARGETS ${exported} EXPORT troupe_targets)
install(EXPORT troupe_targets NAMESPACE troupe:: FILE troupe-targets.cmake
  DESTINATION "${package_dir}")

# Headers keep the paths they have in the tree. Those of single devices and of formats stay private: they
# include what users need not have installed.
foreach(folder IN ITEMS runtime devices ops serialization actors api)
  foreach(root IN ITEMS "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated/troupe")
    install(DIRECTORY "${root}/${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/troupe/${folder}"
      OPTIONAL
      FILES_MATCHING PATTERN "*.hpp"
      PATTERN "*.cpu.hpp" EXCLUDE
      PATTERN "*.cuda.hpp" EXCLUDE
      PATTERN simulated EXCLUDE
      PATTERN cpu EXCLUDE
      PATTERN cuda EXCLUDE
      PATTERN no_cuda EXCLUDE
      PATTERN cli EXCLUDE
      PATTERN generate EXCLUDE
      PATTERN graph_def EXCLUDE)
  endforeach()
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/troupe.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/troupe")

configure_package_config_file(cmake/troupe-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/troupe-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/troupe-config.cmake"
  "${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  cmake/FindCAF.cmake
  cmake/FindDNNL.cmake
  cmake/FindFarmHash.cmake
  cmake/FindRE2.cmake
  cmake/FindxxHash.cmake
  DESTINATION "${package_dir}")

# The linker reads static libraries from left to right: users before the used.
set(pc_libs "")
list(REVERSE exported)
foreach(target IN LISTS exported)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(APPEND pc_libs " -l${target}")
  endif()
endforeach()
set(pc_cuda "")
if(troupe_with_cuda)
  set(pc_cuda " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt")
endif()
# Relative, so that the package can be moved, or installed elsewhere with --prefix.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/troupe.pc.in "${PROJECT_BINARY_DIR}/package/troupe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/troupe.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
