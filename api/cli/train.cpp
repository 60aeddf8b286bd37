// troupe train: runs a step of a graph repeatedly, with checkpoints and summaries.
#include "troupe/api/cli/commands.hpp"
#include "troupe/api/cli/requested_run.hpp"
#include "troupe/api/cli/security_options.hpp"
#include "troupe/api/cli/stop_signals.hpp"
#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/api/train/loop/training_run.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>

namespace troupe::cli {
namespace {

using namespace std::chrono_literals;

struct train_options {
  std::string file, cluster, init, local_init, loss, summary;
  security_options security;
  std::vector<std::string> feeds, targets, enqueues;
  training_options training;
  double timeout = 60;
};

graph_import import_graph(graph_builder& to, const std::string& path,
                          const std::vector<std::string>& wanted) {
  if (path.ends_with(".pb") || path.ends_with(".pbtxt"))
    return import_graph_def(to, path, {.wanted = wanted});
  auto content = value_or_throw(read_file(path));
  value_or_throw(parse_text_graph(content, path.substr(path.rfind('/') + 1), to));
  return graph_import{imported_graph{to, ""}};
}

// Returns the names of all nodes that the training runs, feeds or fetches.
std::vector<std::string> wanted_by(const train_options& options) {
  run_arguments arguments;
  arguments.feeds = options.feeds;
  arguments.targets = options.targets;
  arguments.inits = options.enqueues;
  for (const auto* name : {&options.init, &options.local_init, &options.loss, &options.summary})
    if (!name->empty())
      arguments.fetches.push_back(*name);
  return wanted_names(arguments);
}

// Adds one runner for each queue.
void add_runners(input_pipeline& pipeline, const std::vector<std::string>& names,
                 const graph_import& in) {
  std::vector<std::pair<edge, std::vector<node*>>> queues;
  for (const auto& name : names) {
    auto* enqueue = in.target(name);
    auto queue = enqueue->inputs().empty() ? edge{} : enqueue->inputs().front();
    if (queue.is_empty() || queue.node->op().state_kind != resource::queue)
      throw error{invalid("--enqueue ", name, ": ", enqueue->description(), " fills no queue")};
    auto entry = std::ranges::find_if(
        queues, [&](const auto& candidate) { return is_same_edge(candidate.first, queue); });
    if (entry == queues.end())
      entry = queues.insert(queues.end(), {queue, {}});
    entry->second.push_back(enqueue);
  }
  for (auto& [queue, enqueues] : queues)
    pipeline.add(queue_runner{queue, std::move(enqueues)});
}

// Prints a line for each event, and at most one line per second for steps.
class progress_printer {
public:
  void step(const training_progress& progress) {
    auto now = std::chrono::steady_clock::now();
    std::lock_guard guard{mutex_};
    if (now - last_print_ < 1s)
      return;
    last_print_ = now;
    std::cout << "step " << progress.step << "  " << static_cast<int64_t>(progress.steps_per_second)
              << " steps/s  loss " << progress.loss << std::endl;
  }
  void event(const training_event& event) {
    using kind = training_event_kind;
    std::lock_guard guard{mutex_};
    switch (event.kind) {
      case kind::initialized: std::cout << "begins"; break;
      case kind::restored:
        std::cout << "resumes at step " << event.step << " with " << printable(event.text);
        break;
      case kind::saving: return;
      case kind::saved: std::cout << "saved in " << printable(event.text); break;
      case kind::retrying:
        std::cout << "step " << event.step << ": retry " << event.retry
                  << " after: " << event.cause->what();
        break;
      case kind::warning: std::cout << "warning: " << printable_lines(event.text); break;
      case kind::recovered: std::cout << "runs again from step " << event.step; break;
    }
    std::cout << std::endl;
  }

private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_print_ = std::chrono::steady_clock::now();
};

void train(train_options& options) {
  auto signals = block_stop_signals();
  graph_builder g;
  auto in = import_graph(g, options.file, wanted_by(options));
  training_step step;
  std::vector<tensor> values;
  if (!options.feeds.empty()) {
    run_arguments arguments;
    arguments.feeds = options.feeds;
    arguments.targets = options.targets;
    auto runs = runs_of(arguments, in, g);
    for (auto& fed : runs.back().run.feeds) {
      step.feeds.push_back(fed.fed_edge);
      values.push_back(std::move(fed.value));
    }
  }
  for (const auto& name : options.targets)
    step.train.emplace_back(in.target(name));
  if (!options.loss.empty())
    step.loss = in[options.loss];
  auto& training_settings = options.training;
  training_settings.batch = [&](int64_t) { return values; };
  training_settings.initializer = in.target(options.init);
  if (!options.local_init.empty())
    training_settings.local_initializer = in.target(options.local_init);
  if (!options.summary.empty())
    training_settings.summary = in[options.summary];
  input_pipeline input{g};
  add_runners(input, options.enqueues, in);
  if (!options.enqueues.empty())
    training_settings.input = &input;
  progress_printer printer;
  training_settings.on_step = [&](const training_progress& progress) { printer.step(progress); };
  training_settings.on_event = [&](const training_event& event) { printer.event(event); };
  training_run training{g, std::move(step), training_settings, no_line};

  session_options connection{
      .cluster = {.tls = options.security.tls, .insecure = options.security.insecure},
      .timeout = std::chrono::milliseconds{static_cast<int64_t>(options.timeout * 1000)}};
  auto s = options.cluster.empty() ? session::local(connection, no_line)
                                   : session::connect(options.cluster, connection, no_line);
  stop_signals stops{signals, [&] { training.request_stop(); }};
  auto report = training.run(s, no_line);
  std::cout << "ended at step " << report.step << ": " << to_string(report.end_reason) << '\n';
  if (report.end_reason == training_end::not_a_number)
    throw error{
        failure(error_kind::out_of_range, "the loss of step ", report.step, " is ", report.loss)};
}

void add_node_options(CLI::App& command, train_options& options) {
  auto add = [&](const char* name, std::vector<std::string>& words, const char* help) {
    return command.add_option(name, words, help)->allow_extra_args(false);
  };
  add("--target", options.targets, "NAME of a node to run in each step")->required();
  add("--feed", options.feeds, "NAME=VALUE or NAME=@FILE.npy, the same in each step");
  add("--enqueue", options.enqueues,
      "NAME of a node that fills a queue, run in parallel with the steps");
  command.add_option("--init", options.init, "NAME of the node that initializes all variables")
      ->required();
  command.add_option("--local-init", options.local_init,
                     "NAME of a node that initializes tables, run at each start");
  command.add_option("--loss", options.loss, "NAME of the loss, a scalar");
}

void add_checkpoint_options(CLI::App& command, training_options& training) {
  auto* folder = command.add_option("--checkpoint", training.checkpoints,
                                    "Save the variables in this folder, and resume from it");
  command
      .add_option("--checkpoint-steps", training.checkpoint_steps,
                  "Steps between two checkpoints; 0: only at the end")
      ->needs(folder)
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--checkpoint-seconds", training.checkpoint_seconds,
                  "Seconds between two checkpoints; 0: not by time")
      ->needs(folder)
      ->check(CLI::NonNegativeNumber);
  command
      .add_flag("--save-input", training.save_input,
                "Also save the contents of queues and the positions of readers")
      ->needs(folder);
  command
      .add_flag("!--no-resume", training.resume,
                "Start from the beginning even if there is a checkpoint")
      ->needs(folder);
  command
      .add_flag("--partial", training.partial,
                "Accept a checkpoint that does not match: missing variables get initial values")
      ->needs(folder);
  command.add_flag("--take-over", training.checkpoint_options.take_over,
                   "Take over a folder to which another process writes, which then fails");
}

void add_summary_options(CLI::App& command, train_options& options) {
  auto& training = options.training;
  auto* logs = command.add_option("--summaries", training.summaries,
                                  "Write the loss to this folder, for TensorBoard");
  command.add_option("--summary", options.summary, "NAME of a Summary to write as well")
      ->needs(logs);
  command.add_option("--summary-steps", training.summary_steps, "Steps between two summaries")
      ->needs(logs)
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

} // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<train_options>();
  auto& training = options->training;
  auto* command = app.add_subcommand(
      "train", "Run a step of a graph repeatedly; SIGTERM ends it with a checkpoint");
  command
      ->add_option("GRAPH", options->file,
                   "A text graph (docs/text-graphs.md), or TensorFlow's .pb or .pbtxt")
      ->required();
  add_node_options(*command, *options);
  command
      ->add_option("--steps", training.last_step,
                   "Total number of steps, including earlier runs; -1: no limit")
      ->capture_default_str();
  command->add_option("--seconds", training.time_limit, "Time limit in seconds; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  add_checkpoint_options(*command, training);
  add_summary_options(*command, *options);
  command->add_option("--max-retries", training.max_retries, "Retries after a temporary error")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--cluster", options->cluster,
                      std::string{"By default in this process. "} + session_help);
  add_security(*command, options->security);
  command->add_option("--timeout", options->timeout, "Seconds for each step")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->callback([options] { train(*options); });
}

} // namespace troupe::cli
