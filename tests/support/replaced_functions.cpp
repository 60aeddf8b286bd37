#include "tests/support/replaced_functions.hpp"

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>

namespace {

std::atomic<bool> threads_are_short{false};
std::mutex names_mutex;
std::map<std::string, std::string> names;

} // namespace

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
namespace {

template <class Function>
Function* real_one(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread_id,
                                                          const pthread_attr_t* attributes,
                                                          void* (*run)(void*),
                                                          void* argument) noexcept {
  using function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = real_one<function>("pthread_create");
  return threads_are_short.load(std::memory_order_relaxed)
             ? EAGAIN
             : real(thread_id, attributes, run, argument);
}

__attribute__((visibility("default"))) int getaddrinfo(const char* name, const char* service,
                                                       const addrinfo* hints, addrinfo** results) {
  using function = int(const char*, const char*, const addrinfo*, addrinfo**);
  static auto* const real = real_one<function>("getaddrinfo");
  std::string known;
  if (name && !(hints && (hints->ai_flags & AI_NUMERICHOST) != 0)) {
    std::lock_guard guard{names_mutex};
    if (auto entry = names.find(name); entry != names.end())
      known = entry->second;
  }
  return real(known.empty() ? name : known.c_str(), service, hints, results);
}

} // extern "C"
#endif

namespace troupe::test {

thread_shortage::thread_shortage() { threads_are_short = true; }
thread_shortage::~thread_shortage() { threads_are_short = false; }

name_table::~name_table() {
  std::lock_guard guard{names_mutex};
  names.clear();
}

void name_table::set(const std::string& name, const std::string& address) {
  std::lock_guard guard{names_mutex};
  names[name] = address;
}

} // namespace troupe::test
