// The file access of readers and other nodes, over a file system.
#pragma once
#include "troupe/runtime/state/file_access.hpp"
#include "troupe/serialization/storage/file_system.hpp"

namespace troupe {

/// Implements file_access by `files`, which must outlive it.
std::unique_ptr<file_access> files_for_readers(file_system& files);

} // namespace troupe
