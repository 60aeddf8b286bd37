// Trains a classifier of handwritten digits: in this process, or data-parallel on worker processes,
// asynchronously or as --mode selects.
#include "examples/support/digits.hpp"
#include "examples/support/local_cluster.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/stop_signals.hpp"
#include "examples/train_digits/model.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <optional>

namespace {

struct options {
  std::string data = TROUPE_EXAMPLES_DATA "/digits.csv.gz";
  int epochs = 100;
  int64_t batch = 32;
  digits::model_options model;
  int workers = 0, parameter_servers = 1;
  std::string cluster; // a file; empty: processes are started
  std::string mode;    // of replicas; empty: a training run
  int backups = 0;
  std::string trace;      // the file to write; none when empty
  std::string checkpoint; // the folder; none when empty
  double checkpoint_seconds = 5;
  bool resume = false;
  std::string summaries; // the folder; none when empty
};

/// Batches in a new order for each epoch. Thread-safe.
class batches {
public:
  batches(const digits::dataset& data, const options& chosen) : data_(data), size_(chosen.batch) {
    for (int epoch = 0; epoch < chosen.epochs; ++epoch) {
      auto seed = static_cast<uint64_t>(chosen.model.seed * 1'000'003 + epoch);
      auto order = digits::shuffled(data.rows(), seed);
      rows_.insert(rows_.end(), order.begin(), order.end());
    }
  }
  int64_t count() const { return (rows() + size_ - 1) / size_; }
  std::optional<std::vector<troupe::tensor>> at(int64_t number) const {
    auto first = number * size_;
    if (first >= rows())
      return std::nullopt;
    auto rows_of_batch =
        digits::gather(data_, rows_.data() + first, std::min(size_, rows() - first));
    return std::vector{rows_of_batch.images, rows_of_batch.labels};
  }

private:
  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }

  const digits::dataset& data_;
  const int64_t size_;
  std::vector<int64_t> rows_;
};

/// Prints events of a run other than steps, one line each.
void print_event(const troupe::training_event& event) {
  using kind = troupe::training_event_kind;
  auto step = static_cast<long long>(event.step);
  switch (event.kind) {
    case kind::restored:
      std::printf("resumes at step %lld with %s\n", step, event.text.c_str());
      break;
    case kind::saved: std::printf("saved in %s\n", event.text.c_str()); break;
    case kind::retrying:
      std::printf("\nstep %lld: retry %d after: %s\n", step, event.retry, event.cause->what());
      break;
    case kind::warning: std::printf("warning: %s\n", event.text.c_str()); break;
    case kind::recovered: std::printf("runs again from step %lld\n", step); break;
    case kind::initialized:
    case kind::saving: break;
  }
  std::fflush(stdout);
}

void print_replica_event(const troupe::replica_event& event) {
  using kind = troupe::replica_event_kind;
  auto step = static_cast<long long>(event.step);
  switch (event.kind) {
    case kind::restored:
      std::printf("resumes at step %lld with %s\n", step, event.text.c_str());
      break;
    case kind::saved: std::printf("saved in %s\n", event.text.c_str()); break;
    case kind::joined: std::printf("step %lld: replica %d begins\n", step, event.replica); break;
    case kind::left: std::printf("step %lld: replica %d ends\n", step, event.replica); break;
    case kind::lost:
      std::printf("\nstep %lld: replica %d is lost: %s\n", step, event.replica, event.text.c_str());
      break;
    case kind::back: std::printf("step %lld: replica %d is back\n", step, event.replica); break;
    case kind::retrying:
      std::printf("\nstep %lld: a retry after: %s\n", step, event.text.c_str());
      break;
    case kind::recovered: std::printf("runs again from step %lld\n", step); break;
    case kind::warning: std::printf("warning: %s\n", event.text.c_str()); break;
    case kind::initialized: break;
  }
  std::fflush(stdout);
}

void report(troupe::edge prediction, troupe::edge images, troupe::session& in,
            const digits::dataset& test) {
  auto test_batch = digits::whole(test);
  auto predictions = in.fetch(prediction, {{images, test_batch.images}});
  int64_t counts[digits::classes][digits::classes] = {};
  int64_t correct = 0;
  for (size_t i = 0; i < test.labels.size(); ++i) {
    auto predicted = predictions.values<int64_t>()[i];
    ++counts[test.labels[i]][predicted];
    correct += predicted == test.labels[i];
  }
  std::printf("\nrows: labels, columns: predictions\n   ");
  for (int i = 0; i < digits::classes; ++i)
    std::printf("%4d", i);
  std::printf("\n");
  for (int row = 0; row < digits::classes; ++row) {
    std::printf("%3d", row);
    for (auto count : counts[row])
      count ? std::printf("%4lld", static_cast<long long>(count)) : std::printf("   .");
    std::printf("\n");
  }
  std::printf("\ntest accuracy %.1f %%\n",
              100.0 * static_cast<double>(correct) / static_cast<double>(test.rows()));
}

