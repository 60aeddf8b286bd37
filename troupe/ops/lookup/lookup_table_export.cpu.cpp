#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_export_cpu {

extern constexpr kernel_def lookup_table_export_cpu =
    table_kernel("LookupTableExport", export_table);

} // namespace troupe::ops::lookup_table_export_cpu
