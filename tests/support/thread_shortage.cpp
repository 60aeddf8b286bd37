#include "tests/support/thread_shortage.hpp"

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

namespace {

std::atomic<bool> is_short{false};

} // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// In the place of the library's, for whatever this program runs.
extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* made,
                                                                     const pthread_attr_t* how,
                                                                     void* (*run)(void*),
                                                                     void* with) noexcept {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return is_short.load(std::memory_order_relaxed) ? EAGAIN : real(made, how, run, with);
}
#endif

namespace troupe::test {

thread_shortage::thread_shortage() { is_short = true; }
thread_shortage::~thread_shortage() { is_short = false; }

} // namespace troupe::test
