// Counts the heap requests of the whole process.
#pragma once
#include <cstdint>

namespace troupe::test {

/// Sanitizers have heaps of their own, which are not counted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool heap_is_counted = false;
#else
inline constexpr bool heap_is_counted = true;
#endif

/// Requests for memory since the process began, by all threads: malloc and related functions, which
/// operator new and other libraries use as well.
uint64_t heap_requests() noexcept;

/// The requests within oneDNN's products of matrices, which heap_requests() does not include: for
/// operands that it packs, and in version 3 for small objects of its own.
uint64_t product_requests() noexcept;

} // namespace troupe::test
