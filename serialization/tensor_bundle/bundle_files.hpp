// The names of the files of a checkpoint of TensorFlow.
#pragma once
#include <string>

namespace troupe {

inline std::string bundle_index_path(const std::string& prefix) { return prefix + ".index"; }

inline std::string bundle_data_path(const std::string& prefix, int shard, int shards) {
  auto five_digits = [](int number) {
    auto digits = std::to_string(number);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return prefix + ".data-" + five_digits(shard) + "-of-" + five_digits(shards);
}

} // namespace troupe
