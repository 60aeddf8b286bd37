// Runs a cluster of real processes for minutes, checks its memory and its counts, and kills, stops
// and restarts tasks if requested: scripts/soak --help.
//
// Each client thread adds 1 to a variable of its own on a parameter server, by way of a worker. An
// acknowledged addition happened once, a failed one at most once.
#include "tests/support/processes.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/troupe.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include <unistd.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

// The time without faults at the end, in which speed must recover.
constexpr auto quiet_end = 40s;

struct soak_options {
  double minutes = 10;
  size_t workers = 2, threads = 8, async_rate = 0;
  double timeout = 60, every = 20;
  std::string faults = "none";
};

struct counts {
  std::atomic<uint64_t> done{0}, failed{0}, late{0}, miscounted{0};
  std::atomic<uint64_t> left_out{0}; // not started: a second's worth of steps was open
};

// One thread's variable and the known bounds of its value.
struct account {
  std::mutex mutex;
  double base = 0;    // the value at the last restart
  uint64_t tried = 0; // since the last restart
  uint64_t acknowledged = 0;
};

class soak {
public:
  explicit soak(const soak_options& options)
      : options_(options), cluster_(test::make_cluster(options.workers, 1)) {
    for (size_t i = 0; i < options.workers; ++i)
      tasks_.emplace_back(std::in_place, cluster_, task_name{"worker", static_cast<int>(i)});
    tasks_.emplace_back(std::in_place, cluster_, task_name{"ps", 0});
    for (size_t i = 0; i < options.threads; ++i)
      accounts_.push_back(std::make_unique<account>());
  }

  int run() {
    auto s = session::connect(cluster_, {.timeout = std::chrono::milliseconds{
                                             static_cast<int64_t>(options_.timeout * 1e3)}});
    build();
    for (auto& initializer : initializers_)
      s.run(initializer);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < options_.threads; ++i)
      threads.emplace_back([&, i] { options_.async_rate ? drive_async(s, i) : drive(s, i); });
    std::thread fault_thread{[&] { inject_faults(); }};
    watch();
    stop_ = true;
    fault_thread.join();
    for (auto& thread : threads)
      thread.join();
    if (options_.async_rate && options_.faults == "none")
      count_async(s);
    return print_result();
  }

