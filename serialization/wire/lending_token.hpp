// The token by which a reader of another process's memory verifies that its data is still valid.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

namespace troupe {

/// A random number of one connection. While the number is at its address, so are all tensors lent
/// by that connection. A reader checks the token after each read.
struct lending_token {
  std::array<std::atomic<uint64_t>, 2> words{};

  /// Must be called before a lent tensor changes. An exchange prevents later writes from moving
  /// before it. (A fence would suffice, but thread sanitizers do not support fences.)
  void revoke() noexcept {
    for (auto& word : words)
      word.exchange(0, std::memory_order_seq_cst);
  }
};

} // namespace troupe
