#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::initialize_table_v2_cpu {

extern constexpr kernel_def initialize_table_v2_cpu = table_kernel("InitializeTableV2", fill_table);

} // namespace troupe::ops::initialize_table_v2_cpu
