#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_size_cpu {

extern constexpr kernel_def lookup_table_size_cpu = table_kernel("LookupTableSize", size_of_table);

} // namespace troupe::ops::lookup_table_size_cpu
