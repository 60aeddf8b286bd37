// LookupTableExportV2: copies all pairs of a table.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_export_v2_op {

extern constexpr op_def lookup_table_export_v2 = table_user({
    .name = "LookupTableExportV2",
    .doc = "Copies all pairs of a table: keys [n], and a value for each.\n\n"
           "The same as LookupTableExport, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .inputs = {table_handle},
    .outputs = {{"keys", "Tkeys"}, {"values", "Tvalues"}},
    .attrs = {{"Tkeys", table_keys}, {"Tvalues", table_values}},
    .infer = infer_table_export,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[3, 1], i64[30, 10])
all = LookupTableExportV2(t) Tkeys=i64 Tvalues=i64
target put
run
fetch all = i64[3, 1]
fetch all:1 = i64[30, 10]
)",
});

} // namespace troupe::ops::lookup_table_export_v2_op
