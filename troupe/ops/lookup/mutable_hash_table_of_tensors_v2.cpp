// MutableHashTableOfTensorsV2: a table of tensors that steps change.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::mutable_hash_table_of_tensors_v2_op {

extern constexpr op_def mutable_hash_table_of_tensors_v2 = table_maker({
    .name = "MutableHashTableOfTensorsV2",
    .doc = "Holds pairs of keys and values, each value a tensor of shape value_shape, and "
           "outputs a reference to the table.\n\n"
           "The same as MutableHashTableOfTensors, whose table has a reference as handle in "
           "TensorFlow, where this has a resource.",
    .attrs = {{"container", ""},
              {"shared_name", ""},
              {"use_node_name_sharing", false},
              {"key_dtype", table_keys},
              {"value_dtype", table_values},
              {"value_shape", attr_kind::shape}},
    .make = make_table,
    .infer = infer_table_of_tensors,
    .example = R"(
t = MutableHashTableOfTensorsV2 key_dtype=i64 value_dtype=f32 value_shape=[2]
put = LookupTableInsertV2(t, i64[1, 2], f32[[1, 2], [3, 4]])
found = LookupTableFindV2(t, i64[2, 3], f32[0, 0])
target put
run
fetch found = f32[[3, 4], [0, 0]]
)",
});

} // namespace troupe::ops::mutable_hash_table_of_tensors_v2_op
