// The set of replicas with copies that take part in steps: how it is formed, and how missing
// workers are detected.
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_copies_loop.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace troupe {

// -- the set --------------------------------------------------------------------------------------

// The live replicas agree on the set, and get the variables of one that has kept them. If none has,
// one replica gets those of a checkpoint, or initial values.
void replicas::state::copies_loop::form_set() {
  finish_write(); // the graph may grow; and if tasks write, that is a step of the graph
  prepared_.reset();
  auto synchronizes = false;
  try {
    if (options_.elastic)
      grow_graph();
    auto living = agree();
    auto complete_count = order_complete_first(living);
    record_set(living);
    if (complete_count == 0)
      wait_for_complete(living);
    const auto source = copies_->replica_on(living.devices.front());
    auto group_step = copies_->step_of(living.devices);
    const run_options step_options{.timeout = timeout_for(usual_.synchronize)};
    auto start = clock::now();
    session_.initialize_tasks(
        [&](session&) {
          if (complete_count == 0)
            initialize_variables(source);
          synchronizes = true;
          session_.run({}, {}, {group_step.synchronize}, step_options, where_);
        },
        where_);
    complete_.clear();
    for (size_t i = 0; i < living.devices.size(); ++i)
      complete_[living.devices[i]] = living.incarnations[i];
    incomplete_since_.reset();
    // A failed step may have succeeded, with only its answer lost.
    auto counted = to_scalar<int64_t>(
        session_.run({}, {copies_->counter(source)}, std::vector<target>{}, step_options, where_)
            .front(),
        where_);
    update_usual(usual_.synchronize, start);
    auto unconfirmed = std::exchange(unconfirmed_members_, 0);
    if (counted == done_ + 1)
      next_ += unconfirmed;
    done_ = counted;
    std::vector<size_t> numbers;
    for (const auto& device : living.devices)
      numbers.push_back(copies_->replica_on(device));
    std::ranges::sort(numbers);
    std::vector<edge> feeds;
    for (auto number : numbers)
      for (const auto& feed : copies_->model(number).feeds)
        feeds.push_back(feed);
    prepared_ = session_.prepare(feeds, {group_step.loss}, {target{group_step.train}}, where_);
    is_first_step_ = true;
    source_ = source;
    members_ = std::move(numbers);
    last_good_ = clock::now();
    for (auto [replica, kind] : std::exchange(arrivals_, {}))
      state_->report_event({.kind = kind, .step = done_, .replica = static_cast<int>(replica)});
  } catch (const error& cause) {
    if (synchronizes && cause.kind() == error_kind::failed_precondition)
      complete_.clear(); // the variables are lost, for instance by session::reset
    handle_failure(cause);
  }
}

// Orders devices with all variables of this run first, and returns their number. An unchanged
// incarnation is not sufficient, because the step that copied the variables to the task may have
// failed.
size_t replicas::state::copies_loop::order_complete_first(live_set& living) const {
  std::vector<std::pair<std::string, uint64_t>> complete, others;
  for (size_t i = 0; i < living.devices.size(); ++i) {
    auto entry = complete_.find(living.devices[i]);
    auto is_complete =
        entry != complete_.end() && entry->second != 0 && entry->second == living.incarnations[i];
    (is_complete ? complete : others).emplace_back(living.devices[i], living.incarnations[i]);
  }
  auto count = complete.size();
  complete.insert(complete.end(), others.begin(), others.end());
  for (size_t i = 0; i < complete.size(); ++i)
    std::tie(living.devices[i], living.incarnations[i]) = complete[i];
  return count;
}

// Throws if the replicas with the variables are silent, and have not been silent long enough to
// count as gone: their variables are newer than those of a checkpoint.
void replicas::state::copies_loop::wait_for_complete(const live_set& living) {
  std::string silent;
  for (const auto& device : living.missing)
    if (complete_.contains(device))
      silent += concat(silent.empty() ? "" : ", ", device);
  if (silent.empty())
    return;
  auto now = clock::now();
  if (!incomplete_since_)
    incomplete_since_ = now;
  if (now < *incomplete_since_ + in_ticks(5 * options_.lost_timeout_seconds))
    throw error{failure(error_kind::unavailable, "only ", silent,
                        " had all variables, and did not answer; waiting for them")};
}

live_set replicas::state::copies_loop::agree() {
  if (options_.ps_tasks == 0) {
    live_set devices_of_task{.devices = copies_->devices()};
    devices_of_task.incarnations.assign(devices_of_task.devices.size(), 1);
    return devices_of_task;
  }
  std::vector<std::string> new_devices;
  auto workers = options_.elastic ? state_->known_workers(session_, where_) : std::set<int>{};
  for (size_t i = 0; i < copies_->devices().size(); ++i) {
    const auto& device = copies_->devices()[i];
    if ((!options_.elastic || workers.contains(worker_of(i))) &&
        known_devices_.insert(device).second)
      new_devices.push_back(device);
  }
  if (!tasks_ && new_devices.empty())
    throw error{failure(error_kind::unavailable, "no task of the job ", options_.worker_job,
                        " is available")};
  if (!tasks_)
    tasks_.emplace(new_devices,
                   live_tasks_options{.timeout = in_milliseconds(options_.lost_timeout_seconds),
                                      .min_tasks = static_cast<size_t>(options_.min_workers)},
                   where_);
  else if (!new_devices.empty())
    tasks_->add_devices(new_devices, where_);
  return tasks_->agree(session_, where_);
}

// elastic: switches to a larger graph if the present one lacks a worker.
void replicas::state::copies_loop::grow_graph() {
  auto workers = state_->known_workers(session_, where_);
  if (workers.empty() || *workers.rbegin() < copies_->workers())
    return;
  // Adds spare replicas, because each graph has all of them.
  auto current_count = copies_->workers();
  auto larger = state_->build_copies(
      std::min(replicas_limit, std::max(*workers.rbegin() + 1, current_count + current_count / 2)));
  copies_ = larger;
  std::lock_guard guard{state_->mutex};
  state_->copies.push_back(std::move(larger));
}

// Reports replicas that join or leave the set, and records the missing workers.
void replicas::state::copies_loop::record_set(const live_set& living) {
  std::set<size_t> present;
  for (const auto& device : living.devices)
    present.insert(copies_->replica_on(device));
  if (std::exchange(was_late_, false) && std::ranges::equal(present, previous_members_))
    usual_ = {}; // no replica was lost, so the step was only slow
  counts_.resize(std::max(counts_.size(), *present.rbegin() + 1));
  auto workers = options_.elastic ? state_->known_workers(session_, where_) : std::set<int>{};
  using kind = replica_event_kind;
  auto report_change = [&](kind change, size_t replica) {
    state_->report_event(
        {.kind = change,
         .step = done_,
         .replica = static_cast<int>(replica),
         .text = change == kind::lost && first_cause_ ? first_cause_->what() : ""});
  };
  for (auto replica : previous_members_)
    if (!present.contains(replica) && absent_.insert(replica).second)
      report_change(options_.elastic && !workers.contains(worker_of(replica)) ? kind::left
                                                                              : kind::lost,
                    replica);
  if (options_.elastic)
    std::erase_if(absent_, [&](size_t replica) {
      auto has_left = !workers.contains(worker_of(replica));
      if (has_left && std::ranges::find(previous_members_, replica) == previous_members_.end())
        report_change(kind::left, replica); // its loss was reported before
      return has_left;
    });
  for (auto replica : present)
    if (absent_.erase(replica) > 0)
      arrivals_[replica] = kind::back; // reported when it has its copy
    else if (options_.elastic &&
             std::ranges::find(previous_members_, replica) == previous_members_.end())
      arrivals_[replica] = kind::joined;
  std::erase_if(arrivals_, [&](const auto& entry) { return !present.contains(entry.first); });
  std::lock_guard guard{state_->mutex};
  auto has_grown = std::ranges::any_of(present, [&](auto replica) {
    return std::ranges::find(previous_members_, replica) == previous_members_.end();
  });
  if (has_grown || missing_workers_.empty())
    poll_every_ = poll_interval;
  else if (forms_for_changes_) // a worker answers, and cannot be used
    poll_every_ = std::min(poll_every_ * 2, longest_poll_interval);
  forms_for_changes_ = false;
  missing_workers_.clear();
  ++sets_formed_;
  if (!options_.elastic)
    for (int i = 0; i < options_.workers; ++i)
      workers.insert(i);
  known_workers_ = workers;
  for (auto worker : workers)
    if (!present.contains(static_cast<size_t>(worker * copies_of_worker())))
      missing_workers_.insert(worker);
  previous_members_ = {present.begin(), present.end()};
  state_->changed.notify_all();
}

// Initializes or restores the variables of one replica.
void replicas::state::copies_loop::initialize_variables(size_t source) {
  std::optional<restore_report> restored;
  auto& initializer = *copies_->initializer(source);
  session_.run({}, {}, {&initializer}, {.timeout = in_milliseconds(options_.step_timeout_seconds)},
               where_);
  if (writes_checkpoints() && (options_.resume || wrote_checkpoint_)) // except for local variables
    restored =
        saver_access::restore(checkpoint_saver(source), session_, options_.partial,
                              "replicas_options::partial", error_kind::invalid_argument, where_);
  if (restored)
    state_->report_differences(*restored);
  if (!std::exchange(has_begun_, true) && restored)
    restored_from_ = restored->step;
  done_ = saved_step_ = restored ? restored->step : 0;
  next_ = done_ * options_.workers * copies_of_worker();
  if (restored)
    if (auto note = restored->notes.find(next_batch_key); note != restored->notes.end())
      std::from_chars(note->second.data(), note->second.data() + note->second.size(), next_);
  unconfirmed_members_ = 0; // the changes of that step are lost
  saved_at_ = clock::now();
  state_->report_event(
      {.kind = restored ? replica_event_kind::restored : replica_event_kind::initialized,
       .step = done_,
       .text = restored ? restored->path : ""});
}

int replicas::state::copies_loop::worker_of(size_t replica) const {
  return static_cast<int>(replica) / copies_of_worker();
}

// -- missing workers ------------------------------------------------------------------------------

void replicas::state::copies_loop::watch_workers() {
  std::unique_lock lock{state_->mutex};
  while (!is_ending_) {
    auto set_number = sets_formed_;
    state_->changed.wait_for(lock, poll_every_,
                             [&] { return is_ending_ || sets_formed_ != set_number; });
    if (is_ending_ || changes_found_ || sets_formed_ != set_number)
      continue;
    lock.unlock();
    auto has_news = has_changes();
    lock.lock();
    changes_found_ |= has_news && set_number == sets_formed_; // else the new set may include them
  }
}

// Returns true if a worker that does not take part answers; if elastic, also if workers have joined
// or left.
bool replicas::state::copies_loop::has_changes() {
  std::set<int> missing, known;
  {
    std::lock_guard guard{state_->mutex};
    missing = missing_workers_;
    known = known_workers_;
  }
  try {
    auto workers = state_->known_workers(session_, where_);
    if (options_.elastic && workers != known)
      return true;
    for (auto worker : missing) {
      if (!workers.contains(worker))
        continue;
      graph_builder g;
      auto on = g.on(concat("/job:", options_.worker_job, "/task:", worker), where_);
      auto* probe = no_op(g, "probe", where_);
      try {
        session_.run({}, {}, {probe}, {.timeout = in_milliseconds(options_.lost_timeout_seconds)},
                     where_);
        return true;
      } catch (const error&) { // not yet
      }
      std::lock_guard guard{state_->mutex};
      if (is_ending_)
        return false;
    }
  } catch (...) { // the tasks are unknown, and count as unchanged
  }
  return false;
}

} // namespace troupe
