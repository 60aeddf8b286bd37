#include "troupe/actors/execution/frames.hpp"

#include "troupe/actors/execution/region.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/device/launch_owner.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/types/guarded.hpp"
#include "troupe/runtime/types/held_bytes.hpp"

#include <caf/send.hpp>

#include <deque>
#include <optional>

namespace troupe {
namespace {

// Limits of a step on the runs that it shares with other tasks, begun or not, and on the bytes of
// tensors that came before their runs: peers begin few runs at once.
constexpr size_t max_shared_runs = 16'384, max_early_bytes = size_t{1} << 30;
// Limit of a step on running runs that other tasks began.
constexpr size_t max_runs = 16'384;

// Delivers an argument to the step within the step that waits for it.
status pass_argument(task_instance& instance, size_t argument, tensor&& value,
                     caf::execution_unit* unit) {
  const auto* route = instance.program().argument(argument);
  if (!route)
    return {}; // the function does not read it
  const auto& program = instance.part(route->program).program();
  const auto& wait = program.waits()[route->wait];
  const auto& origin = *wait.origin;
  if (value.type() != origin.output_type(0) || !origin.output_shape(0).compatible(value.dims()))
    return invalid("argument ", argument, " must be ", origin.output_type(0),
                   origin.output_shape(0), ", got ", value.type(), value.dims());
  // It may be in the memory of this program's device, where the previous iteration has left it.
  if (!value.on_host() && !wait.on_host.empty()) {
    const launching_for scope{0}; // errors of the value belong to the step or run that made it
    program.device().as_accelerator()->download(
        std::move(value), [kept = instance.shared_from_this(), step = instance.conductor().step(),
                           argument](result<tensor> host_value) {
          kept->conductor().act_for(step, [&]() -> status {
            TROUPE_TRY(host_value.status());
            return pass_argument(*kept, argument, *std::move(host_value), nullptr);
          });
        });
    return {};
  }
  instance.end_wait(route->program, route->wait, value.bytes());
  deliver(instance.region(route->program, route->region),
          token{.region = route->region, .slot = route->slot, .value = std::move(value)}, unit);
  return {};
}

// One run of a branch, or of all iterations of a loop. Deletes itself when all that it began has
// ended.
class frame_run {
public:
  frame_run(step_frames& frames, task_instance& instance, uint32_t program, uint32_t wait,
            const task_frame& frame)
      : frames_(frames), instance_(instance.shared_from_this()), program_(program), wait_(wait),
        frame_(frame), values_(frame.values) {}

  void start(std::span<tensor> inputs, caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    auto function = choose(inputs);
    if (!function) {
      lock.unlock();
      fail(function.status(), 0);
      delete this;
      return;
    }
    auto& first = iteration_at(frame_.is_loop() ? frame_iteration::before_first : 0);
    first.function = *function;
    first.inputs.assign(inputs.end() - static_cast<std::ptrdiff_t>(values_), inputs.end());
    for (size_t i = 0; i < frame_.order_count; ++i)
      first.inputs.push_back(tensor::scalar(true));
    for (auto index : frame_.unchanged)
      unchanged_.push_back(first.inputs[index]);
    if (frame_.is_loop()) {
      auto& next = iteration_at(0);
      std::copy_n(first.inputs.begin(), values_, next.inputs.begin());
    }
    claim();
    lock.unlock();
    begin(first, unit);
  }

private:
  struct iteration final : step_observer {
    iteration(frame_run& owner, int64_t index) : run(owner), number(index) {}

    bool on_fetched(uint32_t index, tensor& value, caf::execution_unit* unit) override {
      run.take(*this, index, std::move(value), unit);
      return true;
    }
    void on_step_ended(caf::execution_unit* unit) noexcept override { run.ended(*this, unit); }

    frame_run& run;
    const int64_t number;
    uint32_t function = 1;
    step_frames::run_id id{};
    std::shared_ptr<task_instance> instance;
    std::vector<tensor> inputs; // until it begins
    bool has_begun = false, is_over = false;
  };

  // -- with the lock held -------------------------------------------------------------------------

