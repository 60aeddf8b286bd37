#include "troupe/api/train/loop/training_run.hpp"
// Checks the options of training runs, and adds their nodes.

#include "troupe/api/generated/ops.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/loop/training_loop.hpp"
#include "troupe/api/train/loop/training_values.hpp"

namespace troupe {
namespace {

// Adds, for each variable, an edge that tells whether it has a value.
std::vector<edge> add_checks(graph_builder& to, const std::vector<edge>& variables,
                             std::source_location where) {
  std::vector<edge> checks;
  for (const auto& variable : variables) {
    auto on = to.on(variable.node->device(), where);
    checks.push_back(variable.node->op().outputs[0].handle
                         ? var_is_initialized_op(variable, {}, where)
                         : is_variable_initialized(variable, {}, where));
  }
  return checks;
}

void check(const training_step& step_to_check, std::source_location where) {
  if (step_to_check.train.empty())
    reject("training_run", where, "a step needs something to train");
  if (std::ranges::find(step_to_check.train, nullptr, &target::node) != step_to_check.train.end())
    reject("training_run", where, "a target of `train` is null");
  if (step_to_check.concurrent_steps < 1 || step_to_check.concurrent_steps > 1024)
    reject("training_run", where, "concurrent_steps must be 1 to 1024, got ",
           step_to_check.concurrent_steps);
  if (step_to_check.loss.node && !floating.contains(step_to_check.loss.type()))
    reject("training_run", where, "the loss must be a floating-point number, got ",
           step_to_check.loss.type());
  if (step_to_check.loss.node && !step_to_check.loss.dims().compatible(shape{}))
    reject("training_run", where, "the loss must be one number, got shape ",
           step_to_check.loss.dims());
}

} // namespace

std::string_view to_string(training_end reason) noexcept {
  switch (reason) {
    case training_end::last_step: return "the last step was done";
    case training_end::time_limit: return "the time limit was reached";
    case training_end::stop_requested: return "a stop was requested";
    case training_end::condition: return "the condition was met";
    case training_end::data_ended: return "the data ended";
    case training_end::not_a_number: return "the loss is not a finite number";
  }
  return "unknown";
}

training_run::training_run(graph_builder& in, std::vector<training_step> steps,
                           training_options options, location where)
    : state_(new state{in, std::move(steps), std::move(options)}) {
  auto& run_state = *state_;
  if (run_state.steps.empty())
    reject("training_run", where, "there are no steps to run");
  for (const auto& kind : run_state.steps)
    check(kind, where);
  const auto& settings = run_state.options;
  if (settings.max_retries < 0 || settings.summary_steps < 1)
    reject("training_run", where,
           "max_retries must not be negative, summary_steps must be at least 1");
  if (!(settings.retry_delay_seconds >= 0 && settings.checkpoint_seconds >= 0 &&
        settings.time_limit >= 0))
    reject("training_run", where,
           "retry_delay_seconds, checkpoint_seconds and time_limit must not be ", "negative, got ",
           settings.retry_delay_seconds, ", ", settings.checkpoint_seconds, " and ",
           settings.time_limit);
  if (settings.checkpoints.empty() &&
      (settings.checkpoint_steps > 0 || settings.checkpoint_seconds > 0))
    reject("training_run", where, "checkpoints need a folder");
  if (settings.checkpoints.empty() && settings.checkpoint_metric)
    reject("training_run", where, "a metric ranks checkpoints, which need a folder");
  if (settings.checkpoint_options.keep_best > 0 && !settings.checkpoint_metric)
    reject("training_run", where, "keep_best needs a metric to rank checkpoints by");
  if (settings.summary.node && settings.summaries.empty())
    reject("training_run", where, "a summary needs a folder of event files");
  if (settings.save_input && (!settings.input || settings.checkpoints.empty()))
    reject("training_run", where, "save_input needs an input and a folder of checkpoints");
  if (!run_state.options.initializer)
    run_state.options.initializer = in.initializer(where);
  if (auto local = detail::local_variables(in); !local.empty()) {
    run_state.initialize_local = in.local_initializer(where);
    run_state.local_initialized = add_checks(in, local, where);
  }
  run_state.initialized = add_checks(in, detail::model_variables(in), where);
  if (run_state.initialized.empty())
    reject("training_run", where, "the graph has no variables");
  if (settings.input)
    for (const auto& runner : settings.input->runners())
      run_state.queue_sizes.push_back(queue_size(runner.queue(), {}, where));
  if (settings.checkpoints.empty())
    return;
  auto saver_settings = settings.checkpoint_options;
  saver_settings.save_all_state |= settings.save_input;
  saver_settings.on_warning = [&run_state](const std::string& text) {
    if (const auto& warn = run_state.options.checkpoint_options.on_warning)
      warn(text);
    run_state.report_event({.kind = training_event_kind::warning, .text = text});
  };
  run_state.checkpoints.emplace(in, settings.checkpoints, saver_settings, where);
  if (settings.save_input)
    run_state.checkpoints->add_notes([&run_state] { return as_notes(run_state.runs_left); });
}

training_run::~training_run() = default;

training_report training_run::run(session& in, location where) { return state_->run(in, where); }

void training_run::request_stop() noexcept {
  std::lock_guard guard{state_->mutex};
  state_->stop_requested = true;
  state_->changed.notify_all();
}

} // namespace troupe
