// The saves of a training run, and how it continues after failures at inconvenient moments.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

namespace troupe::test::training_run_failures_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = training_event_kind;
namespace fs = std::filesystem;

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10'000 && !flag; ++i)
    std::this_thread::sleep_for(1ms);
}

// The step of each complete checkpoint, and its count.
std::vector<std::pair<int64_t, float>> counts_in(const std::string& folder) {
  std::vector<std::pair<int64_t, float>> result;
  checkpoint_folder checkpoints{real_files(), folder};
  for (const auto& checkpoint : value_or_throw(checkpoints.list())) {
    auto from =
        value_or_throw(checkpoint_reader::open(real_files(), checkpoints.path_of(checkpoint.name)));
    result.emplace_back(checkpoint.step, *value_or_throw(from.read("count")).data<float>());
  }
  return result;
}

std::vector<int64_t> steps_of(const adder& model, kind event_kind) {
  std::vector<int64_t> steps;
  for (const auto& event : model.events)
    if (event.kind == event_kind)
      steps.push_back(event.step);
  return steps;
}

// Makes a checkpoint's first write fail as unavailable: a leftover of another process, as it seems,
// cannot be removed.
void let_first_write_fail(const std::string& folder) {
  fs::create_directories(folder);
  fs::create_directory_symlink("/proc/self/attr", folder + "/writing-x");
}

} // namespace

TEST_CASE("a loss that becomes NaN while a checkpoint waits for its pause is not saved") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(1000, folder / "m");
  options.checkpoint_steps = 1;
  options.pause_during_checkpoint = true;
  std::atomic<bool> has_begun{false}, is_due{false};
  options.batch = [&](int64_t n) {
    if (n == 0)
      wait_for(has_begun);
    if (n == 1) {
      has_begun = true;
      wait_for(is_due);
      std::this_thread::sleep_for(50ms);
    }
    return std::vector{tensor::scalar(n == 1 ? NAN : 1.0f)};
  };
  options.on_step = [&](const training_progress& now) {
    if (now.loss == -1)
      is_due = true;
  };
  training_run training{model.g, model.step(2), options};
  CHECK(training.run(s).end_reason == training_end::not_a_number);
  adder other_model;
  s.reset();
  if (saver{other_model.g, folder / "m"}.restore(s))
    CHECK_FALSE(std::isnan(other_model.value(s, other_model.sum)));
}

TEST_CASE("a checkpoint that becomes due while variables are restored has the values of its step") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(60, folder / "m");
  options.checkpoint_options.keep_newest = 0;
  options.checkpoint_steps = 10;
  auto next = options.batch;
  options.batch = [&](int64_t n) {
    std::this_thread::sleep_for(5ms);
    return next(n);
  };
  std::atomic<int64_t> first{-1};
  std::atomic<bool> lost{false}, restored{false};
  options.on_step = [&](const training_progress& now) {
    if (first >= 0 && now.step == first + options.checkpoint_steps && !lost.exchange(true)) {
      s.reset();
      wait_for(restored);
    }
  };
  auto tell = options.on_event;
  options.on_event = [&](const training_event& event) {
    tell(event);
    if (event.kind == kind::saving && first < 0)
      first = event.step;
    if (event.kind == kind::restored) {
      restored = true;
      std::this_thread::sleep_for(300ms);
    }
  };
  training_run training{model.g, model.step(2), options};
  CHECK(training.run(s).step == 60);
  CHECK(restored);
  auto saved_counts = counts_in(folder / "m");
  CHECK(saved_counts.size() >= 3);
  for (auto [step, count] : saved_counts) { // steps that end while values are read may be included
    INFO("step " << step);
    CHECK(count >= static_cast<float>(step));
  }
}

TEST_CASE("a run that starts anew never resumes from a checkpoint of another run") {
  watchdog watch;
  temporary_folder folder;
  auto s = session::local();
  {
    adder other_model;
    s.run(other_model.g.initializer());
    saver{other_model.g, folder / "m"}.save(s, 500);
  }
  s.reset();
  let_first_write_fail(folder / "m");
  adder model;
  auto options = model.numbered_options(400, folder / "m");
  options.resume = false;
  options.checkpoint_steps = 10;
  bool lost = false;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 15 && !std::exchange(lost, true)) {
      std::this_thread::sleep_for(100ms); // until the checkpoint has failed
      s.reset();
    }
  };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK(lost);
  CHECK((report.step == 400 && report.end_reason == training_end::last_step));
  CHECK(steps_of(model, kind::restored).empty());
  CHECK(steps_of(model, kind::initialized).size() == 2);
  CHECK(model.value(s, model.sum) == sum_below(400));
}

TEST_CASE("checkpoints continue after a callback of a step has failed") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(10, folder / "m");
  options.checkpoint_steps = 2;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 4)
      throw error{error_kind::unavailable, "nobody listens"};
  };
  training_run training{model.g, model.step(), options};
  CHECK(training.run(s).step == 10);
  CHECK(steps_of(model, kind::saving) == std::vector<int64_t>{2, 5, 6, 8});
  CHECK(model.value(s, model.count) == 10);
}