  result<uint32_t> choose(std::span<const tensor> inputs) const {
    auto last = static_cast<int32_t>(frame_.functions.size()) - 1;
    switch (frame_.call_rule) {
      case call_kind::if_true: return is_true(inputs[0]) ? 0u : 1u;
      case call_kind::by_number: {
        if (inputs[0].rank() != 0)
          return invalid("branch_index must be a scalar, got ", inputs[0]);
        auto which = *inputs[0].data<int32_t>();
        return static_cast<uint32_t>(which < 0 || which > last ? last : which);
      }
      default: return 0u;
    }
  }

  iteration& iteration_at(int64_t number) {
    if (iterations_.empty())
      iterations_.push_back(std::make_unique<iteration>(*this, number));
    while (iterations_.back()->number < number)
      iterations_.push_back(std::make_unique<iteration>(*this, iterations_.back()->number + 1));
    auto& chosen = *iterations_[static_cast<size_t>(number - iterations_.front()->number)];
    if (!chosen.has_begun && chosen.inputs.size() < values_ + frame_.order_count) {
      chosen.inputs.resize(values_ + frame_.order_count);
      for (size_t i = 0; i < unchanged_.size(); ++i)
        chosen.inputs[frame_.unchanged[i]] = unchanged_[i];
    }
    return chosen;
  }

  // Counts an iteration that begins: it runs, and the thread that begins it uses this object.
  void claim() {
    ++running_;
    users_ += 2;
  }

  // Returns the iteration that may begin now, or null.
  iteration* next_iteration() {
    if (!next_ || failed_ || running_ >= frame_.parallel_iterations ||
        (*next_ == 0 && running_ > 0))
      return nullptr;
    auto& chosen = iteration_at(*next_);
    next_.reset();
    claim();
    return &chosen;
  }

  // -- without the lock ---------------------------------------------------------------------------

  void begin(iteration& begun_iteration, caf::execution_unit* unit) {
    const auto number = begun_iteration.number;
    std::shared_ptr<task_instance> instance;
    auto begun = guarded("beginning an iteration of a loop", [&] {
      instance = frame_.functions[begun_iteration.function]->check_out();
      begun_iteration.instance = instance;
      begun_iteration.id = frames_.next_run(frame_.number);
    });
    if (begun && frames_.begin_run(begun_iteration.id, instance, iteration_of(number),
                                   begun_iteration, unit)) {
      for (const auto& exchange : frame_.exchanges)
        caf::anon_send(exchange,
                       outgoing{tensor_push{
                           .step = frames_.root().step(),
                           .key = begin_run_key,
                           .value = tensor::vector<int64_t>(
                               {static_cast<int64_t>(begun_iteration.function),
                                frame_.is_loop() ? begun_iteration.number : frame_iteration::none}),
                           .frame = begun_iteration.id.first,
                           .iteration = begun_iteration.id.second}});
      std::unique_lock lock{mutex_};
      begun_iteration.has_begun = true;
      auto inputs = std::move(begun_iteration.inputs);
      lock.unlock();
      for (size_t i = 0; i < inputs.size(); ++i)
        if (!inputs[i].empty())
          pass_in(*instance, i, std::move(inputs[i]), unit);
      frames_.end_if_failed(*instance, unit);
    } else {
      if (!begun)
        fail(std::move(begun), number);
      if (instance)
        instance->retire();
      std::lock_guard lock{mutex_};
      begun_iteration.has_begun = begun_iteration.is_over = failed_ = true;
      --running_;
      --users_;
    }
    leave(unit);
  }

  // Does nothing if the iteration has failed: then its instance is retired.
  void pass_in(task_instance& instance, size_t argument, tensor&& value,
               caf::execution_unit* unit) {
    instance.conductor().act_for(
        frames_.root().step().sequence,
        [&] { return pass_argument(instance, argument, std::move(value), unit); }, unit);
  }

