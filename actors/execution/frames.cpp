#include "troupe/actors/execution/frames.hpp"

#include "troupe/actors/execution/region.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <caf/send.hpp>

#include <deque>
#include <optional>

namespace troupe {
namespace {

// Of one step, whose tensors came before their runs: peers begin few at once.
constexpr size_t max_visits = 16'384, max_early_bytes = size_t{1} << 30;
// Which other tasks have begun here.
constexpr size_t max_runs = 16'384;

// Hands an argument to the step within the step that waits for it.
status give(task_instance& in, size_t argument, tensor&& value, caf::execution_unit* unit) {
  const auto* route = in.program().argument(argument);
  if (!route)
    return {}; // nobody reads it
  const auto& program = in.part(route->program).program();
  const auto& wait = program.waits()[route->wait];
  const auto& wanted = *wait.origin;
  if (value.type() != wanted.output_type(0) || !wanted.output_shape(0).compatible(value.dims()))
    return invalid("argument ", argument, " must be ", wanted.output_type(0),
                   wanted.output_shape(0), ", got ", value.type(), value.dims());
  // It lies on the device that the turn before has left it on, which is that of this program.
  if (!value.on_host() && !wait.on_host.empty()) {
    program.device().as_accelerator()->download(std::move(value), [keep = in.shared_from_this(),
                                                                   step = in.conductor().step(),
                                                                   argument](result<tensor> here) {
      keep->conductor().act_for(step, [&]() -> status {
        TROUPE_TRY(here.status());
        return give(*keep, argument, *std::move(here), nullptr);
      });
    });
    return {};
  }
  in.end_wait(route->program, route->wait, value.bytes());
  deliver(in.region(route->program, route->region),
          token{.region = route->region, .slot = route->slot, .value = std::move(value)}, unit);
  return {};
}

// One run of a branch, or of all turns of a loop. Owns itself until all that it began has ended.
class frame_run {
public:
  frame_run(step_frames& all, task_instance& in, uint32_t program, uint32_t wait,
            const task_frame& what)
      : all_(all), in_(in.shared_from_this()), program_(program), wait_(wait), what_(what),
        values_(what.values) {}

  void start(std::span<tensor> inputs, caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    auto function = choose(inputs);
    if (!function) {
      lock.unlock();
      fail(function.status(), 0);
      delete this;
      return;
    }
    auto& first = turn_at(what_.is_loop() ? frame_turn::before_first : 0);
    first.function = *function;
    first.given.assign(inputs.end() - static_cast<std::ptrdiff_t>(values_), inputs.end());
    for (size_t i = 0; i < what_.orders; ++i)
      first.given.push_back(tensor::scalar(true));
    for (auto place : what_.unchanged)
      unchanged_.push_back(first.given[place]);
    if (what_.is_loop()) {
      auto& next = turn_at(0);
      std::copy_n(first.given.begin(), values_, next.given.begin());
    }
    claim();
    lock.unlock();
    begin(first, unit);
  }

private:
  struct turn final : step_observer {
    turn(frame_run& run, int64_t which) : of(run), number(which) {}

    bool fetched(uint32_t index, tensor& value, caf::execution_unit* unit) override {
      of.take(*this, index, std::move(value), unit);
      return true;
    }
    void step_ended(caf::execution_unit* unit) noexcept override { of.ended(*this, unit); }

    frame_run& of;
    const int64_t number;
    uint32_t function = 1;
    step_frames::run_id id{};
    std::shared_ptr<task_instance> in;
    std::vector<tensor> given; // until it has begun
    bool begun = false, over = false;
  };

  // -- with the lock ------------------------------------------------------------------------------

  result<uint32_t> choose(std::span<const tensor> inputs) const {
    auto last = static_cast<int32_t>(what_.functions.size()) - 1;
    switch (what_.calls) {
      case calling::if_true: return holds(inputs[0]) ? 0u : 1u;
      case calling::by_number: {
        if (inputs[0].rank() != 0)
          return invalid("branch_index must be a scalar, got ", inputs[0]);
        auto which = *inputs[0].data<int32_t>();
        return static_cast<uint32_t>(which < 0 || which > last ? last : which);
      }
      default: return 0u;
    }
  }

  turn& turn_at(int64_t number) {
    if (turns_.empty())
      turns_.push_back(std::make_unique<turn>(*this, number));
    while (turns_.back()->number < number)
      turns_.push_back(std::make_unique<turn>(*this, turns_.back()->number + 1));
    auto& found = *turns_[static_cast<size_t>(number - turns_.front()->number)];
    if (!found.begun && found.given.size() < values_ + what_.orders) {
      found.given.resize(values_ + what_.orders);
      for (size_t i = 0; i < unchanged_.size(); ++i)
        found.given[what_.unchanged[i]] = unchanged_[i];
    }
    return found;
  }

