// StringToHashBucketStrong: buckets that nobody can aim at.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_to_hash_bucket_strong_op {
namespace {

result<shapes> infer(const infer_context& at) {
  if (auto count = at.attr<std::vector<int64_t>>("key").size(); count != 2)
    return at.invalid("key must have 2 numbers, got ", count);
  return shapes{at.input(0)};
}

} // namespace

extern constexpr op_def string_to_hash_bucket_strong{
    .name = "StringToHashBucketStrong",
    .doc = "Hashes each string to one of num_buckets buckets, by SipHash with a key of two numbers."
           "\n\nWho does not know the key cannot choose strings that meet in one bucket.",
    .inputs = {{"input", "string"}},
    .outputs = {{"output", "i64"}},
    .attrs = {{"num_buckets", at_least{1}}, {"key", attr_kind::integers}},
    .infer = infer,
    .no_gradient = "its output is the number of a bucket",
    .example = R"(
y = StringToHashBucketStrong(string["a", "troupe"]) num_buckets=1000 key=[1, 2]
fetch y = i64[646, 808]
)",
};

} // namespace troupe::ops::string_to_hash_bucket_strong_op
