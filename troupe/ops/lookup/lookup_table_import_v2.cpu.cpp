#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_import_v2_cpu {

extern constexpr kernel_def lookup_table_import_v2_cpu =
    table_kernel("LookupTableImportV2", import_table);

} // namespace troupe::ops::lookup_table_import_v2_cpu
