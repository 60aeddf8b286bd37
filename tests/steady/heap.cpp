#include "tests/steady/heap.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>

namespace {

std::atomic<uint64_t> requests{0}, of_products{0};
thread_local bool is_in_product = false;

[[maybe_unused]] void count() noexcept {
  (is_in_product ? of_products : requests).fetch_add(1, std::memory_order_relaxed);
}

} // namespace

uint64_t troupe::test::heap_requests() noexcept { return requests.load(std::memory_order_relaxed); }

uint64_t troupe::test::product_requests() noexcept {
  return of_products.load(std::memory_order_relaxed);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// glibc lets programs replace the functions of its heap, and provides the originals under other
// names.
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
  count();
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

// Replaces oneDNN's function.
dnnl_status_t dnnl_sgemm(char transposes_a, char transposes_b, dnnl_dim_t m, dnnl_dim_t n,
                         dnnl_dim_t k, float alpha, const float* a, dnnl_dim_t row_of_a,
                         const float* b, dnnl_dim_t row_of_b, float beta, float* c,
                         dnnl_dim_t row_of_c) {
  static auto* const real = reinterpret_cast<decltype(&dnnl_sgemm)>(dlsym(RTLD_NEXT, "dnnl_sgemm"));
  auto outer = std::exchange(is_in_product, true);
  auto outcome =
      real(transposes_a, transposes_b, m, n, k, alpha, a, row_of_a, b, row_of_b, beta, c, row_of_c);
  is_in_product = outer;
  return outcome;
}
}
#pragma GCC visibility pop

#endif
