#include "troupe/serialization/storage/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef TROUPE_XXHASH_DISPATCH
// Declared here: the library's header would redefine what is above.
extern "C" XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t* state, const void* bytes,
                                                     size_t size);
#endif

namespace troupe {

struct checksum_stream::state {
  XXH3_state_t hash;
};

checksum_stream::checksum_stream() : state_(std::make_unique<state>()) { restart(); }
checksum_stream::checksum_stream(checksum_stream&&) noexcept = default;
checksum_stream& checksum_stream::operator=(checksum_stream&&) noexcept = default;
checksum_stream::~checksum_stream() = default;

void checksum_stream::add(std::span<const std::byte> bytes) noexcept {
#ifdef TROUPE_XXHASH_DISPATCH
  // What is compiled here can count on SSE2 only: half as fast.
  if (bytes.size() > 1024) {
    XXH3_64bits_update_dispatch(&state_->hash, bytes.data(), bytes.size());
    return;
  }
#endif
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

uint64_t checksum_stream::value() const noexcept { return XXH3_64bits_digest(&state_->hash); }

void checksum_stream::restart() noexcept { XXH3_64bits_reset(&state_->hash); }

std::string hex_text(uint64_t number) {
  std::string text(16, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, number >>= 4)
    *at = "0123456789abcdef"[number & 15];
  return text;
}

std::optional<uint64_t> parse_hex(std::string_view text) noexcept {
  if (text.size() != 16)
    return {};
  uint64_t number = 0;
  for (auto c : text) {
    auto digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0)
      return {};
    number = number << 4 | static_cast<uint64_t>(digit);
  }
  return number;
}

} // namespace troupe
