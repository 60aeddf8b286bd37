// MutableHashTable: a table that steps change.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::mutable_hash_table_op {

extern constexpr op_def mutable_hash_table = table_maker({
    .name = "MutableHashTable",
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
    .make = make_table,
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

} // namespace troupe::ops::mutable_hash_table_op
