#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::mutable_hash_table_cpu {

extern constexpr kernel_def mutable_hash_table_cpu = table_kernel("MutableHashTable", hold_table);

} // namespace troupe::ops::mutable_hash_table_cpu
