// What another process finds in our memory when it reads there.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace troupe {

/// A random number of one connection. As long as it stands there, so does all that was lent by that
/// connection: whoever reads looks at it afterwards.
struct lending_token {
  std::array<std::atomic<uint64_t>, 2> words{};

  /// Before anything that was lent may change: an exchange lets no later write come before it. (A
  /// fence would do, too, but thread sanitizers know none.)
  void revoke() noexcept {
    for (auto& word : words)
      word.exchange(0, std::memory_order_seq_cst);
  }
};

} // namespace troupe
