// The promises of replicas.hpp on losses and checkpoints, in each mode.
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
using kind = replica_event::kind;

constexpr auto infinity = std::numeric_limits<float>::infinity();

replicas_options options_of(replica_mode mode, const std::string& folder) {
  replicas_options how;
  how.mode = mode;
  how.workers = mode == replica_mode::all_reduce ? 1 : 2;
  how.ps_tasks = 0;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.retry_seconds = 0.01;
  how.checkpoints = folder;
  return how;
}

replica_mode any_mode() {
  return GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync,
                  replica_mode::all_reduce);
}

std::vector<int64_t> steps_in(const std::string& folder) {
  std::vector<int64_t> steps;
  auto all = checkpoint_folder{real_files(), folder}.list();
  if (all)
    for (const auto& one : *all)
      steps.push_back(one.step);
  return steps;
}

} // namespace

TEST_CASE("nothing of a step of replicas whose loss is infinite or NaN is saved") {
  watchdog watch;
  temporary_folder folder;
  auto mode = any_mode();
  INFO(to_string(mode));
  auto how = options_of(mode, folder / "m");
  how.checkpoint_steps = 1;
  how.keep.keep_newest = 0;
  auto bad = GENERATE(as<float>{}, infinity, std::numeric_limits<float>::quiet_NaN());
  checkpoint_folder all{real_files(), folder / "m"};
  how.batch = [&](int64_t n) {
    auto made = *regression::batch(n);
    if (n == 21) {
      for (auto saved = all.list(); !saved || saved->empty(); saved = all.list())
        std::this_thread::sleep_for(std::chrono::milliseconds{1}); // all steps may be faster
      made[1].data<float>()[0] = bad;
    }
    return std::optional{made};
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.why == training_end::not_a_number);
  CHECK_FALSE(std::isfinite(report.loss));
  auto listed = all.list();
  REQUIRE(listed);
  CHECK_FALSE(listed->empty());
  for (const auto& one : *listed) {
    INFO(one.name);
    auto from = value_or_throw(checkpoint_reader::open(real_files(), all.path_of(one.name)));
    for (const auto* name : {"w", "b"}) {
      auto saved = value_or_throw(from.read(name));
      for (auto value : saved.values<float>())
        CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("each checkpoint of replicas is told as saved when it is, with its path") {
  watchdog watch;
  temporary_folder folder;
  auto mode = any_mode();
  INFO(to_string(mode));
  auto how = options_of(mode, folder / "m");
  how.checkpoint_seconds = 3600; // nothing else falls due
  how.checkpoint_steps = 1000;
  how.keep.keep_newest = 0;
  how.last_step = 1700;
  std::atomic<int64_t> made{0};
  std::vector<int64_t> told, told_at;
  how.on_event = [&](const replica_event& what) {
    if (what.what != kind::saved)
      return;
    CHECK(what.text == concat(folder / "m/step-", what.step));
    CHECK(std::filesystem::exists(what.text + "/manifest.json"));
    told.push_back(what.step);
    told_at.push_back(made);
  };
  how.batch = [&](int64_t n) { // a checkpoint is written within the time of 700 batches
    if (n >= 1000)
      std::this_thread::sleep_for(2ms);
    return regression::batch(n);
  };
  how.on_step = [&](const training_progress& now) { made = now.step; };
  replicas training{regression::build, how};
  auto s = session::local();
  CHECK(training.run(s).step == 1700);
  REQUIRE(told.size() == 2);
  CHECK((told[0] >= 1000 && told[0] < 1010));
  CHECK(told_at[0] < 1700);
  CHECK(told[1] == 1700);
}

TEST_CASE("replicas save at multiples of checkpoint_steps, also when they go on") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto how = options_of(mode, folder / "m");
  how.checkpoint_steps = 5;
  how.keep.keep_newest = 0;
  std::atomic<int64_t> saved{0};
  how.on_event = [&](const replica_event& what) {
    if (what.what == kind::saved)
      saved = what.step;
  };
  how.batch = [&](int64_t n) { // none is left out as the one before is still written
    auto step = n / how.workers;
    for (int i = 0; i < 5000 && step % 5 == 4 && saved < step - 4; ++i)
      std::this_thread::sleep_for(1ms);
    return regression::batch(n);
  };
  for (auto last : {7, 16}) {
    how.last_step = last;
    auto s = session::local();
    replicas training{regression::build, how};
    training.run(s);
  }
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{5, 7, 10, 15, 16});
}

TEST_CASE("replicas go on with a checkpoint that does not fit only on request") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto how = options_of(mode, folder / "m");
  how.last_step = 4;
  {
    auto s = session::local();
    replicas{regression::build, how}.run(s);
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
  how.last_step = 8;
  std::string told;
  how.on_event = [&](const replica_event& what) {
    if (what.what == kind::warning)
      told += what.text + '\n';
  };
  {
    auto s = session::local();
    replicas training{build, how};
    auto begin = std::chrono::steady_clock::now();
    auto why = error_of([&] { training.run(s); });
    CHECK(why.kind() == error_kind::invalid_argument);
    CHECK(std::chrono::steady_clock::now() - begin < 20s * slowness); // it is not tried again
    CHECK_THAT(why.what(), Contains("replicas_options::partial takes what fits") &&
                               Contains("c: is not in the checkpoint") &&
                               Contains("b: f32[1] in the graph, f32[] in the checkpoint"));
  }
  how.partial = true;
  auto s = session::local();
  replicas training{build, how};
  auto report = training.run(s);
  CHECK((report.restored_from == 4 && report.step == 8));
  CHECK(to_scalar<float>(s.fetch(training.chief().others[2])) == 0.125f);
  CHECK_THAT(told, Contains("c\n") && Contains("b: f32[1] in the graph"));
}

} // namespace troupe::test::replica_promises_test
