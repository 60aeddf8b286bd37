// MutableHashTableOfTensors: a table of tensors that steps change.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::mutable_hash_table_of_tensors_op {

extern constexpr op_def mutable_hash_table_of_tensors = table_maker({
    .name = "MutableHashTableOfTensors",
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
    .make = make_table,
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

} // namespace troupe::ops::mutable_hash_table_of_tensors_op
