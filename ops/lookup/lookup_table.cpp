// Lookups in tables, and changes of tables.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_op {

extern constexpr op_def lookup_table_find = table_user({
    .name = "LookupTableFind",
    .second_name = "LookupTableFindV2",
    .doc = "Looks up the values of keys.\n\nOutputs a value for each key, in the shape of keys. "
           "For a missing key, outputs default_value: one value for all keys, or one for each key. "
           "Fails with failed_precondition for a HashTable that is not initialized.",
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
    .doc = "Adds pairs to a table, and replaces the values of existing keys.\n\nKeys may have any "
           "shape; the shape of values is that of the keys, followed by that of one value. Of "
           "several values for one key, the last is kept. The change is atomic: other ops see all "
           "pairs or none.",
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
    .doc = "Removes keys, of any shape, and their values from a table; missing keys are ignored.",
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
    .doc = "Counts the pairs of a table; 0 before it is initialized.",
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
    .doc = "Outputs copies of all pairs of a table: keys [n], and a value for each.\n\nThe pairs "
           "are in the order in which the keys were added, except that a key may take the position "
           "of a removed one. They are a consistent snapshot, from which LookupTableImport "
           "restores a table.",
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
    .doc = "Replaces all pairs of a table by keys [n], with a value for each.\n\nOf several values "
           "for one key, the last is kept. For a HashTable, the same as InitializeTable.",
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
