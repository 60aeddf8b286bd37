#include "troupe/actors/task/connection_list.hpp"

namespace troupe {

std::string connection_list::class_of(const std::string& peer) {
  return peer.starts_with('/') ? peer : "clients";
}

connection_list::traffic& connection_list::total_of(const std::string& peer) {
  auto name = class_of(peer);
  if (totals_.size() >= max_peers && !totals_.contains(name))
    name = "others";
  return totals_[name];
}

void connection_list::add(const connection_ptr& connection) {
  std::lock_guard guard{mutex_};
  if (!open_.emplace(connection.get(), connection).second)
    return;
  auto& total = total_of(connection->peer);
  ++total.connections;
  ++total.opened;
}

void connection_list::remove(const peer_connection& connection) {
  std::lock_guard guard{mutex_};
  auto position = open_.find(&connection);
  if (position == open_.end())
    return;
  auto& total = total_of(connection.peer);
  --total.connections;
  total.received += connection.received.load(std::memory_order_relaxed);
  total.sent += connection.sent.load(std::memory_order_relaxed);
  open_.erase(position);
}

std::vector<connection_ptr> connection_list::open() const {
  std::lock_guard guard{mutex_};
  std::vector<connection_ptr> connections;
  for (const auto& [key, connection] : open_)
    connections.push_back(connection);
  return connections;
}

std::map<std::string, connection_list::traffic> connection_list::by_peer() const {
  std::lock_guard guard{mutex_};
  auto totals = totals_;
  for (const auto& [key, connection] : open_) {
    auto position = totals.find(class_of(connection->peer));
    auto& total = position == totals.end() ? totals["others"] : position->second;
    total.received += connection->received.load(std::memory_order_relaxed);
    total.sent += connection->sent.load(std::memory_order_relaxed);
  }
  return totals;
}

} // namespace troupe
