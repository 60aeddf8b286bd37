#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <farmhash.h>

namespace troupe::ops::string_to_hash_bucket_cpu {
namespace {

// Eight bytes as a little-endian number.
uint64_t load_word(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The remaining bytes, at most seven, as a little-endian number.
uint64_t load_rest(std::string_view bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

// Computes the bucket of each string by `hash(text)`.
template <class Hash>
status to_buckets(kernel_context& at, int64_t buckets, Hash&& hash) {
  return map_strings<int64_t>(
      at,
      [&](const std::string& text) {
        return static_cast<int64_t>(hash(std::string_view{text}) % static_cast<uint64_t>(buckets));
      },
      20);
}

// For kernels whose state is the attribute num_buckets.
template <uint64_t (*Hash)(std::string_view)>
status to_buckets(kernel_context& at) {
  return to_buckets(at, at.state<int64_t>(), Hash);
}

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

uint64_t fingerprint(std::string_view text) {
  return util::Fingerprint64(text.data(), text.size());
}

// SipHash-2-4 of Aumasson and Bernstein (2012).
class sip_hash {
public:
  sip_hash(uint64_t low, uint64_t high)
      : v_{low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
           high ^ 0x7465646279746573} {}

  uint64_t operator()(std::string_view text) && {
    auto length = static_cast<uint64_t>(text.size()) << 56;
    for (; text.size() >= 8; text.remove_prefix(8))
      absorb(load_word(text.data()));
    absorb(length | load_rest(text));
    v_[2] ^= 0xff;
    rounds(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

private:
  void absorb(uint64_t word) {
    v_[3] ^= word;
    rounds(2);
    v_[0] ^= word;
  }

  void rounds(int count) {
    auto mix = [this](size_t to, size_t from, int turn) {
      v_[to] += v_[from];
      v_[from] = std::rotl(v_[from], turn) ^ v_[to];
    };
    for (int i = 0; i < count; ++i) {
      mix(0, 1, 13);
      v_[0] = std::rotl(v_[0], 32);
      mix(2, 3, 16);
      mix(0, 3, 21);
      mix(2, 1, 17);
      v_[2] = std::rotl(v_[2], 32);
    }
  }

  std::array<uint64_t, 4> v_;
};

struct keyed_buckets {
  int64_t count;
  uint64_t low, high;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& key = setup.origin.attr<std::vector<int64_t>>("key");
  return std::shared_ptr<void>{std::make_shared<keyed_buckets>(
      keyed_buckets{setup.origin.attr<int64_t>("num_buckets"), static_cast<uint64_t>(key[0]),
                    static_cast<uint64_t>(key[1])})};
}

status run(kernel_context& at) {
  const auto& to = at.state<keyed_buckets>();
  return to_buckets(at, to.count, [&](std::string_view text) {
    return sip_hash{to.low, to.high}(text);
  });
}

} // namespace

extern constexpr kernel_def string_to_hash_bucket_cpu{
    .op = "StringToHashBucket",
    .run = {{dtype::none, to_buckets<murmur>}},
    .prepare = cache_attr<int64_t, "num_buckets">,
};

extern constexpr kernel_def string_to_hash_bucket_fast_cpu{
    .op = "StringToHashBucketFast",
    .run = {{dtype::none, to_buckets<fingerprint>}},
    .prepare = cache_attr<int64_t, "num_buckets">,
};

extern constexpr kernel_def string_to_hash_bucket_strong_cpu{
    .op = "StringToHashBucketStrong",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::string_to_hash_bucket_cpu
