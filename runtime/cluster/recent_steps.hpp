// Which of a session's latest steps are over: a bit each, however many there were.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Remembers the steps that ended among the `window` latest of a session. What is older is
/// forgotten.
class recent_steps {
public:
  static constexpr uint64_t window = 32'768;

  void note_end(uint64_t sequence) noexcept {
    if (sequence > newest_)
      move_to(sequence);
    if (newest_ - sequence < window)
      word(sequence) |= bit(sequence);
  }
  bool ended(uint64_t sequence) const noexcept {
    return sequence <= newest_ && newest_ - sequence < window &&
           (words_[sequence % window / 64] & bit(sequence)) != 0;
  }

private:
  static uint64_t bit(uint64_t sequence) noexcept { return uint64_t{1} << (sequence % 64); }
  uint64_t& word(uint64_t sequence) noexcept { return words_[sequence % window / 64]; }
  void move_to(uint64_t sequence) noexcept {
    if (sequence - newest_ >= window)
      words_.fill(0);
    else
      for (auto at = newest_ + 1; at <= sequence; ++at)
        word(at) &= ~bit(at);
    newest_ = sequence;
  }

  uint64_t newest_ = 0;
  std::array<uint64_t, window / 64> words_{};
};

} // namespace troupe
