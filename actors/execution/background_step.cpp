#include "troupe/actors/execution/background_step.hpp"

#include "troupe/actors/base/step_errors.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

// Starts a step and reports its result. Deletes itself when the step has ended.
class reporter final : public step_observer {
public:
  reporter(std::shared_ptr<task_program> program, std::shared_ptr<step_table> steps,
           std::string self, step_end on_end)
      : program_(std::move(program)), steps_(std::move(steps)), self_(std::move(self)),
        on_end_(std::move(on_end)), instance_(program_->check_out()) {}

  const std::shared_ptr<task_instance>& instance() const { return instance_; }

  // Aborts the step when the token is requested to stop, on the requesting thread. Call before the
  // step begins.
  void stop_with(const std::stop_token& token, uint64_t step) {
    if (token.stop_possible())
      stop_callback_.emplace(token, abort_step{instance_, step});
  }

  void on_step_ended(caf::execution_unit*) noexcept override {
    std::unique_ptr<reporter> self{this};
    stop_callback_.reset(); // before the instance serves another step
    const inline_unit::ending_step ending{instance_->root().queue_state()};
    auto& conductor = instance_->conductor();
    steps_->end(instance_->step(), !conductor.outcome().ok());
    step_result result{conductor.outcome(), {}, {}};
    instance_->collect(result.statistics);
    result.keeps_inputs = conductor.keeps_inputs();
    if (result.outcome.ok()) {
      for (auto index : program_->fetch_indexes())
        result.fetches.push_back({index, std::move(conductor.fetches()[index])});
      program_->check_in(std::move(instance_));
    } else {
      result.outcome = std::move(result.outcome).with_task(self_).with_context(self_);
      instance_->retire();
    }
    on_end_(std::move(result));
  }

private:
  struct abort_step {
    std::shared_ptr<task_instance> instance;
    uint64_t step;
    void operator()() const {
      auto kept = instance; // the end of the step may destroy this callback
      kept->conductor().abort(step, stopped_by_caller(), nullptr);
    }
  };

  std::shared_ptr<task_program> program_;
  std::shared_ptr<step_table> steps_;
  std::string self_;
  step_end on_end_;
  std::shared_ptr<task_instance> instance_;
  std::optional<std::stop_callback<abort_step>> stop_callback_;
};

// Finds feeds by index. Of several feeds with one index, the first counts.
class feed_map {
public:
  explicit feed_map(const std::vector<indexed_tensor>& feeds) {
    for (const auto& feed : feeds)
      by_index_.emplace(feed.index, &feed.value);
  }
  const tensor* find(uint32_t index) const {
    auto position = by_index_.find(index);
    return position == by_index_.end() ? nullptr : position->second;
  }

private:
  std::unordered_map<uint32_t, const tensor*> by_index_;
};

// Checks feeds against the graph, because they may come from another process.
status check_feeds(const task_program& program, const feed_map& feeds) {
  for (const auto& part : program.programs())
    for (const auto& feed : part->feeds()) {
      auto* fed = feeds.find(feed.index);
      const auto& origin = *feed.origin;
      if (!fed || fed->type() != origin.output_type(0) ||
          !origin.output_shape(0).compatible(fed->dims()))
        return invalid(origin.description(), ": must be fed with ", origin.output_type(0),
                       origin.output_shape(0));
    }
  return {};
}

} // namespace

void start_background_step(const std::shared_ptr<task_program>& program,
                           const std::shared_ptr<step_table>& steps, run_request& request,
                           const std::string& self, step_end on_end, caf::execution_unit* unit,
                           stop_signal::clock::time_point kernels_until) {
  const feed_map feeds{request.feeds};
  auto outcome = check_feeds(*program, feeds);
  if (outcome)
    outcome = program->check_state();
  std::unique_ptr<reporter> step;
  if (outcome)
    outcome = guarded("making room for the step", [&] {
      step = std::make_unique<reporter>(program, steps, self, on_end);
      if (request.watch.any())
        step->instance()->profile(request.watch);
      step->instance()->set_feeds([&](uint32_t index) { return *feeds.find(index); });
      step->stop_with(request.stop, request.step.sequence);
    });
  if (outcome)
    // Before the start, so that a cancelled step runs nothing.
    outcome = steps->admit(request.step);
  if (!outcome) {
    if (step)
      step->instance()->retire();
    return on_end({std::move(outcome).with_task(self).with_context(self), {}});
  }
  auto instance = step->instance();
  auto* observer = step.release(); // deletes itself when the step ends
  instance->conductor().begin(request.step.sequence, *observer, unit, kernels_until, true);
  // Early tensors are delivered after the start, because a step that has not started accepts none.
  if (auto attached = steps->deliver_early_tensors(request.step, instance, unit, request.deadline);
      !attached)
    instance->conductor().abort(request.step.sequence, std::move(attached), unit);
  if (request.stop.stop_requested()) // possibly before the step began
    instance->conductor().abort(request.step.sequence, stopped_by_caller(), unit);
}

stop_signal::clock::time_point by_steady_clock(step_clock::time_point deadline,
                                               step_clock::time_point now) {
  if (deadline == step_clock::time_point::max())
    return deadline;
  return stop_signal::clock::now() + (deadline - now);
}

} // namespace troupe
