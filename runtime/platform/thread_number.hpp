// Small numbers for threads and cores, to spread over many places what all would write to at one.
#pragma once
#include <atomic>
#include <cstdint>

#if defined(__linux__)
#include <sched.h>
#endif

namespace troupe {

/// A small number for the calling thread, the same as long as it lives and no other thread's.
inline uint32_t thread_number() noexcept {
  static std::atomic<uint32_t> next{0};
  thread_local const uint32_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

/// A small number for the core that the thread runs on, or did a moment ago. Threads that run at
/// once get different ones, however many threads there are.
inline uint32_t core_number() noexcept {
#if defined(__linux__)
  if (auto core = sched_getcpu(); core >= 0)
    return static_cast<uint32_t>(core);
#endif
  return thread_number();
}

} // namespace troupe
