#include "troupe/actors/step_table.hpp"

#include "troupe/actors/region.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe {
namespace {

constexpr size_t max_ended_steps = 65'536;
constexpr size_t max_early_steps = 4096; // that hold tensors
constexpr size_t max_early_bytes = size_t{1} << 30;
constexpr size_t max_early_entries = 65'536; // with those that only say that a step must not run
constexpr std::chrono::seconds early_patience{60}, age_period{1};

status twice(uint32_t key) { return invalid("a tensor came twice for the key ", key); }

status no_room(size_t steps, size_t bytes) {
  return failure(error_kind::resource_exhausted,
                 "a tensor that came before its step found no room: tensors of ", steps,
                 " other steps wait for theirs, ", bytes, " bytes (at most ", max_early_steps,
                 " steps, ", max_early_bytes, " bytes)");
}

} // namespace

void step_table::deliver_push(task_instance& in, tensor_push&& what, caf::execution_unit* unit) {
  const auto* route = in.program().import(what.key);
  if (!route) {
    in.conductor().abort(what.step, invalid("a tensor came for the unknown key ", what.key), unit);
    return;
  }
  const auto& program = in.part(route->program).program();
  if (!what.dead && route->slot != token::no_slot)
    if (const auto& from = *program.waits()[route->wait].origin;
        from.output_type(0) != what.value.type() ||
        !from.output_shape(0).compatible(what.value.dims())) {
      in.conductor().abort(what.step,
                           invalid(from.description(), ": expected ", from.output_type(0),
                                   from.output_shape(0), ", got ", what.value.type(),
                                   what.value.dims()),
                           unit);
      return;
    }
  // Not after the end: a step that has failed lets its regions go.
  in.conductor().act_for(what.step, [&]() -> status {
    in.end_wait(route->program, route->wait, what.value.bytes());
    deliver(in.region(route->program, route->region),
            token{.region = route->region,
                  .slot = what.dead ? token::no_slot : route->slot,
                  .value = std::move(what.value),
                  .dead = what.dead},
            unit);
    return {};
  });
}

status step_table::may_begin(uint64_t step) {
  std::lock_guard guard{mutex_};
  if (!closed_)
    return closed_;
  if (running_.contains(step) || ended_.contains(step))
    return invalid("step ", step, running_.contains(step) ? " runs already" : " has run already");
  auto it = early_.find(step);
  if (it == early_.end())
    return refusal_forgotten(step);
  if (it->second.cancelled)
    return {};
  TROUPE_REACHED("a step was cancelled before it came");
  auto why = take_early(step).cancelled;
  end(step);
  return why;
}

status step_table::refusal_forgotten(uint64_t step) const {
  if (!forgot_refusal_ || step_clock::now() >= *forgot_refusal_ + early_patience)
    return {};
  return failure(error_kind::resource_exhausted, "more than ", max_early_entries,
                 " steps were cancelled or refused before they came: step ", step,
                 " may be one of them");
}

status step_table::add(uint64_t step, const std::shared_ptr<task_instance>& in,
                       caf::execution_unit* unit, step_clock::time_point deadline) {
  std::vector<tensor_push> waiting;
  {
    std::lock_guard guard{mutex_};
    if (!closed_)
      return closed_;
    if (ended_.contains(step))
      return {}; // it was quick
    if (running_.contains(step))
      return invalid("step ", step, " runs already");
    if (!early_.contains(step))
      TROUPE_TRY(refusal_forgotten(step));
    auto early = take_early(step);
    if (!early.cancelled)
      return early.cancelled;
    waiting = std::move(early.pushes);
    auto& known = running_[step];
    known.in = in;
    known.deadline = deadline;
    for (const auto& one : waiting)
      if (!known.came.insert(one.key).second)
        return twice(one.key);
  }
  for (auto& one : waiting)
    deliver_push(*in, std::move(one), unit);
  return {};
}

void step_table::remove(uint64_t step) {
  std::shared_ptr<task_instance> last; // these go when the lock is free
  early unused;
  std::lock_guard guard{mutex_};
  unused = take_early(step);
  if (auto it = running_.find(step); it != running_.end()) {
    last = std::move(it->second.in);
    running_.erase(it);
  }
  end(step);
}

step_table::early step_table::take_early(uint64_t step) {
  auto it = early_.find(step);
  if (it == early_.end())
    return {};
  auto taken = std::move(it->second);
  early_.erase(it);
  early_pushes_ -= !taken.pushes.empty();
  for (const auto& one : taken.pushes)
    early_bytes_ -= one.value.bytes();
  return taken;
}

