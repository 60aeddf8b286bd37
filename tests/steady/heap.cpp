#include "tests/steady/heap.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> requests{0}, packings{0};

[[maybe_unused]] void count() noexcept { requests.fetch_add(1, std::memory_order_relaxed); }

} // namespace

uint64_t troupe::test::heap_requests() noexcept { return requests.load(std::memory_order_relaxed); }

uint64_t troupe::test::packing_requests() noexcept {
  return packings.load(std::memory_order_relaxed);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// glibc lets programs replace its heap's functions, and offers the originals by other names.
#pragma GCC visibility push(default) // for other libraries, too
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(size_t items, size_t bytes) {
  count();
  return __libc_calloc(items, bytes);
}
void* realloc(void* memory, size_t bytes) {
  count();
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  packings.fetch_add(1, std::memory_order_relaxed);
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
}
#pragma GCC visibility pop

#endif
