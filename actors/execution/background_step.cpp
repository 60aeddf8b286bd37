#include "troupe/actors/execution/background_step.hpp"

#include "troupe/actors/base/step_errors.hpp"
#include "troupe/actors/execution/inline_unit.hpp"
#include "troupe/runtime/types/guarded.hpp"

#include <optional>
#include <unordered_map>

namespace troupe {
namespace {

// Owns itself until the step has ended.
class reporter final : public step_observer {
public:
  reporter(std::shared_ptr<task_program> program, std::shared_ptr<step_table> steps,
           std::string self, step_end on_end)
      : program_(std::move(program)), steps_(std::move(steps)), self_(std::move(self)),
        on_end_(std::move(on_end)), in_(program_->check_out()) {}

  const std::shared_ptr<task_instance>& instance() const { return in_; }

  // The thread that asks raises the step's stop signal itself. Before the step begins.
  void stop_with(const std::stop_token& token, uint64_t step) {
    if (token.stop_possible())
      asked_.emplace(token, abort_step{in_, step});
  }

  void step_ended(caf::execution_unit*) noexcept override {
    std::unique_ptr<reporter> self{this};
    asked_.reset(); // before the instance may serve another step
    const inline_unit::end_of_step here{in_->root()};
    auto& conductor = in_->conductor();
    steps_->end(in_->step(), !conductor.outcome().ok());
    step_result result{conductor.outcome(), {}, {}};
    in_->collect(result.statistics);
    result.holds = conductor.holds();
    if (result.outcome.ok()) {
      for (auto index : program_->fetch_indexes())
        result.fetches.push_back({index, std::move(conductor.fetches()[index])});
      program_->check_in(std::move(in_));
    } else {
      result.outcome = std::move(result.outcome).on_task(self_).within(self_);
      in_->retire();
    }
    on_end_(std::move(result));
  }

private:
  struct abort_step {
    std::shared_ptr<task_instance> in;
    uint64_t step;
    void operator()() const {
      auto keep = in; // the end of the step may destroy this
      keep->conductor().abort(step, stopped_by_caller(), nullptr);
    }
  };

  std::shared_ptr<task_program> program_;
  std::shared_ptr<step_table> steps_;
  std::string self_;
  step_end on_end_;
  std::shared_ptr<task_instance> in_;
  std::optional<std::stop_callback<abort_step>> asked_;
};

// By the index that each is for; of several the first counts.
class feed_map {
public:
  explicit feed_map(const std::vector<indexed_tensor>& feeds) {
    for (const auto& one : feeds)
      by_index_.emplace(one.index, &one.value);
  }
  const tensor* find(uint32_t index) const {
    auto it = by_index_.find(index);
    return it == by_index_.end() ? nullptr : it->second;
  }

private:
  std::unordered_map<uint32_t, const tensor*> by_index_;
};

// Feeds may come from another process: they may not fit the graph that they are for.
status check_feeds(const task_program& program, const feed_map& feeds) {
  for (const auto& one : program.programs())
    for (const auto& feed : one->feeds()) {
      auto* given = feeds.find(feed.index);
      const auto& wanted = *feed.origin;
      if (!given || given->type() != wanted.output_type(0) ||
          !wanted.output_shape(0).compatible(given->dims()))
        return invalid(wanted.description(), ": must be fed with ", wanted.output_type(0),
                       wanted.output_shape(0));
    }
  return {};
}

} // namespace

void begin_in_background(const std::shared_ptr<task_program>& program,
                         const std::shared_ptr<step_table>& steps, run_request& what,
                         const std::string& self, step_end on_end, caf::execution_unit* unit,
                         stop_signal::clock::time_point kernels_until) {
  const feed_map feeds{what.feeds};
  auto ready = check_feeds(*program, feeds);
  if (ready)
    ready = program->check_state();
  std::unique_ptr<reporter> step;
  if (ready)
    ready = guarded("making room for the step", [&] {
      step = std::make_unique<reporter>(program, steps, self, on_end);
      if (what.watch.any())
        step->instance()->watch(what.watch);
      step->instance()->set_feeds([&](uint32_t index) { return *feeds.find(index); });
      step->stop_with(what.stop, what.step.sequence);
    });
  if (ready)
    ready = steps->announce(what.step); // or a step that was cancelled would run a little
  if (!ready) {
    if (step)
      step->instance()->retire();
    return on_end({std::move(ready).on_task(self).within(self), {}});
  }
  auto in = step->instance();
  auto* observer = step.release(); // deletes itself at the end
  in->conductor().begin(what.step.sequence, *observer, unit, kernels_until, true);
  // What came early is handed over after the start, because a step that has not started takes
  // nothing.
  if (auto known = steps->attach(what.step, in, unit, what.deadline); !known)
    in->conductor().abort(what.step.sequence, std::move(known), unit);
  if (what.stop.stop_requested()) // perhaps before the step began
    in->conductor().abort(what.step.sequence, stopped_by_caller(), unit);
}

stop_signal::clock::time_point by_steady_clock(step_clock::time_point deadline,
                                               step_clock::time_point now) {
  if (deadline == step_clock::time_point::max())
    return deadline;
  return stop_signal::clock::now() + (deadline - now);
}

} // namespace troupe
