// Records which of a session's latest steps have ended, with one bit for each step.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// Remembers the ended steps among the `window` latest of a session. Older steps are forgotten.
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
      for (auto step = newest_ + 1; step <= sequence; ++step)
        word(step) &= ~bit(step);
    newest_ = sequence;
  }

  uint64_t newest_ = 0;
  std::array<uint64_t, window / 64> words_{};
};

} // namespace troupe
