// The set of those that take part in the steps of replicas with copies: how it is formed, and who
// is looked for that is not in it.
#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/retries.hpp"
#include "troupe/api/train/loop/replicas_copies_loop.hpp"
#include "troupe/runtime/device/device_name.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace troupe {

// -- the set --------------------------------------------------------------------------------------

// Those that live agree that they do, and get the variables of one that has kept them. Where none
// has, one begins with those of a checkpoint, or anew.
void replicas::state::copies_loop::form() {
  settle_writer(); // the graph may grow, and where tasks write, that is a step of it
  prepared_.reset();
  auto gives = false;
  try {
    if (options_.elastic)
      grow();
    auto living = agree();
    auto whole = whole_first(living);
    note_set(living);
    if (whole == 0)
      wait_for_whole(living);
    const auto source = copies_->on(living.devices.front());
    auto step = copies_->among(living.devices);
    const run_options soon{.timeout = patience(usual_.giving)};
    auto began = clock::now();
    in_.fill(
        [&](session&) {
          if (whole == 0)
            begin(source);
          gives = true;
          in_.run({}, {}, {step.synchronize}, soon, where_);
        },
        where_);
    filled_.clear();
    for (size_t i = 0; i < living.devices.size(); ++i)
      filled_[living.devices[i]] = living.incarnations[i];
    without_whole_since_.reset();
    // Of a step that failed, only the answer may be lost.
    auto counted = to_scalar<int64_t>(
        in_.run({}, {copies_->counter(source)}, std::vector<target>{}, soon, where_).front(),
        where_);
    learn(usual_.giving, began);
    auto in_doubt = std::exchange(in_doubt_, 0);
    if (counted == done_ + 1)
      next_ += in_doubt;
    done_ = counted;
    std::vector<size_t> set;
    for (const auto& one : living.devices)
      set.push_back(copies_->on(one));
    std::ranges::sort(set);
    std::vector<edge> feeds;
    for (auto one : set)
      for (const auto& feed : copies_->ends(one).feeds)
        feeds.push_back(feed);
    prepared_ = in_.prepare(feeds, {step.loss}, {target{step.train}}, where_);
    is_first_step_ = true;
    source_ = source;
    set_ = std::move(set);
    last_good_ = clock::now();
    for (auto [replica, what] : std::exchange(came_, {}))
      of_->tell({.what = what, .step = done_, .replica = static_cast<int>(replica)});
  } catch (const error& why) {
    if (gives && why.kind() == error_kind::failed_precondition)
      filled_.clear(); // variables are gone, such as by session::reset
    failed(why);
  }
}

// Puts those that have all variables of this run first, and says how many they are. That a task is
// the one that it was does not say it: a step that was to give it the variables may have failed.
size_t replicas::state::copies_loop::whole_first(live_set& living) const {
  std::vector<std::pair<std::string, uint64_t>> whole, others;
  for (size_t i = 0; i < living.devices.size(); ++i) {
    auto known = filled_.find(living.devices[i]);
    auto is_whole =
        known != filled_.end() && known->second != 0 && known->second == living.incarnations[i];
    (is_whole ? whole : others).emplace_back(living.devices[i], living.incarnations[i]);
  }
  auto count = whole.size();
  whole.insert(whole.end(), others.begin(), others.end());
  for (size_t i = 0; i < whole.size(); ++i)
    std::tie(living.devices[i], living.incarnations[i]) = whole[i];
  return count;
}

// Fails where those that have the variables are silent, and not yet for so long that they count as
// gone: what they have is newer than a checkpoint.
void replicas::state::copies_loop::wait_for_whole(const live_set& living) {
  std::string silent;
  for (const auto& one : living.missing)
    if (filled_.contains(one))
      silent += concat(silent.empty() ? "" : ", ", one);
  if (silent.empty())
    return;
  auto now = clock::now();
  if (!without_whole_since_)
    without_whole_since_ = now;
  if (now < *without_whole_since_ + in_ticks(5 * options_.lost_seconds))
    throw error{failure(error_kind::unavailable, "only ", silent,
                        " had all variables, and did not answer; waiting for them")};
}

live_set replicas::state::copies_loop::agree() {
  if (options_.ps_tasks == 0) {
    live_set all{.devices = copies_->devices()};
    all.incarnations.assign(all.devices.size(), 1);
    return all;
  }
  std::vector<std::string> fresh;
  auto there = options_.elastic ? of_->workers_there(in_, where_) : std::set<int>{};
  for (size_t i = 0; i < copies_->devices().size(); ++i) {
    const auto& one = copies_->devices()[i];
    if ((!options_.elastic || there.contains(worker_of(i))) && asked_.insert(one).second)
      fresh.push_back(one);
  }
  if (!tasks_ && fresh.empty())
    throw error{
        failure(error_kind::unavailable, "no task of the job ", options_.worker_job, " is there")};
  if (!tasks_)
    tasks_.emplace(fresh,
                   living_tasks_options{.patience = in_milliseconds(options_.lost_seconds),
                                        .at_least = static_cast<size_t>(options_.least_workers)},
                   where_);
  else if (!fresh.empty())
    tasks_->also(fresh, where_);
  return tasks_->agree(in_, where_);
}

// elastic: a graph that has all workers that there are.
void replicas::state::copies_loop::grow() {
  auto there = of_->workers_there(in_, where_);
  if (there.empty() || *there.rbegin() < copies_->workers())
    return;
  // With room for more: each graph has all replicas.
  auto known = copies_->workers();
  auto grown =
      of_->build_copies(std::min(replicas_limit, std::max(*there.rbegin() + 1, known + known / 2)));
  copies_ = grown;
  std::lock_guard guard{of_->mutex};
  of_->copies.push_back(std::move(grown));
}

