// LookupTableExport: copies all pairs of a table.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_export_op {

extern constexpr op_def lookup_table_export = table_user({
    .name = "LookupTableExport",
    .doc = "Copies all pairs of a table: keys [n], and a value for each.\n\n"
           "They come in the order in which the keys were added, but a key may take the place of "
           "one that was removed. All are of one moment. This is how a table is saved: "
           "LookupTableImport brings it back.",
    .inputs = {table_handle},
    .outputs = {{"keys", "Tkeys"}, {"values", "Tvalues"}},
    .attrs = {{"Tkeys", table_keys}, {"Tvalues", table_values}},
    .infer = infer_table_export,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
put = LookupTableInsert(t, i64[3, 1], i64[30, 10])
all = LookupTableExport(t) Tkeys=i64 Tvalues=i64
target put
run
fetch all = i64[3, 1]
fetch all:1 = i64[30, 10]
)",
});

} // namespace troupe::ops::lookup_table_export_op