void step_table::end(uint64_t step) {
  if (!ended_.insert(step).second)
    return;
  ended_order_.push_back(step);
  if (ended_order_.size() > max_ended_steps) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
}

void step_table::push(tensor_push&& what, caf::execution_unit* unit) {
  std::shared_ptr<task_instance> in;
  bool first = true;
  {
    std::lock_guard guard{mutex_};
    if (auto it = running_.find(what.step); it != running_.end()) {
      in = it->second.in;
      first = it->second.came.insert(what.key).second;
    } else if (!ended_.contains(what.step)) {
      push_early(std::move(what));
    }
  }
  if (in && first)
    deliver_push(*in, std::move(what), unit);
  else if (in)
    in->conductor().abort(what.step, twice(what.key), unit);
}

void step_table::push_early(tensor_push&& what) {
  forget_old_early();
  auto it = early_.find(what.step);
  if (it != early_.end() && !it->second.cancelled)
    return;
  TROUPE_REACHED("a tensor comes before its step");
  bool new_step = it == early_.end() || it->second.pushes.empty();
  if (early_bytes_ + what.value.bytes() > max_early_bytes ||
      (new_step && early_pushes_ >= max_early_steps) ||
      TROUPE_BUGGIFY("an early tensor finds no room"))
    return refuse_early(what.step, no_room(early_pushes_, early_bytes_));
  early_bytes_ += what.value.bytes();
  early_pushes_ += new_step;
  auto& waiting = early_[what.step];
  waiting.since = step_clock::now();
  waiting.pushes.push_back(std::move(what));
}

// Instead of what has come for the step: it is told when it comes.
void step_table::refuse_early(uint64_t step, status why) {
  if (auto before = take_early(step); !before.cancelled)
    why = std::move(before.cancelled); // the first cause counts
  if (early_.size() >= max_early_entries) {
    forgot_refusal_ = step_clock::now();
    return;
  }
  early_[step] = {{}, step_clock::now(), std::move(why)};
}

void step_table::forget_old_early() {
  auto now = step_clock::now();
  if (now - aged_ < age_period)
    return;
  aged_ = now;
  std::erase_if(early_, [&](const auto& entry) {
    if (now - entry.second.since < early_patience)
      return false;
    early_pushes_ -= !entry.second.pushes.empty();
    for (const auto& one : entry.second.pushes)
      early_bytes_ -= one.value.bytes();
    return true;
  });
}

void step_table::abort(uint64_t step, status why, caf::execution_unit* unit) {
  std::shared_ptr<task_instance> in;
  {
    std::lock_guard guard{mutex_};
    if (auto it = running_.find(step); it != running_.end()) {
      in = it->second.in;
    } else if (!ended_.contains(step)) {
      forget_old_early();
      refuse_early(step, std::move(why));
    }
  }
  if (in)
    in->conductor().abort(step, std::move(why), unit);
}

template <class Predicate>
void step_table::abort_if(Predicate hit, const status& why, caf::execution_unit* unit) {
  std::vector<std::pair<uint64_t, std::shared_ptr<task_instance>>> found;
  {
    std::lock_guard guard{mutex_};
    for (const auto& [step, one] : running_)
      if (hit(one))
        found.emplace_back(step, one.in);
  }
  for (const auto& [step, in] : found)
    in->conductor().abort(step, why, unit);
}

void step_table::abort_all(const std::string& partner, const status& why,
                           caf::execution_unit* unit) {
  abort_if([&](const running& one) { return one.in->program().partners().contains(partner); }, why,
           unit);
}

void step_table::abort_all(const task_program& of, const status& why, caf::execution_unit* unit) {
  abort_if([&](const running& one) { return &one.in->program() == &of; }, why, unit);
}

void step_table::expire(step_clock::time_point now, const task_name& self,
                        caf::execution_unit* unit) {
  abort_if([&](const running& one) { return one.deadline <= now; },
           failure(error_kind::deadline_exceeded, self, ": time is over"), unit);
}

void step_table::close(const status& why, caf::execution_unit* unit) {
  {
    std::lock_guard guard{mutex_};
    if (!closed_)
      return;
    closed_ = why;
  }
  abort_if([](const running&) { return true; }, why, unit);
}

size_t step_table::size() const {
  std::lock_guard guard{mutex_};
  return running_.size();
}

} // namespace troupe
