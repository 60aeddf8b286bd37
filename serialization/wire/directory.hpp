// The messages of directories as bytes.
#pragma once
#include "troupe/runtime/cluster/directory_message.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// Changes if older processes would misunderstand a message.
inline constexpr uint32_t directory_protocol = 1;

/// Limits of one message, beside those of directory_limits.
inline constexpr size_t max_directory_bytes = 1024 * 1024, max_directory_rows = 4096,
                        max_cluster_name = 256;

std::vector<char> encode(const directory_message& message);

/// Decodes a message of a peer, which is untrusted. Rejects incarnations after
/// `latest_incarnation`, because no process could ever follow them. Fails with failed_precondition
/// if the peer speaks another protocol.
result<directory_message> decode_directory(std::span<const char> bytes,
                                           uint64_t latest_incarnation);

} // namespace troupe
