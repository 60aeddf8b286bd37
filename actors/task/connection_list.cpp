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

void connection_list::add(const connection_ptr& one) {
  std::lock_guard guard{mutex_};
  if (!open_.emplace(one.get(), one).second)
    return;
  auto& to = total_of(one->peer);
  ++to.connections;
  ++to.opened;
}

void connection_list::remove(const peer_connection& one) {
  std::lock_guard guard{mutex_};
  auto it = open_.find(&one);
  if (it == open_.end())
    return;
  auto& to = total_of(one.peer);
  --to.connections;
  to.received += one.received.load(std::memory_order_relaxed);
  to.sent += one.sent.load(std::memory_order_relaxed);
  open_.erase(it);
}

std::vector<connection_ptr> connection_list::open() const {
  std::lock_guard guard{mutex_};
  std::vector<connection_ptr> all;
  for (const auto& [key, one] : open_)
    all.push_back(one);
  return all;
}

std::map<std::string, connection_list::traffic> connection_list::by_peer() const {
  std::lock_guard guard{mutex_};
  auto found = totals_;
  for (const auto& [key, one] : open_) {
    auto it = found.find(class_of(one->peer));
    auto& to = it == found.end() ? found["others"] : it->second;
    to.received += one->received.load(std::memory_order_relaxed);
    to.sent += one->sent.load(std::memory_order_relaxed);
  }
  return found;
}

} // namespace troupe
