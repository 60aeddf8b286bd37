// Addresses of tasks in etcd, where each task keeps its own (docs/clusters.md).
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <chrono>
#include <memory>
#include <string_view>

namespace troupe {

/// "http://10.0.0.5:2379,http://10.0.0.6:2379/train": servers of one service, and a prefix of keys
/// (`troupe` where there is none). A task is the key /train/worker/3; its value is its address and
/// its incarnation. It goes with its lease, `time_to_live` after the last sign of life of its
/// process.
result<std::shared_ptr<address_source>>
make_etcd_source(std::string_view text,
                 std::chrono::seconds time_to_live = std::chrono::seconds{10});

} // namespace troupe
