// The promises of replicas.hpp about losses and checkpoints, in each mode.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

namespace troupe::test::replica_promises_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = replica_event_kind;

constexpr auto infinity = std::numeric_limits<float>::infinity();

replicas_options options_of(replica_mode mode, const std::string& folder) {
  replicas_options options;
  options.mode = mode;
  options.workers = mode == replica_mode::all_reduce ? 1 : 2;
  options.ps_tasks = 0;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.01;
  options.checkpoints = folder;
  return options;
}

replica_mode any_mode() {
  return GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync,
                  replica_mode::all_reduce);
}

std::vector<int64_t> steps_in(const std::string& folder) {
  std::vector<int64_t> steps;
  auto checkpoints_found = checkpoint_folder{real_files(), folder}.list();
  if (checkpoints_found)
    for (const auto& checkpoint : *checkpoints_found)
      steps.push_back(checkpoint.step);
  return steps;
}

} // namespace

TEST_CASE("a step of replicas whose loss is infinite or NaN is never saved") {
  watchdog watch;
  temporary_folder folder;
  auto mode = any_mode();
  INFO(to_string(mode));
  auto options = options_of(mode, folder / "m");
  options.checkpoint_steps = 1;
  options.checkpoint_options.keep_newest = 0;
  auto bad_loss = GENERATE(as<float>{}, infinity, std::numeric_limits<float>::quiet_NaN());
  checkpoint_folder checkpoints{real_files(), folder / "m"};
  options.batch = [&](int64_t n) {
    auto batch = *regression::batch(n);
    if (n == 21) {
      for (auto saved = checkpoints.list(); !saved || saved->empty(); saved = checkpoints.list())
        std::this_thread::sleep_for(
            std::chrono::milliseconds{1}); // otherwise all steps may be faster
      batch[1].data<float>()[0] = bad_loss;
    }
    return std::optional{batch};
  };
  replicas training{regression::build, options};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.end_reason == training_end::not_a_number);
  CHECK_FALSE(std::isfinite(report.loss));
  auto listed = checkpoints.list();
  REQUIRE(listed);
  CHECK_FALSE(listed->empty());
  for (const auto& checkpoint : *listed) {
    INFO(checkpoint.name);
    auto from =
        value_or_throw(checkpoint_reader::open(real_files(), checkpoints.path_of(checkpoint.name)));
    for (const auto* name : {"w", "b"}) {
      auto saved = value_or_throw(from.read(name));
      for (auto value : saved.values<float>())
        CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("each checkpoint of replicas is reported when it is saved, with its path") {
  watchdog watch;
  temporary_folder folder;
  auto mode = any_mode();
  INFO(to_string(mode));
  auto options = options_of(mode, folder / "m");
  options.checkpoint_seconds = 3600; // no other checkpoint becomes due
  options.checkpoint_steps = 1000;
  options.checkpoint_options.keep_newest = 0;
  options.last_step = 1700;
  std::atomic<int64_t> batches_made{0};
  std::vector<int64_t> reported_steps, told_at;
  options.on_event = [&](const replica_event& event) {
    if (event.kind != kind::saved)
      return;
    CHECK(event.text == concat(folder / "m/step-", event.step));
    CHECK(std::filesystem::exists(event.text + "/manifest.json"));
    reported_steps.push_back(event.step);
    told_at.push_back(batches_made);
  };
  options.batch = [&](int64_t n) { // a checkpoint is written within the time of 700 batches
    if (n >= 1000)
      std::this_thread::sleep_for(2ms);
    return regression::batch(n);
  };
  options.on_step = [&](const training_progress& now) { batches_made = now.step; };
  replicas training{regression::build, options};
  auto s = session::local();
  CHECK(training.run(s).step == 1700);
  REQUIRE(reported_steps.size() == 2);
  CHECK((reported_steps[0] >= 1000 && reported_steps[0] < 1010));
  CHECK(told_at[0] < 1700);
  CHECK(reported_steps[1] == 1700);
}

TEST_CASE("replicas save at multiples of checkpoint_steps, also when they resume") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto options = options_of(mode, folder / "m");
  options.checkpoint_steps = 5;
  options.checkpoint_options.keep_newest = 0;
  std::atomic<int64_t> saved{0};
  options.on_event = [&](const replica_event& event) {
    if (event.kind == kind::saved)
      saved = event.step;
  };
  // No checkpoint is skipped because the previous one is still being written.
  options.batch = [&](int64_t n) {
    auto step = n / options.workers;
    for (int i = 0; i < 5000 && step % 5 == 4 && saved < step - 4; ++i)
      std::this_thread::sleep_for(1ms);
    return regression::batch(n);
  };
  for (auto last : {7, 16}) {
    options.last_step = last;
    auto s = session::local();
    replicas training{regression::build, options};
    training.run(s);
  }
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{5, 7, 10, 15, 16});
}

TEST_CASE("replicas resume from a mismatched checkpoint only on request") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto options = options_of(mode, folder / "m");
  options.last_step = 4;
  {
    auto s = session::local();
    replicas{regression::build, options}.run(s);
  }
  auto build = [](graph_builder& g, int) {
    auto x = g.placeholder(dtype::f32, {-1, 2}, "x");
    auto y = g.placeholder(dtype::f32, {-1}, "y");
    auto w = g.variable(fill(g, {2, 1}, 0.0f), "w");
    auto b = g.variable(tensor::vector<float>({0.25f}), "b"); // of another shape
    auto c = g.variable(0.125f, "c");
    auto guess = reshape(matmul(x, w), {-1}) + b + c * 0.0f;
    return replica_step{{x, y}, mean_squared_error(guess, y), {w, b, c}};
  };
  options.last_step = 8;
  std::string failure_text;
  options.on_event = [&](const replica_event& event) {
    if (event.kind == kind::warning)
      failure_text += event.text + '\n';
  };
  {
    auto s = session::local();
    replicas training{build, options};
    auto begin = std::chrono::steady_clock::now();
    auto thrown = error_of([&] { training.run(s); });
    CHECK(thrown.kind() == error_kind::invalid_argument);
    CHECK(std::chrono::steady_clock::now() - begin < 20s * timeout_scale); // it is not retried
    CHECK_THAT(thrown.what(), Contains("replicas_options::partial takes what fits") &&
                                  Contains("c: is not in the checkpoint") &&
                                  Contains("b: f32[1] in the graph, f32[] in the checkpoint"));
  }
  options.partial = true;
  auto s = session::local();
  replicas training{build, options};
  auto report = training.run(s);
  CHECK((report.restored_from == 4 && report.step == 8));
  CHECK(to_scalar<float>(s.fetch(training.chief().extra_fetches[2])) == 0.125f);
  CHECK_THAT(failure_text, Contains("c\n") && Contains("b: f32[1] in the graph"));
}

} // namespace troupe::test::replica_promises_test
