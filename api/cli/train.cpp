// troupe train: runs a step of a graph again and again, with checkpoints and summaries.
#include "troupe/api/cli/asked_run.hpp"
#include "troupe/api/cli/commands.hpp"
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
  training_options how;
  double timeout = 60;
};

graph_import import(graph_builder& to, const std::string& path,
                    const std::vector<std::string>& wanted) {
  if (path.ends_with(".pb") || path.ends_with(".pbtxt"))
    return import_graph_def(to, path, {.wanted = wanted});
  auto content = value_or_throw(read_file(path));
  value_or_throw(parse_text_graph(content, path.substr(path.rfind('/') + 1), to));
  return graph_import{imported_graph{to, ""}};
}

// All that the training runs, feeds or reads.
std::vector<std::string> wanted_by(const train_options& chosen) {
  asked words;
  words.feeds = chosen.feeds;
  words.targets = chosen.targets;
  words.inits = chosen.enqueues;
  for (const auto* one : {&chosen.init, &chosen.local_init, &chosen.loss, &chosen.summary})
    if (!one->empty())
      words.fetches.push_back(*one);
  return wanted_names(words);
}

// One runner for each queue.
void add_runners(input_pipeline& to, const std::vector<std::string>& names,
                 const graph_import& in) {
  std::vector<std::pair<edge, std::vector<node*>>> queues;
  for (const auto& name : names) {
    auto* fills = in.target(name);
    auto queue = fills->inputs().empty() ? edge{} : fills->inputs().front();
    if (queue.is_nothing() || queue.node->op().makes != resource::queue)
      throw error{invalid("--enqueue ", name, ": ", fills->description(), " fills no queue")};
    auto known = std::ranges::find_if(
        queues, [&](const auto& each) { return is_same_edge(each.first, queue); });
    if (known == queues.end())
      known = queues.insert(queues.end(), {queue, {}});
    known->second.push_back(fills);
  }
  for (auto& [queue, all] : queues)
    to.add(queue_runner{queue, std::move(all)});
}

// A line for each event, and one for the steps of a second.
class teller {
public:
  void step(const training_progress& now) {
    auto at = std::chrono::steady_clock::now();
    std::lock_guard guard{mutex_};
    if (at - told_ < 1s)
      return;
    told_ = at;
    std::cout << "step " << now.step << "  " << static_cast<int64_t>(now.steps_per_second)
              << " steps/s  loss " << now.loss << std::endl;
  }
  void event(const training_event& what) {
    using kind = training_event::kind;
    std::lock_guard guard{mutex_};
    switch (what.what) {
      case kind::initialized: std::cout << "begins"; break;
      case kind::restored:
        std::cout << "goes on at step " << what.step << " with " << printable(what.text);
        break;
      case kind::saving: return;
      case kind::saved: std::cout << "saved in " << printable(what.text); break;
      case kind::retrying:
        std::cout << "step " << what.step << ": attempt " << what.retry
                  << " to go on after: " << what.cause->what();
        break;
      case kind::warning: std::cout << "warning: " << printable_lines(what.text); break;
      case kind::recovered: std::cout << "runs again from step " << what.step; break;
    }
    std::cout << std::endl;
  }

private:
  std::mutex mutex_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

void train(train_options& chosen) {
  auto signals = block_stop_signals();
  graph_builder g;
  auto in = import(g, chosen.file, wanted_by(chosen));
  training_step step;
  std::vector<tensor> values;
  if (!chosen.feeds.empty()) {
    asked words;
    words.feeds = chosen.feeds;
    words.targets = chosen.targets;
    auto runs = runs_of(words, in, g);
    for (auto& one : runs.back().run.feeds) {
      step.feeds.push_back(one.to);
      values.push_back(std::move(one.value));
    }
  }
  for (const auto& name : chosen.targets)
    step.train.emplace_back(in.target(name));
  if (!chosen.loss.empty())
    step.loss = in[chosen.loss];
  auto& how = chosen.how;
  how.batch = [&](int64_t) { return values; };
  how.initializer = in.target(chosen.init);
  if (!chosen.local_init.empty())
    how.local_initializer = in.target(chosen.local_init);
  if (!chosen.summary.empty())
    how.summary = in[chosen.summary];
  input_pipeline input{g};
  add_runners(input, chosen.enqueues, in);
  if (!chosen.enqueues.empty())
    how.input = &input;
  teller tells;
  how.on_step = [&](const training_progress& now) { tells.step(now); };
  how.on_event = [&](const training_event& what) { tells.event(what); };
  training_run training{g, std::move(step), how, no_line};

  session_options options{
      .cluster = {.tls = chosen.security.tls, .insecure = chosen.security.insecure},
      .timeout = std::chrono::milliseconds{static_cast<int64_t>(chosen.timeout * 1000)}};
  auto s = chosen.cluster.empty() ? session::local(options, no_line)
                                  : session::connect(chosen.cluster, options, no_line);
  stop_signals stops{signals, [&] { training.request_stop(); }};
  auto done = training.run(s, no_line);
  std::cout << "ended at step " << done.step << ": " << to_string(done.why) << '\n';
  if (done.why == training_end::not_a_number)
    throw error{
        failure(error_kind::out_of_range, "the loss of step ", done.step, " is ", done.loss)};
}

} // namespace