TEST_CASE("a failure after each step ends the run after several attempts") {
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(50);
  options.max_retries = 3;
  options.on_step = [&](const training_progress& now) {
    throw error{error_kind::unavailable, concat("nobody listens at step ", now.step)};
  };
  training_run training{model.g, model.step(GENERATE(1, 3)), options};
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK_THAT(thrown.what(),
             Contains("nobody listens at step ") && Contains("gave up after 3 retries"));
  std::vector<int> retries;
  for (const auto& event : model.events)
    if (event.kind == kind::retrying)
      retries.push_back(event.retry);
  CHECK(retries == std::vector{1, 2, 3});
}

TEST_CASE("out_of_range is the end of the data in steps, and an error in callbacks") {
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(10);
  options.on_step = [&](const training_progress& now) {
    if (now.step == 3)
      throw error{error_kind::out_of_range, "no more room"};
  };
  training_run training{model.g, model.step(), options};
  CHECK_THAT(error_of([&] { training.run(s); }).what(), Contains("no more room"));
}

TEST_CASE("a checkpoint that could not be written does not remove the last one") {
  fixed_draft_names drafts;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(3, folder / "m");
  options.checkpoint_steps = 2;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 2)
      fs::create_directories(fs::path{folder / "m"} / drafts.name(2) / "notes/a");
  };
  training_run training{model.g, model.step(), options};
  CHECK(training.run(s).checkpoint == folder / "m/step-3");
  CHECK(counts_in(folder / "m") == std::vector<std::pair<int64_t, float>>{{3, 3.0f}});
  CHECK_THAT(model.events.at(2).text, Contains(drafts.name(2)));
}

TEST_CASE("an old checkpoint that cannot be removed is reported, and training continues") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(20, folder / "m");
  options.checkpoint_options.keep_newest = 2;
  options.checkpoint_steps = 2;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 5)
      fs::create_directories(folder / "m/step-2/notes/a");
  };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK((report.step == 20 && report.retries == 0));
  CHECK(report.checkpoint == folder / "m/step-20");
  size_t failure_count = 0;
  for (const auto& event : model.events)
    if (event.kind == kind::warning) {
      ++failure_count;
      CHECK_THAT(event.text, Contains("m/step-6: saved") && Contains("step-2/notes"));
    }
  CHECK(failure_count == 1);
  CHECK(counts_in(folder / "m") ==
        std::vector<std::pair<int64_t, float>>{{18, 18.0f}, {20, 20.0f}});
}

TEST_CASE("a checkpoint that fails with a transient error is written again") {
  watchdog watch;
  temporary_folder folder;
  let_first_write_fail(folder / "m");
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder / "m");
  options.checkpoint_options.sharded_by_task = GENERATE(true, false);
  options.checkpoint_steps = 10;
  std::atomic<int> saves_after_failure{0}; // the failure
  auto tell = options.on_event;
  options.on_event = [&](const training_event& event) {
    tell(event);
    if (event.kind == kind::retrying || (event.kind == kind::saving && saves_after_failure > 0))
      ++saves_after_failure;
  };
  options.stop_when = [&](const training_progress&) { return saves_after_failure >= 3; };
  training_run training{model.g, model.step(GENERATE(1, 3)), options};
  auto report = training.run(s);
  CHECK(report.checkpoint == concat(folder / "m/step-", report.step));
  CHECK(report.retries == 1);
  CHECK(counts_in(folder / "m").size() >= 2);
  CHECK(model.value(s, model.count) == static_cast<float>(report.step));
}

TEST_CASE("a checkpoint that always fails with a transient error ends the run") {
  watchdog watch;
  fixed_draft_names drafts;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(1000, folder / "m");
  options.max_retries = 3;
  options.checkpoint_steps = 2;
  options.on_step = [&](const training_progress& now) { // its files cannot be removed
    auto draft = fs::path{folder / "m"} / drafts.name(now.step);
    fs::create_directories(folder / "m");
    if (!fs::exists(draft))
      fs::create_directory_symlink("/proc/self/attr", draft);
  };
  training_run training{model.g, model.step(), options};
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::unavailable);
  CHECK_THAT(thrown.what(), Contains("gave up after 3 retries"));
}

TEST_CASE("a loss that is not one number is an error") {
  adder model;
  auto loss = model.g.placeholder(dtype::f32, partial_shape{}, "loss");
  auto s = session::local();
  auto step = model.step();
  step.feeds.push_back(loss);
  step.loss = loss;
  auto options = model.numbered_options(3);
  options.batch = [&](int64_t) {
    return std::vector{tensor::scalar(1.0f), tensor::vector(std::vector<float>{})};
  };
  training_run training{model.g, step, options};
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::invalid_argument);
  CHECK_THAT(thrown.what(), Contains("the loss must be one number, got shape [0]"));
}

} // namespace troupe::test::training_run_failures_test