private:
  void build() {
    for (size_t i = 0; i < options_.threads; ++i) {
      edge squared;
      {
        auto on = g_.on(concat("/job:worker/task:", i % options_.workers));
        inputs_.push_back(g_.placeholder(dtype::f64, {}, concat("x", i)));
        squared = inputs_.back() * inputs_.back(); // a node that no pass removes
      }
      auto on = g_.on("/job:ps/task:0");
      auto count = g_.variable(0.0, concat("count", i));
      variables_.push_back(count);
      initializers_.push_back(assign(count, g_.constant(tensor::scalar(0.0))).node);
      sums_.push_back(assign_add(count, squared));
    }
  }

  bool is_over() const { return stop_.load(std::memory_order_relaxed); }

  void print_error(const error& failure) {
    std::lock_guard guard{errors_mutex_};
    if (++errors_[std::string{to_string(failure.kind())}] <= 3)
      std::cout << "  " << failure.what() << std::endl;
  }

  // An acknowledged value lies between the acknowledged and the tried additions.
  void check(account& checked, double value) {
    if (value < checked.base + static_cast<double>(checked.acknowledged) ||
        value > checked.base + static_cast<double>(checked.tried)) {
      ++counts_.miscounted;
      std::cout << "  counted " << value << ", acknowledged " << checked.acknowledged << ", tried "
                << checked.tried << ", from " << checked.base << std::endl;
    }
  }

  // After a restart of the parameter server its variables must be initialized again.
  void initialize_again(session& s, size_t client_number) {
    auto& restarted = *accounts_[client_number];
    try {
      s.run(initializers_[client_number]);
      restarted.base = 0;
      restarted.tried = restarted.acknowledged = 0;
    } catch (const error& failure) {
      print_error(failure);
    }
  }

  void drive(session& s, size_t client_number) {
    auto add = s.prepare({inputs_[client_number]}, {sums_[client_number]});
    auto& own_account = *accounts_[client_number];
    while (!is_over()) {
      auto begin = clock_type::now();
      try {
        ++own_account.tried;
        auto value = to_scalar<double>(add.run({tensor::scalar(1.0)})[0]);
        ++own_account.acknowledged;
        check(own_account, value);
        ++counts_.done;
      } catch (const error& failure) {
        ++counts_.failed;
        print_error(failure);
        if (failure.kind() == error_kind::failed_precondition)
          initialize_again(s, client_number);
        if (failure.kind() == error_kind::aborted)
          add = s.prepare({inputs_[client_number]}, {sums_[client_number]});
        std::this_thread::sleep_for(10ms);
      }
      if (clock_type::now() - begin > std::chrono::duration<double>(options_.timeout + 3))
        ++counts_.late;
    }
  }

  // A fixed number of steps each second, even if some fail, but at most a second's steps at once.
  void drive_async(session& s, size_t client_number) {
    auto add = s.prepare({inputs_[client_number]}, {sums_[client_number]});
    auto rate = std::max<size_t>(1, options_.async_rate / options_.threads);
    auto next = clock_type::now();
    auto open = std::make_shared<std::atomic<size_t>>(0);
    while (!is_over()) {
      next += std::chrono::nanoseconds{1'000'000'000 / rate};
      std::this_thread::sleep_until(next);
      if (*open >= rate) {
        ++counts_.left_out;
        continue;
      }
      ++*open;
      ++accounts_[client_number]->tried;
      auto begin = clock_type::now();
      add.run_async({tensor::scalar(1.0)}, [this, open, begin, client_number](const auto& outcome) {
        --*open;
        ++(outcome ? counts_.done : counts_.failed);
        if (outcome) {
          std::lock_guard guard{accounts_[client_number]->mutex};
          ++accounts_[client_number]->acknowledged;
        }
        if (clock_type::now() - begin > std::chrono::duration<double>(options_.timeout + 3))
          ++counts_.late;
      });
    }
    for (int i = 0; i < 1000 && *open > 0; ++i)
      std::this_thread::sleep_for(100ms);
    if (*open > 0)
      ++counts_.late;
  }

  void count_async(session& s) {
    for (size_t i = 0; i < options_.threads; ++i)
      check(*accounts_[i], to_scalar<double>(s.fetch(variables_[i])));
  }

  void inject_faults() {
    if (options_.faults == "none")
      return;
    auto end = clock_type::now() + length() - quiet_end;
    for (size_t round = 0; !is_over(); ++round) {
      for (int i = 0; i < static_cast<int>(options_.every * 10) && !is_over(); ++i)
        std::this_thread::sleep_for(100ms);
      if (is_over())
        return;
      if (clock_type::now() > end) // tasks end with the thread that started them
        continue;
      auto task_index = round % tasks_.size();
      auto kind = options_.faults == "all" ? (round / tasks_.size() % 2 ? "stop" : "kill")
                                           : options_.faults;
      std::lock_guard guard{tasks_mutex_};
      std::cout << "  " << kind << " " << name_of(task_index) << std::endl;
      if (std::string_view{kind} == "stop") {
        ::kill(tasks_[task_index]->pid(), SIGSTOP);
        // Some stops last longer than the timeout of the task's peers.
        std::this_thread::sleep_for(round / tasks_.size() % 4 < 2 ? 3s : 15s);
        ::kill(tasks_[task_index]->pid(), SIGCONT);
        continue;
      }
      tasks_[task_index].reset();
      std::this_thread::sleep_for(500ms);
      tasks_[task_index].emplace(cluster_, task_of(task_index));
    }
  }

  task_name task_of(size_t task_index) const {
    return task_index < options_.workers ? task_name{"worker", static_cast<int>(task_index)}
                                         : task_name{"ps", 0};
  }
  std::string name_of(size_t task_index) const { return to_string(task_of(task_index)); }

  std::vector<int64_t> memory() {
    std::lock_guard guard{tasks_mutex_};
    std::vector<int64_t> footprints{test::footprint_of(::getpid()).resident_kib};
    for (auto& task : tasks_)
      footprints.push_back(task ? test::footprint_of(task->pid()).resident_kib : 0);
    return footprints;
  }

  clock_type::duration length() const {
    return std::chrono::duration_cast<clock_type::duration>(
        std::chrono::duration<double>(options_.minutes * 60));
  }

  void watch() {
    auto begin = clock_type::now();
    auto end = begin + length();
    std::cout << "    s    steps/s   failed  late  MiB: client, workers, ps" << std::endl;
    uint64_t last_done = 0;
    for (auto at = begin; at < end;) {
      auto last = std::exchange(at, std::min(at + 10s, end));
      std::this_thread::sleep_until(at);
      auto done = counts_.done.load();
      auto footprints = memory();
      rates_.push_back(static_cast<double>(done - last_done) /
                       std::chrono::duration<double>(at - last).count());
      std::cout << std::setw(5)
                << std::chrono::duration_cast<std::chrono::seconds>(at - begin).count()
                << std::setw(11) << static_cast<uint64_t>(rates_.back()) << std::setw(9)
                << counts_.failed << std::setw(6) << counts_.late << "  ";
      for (auto kib : footprints)
        std::cout << ' ' << kib / 1024;
      std::cout << std::endl;
      last_done = done;
      if (at - begin >= 60s && settled_.empty())
        settled_ = footprints;
    }
    last_ = memory();
  }

  // Whether the requested rate was reached; or, after faults, at least half the rate before the
  // first fault.
  bool is_fast_enough(bool faults) const {
    if (options_.async_rate) {
      auto seconds = std::chrono::duration<double>(length()).count();
      auto share = static_cast<double>(counts_.done + counts_.failed) / seconds /
                   static_cast<double>(options_.async_rate);
      std::cout
          << std::fixed << std::setprecision(1) << share * 100
          << " % of the requested steps; not started, because a second's worth of steps was open: "
          << counts_.left_out << '\n';
      return faults || share > 0.9;
    }
    if (!faults || length() < 2 * quiet_end || rates_.size() < 4)
      return true;
    auto first = rates_.front(), last = *std::max_element(rates_.end() - 2, rates_.end());
    std::cout << "steps/s before the first fault " << static_cast<uint64_t>(first)
              << ", after the last " << static_cast<uint64_t>(last) << '\n';
    return last > first / 2;
  }

  int print_result() {
    bool good = counts_.late == 0 && counts_.miscounted == 0;
    std::cout << "steps " << counts_.done << ", failed " << counts_.failed << ", late "
              << counts_.late << ", miscounted " << counts_.miscounted << '\n';
    for (const auto& [kind, times] : errors_)
      std::cout << "  " << kind << ": " << times << '\n';
    auto faults = options_.faults != "none";
    good = good && (faults || counts_.failed == 0);
    // Restarted processes have another size; the client is the same process to the end.
    for (size_t i = 0; i < (faults ? std::min<size_t>(settled_.size(), 1) : settled_.size()); ++i) {
      auto grown = static_cast<double>(last_[i]) / static_cast<double>(settled_[i]) - 1;
      std::cout << (i == 0 ? "client" : name_of(i - 1)) << ": " << settled_[i] / 1024
                << " MiB after a minute, " << last_[i] / 1024 << " at the end (" << std::showpos
                << std::fixed << std::setprecision(1) << grown * 100 << " %)\n"
                << std::noshowpos;
      good = good && std::abs(grown) < (faults ? 0.25 : 0.05);
    }
    good = good && is_fast_enough(faults);
    std::cout << (good ? "good" : "BAD") << std::endl;
    return good ? 0 : 1;
  }

  const soak_options options_;
  cluster_spec cluster_;
  std::mutex tasks_mutex_, errors_mutex_;
  std::vector<std::optional<test::task_process>> tasks_;
  std::vector<std::unique_ptr<account>> accounts_;
  graph_builder g_;
  std::vector<edge> inputs_, sums_;
  std::vector<variable_handle> variables_;
  std::vector<node*> initializers_;
  counts counts_;
  std::map<std::string, uint64_t> errors_;
  std::atomic<bool> stop_{false};
  std::vector<int64_t> settled_, last_;
  std::vector<double> rates_; // each over 10 s
};

} // namespace

int main(int argc, char** argv) {
  soak_options options;
  CLI::App app{"Runs a cluster on loopback for minutes: at full speed, or with faults"};
  app.add_option("minutes", options.minutes, "Duration in minutes")->capture_default_str();
  app.add_option("--workers", options.workers)->capture_default_str();
  app.add_option("--threads", options.threads, "Client threads")->capture_default_str();
  app.add_option("--async", options.async_rate,
                 "Steps per second by run_async; without it, run as fast as possible");
  app.add_option("--timeout", options.timeout, "Timeout of each step, in seconds")
      ->capture_default_str();
  app.add_option("--faults", options.faults, "none, kill, stop, or all in turn")
      ->check(CLI::IsMember({"none", "kill", "stop", "all"}))
      ->capture_default_str();
  app.add_option("--interval", options.every, "Seconds between faults")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return soak{options}.run();
  } catch (const std::exception& failure) {
    std::cerr << "soak: " << failure.what() << '\n';
    return 1;
  }
}
