// Counts what the whole process takes from the heap.
#pragma once
#include <cstdint>

namespace troupe::test {

/// Sanitizers have heaps of their own, which are not counted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool heap_is_counted = false;
#else
inline constexpr bool heap_is_counted = true;
#endif

/// Requests for memory since the process began, by all threads: malloc and its kin, which operator
/// new and other libraries use as well.
uint64_t heap_requests() noexcept;

/// Calls of posix_memalign alone, which do not count there: in this process, only oneDNN uses it,
/// for the operands that a product packs.
uint64_t packing_requests() noexcept;

} // namespace troupe::test