/// Runs a training, which SIGINT and SIGTERM stop. Returns its report.
auto run_until_signal(auto& training, troupe::session& session, const sigset_t& blocked_signals) {
  examples::stop_signals stops{blocked_signals, [&] { training.request_stop(); }};
  return training.run(session);
}

/// Trains with replicas on several tasks. Returns true if all epochs were completed.
bool run_replicas(const options& chosen, const std::string& spec, const digits::parts& data,
                  const sigset_t& blocked_signals) {
  using troupe::replica_mode;
  // In these modes a step uses the batches of all replicas.
  auto is_common_step = chosen.mode == "sync" || chosen.mode == "all_reduce";
  batches training_batches{data.training, chosen};
  auto steps =
      is_common_step ? training_batches.count() / chosen.workers : training_batches.count();
  examples::progress bar{steps};
  troupe::replicas training{
      [&](troupe::graph_builder& g, int) { return digits::build_in(g, chosen.model); },
      {.mode = chosen.mode == "sync"         ? replica_mode::sync
               : chosen.mode == "all_reduce" ? replica_mode::all_reduce
               : chosen.mode == "bounded"    ? replica_mode::bounded
                                             : replica_mode::async,
       .workers = chosen.workers,
       .ps_tasks = chosen.parameter_servers,
       .backups = chosen.backups,
       .make_optimizer =
           [&](troupe::edge) {
             return std::make_unique<troupe::gradient_descent>(chosen.model.learning_rate);
           },
       .batch = [&](int64_t n) { return training_batches.at(n); },
       .checkpoints = chosen.checkpoint,
       .resume = chosen.resume,
       .checkpoint_seconds = chosen.checkpoint.empty() ? 0 : chosen.checkpoint_seconds,
       .last_step = steps,
       .on_step =
           [&](const troupe::training_progress& progress) {
             bar.step_done(progress.step, static_cast<float>(progress.loss));
           },
       .on_event = print_replica_event}};
  auto session = troupe::session::connect(spec);
  auto report_of_run = run_until_signal(training, session, blocked_signals);
  bar.finish();
  for (size_t i = 0; i < report_of_run.replicas.size(); ++i)
    std::printf("replica %zu: %lld steps\n", i,
                static_cast<long long>(report_of_run.replicas[i].steps));
  if (report_of_run.end_reason == troupe::training_end::stop_requested) {
    std::printf("stopped at step %lld\n", static_cast<long long>(report_of_run.step));
    return false;
  }
  report(training.chief().extra_fetches[0], training.chief().feeds[0], session, data.test);
  return true;
}

/// Builds the model, once for each worker. Replicas share the variables: they have the same names.
std::vector<digits::model> build_replicas(const options& chosen) {
  auto model = chosen.model;
  std::vector<digits::model> replicas;
  if (chosen.workers <= 0) {
    replicas.push_back(digits::build(model));
    return replicas;
  }
  for (int i = 0; i < chosen.parameter_servers; ++i)
    model.parameters.push_back("/job:ps/task:" + std::to_string(i));
  for (int i = 0; i < chosen.workers; ++i) {
    model.compute = "/job:worker/task:" + std::to_string(i);
    replicas.push_back(digits::build(model));
  }
  return replicas;
}

std::vector<troupe::training_step> steps_of(const std::vector<digits::model>& replicas) {
  std::vector<troupe::training_step> steps;
  for (const auto& replica : replicas)
    steps.push_back({.feeds = {replica.images, replica.labels},
                     .loss = replica.loss,
                     .train = {replica.train}});
  return steps;
}

troupe::edge summary_of(const digits::model& model) {
  troupe::summaries run_summaries;
  run_summaries.scalar("loss", model.loss);
  for (const auto& weight : model.weights)
    run_summaries.histogram(weight.name(), weight);
  return run_summaries.merged();
}

