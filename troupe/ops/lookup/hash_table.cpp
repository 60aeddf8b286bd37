// HashTable: a table that is initialised once.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::hash_table_op {

extern constexpr op_def hash_table = table_maker({
    .name = "HashTable",
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
    .make = make_constant_table,
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

} // namespace troupe::ops::hash_table_op
