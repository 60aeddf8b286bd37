// LookupTableInsert: adds pairs to a table.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_insert_op {

extern constexpr op_def lookup_table_insert = table_user({
    .name = "LookupTableInsert",
    .doc = "Adds pairs to a table, or replaces the values of keys that are there.\n\n"
           "Keys may have any shape; values have the same, then that of each value. Of several "
           "values for one key the last stays. All pairs are there for a step that looks, or "
           "none.",
    .inputs = {table_handle, {"keys", "Tin"}, {"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_insert,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
put = LookupTableInsert(t, i64[1, 2, 1], i64[10, 20, 11])
found = LookupTableFind(t, i64[1, 2], i64(0))
target put
run
fetch found = i64[11, 20]
)",
});

} // namespace troupe::ops::lookup_table_insert_op
