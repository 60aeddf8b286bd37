#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_find_cpu {

extern constexpr kernel_def lookup_table_find_cpu = table_kernel("LookupTableFind", find_in_table);

} // namespace troupe::ops::lookup_table_find_cpu
