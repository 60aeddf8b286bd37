// Tables from keys to values. The handle of a V2 op is a resource.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::hash_table_op {

extern constexpr op_def hash_table = table_maker({
    .name = "HashTable",
    .second_name = "HashTableV2",
    .doc = "Makes a table of pairs of keys and values that does not change once it is initialized, "
           "and outputs a reference to it.\n\nThe table is in the named container of its task, "
           "under shared_name or else under the node's name, for any value of "
           "use_node_name_sharing; nodes with the same name share it. InitializeTable or "
           "InitializeTableFromTextFile initializes it; lookups before that fail. Checkpoints of "
           "variables do not contain the table: its initializer makes it again.",
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
    .doc = "Makes a table of pairs of keys and values that steps can look up, add, replace and "
           "remove, and outputs a reference to it.\n\nThe table is in the named container of its "
           "task, under shared_name or else under the node's name, for any value of "
           "use_node_name_sharing; nodes with the same name share it. The table is empty at first. "
           "Each op on it is atomic. The order of several ops in one step is undefined, unless "
           "control inputs define it. Checkpoints of variables do not contain the table. To save "
           "it, fetch the outputs of LookupTableExport, and later feed them to LookupTableImport.",
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
    .doc = "Makes a table of pairs of keys and values, where each value is a tensor of shape "
           "value_shape, and outputs a reference to it.\n\nThe shape of values is that of the "
           "keys, followed by value_shape, which must be fully known. Otherwise the same as "
           "MutableHashTable.",
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
