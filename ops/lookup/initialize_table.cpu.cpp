#include "troupe/ops/lookup/lookup.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def initialize_table_cpu = table_kernel("InitializeTable", fill_table);

} // namespace troupe::ops
