#include "troupe/ops/strings/shared/hash_buckets.cpu.hpp"

#include <farmhash.h>

namespace troupe::ops::string_to_hash_bucket_fast_cpu {
namespace {

uint64_t fingerprint(std::string_view text) {
  return util::Fingerprint64(text.data(), text.size());
}

} // namespace

extern constexpr kernel_def string_to_hash_bucket_fast_cpu{
    .op = "StringToHashBucketFast",
    .run = {{dtype::none, to_buckets<fingerprint>}},
    .prepare = cache_attr<int64_t, "num_buckets">,
};

} // namespace troupe::ops::string_to_hash_bucket_fast_cpu
