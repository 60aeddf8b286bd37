#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::hash_table_cpu {

extern constexpr kernel_def hash_table_cpu = table_kernel("HashTable", hold_table);

extern constexpr kernel_def mutable_hash_table_cpu = table_kernel("MutableHashTable", hold_table);

extern constexpr kernel_def mutable_hash_table_of_tensors_cpu =
    table_kernel("MutableHashTableOfTensors", hold_table);

} // namespace troupe::ops::hash_table_cpu
