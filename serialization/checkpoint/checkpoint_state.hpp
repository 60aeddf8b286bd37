// The file "checkpoint" in a folder of TensorFlow's checkpoints, which names the latest.
#pragma once
#include "troupe/serialization/storage/file_system.hpp"

#include <string>

namespace troupe {

/// The prefix of the latest checkpoint of a folder: the one that the file "checkpoint" names, where
/// the folder may have been moved since; without that file, the only one. Fails with not_found
/// where there is none, and names all where there are several.
result<std::string> latest_tensorflow_checkpoint(file_system& files, const std::string& folder);

} // namespace troupe