void add_train(CLI::App& to) {
  auto chosen = std::make_shared<train_options>();
  auto& how = chosen->how;
  auto* command = to.add_subcommand(
      "train", "Run a step of a graph again and again; SIGTERM ends it with a checkpoint");
  command
      ->add_option("GRAPH", chosen->file,
                   "A text graph (docs/text-graphs.md), or TensorFlow's .pb or .pbtxt")
      ->required();
  auto add = [&](const char* name, std::vector<std::string>& words, const char* help) {
    return command->add_option(name, words, help)->allow_extra_args(false);
  };
  add("--target", chosen->targets, "NAME of a node to run in each step")->required();
  add("--feed", chosen->feeds, "NAME=VALUE or NAME=@FILE.npy, the same in each step");
  add("--enqueue", chosen->enqueues, "NAME of a node that fills a queue, run beside the steps");
  command->add_option("--init", chosen->init, "NAME of the node that gives all variables values")
      ->required();
  command->add_option("--local-init", chosen->local_init,
                      "NAME of a node that fills tables, run at each beginning");
  command->add_option("--loss", chosen->loss, "NAME of the loss, one number");
  command->add_option("--steps", how.last_step, "In all, with those of runs before; -1: no limit")
      ->capture_default_str();
  command->add_option("--seconds", how.time_limit, "How long; 0: no limit")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  auto* folder = command->add_option("--checkpoint", how.checkpoints,
                                     "Save the variables in this folder, and go on with them");
  command->add_option("--checkpoint-steps", how.checkpoint_steps, "How often; 0: only at the end")
      ->needs(folder)
      ->check(CLI::NonNegativeNumber);
  command->add_option("--checkpoint-seconds", how.checkpoint_seconds, "How often; 0: not by time")
      ->needs(folder)
      ->check(CLI::NonNegativeNumber);
  command
      ->add_flag("--keep-input", how.keep_input,
                 "Save what queues hold and where readers stand, too")
      ->needs(folder);
  command->add_flag("!--anew", how.resume, "Begin anew also where there is a checkpoint")
      ->needs(folder);
  command
      ->add_flag("--partial", how.partial,
                 "Go on with a checkpoint that does not fit: what it lacks gets initial values")
      ->needs(folder);
  command->add_flag("--take-over", how.keep.take_over,
                    "Write also where another process writes to the same folder, which then fails");
  auto* logs = command->add_option("--summaries", how.summaries,
                                   "Write the loss to this folder, for TensorBoard");
  command->add_option("--summary", chosen->summary, "NAME of a Summary to write as well")
      ->needs(logs);
  command->add_option("--summary-steps", how.summary_steps, "How often")
      ->needs(logs)
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--retries", how.retries, "Attempts to go on after an error that may pass")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--cluster", chosen->cluster,
                      std::string{"By default here. "} + session_help);
  add_security(*command, chosen->security);
  command->add_option("--timeout", chosen->timeout, "Seconds for each step")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 1e6));
  command->callback([chosen] { train(*chosen); });
}

} // namespace troupe::cli
