#include "troupe/api/train/loop/training_run.hpp"

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/loop/training_loop.hpp"
#include "troupe/api/train/loop/training_values.hpp"

namespace troupe {
namespace {

// For each variable, whether it has a value.
std::vector<edge> add_checks(graph_builder& to, const std::vector<edge>& variables,
                             std::source_location where) {
  std::vector<edge> made;
  for (const auto& one : variables) {
    auto on = to.on(one.node->device(), where);
    made.push_back(one.node->op().outputs[0].handle ? var_is_initialized_op(one, {}, where)
                                                    : is_variable_initialized(one, {}, where));
  }
  return made;
}

void check(const training_step& one, std::source_location where) {
  if (one.train.empty())
    reject("training_run", where, "a step needs something to train");
  if (std::ranges::find(one.train, nullptr, &target::run) != one.train.end())
    reject("training_run", where, "what a step trains is no node");
  if (one.at_once < 1 || one.at_once > 1024)
    reject("training_run", where, "at_once must be 1 to 1024, got ", one.at_once);
  if (one.loss.node && !floating.contains(one.loss.type()))
    reject("training_run", where, "the loss must be a floating-point number, got ",
           one.loss.type());
  if (one.loss.node && !one.loss.dims().compatible(shape{}))
    reject("training_run", where, "the loss must be one number, got shape ", one.loss.dims());
}

} // namespace

std::string_view to_string(training_end why) noexcept {
  switch (why) {
    case training_end::last_step: return "the last step was done";
    case training_end::time_over: return "the time is over";
    case training_end::asked: return "it was asked to";
    case training_end::condition: return "the condition was met";
    case training_end::data_ended: return "the data ended";
    case training_end::not_a_number: return "the loss is not a finite number";
  }
  return "unknown";
}

training_run::training_run(graph_builder& of, std::vector<training_step> steps,
                           training_options options, location where)
    : state_(new state{of, std::move(steps), std::move(options)}) {
  auto& mine = *state_;
  if (mine.steps.empty())
    reject("training_run", where, "there are no steps to run");
  for (const auto& one : mine.steps)
    check(one, where);
  const auto& how = mine.options;
  if (how.retries < 0 || how.summary_steps < 1)
    reject("training_run", where, "retries must not be negative, summary_steps must be at least 1");
  if (!(how.retry_seconds >= 0 && how.checkpoint_seconds >= 0 && how.time_limit >= 0))
    reject("training_run", where, "retry_seconds, checkpoint_seconds and time_limit must not be ",
           "negative, got ", how.retry_seconds, ", ", how.checkpoint_seconds, " and ",
           how.time_limit);
  if (how.checkpoints.empty() && (how.checkpoint_steps > 0 || how.checkpoint_seconds > 0))
    reject("training_run", where, "checkpoints need a folder");
  if (how.checkpoints.empty() && how.metric)
    reject("training_run", where, "a metric ranks checkpoints, which need a folder");
  if (how.keep.keep_best > 0 && !how.metric)
    reject("training_run", where, "keep_best needs a metric to rank checkpoints by");
  if (how.summary.node && how.summaries.empty())
    reject("training_run", where, "a summary needs a folder of event files");
  if (how.keep_input && (!how.input || how.checkpoints.empty()))
    reject("training_run", where, "keep_input needs an input and a folder of checkpoints");
  if (!mine.options.initializer)
    mine.options.initializer = of.initializer(where);
  if (auto local = detail::local_variables(of); !local.empty()) {
    mine.initialize_local = of.local_initializer(where);
    mine.local_initialized = add_checks(of, local, where);
  }
  mine.initialized = add_checks(of, detail::model_variables(of), where);
  if (mine.initialized.empty())
    reject("training_run", where, "the graph has no variables");
  if (how.input)
    for (const auto& one : how.input->runners())
      mine.sizes.push_back(queue_size(one.queue(), {}, where));
  if (how.checkpoints.empty())
    return;
  auto keep = how.keep;
  keep.all_state |= how.keep_input;
  keep.on_warning = [&mine](const std::string& text) {
    if (const auto& warn = mine.options.keep.on_warning)
      warn(text);
    mine.tell({.what = training_event::kind::warning, .text = text});
  };
  mine.saves.emplace(of, how.checkpoints, keep, where);
  if (how.keep_input)
    mine.saves->also_note([&mine] { return as_notes(mine.runs_left); });
}

training_run::~training_run() = default;

training_report training_run::run(session& in, location where) { return state_->run(in, where); }

void training_run::request_stop() noexcept {
  std::lock_guard guard{state_->mutex};
  state_->asked = true;
  state_->changed.notify_all();
}

} // namespace troupe
