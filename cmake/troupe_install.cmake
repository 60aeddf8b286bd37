# Installation: `find_package(troupe)` and `pkg-config troupe` both work from it, and neither asks for a library that
# programs do not use themselves.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")

target_include_directories(troupe INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
file(RELATIVE_PATH from_bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(troupe_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin_to_lib}")
install(TARGETS troupe EXPORT troupe_targets)
install(TARGETS troupe_cli)
install(EXPORT troupe_targets NAMESPACE troupe:: FILE troupe-targets.cmake DESTINATION "${package_dir}")

# Headers keep the paths that they have in the tree. These are all: what troupe.hpp and api/caf.hpp include
# (tests/public_headers_test checks that).
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/troupe/public_headers.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/troupe/public_headers.txt" headers REGEX "^troupe/")
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()

write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/troupe-config.cmake "${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  DESTINATION "${package_dir}")

# Relative, so that the package can be moved, or installed elsewhere with --prefix.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/troupe.pc.in "${PROJECT_BINARY_DIR}/package/troupe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/troupe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
