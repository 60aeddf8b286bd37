#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::initialize_table_cpu {

extern constexpr kernel_def initialize_table_cpu = table_kernel("InitializeTable", fill_table);

} // namespace troupe::ops::initialize_table_cpu
