// Trains a classifier of handwritten digits: in this process, or data-parallel on worker processes,
// with asynchronous steps or as --mode says.
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

/// Batches in a fresh order for every epoch; any thread may ask for any.
class batches {
public:
  batches(const digits::dataset& from, const options& chosen) : from_(from), size_(chosen.batch) {
    for (int epoch = 0; epoch < chosen.epochs; ++epoch) {
      auto seed = static_cast<uint64_t>(chosen.model.seed * 1'000'003 + epoch);
      auto order = digits::shuffled(from.rows(), seed);
      rows_.insert(rows_.end(), order.begin(), order.end());
    }
  }
  int64_t count() const { return (rows() + size_ - 1) / size_; }
  std::optional<std::vector<troupe::tensor>> at(int64_t n) const {
    auto first = n * size_;
    if (first >= rows())
      return std::nullopt;
    auto one = digits::gather(from_, rows_.data() + first, std::min(size_, rows() - first));
    return std::vector{one.images, one.labels};
  }

private:
  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }

  const digits::dataset& from_;
  const int64_t size_;
  std::vector<int64_t> rows_;
};

/// Says what happens beside the steps, each on a line of its own.
void say(const troupe::training_event& what) {
  using kind = troupe::training_event::kind;
  auto step = static_cast<long long>(what.step);
  switch (what.what) {
    case kind::restored:
      std::printf("goes on at step %lld with %s\n", step, what.text.c_str());
      break;
    case kind::saved: std::printf("saved in %s\n", what.text.c_str()); break;
    case kind::retrying:
      std::printf("\nstep %lld: attempt %d to go on after: %s\n", step, what.retry,
                  what.cause->what());
      break;
    case kind::warning: std::printf("warning: %s\n", what.text.c_str()); break;
    case kind::recovered: std::printf("runs again from step %lld\n", step); break;
    case kind::initialized:
    case kind::saving: break;
  }
  std::fflush(stdout);
}

void say_replica(const troupe::replica_event& what) {
  using kind = troupe::replica_event::kind;
  auto step = static_cast<long long>(what.step);
  switch (what.what) {
    case kind::restored:
      std::printf("goes on at step %lld with %s\n", step, what.text.c_str());
      break;
    case kind::saved: std::printf("saved in %s\n", what.text.c_str()); break;
    case kind::joined: std::printf("step %lld: replica %d begins\n", step, what.replica); break;
    case kind::left: std::printf("step %lld: replica %d ends\n", step, what.replica); break;
    case kind::lost:
      std::printf("\nstep %lld: replica %d is lost: %s\n", step, what.replica, what.text.c_str());
      break;
    case kind::back: std::printf("step %lld: replica %d is back\n", step, what.replica); break;
    case kind::retrying:
      std::printf("\nstep %lld: an attempt to go on after: %s\n", step, what.text.c_str());
      break;
    case kind::recovered: std::printf("runs again from step %lld\n", step); break;
    case kind::warning: std::printf("warning: %s\n", what.text.c_str()); break;
    case kind::initialized: break;
  }
  std::fflush(stdout);
}

void report(troupe::edge guesses_of, troupe::edge images, troupe::session& in,
            const digits::dataset& test) {
  auto all = digits::whole(test);
  auto guesses = in.fetch(guesses_of, {{images, all.images}});
  int64_t counts[digits::classes][digits::classes] = {};
  int64_t right = 0;
  for (size_t i = 0; i < test.labels.size(); ++i) {
    auto guess = guesses.values<int64_t>()[i];
    ++counts[test.labels[i]][guess];
    right += guess == test.labels[i];
  }
  std::printf("\nrows: what it is, columns: what it is taken for\n   ");
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
              100.0 * static_cast<double>(right) / static_cast<double>(test.rows()));
}

/// Trains with replicas that have steps of their own. Returns whether it went through all epochs.
bool run_replicas(const options& chosen, const std::string& spec, const digits::parts& data,
                  const sigset_t& held) {
  using troupe::replica_mode;
  // Whether a step of all goes through the batches of as many replicas as it takes.
  auto of_all = chosen.mode == "sync" || chosen.mode == "all_reduce";
  batches from{data.training, chosen};
  auto steps = of_all ? from.count() / chosen.workers : from.count();
  examples::progress shown{steps};
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
       .batch = [&](int64_t n) { return from.at(n); },
       .checkpoints = chosen.checkpoint,
       .resume = chosen.resume,
       .checkpoint_seconds = chosen.checkpoint.empty() ? 0 : chosen.checkpoint_seconds,
       .last_step = steps,
       .on_step =
           [&](const troupe::training_progress& now) {
             shown.step_done(now.step, static_cast<float>(now.loss));
           },
       .on_event = say_replica}};
  auto session = troupe::session::connect(spec);
  std::optional<examples::stop_signals> stops;
  stops.emplace(held, [&] { training.request_stop(); });
  auto done = training.run(session);
  stops.reset();
  shown.finish();
  for (size_t i = 0; i < done.replicas.size(); ++i)
    std::printf("replica %zu: %lld steps\n", i, static_cast<long long>(done.replicas[i].steps));
  if (done.why == troupe::training_end::asked) {
    std::printf("stopped at step %lld\n", static_cast<long long>(done.step));
    return false;
  }
  report(training.chief().others[0], training.chief().feeds[0], session, data.test);
  return true;
}

