// Trains a classifier of handwritten digits: in this process, or data-parallel on worker processes
// with asynchronous steps, through the same API.
#include "examples/support/digits.hpp"
#include "examples/support/progress.hpp"
#include "examples/train_digits/local_cluster.hpp"
#include "examples/train_digits/model.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <thread>

namespace {

struct options {
  std::string data = TROUPE_EXAMPLES_DATA "/digits.csv.gz";
  int epochs = 100;
  int64_t batch = 32;
  digits::model_options model;
  int workers = 0, parameter_servers = 1;
  std::string trace;      // the file to write; none when empty
  std::string checkpoint; // the folder; none when empty
  double checkpoint_seconds = 5;
  bool resume = false;
};

/// What the first steps did, for a picture of them. Any thread may call.
class recording {
public:
  explicit recording(std::string path) : path_(std::move(path)) {}

  /// Runs a step, and keeps its statistics while they are few enough to look at.
  std::vector<troupe::tensor> run(troupe::step& one, const digits::batch& batch) {
    if (path_.empty() || count_.fetch_add(1) >= 100)
      return one.run({batch.images, batch.labels});
    troupe::step_statistics statistics;
    auto fetched = one.run({batch.images, batch.labels}, {.statistics = &statistics});
    std::lock_guard guard{mutex_};
    steps_.push_back(std::move(statistics));
    return fetched;
  }
  void save() const {
    if (path_.empty())
      return;
    troupe::throw_if_failed(troupe::write_trace(path_, steps_));
    std::printf("what the first %zu steps did stands in %s: open it in ui.perfetto.dev\n",
                steps_.size(), path_.c_str());
  }

private:
  const std::string path_;
  std::atomic<int> count_{0};
  std::mutex mutex_;
  std::vector<troupe::step_statistics> steps_;
};

/// Batches in a fresh order for every epoch, for any number of threads.
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
  void done() { ++done_; } ///< a step with one of them
  int64_t steps_done() const { return done_; }
  /// Goes on behind the first so many.
  void skip(int64_t count) { next_ = done_ = count; }
  std::optional<digits::batch> next() {
    auto first = next_.fetch_add(1) * size_;
    if (first >= rows())
      return std::nullopt;
    return digits::gather(from_, rows_.data() + first, std::min(size_, rows() - first));
  }

private:
  int64_t rows() const { return static_cast<int64_t>(rows_.size()); }

  const digits::dataset& from_;
  const int64_t size_;
  std::vector<int64_t> rows_;
  std::atomic<int64_t> next_{0}, done_{0};
};

void train(const digits::model& model, troupe::session& in, batches& from, recording& trace,
           examples::progress& shown) {
  auto step = in.prepare({model.images, model.labels}, {model.loss}, {model.train});
  while (auto one = from.next()) {
    auto loss = troupe::to_scalar<float>(trace.run(step, *one)[0]);
    from.done();
    shown.step_done(loss);
  }
}

/// One client thread per replica. The first error of any of them counts.
void train_all(const std::vector<digits::model>& replicas, troupe::session& in, batches& from,
               recording& trace, examples::progress& shown) {
  std::exception_ptr problem;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (const auto& replica : replicas)
      threads.emplace_back([&] {
        try {
          train(replica, in, from, trace, shown);
        } catch (...) {
          std::lock_guard guard{mutex};
          if (!problem)
            problem = std::current_exception();
        }
      });
  }
  if (problem)
    std::rethrow_exception(problem);
}

/// Saves the variables now and then while it lives.
class saving {
public:
  saving(troupe::saver& by, troupe::session& in, const batches& from, double seconds)
      : thread_([&by, &in, &from, seconds, this](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock{mutex};
          std::condition_variable_any wake;
          auto pause = std::chrono::duration<double>{seconds};
          while (!wake.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }))
            if (!save(by, in, from))
              return;
        }) {}
  /// Stops saving, and throws what that failed with.
  void finish() {
    thread_.request_stop();
    thread_.join();
    if (problem_)
      std::rethrow_exception(problem_);
  }

