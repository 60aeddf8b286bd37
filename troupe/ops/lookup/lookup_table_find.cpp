// LookupTableFind: looks keys up.
#include "troupe/ops/lookup/shared/lookup.hpp"

namespace troupe::ops::lookup_table_find_op {

extern constexpr op_def lookup_table_find = table_user({
    .name = "LookupTableFind",
    .doc = "Looks up the values of keys: outputs one for each, with the shape of keys.\n\n"
           "Keys that are not there give default_value: one value for all, or one for each key. "
           "Fails with failed_precondition where a HashTable is not initialised.",
    .inputs = {table_handle, {"keys", "Tin"}, {"default_value", "Tout"}},
    .outputs = {{"values", "Tout"}},
    .attrs = {{"Tin", table_keys}, {"Tout", table_values}},
    .infer = infer_table_find,
    .example = R"(
t = HashTable key_dtype=i64 value_dtype=string
init = InitializeTable(t, i64[1, 2], string["10", "20"])
keys = Placeholder dtype=i64 shape=[2,2]
one = LookupTableFind(t, keys, string("0"))
each = LookupTableFind(t, keys, string[["0", "0"], ["1", "3"]])
target init
run
feed keys = i64[[2, 1], [2, 3]]
fetch one = string[["20", "10"], ["20", "0"]]
fetch each = string[["20", "10"], ["20", "3"]]
)",
});

} // namespace troupe::ops::lookup_table_find_op
