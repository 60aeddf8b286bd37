// What readers and other nodes of a graph do with files, on a disk.
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/serialization/storage/file_system.hpp"

namespace troupe {

/// Over a file system, which must outlive it.
std::unique_ptr<file_access> files_for_readers(file_system& on);

} // namespace troupe
