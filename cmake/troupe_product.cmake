# In the order of the layers: a folder includes only those above it (scripts/check-layers).
add_subdirectory(runtime)
add_subdirectory(devices)
add_subdirectory(ops)
add_subdirectory(serialization)
add_subdirectory(actors)
add_subdirectory(api)

get_property(troupe_components GLOBAL PROPERTY TROUPE_COMPONENTS)
set(troupe_objects ${troupe_components})
list(TRANSFORM troupe_objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")

# The product: a shared library that hides every symbol but those that its headers mark (runtime/export.hpp).
add_library(troupe SHARED ${troupe_objects})
add_library(troupe::troupe ALIAS troupe)
set_target_properties(troupe PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(troupe PUBLIC "$<BUILD_INTERFACE:${troupe_include}>")
target_compile_features(troupe PUBLIC cxx_std_20)
target_link_libraries(troupe PRIVATE ${troupe_components})
target_link_options(troupe PRIVATE "-Wl,--version-script,${PROJECT_SOURCE_DIR}/cmake/exports.map")
set_target_properties(troupe PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")

# For programs that test the inside of the library: the same objects, all visible.
add_library(troupe_internals STATIC EXCLUDE_FROM_ALL ${troupe_objects})
target_include_directories(troupe_internals PUBLIC "${PROJECT_SOURCE_DIR}" "${troupe_include}")
target_compile_features(troupe_internals PUBLIC cxx_std_20)
target_link_libraries(troupe_internals PUBLIC ${troupe_components})

troupe_executable(troupe_cli SOURCES api/cli/main.cpp LIBRARIES troupe)
set_target_properties(troupe_cli PROPERTIES
  OUTPUT_NAME troupe RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
if(TROUPE_BUILD_TESTS)
  add_test(NAME cli COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/api/cli/cli_test.py"
    "$<TARGET_FILE:troupe_cli>" "${CMAKE_CURRENT_BINARY_DIR}/cli_test")
  set_tests_properties(cli PROPERTIES LABELS fast TIMEOUT 120)
endif()
