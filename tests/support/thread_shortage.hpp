// A system that gives no more threads.
#pragma once

namespace troupe::test {

/// While it lives, no thread of this process can be made. Not under sanitizers, which make threads
/// themselves.
class thread_shortage {
public:
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  static constexpr bool works = false;
#else
  static constexpr bool works = true;
#endif
  thread_shortage();
  thread_shortage(const thread_shortage&) = delete;
  thread_shortage& operator=(const thread_shortage&) = delete;
  ~thread_shortage();
};

} // namespace troupe::test
