// Requests to etcd's JSON gateway (/v3/...), and its answers.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct etcd_entry {
  std::string key, value;
  int64_t lease = 0; ///< 0: the entry does not expire
};

/// All parsers of answers fail with unavailable for an error of etcd, and with data_loss for a text
/// that is not an answer.

/// For /v3/kv/range: reads all keys with that prefix, from a quorum, or from the contacted member's
/// possibly stale state. The answer is a list of entries.
std::string etcd_range(std::string_view prefix, bool may_be_stale);
result<std::vector<etcd_entry>> parse_etcd_range(std::string_view answer);

/// For /v3/lease/grant, keepalive and revoke. The answer of the first two is a lease. An expired
/// lease has no time left.
struct etcd_lease {
  int64_t id = 0;
  std::chrono::seconds time_left{0};
};
std::string etcd_grant(std::chrono::seconds time);
std::string etcd_keep_alive(int64_t lease);
std::string etcd_revoke(int64_t lease);
result<etcd_lease> parse_etcd_lease(std::string_view answer);

/// For /v3/kv/txn: puts the entry if its key does not exist, or has the value `expected`. The
/// answer states whether the entry was put, and the current entry if not.
std::string etcd_put_if_absent(const etcd_entry& entry);
std::string etcd_put_if_equal(const etcd_entry& entry, std::string_view expected);
struct etcd_outcome {
  bool succeeded = false;
  std::vector<etcd_entry> current_entries = {};
};
result<etcd_outcome> parse_etcd_outcome(std::string_view answer);

/// Base64 with the alphabet of RFC 4648, section 4, as the gateway expects.
std::string to_standard_base64(std::string_view bytes);
result<std::string> from_standard_base64(std::string_view text);

} // namespace troupe
