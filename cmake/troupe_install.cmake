# Installs Troupe for `find_package(troupe)` and `pkg-config troupe`. Neither requires a library that programs do not use
# themselves.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")

target_include_directories(troupe INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
file(RELATIVE_PATH from_bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(troupe_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin_to_lib}")
install(TARGETS troupe EXPORT troupe_targets)
install(TARGETS troupe_cli)
install(EXPORT troupe_targets NAMESPACE troupe:: FILE troupe-targets.cmake DESTINATION "${package_dir}")

# Headers keep the paths by which sources include them. The list has all headers that troupe.hpp and api/caf.hpp include
# (tests/public_headers_test checks that).
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/public_headers.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/api/public_headers.txt" headers REGEX "^troupe/")
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  # The file itself: a link would be installed as a link.
  file(REAL_PATH "${troupe_include}/${header}" file)
  install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()

write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/troupe-config.cmake cmake/troupe-compilers.cmake cmake/FindCAF.cmake
  "${PROJECT_BINARY_DIR}/package/troupe-config-version.cmake"
  DESTINATION "${package_dir}")

# Relative, so that the package can be moved, or installed elsewhere with --prefix.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/troupe.pc.in "${PROJECT_BINARY_DIR}/package/troupe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/troupe.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES LICENSE README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Headers, --help and guides refer to guides as docs/*.md, a path relative to this folder.
install(DIRECTORY docs deploy DESTINATION "${CMAKE_INSTALL_DOCDIR}")
file(GLOB examples CONFIGURE_DEPENDS examples/[0-9][0-9]_*.cpp)
install(FILES ${examples} examples/README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
install(DIRECTORY examples/consumer DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" PATTERN check.cmake EXCLUDE)

# A user for tasks (systemd-sysusers), and the unit that runs them, which starts the program where it was installed.
install(FILES deploy/systemd/troupe.sysusers.conf DESTINATION lib/sysusers.d RENAME troupe.conf)
# The program writes its own manual page, and the completion of its commands.
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "set(program \"$<TARGET_FILE:troupe_cli>\")")
endif()
install(CODE "
set(source \"${PROJECT_SOURCE_DIR}\")
set(work \"${PROJECT_BINARY_DIR}/package\")
set(bin \"${CMAKE_INSTALL_BINDIR}\")
set(man \"${CMAKE_INSTALL_MANDIR}\")
set(data \"${CMAKE_INSTALL_DATAROOTDIR}\")")
install(SCRIPT cmake/install_written.cmake)
