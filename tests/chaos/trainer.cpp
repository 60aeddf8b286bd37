// Trains a classifier of digits on a cluster that is being damaged, and reports in lines of JSON,
// for scripts/chaos: each step, each event, and what a client beside the training observes of each
// task. Ends at SIGTERM.
#include "troupe/troupe.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>

#include <sys/prctl.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

struct trainer_options {
  std::string cluster, data, mode = "sync", checkpoints;
  int workers = 4, ps = 2, backups = 1;
  double pace = 0.01, checkpoint_seconds = 2, step_seconds = 15, probe_seconds = 2;
  tls_files tls;
  bool insecure = false;
};

// -- output ---------------------------------------------------------------------------------------

std::string quoted(std::string_view text) {
  std::string quoted_text = "\"";
  for (unsigned char c : text)
    if (c == '"' || c == '\\')
      (quoted_text += '\\') += static_cast<char>(c);
    else
      quoted_text += c < ' ' ? ' ' : static_cast<char>(c);
  return quoted_text + '"';
}

// Prints one line, with the time of the monotonic clock. For any thread.
template <class... Ts>
void say(std::string_view event_name, const Ts&... fields) {
  auto now = std::chrono::duration<double>(clock_type::now().time_since_epoch()).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.6f", now);
  auto line = concat("{\"t\": ", time, ", \"what\": \"", event_name, "\"", fields..., "}\n");
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

std::string field(std::string_view name, double value) {
  return concat(", \"", name, "\": ", value);
}
std::string field(std::string_view name, std::string_view value) {
  return concat(", \"", name, "\": ", quoted(value));
}

std::string_view name_of(replica_event_kind event_kind) {
  using kind = replica_event_kind;
  switch (event_kind) {
    case kind::initialized: return "initialized";
    case kind::restored: return "restored";
    case kind::saved: return "saved";
    case kind::joined: return "joined";
    case kind::left: return "left";
    case kind::lost: return "lost";
    case kind::back: return "back";
    case kind::retrying: return "retrying";
    case kind::recovered: return "recovered";
    case kind::warning: return "warning";
  }
  return "";
}

// -- data -----------------------------------------------------------------------------------------

constexpr int64_t pixels = 64;

struct dataset {
  std::vector<float> images;
  std::vector<int32_t> labels;

  int64_t rows() const { return static_cast<int64_t>(labels.size()); }
  std::vector<tensor> at(const std::vector<int64_t>& rows) const {
    auto count = static_cast<int64_t>(rows.size());
    auto x = *tensor::make(dtype::f32, shape{count, pixels});
    auto y = *tensor::make(dtype::i32, shape{count});
    for (size_t i = 0; i < rows.size(); ++i) {
      auto from = images.begin() + rows[i] * pixels;
      std::copy(from, from + pixels, x.values<float>().begin() + static_cast<int64_t>(i) * pixels);
      y.values<int32_t>()[i] = labels[static_cast<size_t>(rows[i])];
    }
    return {x, y};
  }
  std::vector<tensor> whole() const {
    std::vector<int64_t> row_numbers(labels.size());
    std::ranges::generate(row_numbers, [n = int64_t{0}]() mutable { return n++; });
    return at(row_numbers);
  }
};

// Each fifth row is a test row.
void read(const std::string& path, dataset& training, dataset& test) {
  std::ifstream file{path};
  int64_t number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    auto& to = number % 5 == 4 ? test : training;
    std::istringstream fields{line};
    for (int64_t i = 0; i <= pixels; ++i) {
      int value = 0;
      char comma = 0;
      if (!(fields >> value))
        throw std::runtime_error{concat(path, ": line ", number + 1, ": expected 65 numbers")};
      fields >> comma;
      if (i < pixels)
        to.images.push_back(static_cast<float>(value) / 16);
      else
        to.labels.push_back(value);
    }
  }
  if (test.rows() == 0)
    throw std::runtime_error{concat(path, ": no digits")};
}

// -- model and training ---------------------------------------------------------------------------

replica_step build(graph_builder& g) {
  auto x = g.placeholder(dtype::f32, {-1, pixels});
  auto y = g.placeholder(dtype::i32, {-1});
  auto hidden = dense(g, x, 128, {.activation = relu, .name = "hidden"});
  auto logits = dense(g, hidden, 10, {.name = "output"});
  return {{x, y}, softmax_loss(logits, y), {arg_max(logits, 1)}};
}

/// A separate client that runs a step on each task every 100 ms. In any state of the task, the
/// answer or an error must arrive by the deadline.
class probes {
public:
  probes(const trainer_options& options, const session_options& connect_options)
      : deadline_(options.probe_seconds),
        session_(session::connect(options.cluster, connect_options)) {
    for (int i = 0; i < options.ps; ++i)
      add("ps", i);
    for (int i = 0; i < options.workers; ++i)
      add("worker", i);
    for (const auto& probed : targets_)
      threads_.emplace_back([this, &probed] { watch(probed); });
  }
  ~probes() {
    over_ = true;
    for (auto& thread : threads_)
      thread.join();
    say("probes", field("count", static_cast<double>(count_)),
        field("failed", static_cast<double>(failed_)), field("late", static_cast<double>(late_)));
  }

private:
  struct target_task {
    std::string name;
    edge x, y;
  };

  void add(const std::string& job, int number) {
    auto on = graph_.on(concat("/job:", job, "/task:", number));
    auto x = graph_.placeholder(dtype::f32, {});
    targets_.push_back({concat(job, number), x, x * x});
  }

