// Addresses of tasks in etcd, where each task keeps its own address (docs/clusters.md).
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <chrono>
#include <memory>
#include <string_view>

namespace troupe {

/// "http://10.0.0.5:2379,http://10.0.0.6:2379/train": the servers of one service and a prefix of
/// keys (default: `troupe`). A task is the key /train/worker/3, whose value is its address and its
/// incarnation. The key is deleted with its lease, `time_to_live` after the process last renewed
/// it. Fails with `invalid_argument` for a text of another form, and for "https:".
result<std::shared_ptr<address_source>>
make_etcd_source(std::string_view text,
                 std::chrono::seconds time_to_live = std::chrono::seconds{10});

} // namespace troupe
