// Answers of etcd: errors, or values; and base64, which is the same after encoding and decoding.
#include "troupe/serialization/discovery/etcd_messages.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::etcd_messages {

FUZZ_TARGET(etcd_messages) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  fuzz::require(*from_standard_base64(to_standard_base64(text)) == text);
  if (auto bytes = from_standard_base64(text))
    fuzz::require(bytes->size() <= size / 4 * 3);
  if (auto entries = parse_etcd_range(text))
    fuzz::require(entries->size() <= size);
  if (auto lease = parse_etcd_lease(text))
    fuzz::require(lease->id != 0 && lease->time_left.count() >= 0);
  if (auto outcome = parse_etcd_outcome(text))
    fuzz::require(outcome->current_entries.size() <= size);
  return 0;
}

} // namespace troupe::fuzz::etcd_messages
