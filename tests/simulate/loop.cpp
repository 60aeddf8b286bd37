#include "tests/simulate/loop.hpp"

#include "troupe/actors/execution/socket_writer.hpp"

#include <algorithm>

namespace troupe::simulate {

status simulated_loop::add(int socket, socket_handler& handler,
                           std::chrono::milliseconds tick_period, std::shared_ptr<void> keep) {
  entries_[socket] = {&handler, tick_period, clock::now() + tick_period, std::move(keep)};
  find_due();
  wake(socket);
  return {};
}

void simulated_loop::want_writable(int socket, bool wants_writable) {
  auto entry = entries_.find(socket);
  if (entry == entries_.end())
    return;
  entry->second.wants_writable = wants_writable;
  if (wants_writable)
    wake(socket);
}

void simulated_loop::remove(int socket) {
  to_remove_.push_back(socket);
  changed_ = true;
}

time_point simulated_loop::next() const {
  if (!batch_.empty() || !woken_.empty() || !to_remove_.empty())
    return time_point::min();
  return ticks ? due_ : time_point::max();
}

void simulated_loop::find_due() {
  changed_ = true;
  due_ = time_point::max();
  for (const auto& [socket, entry] : entries_)
    due_ = std::min(due_, entry.due);
}

void simulated_loop::run_one(time_point now, dice* order) {
  if (batch_.empty())
    batch_.assign(woken_.rbegin(), woken_.rend());
  if (!batch_.empty()) {
    if (order)
      std::swap(batch_.back(), batch_[order->below(batch_.size())]);
    auto socket = batch_.back();
    batch_.pop_back();
    handle(socket);
    if (!batch_.empty())
      return;
  }
  remove_all();
  if (ticks)
    tick(now);
}

bool simulated_loop::settle() {
  if (batch_.empty() && woken_.empty() && to_remove_.empty())
    return false;
  batch_.clear();
  while (!woken_.empty())
    handle(*woken_.begin());
  remove_all();
  return true;
}

void simulated_loop::handle(int socket) {
  woken_.erase(socket);
  auto found_entry = entries_.find(socket);
  if (found_entry == entries_.end())
    return;
  auto& entry = found_entry->second;
  auto writes = [&] { return entry.wants_writable && states_.writable(socket); };
  auto leaves = [&] { return std::ranges::find(to_remove_, socket) != to_remove_.end(); };
  auto reads = states_.readable(socket), can_write = writes();
  if (leaves() || (!reads && !can_write))
    return;
  write_batch batch; // answers written by the handler
  entry.handler->ready(reads, can_write, scratch_);
  batch.write();
  // Otherwise a change of this state will wake the socket.
  if (!leaves() && (states_.readable(socket) || writes()))
    wake(socket);
}

void simulated_loop::remove_all() {
  if (to_remove_.empty())
    return;
  for (auto socket : std::exchange(to_remove_, {})) {
    auto node = entries_.extract(socket);
    if (!node.empty())
      node.mapped().handler->removed();
  }
  find_due();
}

void simulated_loop::tick(time_point now) {
  if (due_ > now)
    return;
  std::vector<socket_handler*> due;
  for (auto& [socket, entry] : entries_)
    if (entry.due <= now) {
      due.push_back(entry.handler);
      entry.due = now + entry.period;
    }
  find_due();
  for (auto* entry : due)
    entry->tick(now);
}

} // namespace troupe::simulate
