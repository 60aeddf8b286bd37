#include "troupe/ops/lookup/shared/lookup.cpu.hpp"

namespace troupe::ops::lookup_table_cpu {

extern constexpr kernel_def lookup_table_find_cpu = table_kernel("LookupTableFind", find_in_table);

extern constexpr kernel_def lookup_table_insert_cpu =
    table_kernel("LookupTableInsert", insert_into_table);

extern constexpr kernel_def lookup_table_remove_v2_cpu =
    table_kernel("LookupTableRemoveV2", remove_from_table);

extern constexpr kernel_def lookup_table_size_cpu = table_kernel("LookupTableSize", size_of_table);

extern constexpr kernel_def lookup_table_export_cpu =
    table_kernel("LookupTableExport", export_table);

extern constexpr kernel_def lookup_table_import_cpu =
    table_kernel("LookupTableImport", import_table);

} // namespace troupe::ops::lookup_table_cpu