  // Receives a result of a running iteration.
  void take(iteration& from, uint32_t index, tensor&& value, caf::execution_unit* unit) {
    auto values = frame_.is_loop() && from.function == 0 ? size_t{0} : frame_.results;
    if (!frame_.is_loop()) {
      std::lock_guard lock{mutex_};
      if (index < values) {
        outputs_.resize(frame_.results);
        outputs_[index] = std::move(value);
      }
      return;
    }
    if (index < values + frame_.order_count)
      return pass_on(from.number + 1, index < values ? size_t{index} : values_ + index - values,
                     std::move(value), unit);
    std::unique_lock lock{mutex_};
    (is_true(value) ? next_ : last_) = from.number + 1;
    auto* next = next_iteration();
    lock.unlock();
    if (next)
      begin(*next, unit);
  }

  void pass_on(int64_t number, size_t argument, tensor&& value, caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    auto& next = iteration_at(number);
    if (!next.has_begun) {
      next.inputs[argument] = std::move(value);
      return;
    }
    auto instance = next.instance;
    lock.unlock();
    if (instance) // null if it has failed
      pass_in(*instance, argument, std::move(value), unit);
  }

  void ended(iteration& ended_iteration, caf::execution_unit* unit) {
    auto outcome = ended_iteration.instance->conductor().outcome();
    frames_.end_run(ended_iteration.id, *ended_iteration.instance);
    std::unique_lock lock{mutex_};
    auto instance = std::move(ended_iteration.instance);
    const auto number = ended_iteration.number;
    const auto function = ended_iteration.function;
    ended_iteration.is_over = true;
    --running_;
    failed_ = failed_ || !outcome.ok();
    while (!iterations_.empty() && iterations_.front()->has_begun && iterations_.front()->is_over)
      iterations_.pop_front();
    auto* next = next_iteration();
    lock.unlock();
    if (outcome) {
      frame_.functions[function]->check_in(std::move(instance));
    } else {
      instance->retire();
      fail(std::move(outcome), number);
    }
    if (next)
      begin(*next, unit);
    auto& frames = frames_;
    leave(unit);
    frames.leave_step(unit);
  }

  frame_iteration iteration_of(int64_t number) const {
    return {instance_, &frame_, frame_.is_loop() ? number : frame_iteration::none};
  }

  void fail(status why, int64_t number) {
    if (why.kind() != error_kind::deadline_exceeded)
      why = instance_->within_iterations(
          std::move(why).with_context(iteration_of(number).description()));
    frames_.root().conductor().abort(frames_.root().step().sequence, std::move(why), nullptr);
  }

  // Ends one use of this object. The last one sends the results.
  void leave(caf::execution_unit* unit) {
    std::unique_lock lock{mutex_};
    if (--users_ > 0)
      return;
    std::unique_ptr<frame_run> self{this};
    lock.unlock();
    if (failed_)
      return;
    if (frame_.is_loop()) {
      outputs_ = std::move(iteration_at(*last_).inputs);
      outputs_.resize(frame_.results);
    }
    auto region = instance_->part(program_).program().waits()[wait_].region;
    wait_answer answer{
        .wait = wait_, .outcome = {}, .values = std::move(outputs_), .step = frames_.root().step()};
    instance_->conductor().act_for(
        answer.step.sequence,
        [&]() -> status {
          deliver(instance_->region(program_, region), std::move(answer), unit);
          return {};
        },
        unit);
  }

