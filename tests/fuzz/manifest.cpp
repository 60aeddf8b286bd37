// Manifests of checkpoints: accepted manifests can be written and read again. The checksum would
// stop nearly all inputs, so it is corrected.
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::manifest {

FUZZ_TARGET(manifest) {
  std::string text{reinterpret_cast<const char*>(data), size};
  auto read = parse_manifest(text, "m");
  if (!read) {
    auto message = read.status().message();
    auto actual_at = message.find("content is "), expected_at = message.find("should be ");
    if (actual_at == message.npos || expected_at == message.npos ||
        expected_at + 26 > message.size())
      return 0;
    auto old = text.find(message.substr(expected_at + 10, 16));
    if (old == text.npos)
      return 0;
    text.replace(old, 16, message.substr(actual_at + 11, 16));
    read = parse_manifest(text, "m");
  }
  if (!read)
    return 0;
  auto written = manifest_json(*read);
  fuzz::require(written.ok());
  auto copy = parse_manifest(*written, "m");
  fuzz::require(copy.ok() && manifest_json(*copy).ok() && *manifest_json(*copy) == *written);
  return 0;
}

} // namespace troupe::fuzz::manifest
