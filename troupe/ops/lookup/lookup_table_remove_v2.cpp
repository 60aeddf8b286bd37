// LookupTableRemoveV2: removes keys from a table.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_remove_v2_op {

extern constexpr op_def lookup_table_remove_v2 = table_user({
    .name = "LookupTableRemoveV2",
    .doc = "Removes keys, of any shape, with their values from a table; those that are not there "
           "are ignored.",
    .inputs = {table_handle, {"keys", "Tin"}},
    .attrs = {{"Tin", table_keys}},
    .infer = infer_table_remove,
    .example = R"(
t = MutableHashTableV2 key_dtype=i64 value_dtype=i64
put = LookupTableInsertV2(t, i64[1, 2, 3], i64[10, 20, 30])
drop = LookupTableRemoveV2(t, i64[1, 4])
found = LookupTableFindV2(t, i64[1, 2, 3, 4], i64(0))
target put
run
target drop
run
fetch found = i64[0, 20, 30, 0]
)",
});

} // namespace troupe::ops::lookup_table_remove_v2_op
