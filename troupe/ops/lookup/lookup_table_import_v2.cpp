// LookupTableImportV2: gives a table other pairs.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_import_v2_op {

extern constexpr op_def lookup_table_import_v2 = table_user({
    .name = "LookupTableImportV2",
    .doc = "Makes keys [n], with a value for each, all that a table has.\n\n"
           "The same as LookupTableImport, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .inputs = {table_handle, {"keys", "Tin"}, {"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_import,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[1, 2], i64[10, 20])
load = LookupTableImportV2(t, i64[2, 3], i64[21, 31])
found = LookupTableFindV2(t, i64[1, 2, 3], i64(0))
target put
run
target load
run
fetch found = i64[0, 21, 31]
)",
});

} // namespace troupe::ops::lookup_table_import_v2_op
