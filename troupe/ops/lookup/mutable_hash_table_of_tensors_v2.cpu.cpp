#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::mutable_hash_table_of_tensors_v2_cpu {

extern constexpr kernel_def mutable_hash_table_of_tensors_v2_cpu =
    table_kernel("MutableHashTableOfTensorsV2", hold_table);

} // namespace troupe::ops::mutable_hash_table_of_tensors_v2_cpu
