#include "troupe/ops/lookup/lookup.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def mutable_hash_table_cpu = table_kernel("MutableHashTable", hold_table);

} // namespace troupe::ops
