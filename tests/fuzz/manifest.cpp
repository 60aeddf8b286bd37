// Manifests of checkpoints: what parse_manifest() takes can be written and read again. The checksum
// would stop nearly all inputs, so it is mended.
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::manifest {

FUZZ_TARGET(manifest) {
  std::string text{reinterpret_cast<const char*>(data), size};
  auto read = parse_manifest(text, "m");
  if (!read) {
    auto said = read.status().message();
    auto is = said.find("content is "), should = said.find("should be ");
    if (is == said.npos || should == said.npos || should + 26 > said.size())
      return 0;
    auto old = text.find(said.substr(should + 10, 16));
    if (old == text.npos)
      return 0;
    text.replace(old, 16, said.substr(is + 11, 16));
    read = parse_manifest(text, "m");
  }
  if (!read)
    return 0;
  auto again = manifest_json(*read);
  fuzz::require(again.ok());
  auto copy = parse_manifest(*again, "m");
  fuzz::require(copy.ok() && manifest_json(*copy).ok() && *manifest_json(*copy) == *again);
  return 0;
}

} // namespace troupe::fuzz::manifest
