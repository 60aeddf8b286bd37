// InitializeTable: gives a constant table its pairs.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::initialize_table_op {

extern constexpr op_def initialize_table = table_user({
    .name = "InitializeTable",
    .doc = "Gives a HashTable its pairs: keys [n] and a value for each.\n\n"
           "A key may come twice with the same value. Fails with invalid_argument where it comes "
           "with two, and with failed_precondition where the table has other pairs already; it "
           "has then what it had.",
    .inputs = {table_handle, {"keys", "Tkey"}, {"values", "Tval"}},
    .attrs = {{"Tkey", table_keys}, {"Tval", table_values}},
    .infer = infer_table_initialize,
    .example = R"(
t = HashTable key_dtype=i64 value_dtype=i64
init = InitializeTable(t, i64[1, 2], i64[10, 20])
other = InitializeTable(t, i64[1, 2], i64[10, 21])
size = LookupTableSize(t)
target init
run
fetch size = i64(2)
run
target other
error failed_precondition "was initialised already, with other pairs"
)",
});

} // namespace troupe::ops::initialize_table_op
