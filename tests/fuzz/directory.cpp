// Messages of directories: accepted messages are the same after encoding and decoding, and a
// directory takes them.
#include "troupe/serialization/wire/directory.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/runtime/cluster/node_directory.hpp"

namespace troupe::fuzz::directory {

FUZZ_TARGET(directory) {
  constexpr uint64_t latest_incarnation = 1'000'000;
  std::span<const char> bytes{reinterpret_cast<const char*>(data), size};
  auto decoded = decode_directory(bytes, latest_incarnation);
  if (!decoded)
    return 0;
  auto encoded = encode(*decoded);
  auto again = decode_directory(encoded, latest_incarnation);
  fuzz::require(again.ok() && encode(*again) == encoded);
  node_directory::time_point now{std::chrono::hours{1}};
  node_directory tested{{.process = 100, .named = {"n:1"}}, now};
  for (uint64_t link : {1, 2}) {
    auto effects = tested.connected(link, "n:1", now);
    fuzz::require(effects.send.size() == 1);
    (void)tested.take(link, directory_hello{.own = {link, 1}}, now);
    (void)tested.take(link, directory_message{*decoded}, now);
  }
  (void)tested.take(3, *std::move(decoded), now);
  auto effects = tested.tick(now + std::chrono::seconds{1});
  fuzz::require(effects.dial.size() <= directory_limits{}.calls);
  for (const auto& [task, entry] : tested.view())
    fuzz::require(entry.process != 100 && entry.incarnation <= latest_incarnation);
  return 0;
}

} // namespace troupe::fuzz::directory