/// Returns true if all epochs were completed.
bool run(const options& chosen) {
  auto blocked_signals = examples::block_stop_signals();
  std::optional<examples::local_cluster> cluster; // started before any other thread
  auto spec = chosen.cluster;
  if (chosen.workers > 0 && spec.empty()) {
    cluster.emplace(chosen.workers, chosen.parameter_servers);
    std::printf("started %d worker and %d ps processes: %s\n", chosen.workers,
                chosen.parameter_servers, cluster->spec().c_str());
    std::fflush(stdout);
    spec = cluster->spec();
  }
  auto data = digits::split(digits::read(chosen.data));
  std::printf("%lld digits to learn from, %lld held back for the test\n",
              static_cast<long long>(data.training.rows()),
              static_cast<long long>(data.test.rows()));

  if (!chosen.mode.empty())
    return run_replicas(chosen, spec, data, blocked_signals);
  auto replicas = build_replicas(chosen);
  batches training_batches{data.training, chosen};
  examples::progress bar{training_batches.count()};
  auto& first = replicas.front();
  troupe::training_options settings{
      .batch = [&](int64_t n) { return training_batches.at(n); },
      .initializer = first.initializer,
      .checkpoints = chosen.checkpoint,
      .resume = chosen.resume,
      .checkpoint_seconds = chosen.checkpoint.empty() ? 0 : chosen.checkpoint_seconds,
      .summaries = chosen.summaries,
      .last_step = training_batches.count(),
      .on_step =
          [&](const troupe::training_progress& progress) {
            bar.step_done(progress.step, static_cast<float>(progress.loss));
          },
      .on_event = print_event,
      .trace_steps = chosen.trace.empty() ? 0 : 100};
  if (!chosen.summaries.empty())
    settings.summary = summary_of(first);
  troupe::training_run training{*first.graph, steps_of(replicas), std::move(settings)};

  auto session = chosen.workers > 0 ? troupe::session::connect(spec) : troupe::session::local();
  auto report_of_run = run_until_signal(training, session, blocked_signals);
  bar.finish();
  if (!chosen.trace.empty()) {
    troupe::throw_if_failed(troupe::write_trace(chosen.trace, report_of_run.trace));
    std::printf("the trace of the first %zu steps is in %s: open it in ui.perfetto.dev\n",
                report_of_run.trace.size(), chosen.trace.c_str());
  }
  if (report_of_run.end_reason == troupe::training_end::stop_requested) {
    std::printf("stopped at step %lld\n", static_cast<long long>(report_of_run.step));
    return false;
  }
  report(first.prediction, first.images, session, data.test);
  return true;
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Trains a classifier of handwritten digits", "train_digits"};
  app.add_option("--data", chosen.data, "Gzipped CSV: 64 pixels from 0 to 16 and the digit");
  examples::add_count(app, "--epochs", chosen.epochs, "Passes over the training data", 1, 100'000);
  examples::add_count(app, "--batch", chosen.batch, "Images per step", 1, 100'000);
  app.add_option("--learning-rate", chosen.model.learning_rate, "Of gradient descent")
      ->capture_default_str();
  examples::add_count(app, "--hidden", chosen.model.hidden, "Units of the hidden layer", 1,
                      100'000);
  app.add_option("--seed", chosen.model.seed, "Of weights and order")->capture_default_str();
  examples::add_count(app, "--workers", chosen.workers,
                      "Worker processes to start; 0: train in this process", 0, 64);
  examples::add_count(app, "--ps", chosen.parameter_servers,
                      "Processes that hold the variables, with --workers", 1, 64);
  app.add_option("--cluster", chosen.cluster,
                 "Use the tasks of this running cluster instead of starting processes")
      ->needs("--workers");
  auto* mode =
      app.add_option("--mode", chosen.mode,
                     "Mode of training: separate steps of each worker with async, bounded (none "
                     "more than 4 steps ahead) and sync (the mean of all gradients); with "
                     "all_reduce, each has a copy of the variables, and ps tasks are not used")
          ->check(CLI::IsMember({"async", "bounded", "sync", "all_reduce"}))
          ->needs("--workers");
  app.add_option("--backup", chosen.backups,
                 "With --mode sync: number of backup workers; a step takes the gradients that come "
                 "first")
      ->needs("--mode");
  app.add_option("--trace", chosen.trace,
                 "Write a trace of the first 100 steps to this file, for ui.perfetto.dev")
      ->excludes(mode);
  app.add_option("--checkpoint", chosen.checkpoint, "Save the variables in this folder");
  app.add_option("--checkpoint-seconds", chosen.checkpoint_seconds,
                 "Seconds between two checkpoints")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  app.add_flag("--resume", chosen.resume,
               "Resume from the newest checkpoint in the folder, if there is one")
      ->needs("--checkpoint");
  app.add_option("--summaries", chosen.summaries,
                 "Write the loss and the weights to this folder, for TensorBoard")
      ->excludes(mode);
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
