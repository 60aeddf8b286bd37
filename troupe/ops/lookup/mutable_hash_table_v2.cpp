// MutableHashTableV2: a table that steps change.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::mutable_hash_table_v2_op {

extern constexpr op_def mutable_hash_table_v2 = table_maker({
    .name = "MutableHashTableV2",
    .doc = "Holds pairs of keys and values that steps look up, add, replace and remove, and "
           "outputs a reference to the table.\n\n"
           "The same as MutableHashTable, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values}},
    .make = make_table,
    .infer = infer_table,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=f32
put = LookupTableInsertV2(t, i64[1, 2], f32[0.5, 1.5])
found = LookupTableFindV2(t, i64[2, 3], f32(0))
target put
run
fetch found = f32[1.5, 0]
)",
});

} // namespace troupe::ops::mutable_hash_table_v2_op
