// Tables from keys to values. The handle of a V2 op is a resource.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::hash_table_op {

extern constexpr op_def hash_table = table_maker({
    .name = "HashTable",
    .second_name = "HashTableV2",
    .doc = "Holds pairs of keys and values that are given once, and outputs a reference to the "
           "table.\n\n"
           "The table lives in the named container of its task, under shared_name or else the "
           "node's name, whatever use_node_name_sharing says; nodes of the same name share it. "
           "InitializeTable or InitializeTableFromTextFile gives it its pairs, from when on it "
           "does not change; until then it must not be asked. Checkpoints of variables do not "
           "hold it: its initialiser makes it again.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values}},
    .create_state = make_constant_table,
    .infer = infer_table,
    .example = R"(
t = HashTable key_dtype=string value_dtype=i64
init = InitializeTable(t, string["a", "b"], i64[1, 2])
found = LookupTableFind(t, string["b", "c"], i64(-1))
target init
run
fetch found = i64[2, -1]
)",
});

extern constexpr op_def mutable_hash_table = table_maker({
    .name = "MutableHashTable",
    .second_name = "MutableHashTableV2",
    .doc = "Holds pairs of keys and values that steps look up, add, replace and remove, and "
           "outputs a reference to the table.\n\n"
           "The table lives in the named container of its task, under shared_name or else the "
           "node's name, whatever use_node_name_sharing says; nodes of the same name share it. "
           "It begins empty. Each op sees and makes all of a change or none of it; which of "
           "several in one step comes first is open, unless control inputs say it. To save a "
           "table, fetch what LookupTableExport gives and later hand it to LookupTableImport: "
           "checkpoints of variables do not hold it.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values}},
    .create_state = make_table,
    .infer = infer_table,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=f32
put = LookupTableInsert(t, i64[1, 2], f32[0.5, 1.5])
found = LookupTableFind(t, i64[2, 3], f32(0))
target put
run
fetch found = f32[1.5, 0]
)",
});

extern constexpr op_def mutable_hash_table_of_tensors = table_maker({
    .name = "MutableHashTableOfTensors",
    .second_name = "MutableHashTableOfTensorsV2",
    .doc = "Holds pairs of keys and values, each value a tensor of shape value_shape, and "
           "outputs a reference to the table.\n\n"
           "All else is as with MutableHashTable: values have the axes of the keys, then those "
           "of value_shape, which must be fully known.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values},
              {"value_shape", attr_kind::shape}},
    .create_state = make_table,
    .infer = infer_table_of_tensors,
    .example = R"(
t = MutableHashTableOfTensors key_dtype=i64 value_dtype=f32 value_shape=[2]
put = LookupTableInsert(t, i64[1, 2], f32[[1, 2], [3, 4]])
found = LookupTableFind(t, i64[2, 3], f32[0, 0])
target put
run
fetch found = f32[[3, 4], [0, 0]]
)",
});

} // namespace troupe::ops::hash_table_op
