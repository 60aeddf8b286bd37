#include "troupe/ops/strings/shared/hash_buckets.cpu.hpp"

namespace troupe::ops::string_to_hash_bucket_cpu {
namespace {

// MurmurHash64A by Austin Appleby, with the seed that TensorFlow gives it.
uint64_t murmur(std::string_view text) {
  constexpr uint64_t factor = 0xc6a4a7935bd1e995, seed = 0xdecafcaffe;
  constexpr int shift = 47;
  auto hash = seed ^ (text.size() * factor);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    auto word = load_word(text.data()) * factor;
    word ^= word >> shift;
    hash = (hash ^ word * factor) * factor;
  }
  if (!text.empty())
    hash = (hash ^ load_rest(text)) * factor;
  hash = (hash ^ hash >> shift) * factor;
  return hash ^ hash >> shift;
}

} // namespace

extern constexpr kernel_def string_to_hash_bucket_cpu{
    .op = "StringToHashBucket",
    .run = {{dtype::none, to_buckets<murmur>}},
    .prepare = cache_attr<int64_t, "num_buckets">,
};

} // namespace troupe::ops::string_to_hash_bucket_cpu
