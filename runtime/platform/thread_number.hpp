// Small numbers for threads and cores, by which threads choose one of several counters.
#pragma once
#include <atomic>
#include <cstdint>

#if defined(__linux__)
#include <sched.h>
#endif

namespace troupe {

/// Returns a small number of the calling thread, which no other thread has and which never changes.
inline uint32_t thread_number() noexcept {
  static std::atomic<uint32_t> next{0};
  thread_local const uint32_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

/// Returns the number of the core that the calling thread runs on, or ran on a moment ago. Threads
/// that run simultaneously get different numbers, however many threads there are.
inline uint32_t core_number() noexcept {
#if defined(__linux__)
  if (auto core = sched_getcpu(); core >= 0)
    return static_cast<uint32_t>(core);
#endif
  return thread_number();
}

} // namespace troupe