  step_frames& frames_;
  const std::shared_ptr<task_instance> instance_;
  const uint32_t program_, wait_;
  const task_frame& frame_;
  const size_t values_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<iteration>> iterations_; // from the first that is not over
  std::optional<int64_t> next_;                       // the iteration that may begin next
  std::optional<int64_t> last_; // the number after the last iteration; its inputs are the results
  int64_t running_ = 0;
  size_t users_ = 0; // running iterations, and threads that begin them
  bool failed_ = false;
  std::vector<tensor> unchanged_, outputs_;
};

} // namespace

void step_frames::begin(task_instance& instance, uint32_t program, uint32_t wait,
                        std::span<tensor> inputs, caf::execution_unit* unit) {
  const auto& origin = *instance.part(program).program().waits()[wait].origin;
  const auto* frame = root_.program().frame_of(instance.part(program).program().waits()[wait]);
  auto begun = guarded("beginning a loop", [&] {
    auto run = std::make_unique<frame_run>(*this, instance, program, wait, *frame);
    run.release()->start(inputs, unit);
  });
  if (!begun)
    root_.conductor().abort(root_.step().sequence, with_node_context(origin, std::move(begun)),
                            unit);
}

bool step_frames::begin_run(run_id run, const std::shared_ptr<task_instance>& instance,
                            const frame_iteration& iteration, step_observer& observer,
                            caf::execution_unit* unit) {
  if (!root_.conductor().enter())
    return false;
  {
    std::lock_guard guard{mutex_};
    running_.push_back(instance);
  }
  if (root_.is_profiled())
    instance->profile(root_.profiling());
  instance->belong_to(root_, run.first, run.second, iteration);
  instance->conductor().begin(root_.step().sequence, observer, unit,
                              root_.conductor().stop().deadline());
  if (!root_.program().frame(run.first)->is_shared())
    return true;
  // Early tensors are delivered after the start, because a step that has not begun accepts none.
  std::vector<arrival> early;
  {
    std::lock_guard guard{mutex_};
    if (std::ranges::find(running_, instance) != running_.end()) {
      auto& shared_run = shared_runs_[run];
      shared_run.instance = instance;
      early = std::move(shared_run.early);
      for (const auto& message : early)
        early_bytes_ -= held_bytes(message.value);
    }
  }
  for (auto& message : early)
    instance->conductor().act_for(message.step.sequence,
                                  [&] { return instance->receive(std::move(message), unit); });
  return true;
}

// The thread that begins a run calls this, too: abort_all() does not reach a run that is added
// while the step fails.
void step_frames::end_if_failed(task_instance& instance, caf::execution_unit* unit) {
  if (root_.conductor().stop().raised())
    instance.conductor().abort(root_.step().sequence,
                               failure(error_kind::aborted, "the enclosing step has failed"), unit);
}

void step_frames::end_run(run_id run, const task_instance& instance) noexcept {
  if (root_.profiling().times)
    (void)guarded("adding up the times of an iteration", [&] { times_.add(instance); });
  std::lock_guard guard{mutex_};
  shared_runs_.erase(run);
  auto position = std::ranges::find(running_, &instance, &std::shared_ptr<task_instance>::get);
  if (position != running_.end()) {
    *position = std::move(running_.back());
    running_.pop_back();
  }
}

std::vector<std::shared_ptr<task_instance>> step_frames::running() const {
  std::lock_guard guard{mutex_};
  return running_;
}

void step_frames::leave_step(caf::execution_unit* unit) { root_.conductor().leave_frame(unit); }

void step_frames::abort_all(caf::execution_unit* unit) {
  std::vector<std::shared_ptr<task_instance>> instances;
  {
    std::lock_guard guard{mutex_};
    instances = running_;
  }
  for (const auto& instance : instances)
    end_if_failed(*instance, unit);
}

void step_frames::reset() noexcept {
  times_.reset();
  std::lock_guard guard{mutex_};
  running_.clear();
  shared_runs_.clear();
  early_bytes_ = 0;
  std::erase_if(accounts_, [](const auto& entry) { return !entry.second->idle(); });
  for (const auto& [device, account] : accounts_) {
    account->end_log();
    account->reset();
    account->set_full_account(false);
  }
}

step_memory& step_frames::account_on(device& account_device) {
  for (uint32_t p = 0; p < root_.program().programs().size(); ++p)
    if (auto& part = root_.part(p); &part.program().device() == &account_device)
      return part.account();
  std::lock_guard guard{mutex_};
  auto& account = accounts_[&account_device];
  if (!account)
    account = step_memory::make(account_device.memory());
  account->set_full_account(root_.is_profiled());
  return *account;
}

void step_frames::add_memory(step_memory_statistics& to) const {
  std::lock_guard guard{mutex_};
  for (const auto& [device, account] : accounts_) {
    auto used = account->statistics();
    to.in_use += used.in_use;
    to.peak += used.peak;
    to.allocated += used.allocated;
    to.allocations += used.allocations;
  }
}

// -- runs of several tasks ------------------------------------------------------------------------

// A run that another task has begun. Deletes itself when the run has ended.
class step_frames::guest final : public step_observer {
public:
  guest(step_frames& frames, run_id run, task_program& program)
      : frames_(frames), run_(run), program_(program), instance_(program.check_out()) {}

