// LookupTableInsertV2: adds pairs to a table.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_insert_v2_op {

extern constexpr op_def lookup_table_insert_v2 = table_user({
    .name = "LookupTableInsertV2",
    .doc = "Adds pairs to a table, or replaces the values of keys that are there.\n\n"
           "The same as LookupTableInsert, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .inputs = {table_handle, {"keys", "Tin"}, {"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_insert,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[1, 2, 1], i64[10, 20, 11])
found = LookupTableFindV2(t, i64[1, 2], i64(0))
target put
run
fetch found = i64[11, 20]
)",
});

} // namespace troupe::ops::lookup_table_insert_v2_op