  // A turn begins: it runs, and whoever begins it has to do with this.
  void claim() {
    ++running_;
    users_ += 2;
  }

  // The turn that may begin now, if there is one.
  turn* next_turn() {
    if (!next_ || failed_ || running_ >= what_.parallel || (*next_ == 0 && running_ > 0))
      return nullptr;
    auto& found = turn_at(*next_);
    next_.reset();
    claim();
    return &found;
  }

  // -- without ------------------------------------------------------------------------------------

  void begin(turn& which, caf::execution_unit* unit) {
    const auto number = which.number;
    std::shared_ptr<task_instance> in;
    auto begun = guarded("beginning a turn of a loop", [&] {
      in = what_.functions[which.function]->check_out();
      which.in = in;
      which.id = all_.next_run(what_.number);
    });
    if (begun && all_.begin_run(which.id, in, place_of(number), which, unit)) {
      for (const auto& other : what_.exchanges)
        caf::anon_send(
            other, outgoing{tensor_push{.step = all_.root().step(),
                                        .key = begin_run_key,
                                        .value = tensor::vector<int64_t>(
                                            {static_cast<int64_t>(which.function),
                                             what_.is_loop() ? which.number : frame_turn::none}),
                                        .frame = which.id.first,
                                        .iteration = which.id.second}});
      std::unique_lock lock{mutex_};
      which.begun = true;
      auto given = std::move(which.given);
      lock.unlock();
      for (size_t i = 0; i < given.size(); ++i)
        if (!given[i].empty())
          pass_in(*in, i, std::move(given[i]), unit);
      all_.end_if_failed(*in, unit);
    } else {
      if (!begun)
        fail(std::move(begun), number);
      if (in)
        in->retire();
      std::lock_guard lock{mutex_};
      which.begun = which.over = failed_ = true;
      --running_;
      --users_;
    }
    leave(unit);
  }

  // Unless the turn has failed already: then nothing of it is there any more.
  void pass_in(task_instance& in, size_t argument, tensor&& value, caf::execution_unit* unit) {
    in.conductor().act_for(
        all_.root().step().sequence, [&] { return give(in, argument, std::move(value), unit); },
        unit);
  }

  // A turn has a result, while it runs.
  void take(turn& from, uint32_t index, tensor&& value, caf::execution_unit* unit) {
    auto values = what_.is_loop() && from.function == 0 ? size_t{0} : what_.results;
    if (!what_.is_loop()) {
      std::lock_guard lock{mutex_};
      if (index < values) {
        outputs_.resize(what_.results);
        outputs_[index] = std::move(value);
      }
      return;
    }
    if (index < values + what_.orders)
      return pass_on(from.number + 1, index < values ? size_t{index} : values_ + index - values,
                     std::move(value), unit);
    std::unique_lock lock{mutex_};
    (holds(value) ? next_ : last_) = from.number + 1;
    auto* next = next_turn();
    lock.unlock();
    if (next)
      begin(*next, unit);
  }

  void pass_on(int64_t to, size_t argument, tensor&& value, caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    auto& next = turn_at(to);
    if (!next.begun) {
      next.given[argument] = std::move(value);
      return;
    }
    auto in = next.in;
    lock.unlock();
    if (in) // or it has failed already
      pass_in(*in, argument, std::move(value), unit);
  }

  void ended(turn& which, caf::execution_unit* unit) {
    auto outcome = which.in->conductor().outcome();
    all_.end_run(which.id, *which.in);
    std::unique_lock lock{mutex_};
    auto in = std::move(which.in);
    const auto number = which.number;
    const auto function = which.function;
    which.over = true;
    --running_;
    failed_ = failed_ || !outcome.ok();
    while (!turns_.empty() && turns_.front()->begun && turns_.front()->over)
      turns_.pop_front();
    auto* next = next_turn();
    lock.unlock();
    if (outcome) {
      what_.functions[function]->check_in(std::move(in));
    } else {
      in->retire();
      fail(std::move(outcome), number);
    }
    if (next)
      begin(*next, unit);
    auto& all = all_;
    leave(unit);
    all.leave_step(unit);
  }

  frame_turn place_of(int64_t turn) const {
    return {in_, &what_, what_.is_loop() ? turn : frame_turn::none};
  }

  void fail(status why, int64_t turn) {
    if (why.kind() != error_kind::deadline_exceeded)
      why = in_->in_nest(std::move(why).within(place_of(turn).description()));
    all_.root().conductor().abort(all_.root().step().sequence, std::move(why), nullptr);
  }

