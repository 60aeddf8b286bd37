// Base64: accepted text is the same after decoding and encoding, except for its padding.
#include "tests/fuzz/fuzz.hpp"
#include "troupe/ops/strings/shared/base64.hpp"

namespace troupe::fuzz::decode_base64 {

FUZZ_TARGET(decode_base64) {
  auto bytes = ops::from_base64({reinterpret_cast<const char*>(data), size});
  if (!bytes)
    return 0;
  auto decoded_again = ops::from_base64(ops::to_base64(*bytes, size % 4 == 0));
  fuzz::require(decoded_again.ok() && *decoded_again == *bytes);
  return 0;
}

} // namespace troupe::fuzz::decode_base64
