// StringToHashBucketFast: buckets for strings.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_to_hash_bucket_fast_op {

extern constexpr op_def string_to_hash_bucket_fast{
    .name = "StringToHashBucketFast",
    .doc = "Hashes each string to one of num_buckets buckets, by the fingerprint of "
           "FarmHash.\n\nThe hash is the same on every machine and in every version. Who chooses "
           "the strings can choose the bucket; see StringToHashBucketStrong.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "i64"}},
    .attrs = {{"num_buckets", at_least{1}}},
    .infer = infer::same_as_input,
    .no_gradient = "its output is the number of a bucket",
    .example = R"(
y = StringToHashBucketFast(string["a", "troupe"]) num_buckets=1000
fetch y = i64[939, 336]
)",
};

} // namespace troupe::ops::string_to_hash_bucket_fast_op
