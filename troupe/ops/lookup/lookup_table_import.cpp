// LookupTableImport: gives a table other pairs.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_import_op {

extern constexpr op_def lookup_table_import = table_user({
    .name = "LookupTableImport",
    .doc = "Makes keys [n], with a value for each, all that a table has.\n\n"
           "What it had before is gone; of several values for one key the last stays. For a "
           "HashTable it is the same as InitializeTable.",
    .inputs = {table_handle, {"keys", "Tin"}, {"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_import,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
put = LookupTableInsert(t, i64[1, 2], i64[10, 20])
load = LookupTableImport(t, i64[2, 3], i64[21, 31])
found = LookupTableFind(t, i64[1, 2, 3], i64(0))
target put
run
target load
run
fetch found = i64[0, 21, 31]
)",
});

} // namespace troupe::ops::lookup_table_import_op
