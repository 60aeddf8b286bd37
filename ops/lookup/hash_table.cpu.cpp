#include "troupe/ops/lookup/lookup.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def hash_table_cpu = table_kernel("HashTable", hold_table);

} // namespace troupe::ops
