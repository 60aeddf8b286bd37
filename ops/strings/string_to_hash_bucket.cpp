// Hashes of strings, by three functions.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_to_hash_bucket_op {
namespace {

result<shapes> infer_string_to_hash_bucket_strong(const infer_context& at) {
  if (auto count = at.attr<std::vector<int64_t>>("key").size(); count != 2)
    return at.invalid("key must have 2 numbers, got ", count);
  return shapes{at.input(0)};
}

} // namespace

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

extern constexpr op_def string_to_hash_bucket_strong{
    .name = "StringToHashBucketStrong",
    .doc = "Hashes each string to one of num_buckets buckets, by SipHash with a key of two numbers."
           "\n\nWho does not know the key cannot choose strings that meet in one bucket.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "i64"}},
    .attrs = {{"num_buckets", at_least{1}}, {"key", attr_kind::integers}},
    .infer = infer_string_to_hash_bucket_strong,
    .no_gradient = "its output is the number of a bucket",
    .example = R"(
y = StringToHashBucketStrong(string["a", "troupe"]) num_buckets=1000 key=[1, 2]
fetch y = i64[646, 808]
)",
};

} // namespace troupe::ops::string_to_hash_bucket_op
