#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_remove_v2_cpu {

extern constexpr kernel_def lookup_table_remove_v2_cpu =
    table_kernel("LookupTableRemoveV2", remove_from_table);

} // namespace troupe::ops::lookup_table_remove_v2_cpu
