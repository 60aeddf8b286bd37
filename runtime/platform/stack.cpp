#include "troupe/runtime/platform/stack.hpp"

#include <cstdint>

#include <pthread.h>

namespace troupe {
namespace {

struct stack_bounds {
  uintptr_t begin = 0, end = 0;

  stack_bounds() noexcept {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return;
    void* lowest = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) {
      begin = reinterpret_cast<uintptr_t>(lowest);
      end = begin + size;
    }
    pthread_attr_destroy(&attributes);
  }
};

} // namespace

size_t stack_left() noexcept {
  thread_local const stack_bounds bounds;
  auto position = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return position > bounds.begin && position <= bounds.end ? position - bounds.begin : SIZE_MAX;
}

} // namespace troupe
