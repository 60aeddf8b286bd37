// LookupTableSize: how many pairs a table has.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_size_op {

extern constexpr op_def lookup_table_size = table_user({
    .name = "LookupTableSize",
    .doc = "Counts the pairs of a table; there are none while it is not initialised.",
    .inputs = {table_handle},
    .outputs = {{"size", "i64"}},
    .infer = infer_table_size,
    .example = R"(
t = MutableHashTable key_dtype=i64 value_dtype=i64
put = LookupTableInsert(t, i64[1, 2, 1], i64[10, 20, 30])
size = LookupTableSize(t)
fetch size = i64(0)
run
target put
run
fetch size = i64(2)
)",
});

} // namespace troupe::ops::lookup_table_size_op
