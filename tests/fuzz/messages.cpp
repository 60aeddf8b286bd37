// Messages: accepted messages can be encoded again, and payloads have the announced size.
#include "troupe/serialization/wire/messages.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "troupe/serialization/wire/payload.hpp"

namespace troupe::fuzz::messages {

FUZZ_TARGET(messages) {
  auto bytes = fuzz::bytes(data, size);
  auto envelope = read_envelope(bytes);
  if (!envelope)
    return 0;
  std::vector<tensor> outside;
  for (auto announced : envelope->payload_sizes) {
    if (announced > 1 << 20 || outside.size() > 64)
      return 0; // a link would refuse it as well
    auto payload = tensor::make(dtype::u8, shape{static_cast<int64_t>(announced)});
    fuzz::require(payload.ok());
    std::memset(payload->raw(), 0, payload->bytes());
    outside.push_back(*std::move(payload));
  }
  auto decoded = decode(bytes, outside);
  if (!decoded)
    return 0;
  fuzz::require(delivery_of(*decoded) == envelope->order);
  auto encoded = encode(*decoded);
  if (encoded)
    fuzz::require(decode(encoded->bytes, encoded->payloads).ok());
  return 0;
}

} // namespace troupe::fuzz::messages
