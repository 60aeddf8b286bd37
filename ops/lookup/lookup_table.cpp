// Lookups in tables, and changes of tables.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_op {

extern constexpr op_def lookup_table_find = table_user({
    .name = "LookupTableFind",
    .second_name = "LookupTableFindV2",
    .doc = "Looks up the values of keys: outputs one for each, with the shape of keys.\n\n"
           "Keys that are not there give default_value: one value for all, or one for each key. "
           "Fails with failed_precondition where a HashTable is not initialised.",
    .inputs = {table_handle, {"keys", "Tin"}, {"default_value", "Tout"}},
    .outputs = {{"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_find,
    .example = R"(
t = HashTable key_dtype=i64 value_dtype=string
init = InitializeTable(t, i64[1, 2], string["10", "20"])
keys = Placeholder dtype=i64 shape=[2,2]
one = LookupTableFind(t, keys, string("0"))
each = LookupTableFind(t, keys, string[["0", "0"], ["1", "3"]])
target init
run
feed keys = i64[[2, 1], [2, 3]]
fetch one = string[["20", "10"], ["20", "0"]]
fetch each = string[["20", "10"], ["20", "3"]]
)",
});

extern constexpr op_def lookup_table_insert = table_user({
    .name = "LookupTableInsert",
    .second_name = "LookupTableInsertV2",
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

extern constexpr op_def lookup_table_remove_v2 = table_user({
    .name = "LookupTableRemoveV2",
    .doc = "Removes keys, of any shape, with their values from a table; those that are not there "
           "are ignored.",
    .inputs = {table_handle, {"keys", "Tin"}},
    .attrs = {{"Tin", table_keys}},
    .infer = infer_table_remove,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[1, 2, 3], i64[10, 20, 30])
drop = LookupTableRemoveV2(t, i64[1, 4])
found = LookupTableFindV2(t, i64[1, 2, 3, 4], i64(0))
target put
run
target drop
run
fetch found = i64[0, 20, 30, 0]
)",
});

extern constexpr op_def lookup_table_size = table_user({
    .name = "LookupTableSize",
    .second_name = "LookupTableSizeV2",
    .doc = "Counts the pairs of a table; there are none while it is not initialised.",
    .inputs = {table_handle},
    .outputs = {{"size", "i64"}},
    .infer = infer_table_size,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
put = LookupTableInsert(t, i64[1, 2, 1], i64[10, 20, 30])
size = LookupTableSize(t)
fetch size = i64(0)
run
target put
run
fetch size = i64(2)
)",
});

extern constexpr op_def lookup_table_export = table_user({
    .name = "LookupTableExport",
    .second_name = "LookupTableExportV2",
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

extern constexpr op_def lookup_table_import = table_user({
    .name = "LookupTableImport",
    .second_name = "LookupTableImportV2",
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

} // namespace troupe::ops::lookup_table_op
