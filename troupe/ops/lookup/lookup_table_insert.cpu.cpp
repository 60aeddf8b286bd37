#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_insert_cpu {

extern constexpr kernel_def lookup_table_insert_cpu =
    table_kernel("LookupTableInsert", insert_into_table);

} // namespace troupe::ops::lookup_table_insert_cpu
