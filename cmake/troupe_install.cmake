# Installation; find_package(troupe) and pkg-config both work from it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
