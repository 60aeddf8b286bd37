#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_import_cpu {

extern constexpr kernel_def lookup_table_import_cpu =
    table_kernel("LookupTableImport", import_table);

} // namespace troupe::ops::lookup_table_import_cpu
