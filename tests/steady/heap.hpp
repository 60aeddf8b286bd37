// Counts what the whole process takes from the heap.
#pragma once
#include <cstdint>

namespace troupe::test {

/// Requests for memory since the process began, by all threads: malloc and its kin, which operator
/// new and other libraries use as well. Under a sanitizer, which has a heap of its own, operator
/// new alone; the memory of tensors, which no cache keeps there, does not count.
uint64_t heap_requests() noexcept;

/// Calls of posix_memalign alone, which do not count there: in this process, only oneDNN uses it,
/// for the operands that a product packs. Always 0 under a sanitizer.
uint64_t packing_requests() noexcept;

} // namespace troupe::test
