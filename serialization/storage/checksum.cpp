#include "troupe/serialization/storage/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#ifdef TROUPE_XXHASH_DISPATCH
// Declared here: the library's header would redefine the inline functions above.
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
  // The inlined code above may use SSE2 only, which is half as fast.
  if (bytes.size() > 1024) {
    XXH3_64bits_update_dispatch(&state_->hash, bytes.data(), bytes.size());
    return;
  }
#endif
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

uint64_t checksum_stream::value() const noexcept { return XXH3_64bits_digest(&state_->hash); }

void checksum_stream::restart() noexcept { XXH3_64bits_reset(&state_->hash); }

std::string to_hex(uint64_t number) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4)
    *digit = "0123456789abcdef"[number & 15];
  return text;
}

std::optional<uint64_t> parse_hex(std::string_view text) noexcept {
  if (text.size() != 16)
    return {};
  uint64_t number = 0;
  for (auto character : text) {
    auto digit = character >= '0' && character <= '9'   ? character - '0'
                 : character >= 'a' && character <= 'f' ? character - 'a' + 10
                                                        : -1;
    if (digit < 0)
      return {};
    number = number << 4 | static_cast<uint64_t>(digit);
  }
  return number;
}

} // namespace troupe
