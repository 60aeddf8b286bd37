// Replicas begin; where they follow the tasks of a job, they begin with those that join the
// cluster, and end with those that leave it.
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_loop.hpp"
#include "troupe/runtime/device/device_name.hpp"

namespace troupe {

// Unless it is at work: where it was before, it begins anew, and goes on counting.
void replicas::state::loop::add(int number) {
  lock_of_all lock{of_->mutex};
  if (stopped_) // a model may take long to build
    return;
  if (!of_->workers.contains(number)) {
    lock.unlock();
    auto built = of_->build(number);
    lock.lock();
    of_->workers.emplace(number, std::move(built));
  }
  if (stopped_)
    return;
  auto& mine = replicas_[number];
  if (mine.of && !mine.ended)
    return;
  if (mine.thread.joinable()) { // it is about to return
    lock.unlock();
    mine.thread.join();
    lock.lock();
  }
  mine = {.number = number, .of = &of_->workers.at(number), .counts = mine.counts};
  mine.thread = std::jthread{[this, &mine] { work(mine); }};
  if (options_.elastic)
    of_->tell({.what = replica_event::kind::joined, .step = done_, .replica = number});
}

// With the mutex. What is under way on its task is left behind.
void replicas::state::loop::end(member& mine) {
  if (mine.ended || std::exchange(mine.leaves, true))
    return;
  mine.is_in_step = false;
  of_->tell({.what = replica_event::kind::left, .step = done_, .replica = mine.number});
  of_->changed.notify_all();
}

void replicas::state::loop::follow_tasks() {
  try {
    std::set<int> there;
    for (;;) {
      try {
        there = of_->workers_there(in_, where_);
      } catch (const error& why) { // the tasks are those that were there
        if (!may_pass_for_replicas(why))
          throw;
      }
      for (auto number : there)
        add(number);
      lock_of_all lock{of_->mutex};
      for (auto& [number, one] : replicas_)
        if (!there.contains(number))
          end(one);
      if (of_->changed.wait_for(lock, look_interval, [&] { return stopped_; }))
        return;
    }
  } catch (...) { // such as of a model that is another one for that replica
    lock_of_all lock{of_->mutex};
    give_up(std::current_exception());
  }
}

// One that is unreachable is among them until the cluster says that it is gone: its replica tries
// again meanwhile, as all do.
std::set<int> replicas::state::workers_there(session& in, location where) const {
  std::set<int> found;
  for (const auto& task : in.tasks(where))
    if (auto name = device_name::parse(task);
        name && name->job == options.worker_job && name->task < replicas_limit)
      found.insert(name->task);
  return found;
}

} // namespace troupe