  void watch(const target_task& probed) {
    auto timeout = std::chrono::milliseconds{static_cast<int64_t>(deadline_ * 1000)};
    bool answers = true;
    while (!over_) {
      auto begin = clock_type::now();
      std::string reason;
      try {
        auto product = to_scalar<float>(session_.run(
            {{probed.x, 3.0f}}, {probed.y}, std::vector<target>{}, {.timeout = timeout})[0]);
        if (product != 9)
          say("wrong", field("task", probed.name), field("value", product));
      } catch (const error& e) {
        reason = concat(to_string(e.kind()), ": ", e.what());
      }
      auto seconds_taken = std::chrono::duration<double>(clock_type::now() - begin).count();
      ++count_;
      failed_ += !reason.empty();
      if (seconds_taken > deadline_ + 0.5) {
        ++late_;
        say("late", field("task", probed.name), field("seconds", seconds_taken),
            field("text", reason));
      }
      if (std::exchange(answers, reason.empty()) != reason.empty())
        say(reason.empty() ? "answers" : "silent", field("task", probed.name),
            field("text", reason));
      std::this_thread::sleep_for(100ms);
    }
  }

  const double deadline_;
  session session_;
  graph_builder graph_;
  std::vector<target_task> targets_;
  std::vector<std::thread> threads_;
  std::atomic<uint64_t> count_{0}, failed_{0}, late_{0};
  std::atomic<bool> over_{false};
};

double accuracy(replicas& trained, session& chief_session, const dataset& test) {
  auto test_tensors = test.whole();
  auto guesses = chief_session.fetch(trained.chief().extra_fetches[0],
                                     {{trained.chief().feeds[0], test_tensors[0]}});
  int64_t right = 0;
  for (size_t i = 0; i < test.labels.size(); ++i)
    right += guesses.values<int64_t>()[i] == test.labels[i];
  return 100.0 * static_cast<double>(right) / static_cast<double>(test.rows());
}

// Rows depend on the number only: a batch that is computed again is the same.
std::vector<tensor> batch_of(const dataset& training, int64_t number) {
  std::mt19937_64 dice{static_cast<uint64_t>(number) * 0x9e3779b97f4a7c15u + 1};
  std::vector<int64_t> rows(32);
  std::ranges::generate(rows,
                        [&] { return static_cast<int64_t>(dice() % training.labels.size()); });
  return training.at(rows);
}

int run(const trainer_options& options, const sigset_t& stop) {
  dataset training, test;
  read(options.data, training, test);
  auto batch = [&](int64_t n) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.pace));
    return std::optional{batch_of(training, n)};
  };
  auto mode = options.mode == "sync"         ? replica_mode::sync
              : options.mode == "all_reduce" ? replica_mode::all_reduce
                                             : replica_mode::async;
  replicas trained{
      [](graph_builder& g, int) { return build(g); },
      {.mode = mode,
       .workers = options.workers,
       .ps_tasks = options.ps,
       .backups = mode == replica_mode::sync ? options.backups : 0,
       // A mean of several gradients allows a larger step.
       .make_optimizer =
           [&](edge) {
             return std::make_unique<gradient_descent>(mode == replica_mode::async ? 0.05 : 0.2);
           },
       .batch = batch,
       .checkpoints = options.checkpoints,
       .checkpoint_seconds = options.checkpoints.empty() ? 0 : options.checkpoint_seconds,
       .step_timeout_seconds = options.step_seconds,
       .give_up_timeout_seconds = 180,
       .on_step =
           [](const training_progress& now) {
             say("step", field("replica", static_cast<double>(now.replica)),
                 field("step", std::to_string(now.step)), field("loss", now.loss));
           },
       .on_event =
           [](const replica_event& e) {
             say(name_of(e.kind), field("replica", e.replica),
                 field("step", std::to_string(e.step)), field("text", e.text));
           }}};
  session_options connect_options{.cluster = {.tls = options.tls, .insecure = options.insecure}};
  auto session = session::connect(options.cluster, connect_options);
  std::thread{[&] {
    int signal = 0;
    sigwait(&stop, &signal);
    say("asked");
    trained.request_stop();
  }}.detach(); // the thread ends with the process
  replicas_report done;
  {
    probes beside{options, connect_options};
    done = trained.run(session);
  }
  std::string steps;
  for (const auto& replica : done.replicas)
    steps += concat(steps.empty() ? "" : " ", replica.steps, "/", replica.failures);
  say("end", field("step", std::to_string(done.step)), field("why", to_string(done.end_reason)),
      field("replicas", steps), field("loss", done.loss));
  say("accuracy", field("value", accuracy(trained, session, test)));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  trainer_options options;
  CLI::App app{"Trains on a cluster and prints each event as a line of JSON, for scripts/chaos"};
  app.add_option("--cluster", options.cluster)->required();
  app.add_option("--data", options.data, "CSV: 64 pixels from 0 to 16 and the digit")->required();
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"sync", "async", "all_reduce"}));
  app.add_option("--workers", options.workers);
  app.add_option("--ps", options.ps);
  app.add_option("--backups", options.backups, "Number of backup workers in the mode sync");
  app.add_option("--pace", options.pace, "Seconds that the input of a batch takes");
  app.add_option("--checkpoints", options.checkpoints,
                 "Folder of checkpoints; continues from the newest one");
  app.add_option("--checkpoint-seconds", options.checkpoint_seconds);
  app.add_option("--step-seconds", options.step_seconds, "Seconds that a step may take");
  app.add_option("--probe-seconds", options.probe_seconds,
                 "Seconds within which a task must answer a probe");
  app.add_option("--tls-cert", options.tls.certificate);
  app.add_option("--tls-key", options.tls.key);
  app.add_option("--tls-ca", options.tls.authority);
  app.add_flag("--insecure", options.insecure);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options, stop);
  } catch (const std::exception& e) {
    say("failed", field("text", e.what()));
    std::cerr << "trainer: " << e.what() << '\n';
    return 1;
  }
}
