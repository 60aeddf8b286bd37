// Paths of this build that tests need; written by CMake.
#pragma once

namespace troupe::test {

extern const char* const tests_folder;         ///< the sources of tests
extern const char* const cluster_task_program; ///< a task to start, kill and restart

} // namespace troupe::test
