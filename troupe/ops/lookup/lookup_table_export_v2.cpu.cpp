#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_export_v2_cpu {

extern constexpr kernel_def lookup_table_export_v2_cpu =
    table_kernel("LookupTableExportV2", export_table);

} // namespace troupe::ops::lookup_table_export_v2_cpu
