// Starts and ends replicas; if elastic, with the tasks that join and leave the cluster.
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_loop.hpp"
#include "troupe/runtime/device/device_name.hpp"

namespace troupe {

// Starts a replica unless it is running. A replica that existed before keeps its counts.
void replicas::state::loop::add(int number) {
  run_lock lock{state_->mutex};
  if (stopped_) // building a model may take long
    return;
  if (!state_->workers.contains(number)) {
    lock.unlock();
    auto built = state_->build(number);
    lock.lock();
    state_->workers.emplace(number, std::move(built));
  }
  if (stopped_)
    return;
  auto& self = replicas_[number];
  if (self.graph && !self.ended)
    return;
  if (self.thread.joinable()) { // its thread is about to return
    lock.unlock();
    self.thread.join();
    lock.lock();
  }
  self = {.number = number, .graph = &state_->workers.at(number), .counts = self.counts};
  self.thread = std::jthread{[this, &self] { work(self); }};
  if (options_.elastic)
    state_->report_event({.kind = replica_event_kind::joined, .step = done_, .replica = number});
}

// Requires the mutex. A running step on its task is abandoned.
void replicas::state::loop::end(replica_thread& self) {
  if (self.ended || std::exchange(self.must_leave, true))
    return;
  self.is_in_step = false;
  state_->report_event({.kind = replica_event_kind::left, .step = done_, .replica = self.number});
  state_->changed.notify_all();
}

void replicas::state::loop::follow_tasks() {
  try {
    std::set<int> workers;
    for (;;) {
      try {
        workers = state_->known_workers(session_, where_);
      } catch (const error& cause) { // the tasks are unknown, and count as unchanged
        if (!may_pass_for_replicas(cause))
          throw;
      }
      for (auto number : workers)
        add(number);
      run_lock lock{state_->mutex};
      for (auto& [number, replica] : replicas_)
        if (!workers.contains(number))
          end(replica);
      if (state_->changed.wait_for(lock, poll_interval, [&] { return stopped_; }))
        return;
    }
  } catch (...) { // for instance a model that differs for this replica
    run_lock lock{state_->mutex};
    give_up(std::current_exception());
  }
}

// An unreachable task is included until the cluster removes it; its replica retries meanwhile.
std::set<int> replicas::state::known_workers(session& in, location where) const {
  std::set<int> numbers;
  for (const auto& task : in.tasks(where))
    if (auto name = device_name::parse(task);
        name && name->job == options.worker_job && name->task < replicas_limit)
      numbers.insert(name->task);
  return numbers;
}

} // namespace troupe
