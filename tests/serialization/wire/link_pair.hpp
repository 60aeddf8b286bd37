// Two links joined by a lossless pipe, whose portions the test chooses.
#pragma once
#include "tests/serialization/wire/example_messages.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <random>

namespace troupe::test {

/// A link, and its received messages.
struct peer_end {
  explicit peer_end(link_options options, std::function<status(const hello&)> on_hello = {})
      : end_link(std::move(options), {std::move(on_hello), [this](message received) {
                                        got.push_back(std::move(received));
                                      }}) {}

  std::vector<char> take(size_t window) {
    std::vector<char> bytes;
    end_link.fill(bytes, window);
    return bytes;
  }
  status give(std::span<const char> bytes) { return end_link.receive(std::as_bytes(bytes)); }

  std::vector<message> got;
  link end_link;
};

inline link_options options_of(std::string role, std::string job = "worker", int task = 0) {
  link_options options;
  options.self = {.software = "0.1.0",
                  .role = std::move(role),
                  .job = std::move(job),
                  .task = task,
                  .incarnation = 1};
  return options;
}

/// Moves bytes in the two directions until nothing moves. Returns the first error of either end.
inline status exchange(peer_end& a, peer_end& b, size_t window = 1 << 20) {
  for (bool moved = true; moved;) {
    auto to_b = a.take(window), to_a = b.take(window);
    moved = !to_b.empty() || !to_a.empty();
    TROUPE_TRY(b.give(to_b));
    TROUPE_TRY(a.give(to_a));
  }
  return {};
}

} // namespace troupe::test
