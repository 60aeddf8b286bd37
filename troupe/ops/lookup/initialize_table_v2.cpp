// InitializeTableV2: gives a constant table its pairs.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::initialize_table_v2_op {

extern constexpr op_def initialize_table_v2 = table_user({
    .name = "InitializeTableV2",
    .doc = "Gives a HashTable its pairs: keys [n] and a value for each.\n\n"
           "The same as InitializeTable, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .inputs = {table_handle, {"keys", "Tkey"}, {"values", "Tval"}},
    .attrs = {{"Tkey", table_keys}, {"Tval", table_values}},
    .infer = infer_table_initialize,
    .example = R"(
t = HashTableV2 key_dtype=i64 value_dtype=i64
init = InitializeTableV2(t, i64[1, 2], i64[10, 20])
other = InitializeTableV2(t, i64[1, 2], i64[10, 21])
size = LookupTableSizeV2(t)
target init
run
fetch size = i64(2)
run
target other
error failed_precondition "was initialised already, with other pairs"
)",
});

} // namespace troupe::ops::initialize_table_v2_op