  const std::shared_ptr<task_instance>& instance() const noexcept { return instance_; }

  void on_step_ended(caf::execution_unit* unit) noexcept override {
    std::unique_ptr<guest> self{this};
    auto outcome = instance_->conductor().outcome();
    frames_.end_run(run_, *instance_);
    if (outcome) {
      program_.check_in(std::move(instance_));
    } else {
      instance_->retire();
      frames_.root_.conductor().abort(frames_.root_.step().sequence,
                                      instance_->within_iterations(std::move(outcome)), unit);
    }
    auto& frames = frames_;
    self.reset();
    frames.leave_step(unit);
  }

private:
  step_frames& frames_;
  const run_id run_;
  task_program& program_;
  std::shared_ptr<task_instance> instance_;
};

status step_frames::begin_guest(const task_frame& frame, const arrival& request,
                                caf::execution_unit* unit) {
  if (frame.origin)
    return invalid("a task began a run of frame ", frame.number, ", which only this task begins");
  if (request.value.type() != dtype::i64 || request.value.elements() != 2)
    return invalid("a run of frame ", frame.number, " came without the number of a function");
  auto function = static_cast<size_t>(request.value.data<int64_t>()[0]);
  auto iteration = request.value.data<int64_t>()[1];
  if (function >= frame.functions.size() || !frame.functions[function])
    return {}; // the function runs on other tasks only
  run_id run{frame.number, request.iteration};
  {
    std::lock_guard guard{mutex_};
    if (auto position = shared_runs_.find(run);
        position != shared_runs_.end() && position->second.instance)
      return invalid("run ", run.second, " of frame ", run.first, " began twice");
    if (running_.size() >= max_runs)
      return failure(error_kind::resource_exhausted, "more than ", max_runs,
                     " iterations of loops of the step are running");
  }
  auto new_run = std::make_unique<guest>(*this, run, *frame.functions[function]);
  auto instance = new_run->instance();
  auto* observer = new_run.release(); // deletes itself when the run ends
  if (!begin_run(run, instance, {nullptr, &frame, iteration}, *observer, unit)) {
    instance->retire();
    delete observer;
    return {};
  }
  end_if_failed(*instance, unit);
  return {};
}

status step_frames::arrive(arrival&& message, caf::execution_unit* unit) {
  if (message.frame > UINT32_MAX)
    return invalid("a tensor came for frame ", message.frame, ", which the step does not have");
  const auto* frame = root_.program().frame(static_cast<uint32_t>(message.frame));
  if (!frame || !frame->is_shared())
    return invalid("a tensor came for frame ", message.frame,
                   ", which the step does not have or does not share");
  if (message.key == begin_run_key)
    return begin_guest(*frame, message, unit);
  auto has_import = [&](const auto& function) { return function && function->import(message.key); };
  if (std::ranges::none_of(frame->functions, has_import))
    return invalid("a tensor came for the unknown key ", message.key, " of frame ", message.frame);
  run_id run{frame->number, message.iteration};
  std::shared_ptr<task_instance> instance;
  {
    std::lock_guard guard{mutex_};
    auto position = shared_runs_.find(run);
    if (position == shared_runs_.end() && frame->origin)
      return {}; // it has ended
    if (position == shared_runs_.end() && shared_runs_.size() >= max_shared_runs)
      return failure(error_kind::resource_exhausted, "the step shares more than ", max_shared_runs,
                     " iterations of loops with other tasks at the same time");
    auto& target = shared_runs_[run];
    if (!target.received_keys.insert(message.key).second)
      return invalid("a tensor came twice for key ", message.key, " of frame ", message.frame,
                     ", iteration ", message.iteration);
    if (!target.instance) {
      early_bytes_ += held_bytes(message.value);
      if (early_bytes_ > max_early_bytes)
        return failure(error_kind::resource_exhausted, "tensors of more than ", max_early_bytes,
                       " bytes came before their iterations");
      target.early.push_back(std::move(message));
      return {};
    }
    instance = target.instance;
  }
  instance->conductor().act_for(message.step.sequence,
                                [&] { return instance->receive(std::move(message), unit); });
  return {};
}

} // namespace troupe