  // Whoever has to do with it leaves; the last one hands over what it gives.
  void leave(caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    if (--users_ > 0)
      return;
    std::unique_ptr<frame_run> self{this};
    lock.unlock();
    if (failed_)
      return;
    if (what_.is_loop()) {
      outputs_ = std::move(turn_at(*last_).given);
      outputs_.resize(what_.results);
    }
    auto region = in_->part(program_).program().waits()[wait_].region;
    wait_answer answer{
        .wait = wait_, .outcome = {}, .values = std::move(outputs_), .step = all_.root().step()};
    in_->conductor().act_for(
        answer.step.sequence,
        [&]() -> status {
          deliver(in_->region(program_, region), std::move(answer), unit);
          return {};
        },
        unit);
  }

  step_frames& all_;
  const std::shared_ptr<task_instance> in_;
  const uint32_t program_, wait_;
  const task_frame& what_;
  const size_t values_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<turn>> turns_; // from the first that is not over
  std::optional<int64_t> next_, last_;      // the turn that may begin; the one that there is not
  int64_t running_ = 0;
  size_t users_ = 0; // turns, and those that begin them
  bool failed_ = false;
  std::vector<tensor> unchanged_, outputs_;
};

} // namespace

void step_frames::begin(task_instance& in, uint32_t program, uint32_t wait,
                        std::span<tensor> inputs, caf::execution_unit* unit) {
  const auto& origin = *in.part(program).program().waits()[wait].origin;
  const auto* what = root_.program().frame_of(in.part(program).program().waits()[wait]);
  auto begun = guarded("beginning a loop", [&] {
    auto run = std::make_unique<frame_run>(*this, in, program, wait, *what);
    run.release()->start(inputs, unit);
  });
  if (!begun)
    root_.conductor().abort(root_.step().sequence, within(origin, std::move(begun)), unit);
}

bool step_frames::begin_run(run_id run, const std::shared_ptr<task_instance>& in,
                            const frame_turn& as, step_observer& observer,
                            caf::execution_unit* unit) {
  if (!root_.conductor().enter())
    return false;
  {
    std::lock_guard guard{mutex_};
    running_.push_back(in);
  }
  if (root_.watched())
    in->watch(root_.watching());
  in->belong_to(root_, run.first, run.second, as);
  in->conductor().begin(root_.step().sequence, observer, unit, root_.conductor().stop().deadline());
  if (!root_.program().frame(run.first)->is_shared())
    return true;
  // What came early is handed over after the start: a step that has not begun takes nothing.
  std::vector<arrival> early;
  {
    std::lock_guard guard{mutex_};
    if (std::ranges::find(running_, in) != running_.end()) {
      auto& visit = visits_[run];
      visit.in = in;
      early = std::move(visit.early);
      for (const auto& one : early)
        early_bytes_ -= one.value.bytes();
    }
  }
  for (auto& one : early)
    in->conductor().act_for(one.step.sequence, [&] { return in->receive(std::move(one), unit); });
  return true;
}

// Who failed before it had begun did not know of it.
void step_frames::end_if_failed(task_instance& in, caf::execution_unit* unit) {
  if (root_.conductor().stop().raised())
    in.conductor().abort(root_.step().sequence,
                         failure(error_kind::aborted, "the step around it has failed"), unit);
}

void step_frames::end_run(run_id run, const task_instance& in) noexcept {
  if (root_.watching().times)
    (void)guarded("adding up what a turn took", [&] { times_.add(in); });
  std::lock_guard guard{mutex_};
  visits_.erase(run);
  auto it = std::ranges::find(running_, &in, &std::shared_ptr<task_instance>::get);
  if (it != running_.end()) {
    *it = std::move(running_.back());
    running_.pop_back();
  }
}

std::vector<std::shared_ptr<task_instance>> step_frames::running() const {
  std::lock_guard guard{mutex_};
  return running_;
}

void step_frames::leave_step(caf::execution_unit* unit) { root_.conductor().leave_frame(unit); }

void step_frames::abort_all(caf::execution_unit* unit) {
  std::vector<std::shared_ptr<task_instance>> all;
  {
    std::lock_guard guard{mutex_};
    all = running_;
  }
  for (const auto& one : all)
    end_if_failed(*one, unit);
}

void step_frames::reset() noexcept {
  times_.reset();
  std::lock_guard guard{mutex_};
  running_.clear();
  visits_.clear();
  early_bytes_ = 0;
  std::erase_if(accounts_, [](const auto& one) { return !one.second->idle(); });
  for (const auto& [of, account] : accounts_) {
    account->end_log();
    account->reset();
    account->keep_account(false);
  }
}

step_memory& step_frames::account_on(device& which) {
  for (uint32_t p = 0; p < root_.program().programs().size(); ++p)
    if (auto& part = root_.part(p); &part.program().device() == &which)
      return part.account();
  std::lock_guard guard{mutex_};
  auto& found = accounts_[&which];
  if (!found)
    found = step_memory::make(which.memory());
  found->keep_account(root_.watched());
  return *found;
}

void step_frames::add_memory(step_memory_statistics& to) const {
  std::lock_guard guard{mutex_};
  for (const auto& [of, account] : accounts_) {
    auto one = account->statistics();
    to.in_use += one.in_use;
    to.peak += one.peak;
    to.allocated += one.allocated;
    to.allocations += one.allocations;
  }
}

// -- what several tasks run
// -------------------------------------------------------------------------

// A run that another task has begun. Owns itself.
class step_frames::guest final : public step_observer {
public:
  guest(step_frames& all, run_id run, task_program& program)
      : all_(all), run_(run), program_(program), in_(program.check_out()) {}

