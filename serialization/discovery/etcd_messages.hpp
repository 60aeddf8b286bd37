// What is said to etcd's JSON gateway (/v3/...), and what it answers.
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
  int64_t lease = 0; ///< 0: it stays
};

/// All that parses answers fails with unavailable for an error of etcd's, with data_loss for what
/// is no answer.

/// For /v3/kv/range: all keys with that prefix, as the whole service has them, or as the one that
/// is asked does. Answered by entries.
std::string etcd_range(std::string_view prefix, bool may_be_late);
result<std::vector<etcd_entry>> parse_etcd_range(std::string_view answer);

/// For /v3/lease/grant, keepalive and revoke. The first two are answered by a lease; one that etcd
/// does not know any more has no time left.
struct etcd_lease {
  int64_t id = 0;
  std::chrono::seconds left{0};
};
std::string etcd_grant(std::chrono::seconds time);
std::string etcd_keep_alive(int64_t lease);
std::string etcd_revoke(int64_t lease);
result<etcd_lease> parse_etcd_lease(std::string_view answer);

/// For /v3/kv/txn: puts the entry if its key is not there, or has the value `instead_of`. Answered
/// by whether it has been put, and what is there if not.
std::string etcd_put_if_absent(const etcd_entry& what);
std::string etcd_put_instead(const etcd_entry& what, std::string_view instead_of);
struct etcd_outcome {
  bool done = false;
  std::vector<etcd_entry> there = {};
};
result<etcd_outcome> parse_etcd_outcome(std::string_view answer);

/// With the alphabet of RFC 4648, section 4, as the gateway wants it.
std::string to_standard_base64(std::string_view bytes);
result<std::string> from_standard_base64(std::string_view text);

} // namespace troupe
