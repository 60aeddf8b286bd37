// LookupTableSizeV2: how many pairs a table has.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_size_v2_op {

extern constexpr op_def lookup_table_size_v2 = table_user({
    .name = "LookupTableSizeV2",
    .doc = "Counts the pairs of a table; there are none while it is not initialised.\n\n"
           "The same as LookupTableSize, whose table has a reference as handle in TensorFlow, "
           "where this has a resource.",
    .inputs = {table_handle},
    .outputs = {{"size", "i64"}},
    .infer = infer_table_size,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[1, 2, 1], i64[10, 20, 30])
size = LookupTableSizeV2(t)
fetch size = i64(0)
run
target put
run
fetch size = i64(2)
)",
});

} // namespace troupe::ops::lookup_table_size_v2_op