  const std::shared_ptr<task_instance>& instance() const noexcept { return in_; }

  void step_ended(caf::execution_unit* unit) noexcept override {
    std::unique_ptr<guest> self{this};
    auto outcome = in_->conductor().outcome();
    all_.end_run(run_, *in_);
    if (outcome) {
      program_.check_in(std::move(in_));
    } else {
      in_->retire();
      all_.root_.conductor().abort(all_.root_.step().sequence, in_->in_nest(std::move(outcome)),
                                   unit);
    }
    auto& all = all_;
    self.reset();
    all.leave_step(unit);
  }

private:
  step_frames& all_;
  const run_id run_;
  task_program& program_;
  std::shared_ptr<task_instance> in_;
};

status step_frames::begin_guest(const task_frame& what, const arrival& order,
                                caf::execution_unit* unit) {
  if (what.origin)
    return invalid("a task began a run of frame ", what.number, ", which is ours to begin");
  if (order.value.type() != dtype::i64 || order.value.elements() != 2)
    return invalid("a run of frame ", what.number, " came without the number of a function");
  auto function = static_cast<size_t>(order.value.data<int64_t>()[0]);
  auto turn = order.value.data<int64_t>()[1];
  if (function >= what.functions.size() || !what.functions[function])
    return {}; // others have something to do
  run_id run{what.number, order.iteration};
  {
    std::lock_guard guard{mutex_};
    if (auto it = visits_.find(run); it != visits_.end() && it->second.in)
      return invalid("run ", run.second, " of frame ", run.first, " began twice");
    if (running_.size() >= max_runs)
      return failure(error_kind::resource_exhausted, "more than ", max_runs,
                     " turns of loops of the step are under way");
  }
  auto begun = std::make_unique<guest>(*this, run, *what.functions[function]);
  auto in = begun->instance();
  auto* observer = begun.release(); // deletes itself at the end
  if (!begin_run(run, in, {nullptr, &what, turn}, *observer, unit)) {
    in->retire();
    delete observer;
    return {};
  }
  end_if_failed(*in, unit);
  return {};
}

status step_frames::arrive(arrival&& what, caf::execution_unit* unit) {
  if (what.frame > UINT32_MAX)
    return invalid("a tensor came for frame ", what.frame, ", which the step does not have");
  const auto* frame = root_.program().frame(static_cast<uint32_t>(what.frame));
  if (!frame || !frame->is_shared())
    return invalid("a tensor came for frame ", what.frame,
                   ", which the step does not have or does not share");
  if (what.key == begin_run_key)
    return begin_guest(*frame, what, unit);
  auto takes = [&](const auto& function) { return function && function->import(what.key); };
  if (std::ranges::none_of(frame->functions, takes))
    return invalid("a tensor came for the unknown key ", what.key, " of frame ", what.frame);
  run_id run{frame->number, what.iteration};
  std::shared_ptr<task_instance> in;
  {
    std::lock_guard guard{mutex_};
    auto it = visits_.find(run);
    if (it == visits_.end() && frame->origin)
      return {}; // it has ended
    if (it == visits_.end() && visits_.size() >= max_visits)
      return failure(error_kind::resource_exhausted, "tensors of more than ", max_visits,
                     " turns of loops came before their turns");
    auto& to = visits_[run];
    if (!to.came.insert(what.key).second)
      return invalid("a tensor came twice for key ", what.key, " of frame ", what.frame,
                     ", iteration ", what.iteration);
    if (!to.in) {
      early_bytes_ += what.value.bytes();
      if (early_bytes_ > max_early_bytes)
        return failure(error_kind::resource_exhausted, "tensors of more than ", max_early_bytes,
                       " bytes came before their turns of loops");
      to.early.push_back(std::move(what));
      return {};
    }
    in = to.in;
  }
  in->conductor().act_for(what.step.sequence, [&] { return in->receive(std::move(what), unit); });
  return {};
}

} // namespace troupe