private:
  bool save(troupe::saver& by, troupe::session& in, const batches& from) {
    try {
      auto step = from.steps_done(); // those that end while it reads are run again after a crash
      by.save(in, step);
      return true;
    } catch (...) {
      problem_ = std::current_exception();
      return false;
    }
  }

  std::exception_ptr problem_;
  std::jthread thread_;
};

void report(const digits::model& model, troupe::session& in, const digits::dataset& test) {
  auto all = digits::whole(test);
  auto guesses = in.fetch(model.guess, {{model.images, all.images}});
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

void run(const options& chosen) {
  std::optional<digits::local_cluster> cluster; // started first, while there are no other threads
  if (chosen.workers > 0) {
    cluster.emplace(chosen.workers, chosen.parameter_servers);
    std::printf("started %d worker and %d ps processes: %s\n", chosen.workers,
                chosen.parameter_servers, cluster->spec().c_str());
  }
  auto data = digits::split(digits::read(chosen.data));
  std::printf("%lld digits to learn from, %lld held back for the test\n",
              static_cast<long long>(data.training.rows()),
              static_cast<long long>(data.test.rows()));

  auto model = chosen.model;
  std::vector<digits::model> replicas;
  if (cluster) {
    for (int i = 0; i < chosen.parameter_servers; ++i)
      model.parameters.push_back("/job:ps/task:" + std::to_string(i));
    for (int i = 0; i < chosen.workers; ++i) {
      model.compute = "/job:worker/task:" + std::to_string(i);
      replicas.push_back(digits::build(model));
    }
  } else {
    replicas.push_back(digits::build(model));
  }

  // Replicas share the variables: they have the same names.
  std::optional<troupe::saver> saver;
  if (!chosen.checkpoint.empty())
    saver.emplace(*replicas.front().graph, chosen.checkpoint);
  auto session = cluster ? troupe::session::connect(cluster->spec()) : troupe::session::local();
  batches from{data.training, chosen};
  std::optional<troupe::restore_report> restored;
  if (saver && chosen.resume)
    restored = saver->restore(session);
  if (restored) {
    from.skip(restored->step);
    std::printf("goes on at step %lld with %s\n", static_cast<long long>(restored->step),
                restored->path.c_str());
  } else {
    session.run(replicas.front().initializer);
  }
  examples::progress shown{from.count() - from.steps_done()};
  recording trace{chosen.trace};
  std::optional<saving> saves;
  if (saver)
    saves.emplace(*saver, session, from, chosen.checkpoint_seconds);
  train_all(replicas, session, from, trace, shown);
  shown.finish();
  if (saves) {
    saves->finish();
    std::printf("saved in %s\n", saver->save(session, from.count()).c_str());
  }
  trace.save();
  report(replicas.front(), session, data.test);
}

} // namespace

int main(int argc, char** argv) {
  options chosen;
  CLI::App app{"Trains a classifier of handwritten digits"};
  app.add_option("--data", chosen.data, "Gzipped CSV: 64 pixels from 0 to 16 and the digit");
  app.add_option("--epochs", chosen.epochs, "How often to go through the training data")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--batch", chosen.batch, "Images per step")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--learning-rate", chosen.model.learning_rate, "Of gradient descent")
      ->capture_default_str();
  app.add_option("--hidden", chosen.model.hidden, "Units of the hidden layer")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app.add_option("--seed", chosen.model.seed, "Of weights and order")->capture_default_str();
  app.add_option("--workers", chosen.workers, "Worker processes to start; 0: train in this process")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  app.add_option("--ps", chosen.parameter_servers,
                 "Processes that hold the variables, with --workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--trace", chosen.trace,
                 "Write what the first 100 steps did to this file, for ui.perfetto.dev");
  app.add_option("--checkpoint", chosen.checkpoint, "Save the variables in this folder");
  app.add_option("--checkpoint-seconds", chosen.checkpoint_seconds, "How often")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1e6));
  app.add_flag("--resume", chosen.resume, "Go on with what --checkpoint has saved, if anything")
      ->needs("--checkpoint");
  CLI11_PARSE(app, argc, argv);
  try {
    run(chosen);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "train_digits: " << e.what() << '\n';
    return 1;
  }
}
