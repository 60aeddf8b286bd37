// The loop of Select and SelectV2.
#pragma once
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {

/// Elements of one of two tensors, each of which may be a single element for all.
template <class T>
void choose(const bool* chosen, const T* yes, int64_t step_yes, const T* no, int64_t step_no, T* to,
            int64_t count) {
  if constexpr (!std::is_same_v<T, std::string> && sizeof(T) <= sizeof(uint64_t)) {
    // With masks instead of choices the loop becomes vector code.
    using word = std::remove_cvref_t<decltype(to->words[0])>;
    auto mixed = [](bool first, const T& a, const T& b) {
      auto mask = static_cast<word>(0 - static_cast<word>(first));
      return T{{static_cast<word>((a.words[0] & mask) | (b.words[0] & ~mask))}};
    };
    if (step_yes == 1 && step_no == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i)
        to[i] = mixed(chosen[i], yes[i], no[i]);
      return;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = chosen[i] ? yes[i * step_yes] : no[i * step_no];
}

} // namespace troupe::ops
