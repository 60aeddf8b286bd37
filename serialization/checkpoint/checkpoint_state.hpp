// Reads the file "checkpoint" of a folder of TensorFlow's checkpoints, which names the latest.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <string>

namespace troupe {

/// Returns the prefix of the latest checkpoint of a folder: that in the file "checkpoint", even if
/// the folder was moved; without that file, the only checkpoint. Fails with not_found if there is
/// none, and lists all if there are several.
result<std::string> latest_tensorflow_checkpoint(file_system& files, const std::string& folder);

} // namespace troupe
