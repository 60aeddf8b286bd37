// The connections of a task whose peers have introduced themselves, and what has gone through them.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"

#include <map>
#include <mutex>
#include <vector>

namespace troupe {

/// Any thread may call.
class connection_list {
public:
  struct traffic {
    size_t connections = 0;          ///< now
    uint64_t opened = 0;             ///< ever
    uint64_t received = 0, sent = 0; ///< bytes, of connections that have ended, too
  };
  /// What by_peer() calls a peer.
  static std::string class_of(const std::string& peer);
  /// More than so many peers count as one, "others": names come from strangers.
  static constexpr size_t max_peers = 4096;

  void add(const connection_ptr& one);
  /// It has ended; one that was never added is passed over.
  void remove(const peer_connection& one);

  std::vector<connection_ptr> open() const;
  /// By name of the task; those of all clients together are "clients".
  std::map<std::string, traffic> by_peer() const;

private:
  traffic& total_of(const std::string& peer);

  mutable std::mutex mutex_;
  std::map<const peer_connection*, connection_ptr> open_;
  std::map<std::string, traffic> totals_; // received and sent: by what has ended
};

} // namespace troupe
