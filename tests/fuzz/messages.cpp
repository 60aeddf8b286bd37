// Messages: what decode() takes can be encoded again, and payloads are of the size announced.
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
  for (auto announced : envelope->outside) {
    if (announced > 1 << 20 || outside.size() > 64)
      return 0; // a link would check as well
    auto made = tensor::make(dtype::u8, shape{static_cast<int64_t>(announced)});
    fuzz::require(made.ok());
    std::memset(made->raw(), 0, made->bytes());
    outside.push_back(*std::move(made));
  }
  auto decoded = decode(bytes, outside);
  if (!decoded)
    return 0;
  fuzz::require(delivery_of(*decoded) == envelope->order);
  auto again = encode(*decoded);
  if (again)
    fuzz::require(decode(again->bytes, again->outside).ok());
  return 0;
}

} // namespace troupe::fuzz::messages
