#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_size_v2_cpu {

extern constexpr kernel_def lookup_table_size_v2_cpu =
    table_kernel("LookupTableSizeV2", size_of_table);

} // namespace troupe::ops::lookup_table_size_v2_cpu
