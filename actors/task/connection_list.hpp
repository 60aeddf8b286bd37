// The connections of a task whose peers have sent their hello, and the bytes that went through
// them.
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
    size_t connections = 0;          ///< open now
    uint64_t opened = 0;             ///< in total
    uint64_t received = 0, sent = 0; ///< bytes, closed connections included
  };
  /// Returns the name of a peer in by_peer().
  static std::string class_of(const std::string& peer);
  /// The number of peers that are counted by name. Further ones are summed as "others": a peer that
  /// has not proven its identity chooses its name.
  static constexpr size_t max_peers = 4096;

  void add(const connection_ptr& connection);
  /// Removes a connection that has ended; does nothing if it was never added.
  void remove(const peer_connection& connection);

  std::vector<connection_ptr> open() const;
  /// Returns the traffic by the name of the task; all clients together are "clients".
  std::map<std::string, traffic> by_peer() const;

private:
  traffic& total_of(const std::string& peer);

  mutable std::mutex mutex_;
  std::map<const peer_connection*, connection_ptr> open_;
  std::map<std::string, traffic> totals_; // received and sent: of closed connections
};

} // namespace troupe