// Tells who comes and goes, and has those looked for that are not there.
void replicas::state::copies_loop::note_set(const live_set& now) {
  std::set<size_t> here;
  for (const auto& one : now.devices)
    here.insert(copies_->on(one));
  if (std::exchange(was_late_, false) && std::ranges::equal(here, before_))
    usual_ = {}; // it was only slow
  counts_.resize(std::max(counts_.size(), *here.rbegin() + 1));
  auto there = options_.elastic ? of_->workers_there(in_, where_) : std::set<int>{};
  using kind = replica_event::kind;
  auto tell = [&](kind what, size_t replica) {
    of_->tell({.what = what,
               .step = done_,
               .replica = static_cast<int>(replica),
               .text = what == kind::lost && first_cause_ ? first_cause_->what() : ""});
  };
  for (auto one : before_)
    if (!here.contains(one) && gone_.insert(one).second)
      tell(options_.elastic && !there.contains(worker_of(one)) ? kind::left : kind::lost, one);
  if (options_.elastic)
    std::erase_if(gone_, [&](size_t one) {
      auto left = !there.contains(worker_of(one));
      if (left && std::ranges::find(before_, one) == before_.end())
        tell(kind::left, one); // that it was lost has been told
      return left;
    });
  for (auto one : here)
    if (gone_.erase(one) > 0)
      came_[one] = kind::back; // told when it has its copy
    else if (options_.elastic && std::ranges::find(before_, one) == before_.end())
      came_[one] = kind::joined;
  std::erase_if(came_, [&](const auto& one) { return !here.contains(one.first); });
  std::lock_guard guard{of_->mutex};
  auto grew = std::ranges::any_of(
      here, [&](auto one) { return std::ranges::find(before_, one) == before_.end(); });
  if (grew || looked_for_.empty())
    look_every_ = look_interval;
  else if (forms_for_news_) // who answers, and cannot be used
    look_every_ = std::min(look_every_ * 2, longest_look_interval);
  forms_for_news_ = false;
  looked_for_.clear();
  ++times_formed_;
  if (!options_.elastic)
    for (int i = 0; i < options_.workers; ++i)
      there.insert(i);
  there_ = there;
  for (auto worker : there)
    if (!here.contains(static_cast<size_t>(worker * copies_of_worker())))
      looked_for_.insert(worker);
  before_ = {here.begin(), here.end()};
  of_->changed.notify_all();
}

// Gives one replica the values that a run begins with.
void replicas::state::copies_loop::begin(size_t source) {
  std::optional<restore_report> found;
  auto& initializer = *copies_->initializer(source);
  in_.run({}, {}, {&initializer}, {.timeout = in_milliseconds(options_.step_seconds)}, where_);
  if (saves() && (options_.resume || saves_ours_)) // but for local variables
    found =
        saver_access::restore(saves_of(source), in_, options_.partial, "replicas_options::partial",
                              error_kind::invalid_argument, where_);
  if (found)
    of_->tell_differences(*found);
  if (!std::exchange(began_, true) && found)
    restored_from_ = found->step;
  done_ = saved_step_ = found ? found->step : 0;
  next_ = done_ * options_.workers * copies_of_worker();
  if (found)
    if (auto note = found->notes.find(next_batch_key); note != found->notes.end())
      std::from_chars(note->second.data(), note->second.data() + note->second.size(), next_);
  in_doubt_ = 0; // what that step has changed is gone
  saved_at_ = clock::now();
  of_->tell({.what = found ? replica_event::kind::restored : replica_event::kind::initialized,
             .step = done_,
             .text = found ? found->path : ""});
}

int replicas::state::copies_loop::worker_of(size_t replica) const {
  return static_cast<int>(replica) / copies_of_worker();
}

// -- who comes ------------------------------------------------------------------------------------

void replicas::state::copies_loop::look() {
  std::unique_lock lock{of_->mutex};
  while (!ends_) {
    auto formed = times_formed_;
    of_->changed.wait_for(lock, look_every_, [&] { return ends_ || times_formed_ != formed; });
    if (ends_ || news_ || times_formed_ != formed)
      continue;
    lock.unlock();
    auto found = is_news();
    lock.lock();
    news_ |= found && formed == times_formed_; // or it may be known by now
  }
}

// Whether a worker that does not take part answers, or elastic: is new.
bool replicas::state::copies_loop::is_news() {
  std::set<int> wanted, known;
  {
    std::lock_guard guard{of_->mutex};
    wanted = looked_for_;
    known = there_;
  }
  try {
    auto there = of_->workers_there(in_, where_);
    if (options_.elastic && there != known)
      return true; // others have come, or left
    for (auto worker : wanted) {
      if (!there.contains(worker))
        continue;
      graph_builder g;
      auto on = g.on(concat("/job:", options_.worker_job, "/task:", worker), where_);
      auto* probe = no_op(g, "probe", where_);
      try {
        in_.run({}, {}, {probe}, {.timeout = in_milliseconds(options_.lost_seconds)}, where_);
        return true;
      } catch (const error&) { // not yet
      }
      std::lock_guard guard{of_->mutex};
      if (ends_)
        return false;
    }
  } catch (...) { // the tasks are those that were there
  }
  return false;
}

} // namespace troupe