/// Returns whether it went through all epochs.
bool run(const options& chosen) {
  auto held = examples::hold_stop_signals();
  std::optional<examples::local_cluster> cluster; // started first, while there are no other threads
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
    return run_replicas(chosen, spec, data, held);
  auto model = chosen.model;
  std::vector<digits::model> replicas;
  if (chosen.workers > 0) {
    for (int i = 0; i < chosen.parameter_servers; ++i)
      model.parameters.push_back("/job:ps/task:" + std::to_string(i));
    for (int i = 0; i < chosen.workers; ++i) {
      model.compute = "/job:worker/task:" + std::to_string(i);
      replicas.push_back(digits::build(model));
    }
  } else {
    replicas.push_back(digits::build(model));
  }

  batches from{data.training, chosen};
  examples::progress shown{from.count()};
  auto& first = replicas.front();
  troupe::training_options how{.batch = [&](int64_t n) { return from.at(n); },
                               .initializer = first.initializer,
                               .checkpoints = chosen.checkpoint,
                               .resume = chosen.resume,
                               .checkpoint_seconds =
                                   chosen.checkpoint.empty() ? 0 : chosen.checkpoint_seconds,
                               .summaries = chosen.summaries,
                               .last_step = from.count(),
                               .on_step =
                                   [&](const troupe::training_progress& now) {
                                     shown.step_done(now.step, static_cast<float>(now.loss));
                                   },
                               .on_event = say,
                               .trace_steps = chosen.trace.empty() ? 0 : 100};
  if (!chosen.summaries.empty()) {
    troupe::summaries all;
    all.scalar("loss", first.loss);
    for (const auto& one : first.weights)
      all.histogram(one.name(), one);
    how.summary = all.merged();
  }
  // Replicas share the variables: they have the same names.
  std::vector<troupe::training_step> steps;
  for (const auto& one : replicas)
    steps.push_back({.feeds = {one.images, one.labels}, .loss = one.loss, .train = {one.train}});
  troupe::training_run training{*first.graph, std::move(steps), std::move(how)};

  auto session = chosen.workers > 0 ? troupe::session::connect(spec) : troupe::session::local();
  std::optional<examples::stop_signals> stops;
  stops.emplace(held, [&] { training.request_stop(); });
  auto done = training.run(session);
  stops.reset();
  shown.finish();
  if (!chosen.trace.empty()) {
    troupe::throw_if_failed(troupe::write_trace(chosen.trace, done.trace));
    std::printf("what the first %zu steps did stands in %s: open it in ui.perfetto.dev\n",
                done.trace.size(), chosen.trace.c_str());
  }
  if (done.why == troupe::training_end::asked) {
    std::printf("stopped at step %lld\n", static_cast<long long>(done.step));
    return false;
  }
  report(first.guess, first.images, session, data.test);
  return true;
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Trains a classifier of handwritten digits", "train_digits"};
  app.add_option("--data", chosen.data, "Gzipped CSV: 64 pixels from 0 to 16 and the digit");
  examples::add_count(app, "--epochs", chosen.epochs, "How often to go through the training data",
                      1, 100'000);
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
                 "Use so many tasks of this running cluster instead of starting processes")
      ->needs("--workers");
  auto* mode =
      app.add_option(
             "--mode", chosen.mode,
             "How workers train together: each by steps of its own with async, bounded (none "
             "more than 4 steps ahead), and sync, whose steps take a batch of each; with "
             "all_reduce, each has a copy of the variables, and ps tasks are not used")
          ->check(CLI::IsMember({"async", "bounded", "sync", "all_reduce"}))
          ->needs("--workers");
  app.add_option("--backup", chosen.backups,
                 "With --mode sync: a step takes the gradients of all workers but so many, those "
                 "that come first")
      ->needs("--mode");
  app.add_option("--trace", chosen.trace,
                 "Write what the first 100 steps did to this file, for ui.perfetto.dev")
      ->excludes(mode);
  app.add_option("--checkpoint", chosen.checkpoint, "Save the variables in this folder");
  app.add_option("--checkpoint-seconds", chosen.checkpoint_seconds, "How often")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  app.add_flag("--resume", chosen.resume, "Go on with what --checkpoint has saved, if anything")
      ->needs("--checkpoint");
  app.add_option("--summaries", chosen.summaries,
                 "Write the loss and the weights to this folder, for TensorBoard")
      ->excludes(mode);
  return examples::run_program(app, argc, argv, [&] { run(chosen); });
}
