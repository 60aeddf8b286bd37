#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::hash_table_v2_cpu {

extern constexpr kernel_def hash_table_v2_cpu = table_kernel("HashTableV2", hold_table);

} // namespace troupe::ops::hash_table_v2_cpu
