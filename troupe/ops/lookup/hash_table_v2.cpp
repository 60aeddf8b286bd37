// HashTableV2: a table that is initialised once.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::hash_table_v2_op {

extern constexpr op_def hash_table_v2 = table_maker({
    .name = "HashTableV2",
    .doc = "Holds pairs of keys and values that are given once, and outputs a reference to the "
           "table.\n\n"
           "The same as HashTable, whose table has a reference as handle in TensorFlow, where "
           "this has a resource.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values}},
    .make = make_constant_table,
    .infer = infer_table,
    .example = R"(
t = HashTableV2 key_dtype=string value_dtype=i64
init = InitializeTableV2(t, string["a", "b"], i64[1, 2])
found = LookupTableFindV2(t, string["b", "c"], i64(-1))
target init
run
fetch found = i64[2, -1]
)",
});

} // namespace troupe::ops::hash_table_v2_op
