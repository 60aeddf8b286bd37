// StringToHashBucket: buckets for strings.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_to_hash_bucket_op {

extern constexpr op_def string_to_hash_bucket{
    .name = "StringToHashBucket",
    .doc = "Hashes each string to one of num_buckets buckets, by MurmurHash64A.\n\nTensorFlow gave "
           "this op no promise to keep its hash; new graphs take StringToHashBucketFast.",
    .inputs = {{"string_tensor", "string"}},
    .outputs = {{"output", "i64"}},
    .attrs = {{"num_buckets", at_least{1}}},
    .infer = infer::same_as_input,
    .no_gradient = "its output is the number of a bucket",
    .example = R"(
y = StringToHashBucket(string["a", "troupe"]) num_buckets=1000
fetch y = i64[868, 954]
)",
};

} // namespace troupe::ops::string_to_hash_bucket_op
