// What a training run saves, and how it goes on, when something fails at an awkward moment.
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
using kind = training_event::kind;
namespace fs = std::filesystem;

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 10'000 && !flag; ++i)
    std::this_thread::sleep_for(1ms);
}

// The step of each complete checkpoint, and the count in it.
std::vector<std::pair<int64_t, float>> counts_in(const std::string& folder) {
  std::vector<std::pair<int64_t, float>> found;
  checkpoint_folder all{real_files(), folder};
  for (const auto& one : value_or_throw(all.list())) {
    auto from = value_or_throw(checkpoint_reader::open(real_files(), all.path_of(one.name)));
    found.emplace_back(one.step, *value_or_throw(from.read("count")).data<float>());
  }
  return found;
}

std::vector<int64_t> steps_of(const adder& of, kind what) {
  std::vector<int64_t> steps;
  for (const auto& one : of.events)
    if (one.what == what)
      steps.push_back(one.step);
  return steps;
}

// A checkpoint's first write fails with unavailable: what looks like a rest of another process
// cannot be removed.
void let_first_write_fail(const std::string& folder) {
  fs::create_directories(folder);
  fs::create_directory_symlink("/proc/self/attr", folder + "/writing-x");
}

} // namespace

TEST_CASE("a loss that becomes no number while a checkpoint waits for its pause is not saved") {
  watchdog watch;
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(1000, folder / "m");
  how.checkpoint_steps = 1;
  how.pause_to_checkpoint = true;
  std::atomic<bool> begun{false}, due{false};
  how.batch = [&](int64_t n) {
    if (n == 0)
      wait_for(begun);
    if (n == 1) {
      begun = true;
      wait_for(due);
      std::this_thread::sleep_for(50ms);
    }
    return std::vector{tensor::scalar(n == 1 ? NAN : 1.0f)};
  };
  how.on_step = [&](const training_progress& now) {
    if (now.loss == -1)
      due = true;
  };
  training_run training{of.g, of.step(2), how};
  CHECK(training.run(s).why == training_end::not_a_number);
  adder other;
  s.reset();
  if (saver{other.g, folder / "m"}.restore(s))
    CHECK_FALSE(std::isnan(other.value(s, other.sum)));
}

TEST_CASE("a checkpoint that falls due while variables are restored has the values of its step") {
  watchdog watch;
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(60, folder / "m");
  how.keep.keep_newest = 0;
  how.checkpoint_steps = 10;
  auto next = how.batch;
  how.batch = [&](int64_t n) {
    std::this_thread::sleep_for(5ms);
    return next(n);
  };
  std::atomic<int64_t> first{-1};
  std::atomic<bool> lost{false}, restored{false};
  how.on_step = [&](const training_progress& now) {
    if (first >= 0 && now.step == first + how.checkpoint_steps && !lost.exchange(true)) {
      s.reset();
      wait_for(restored);
    }
  };
  auto tell = how.on_event;
  how.on_event = [&](const training_event& what) {
    tell(what);
    if (what.what == kind::saving && first < 0)
      first = what.step;
    if (what.what == kind::restored) {
      restored = true;
      std::this_thread::sleep_for(300ms);
    }
  };
  training_run training{of.g, of.step(2), how};
  CHECK(training.run(s).step == 60);
  CHECK(restored);
  auto all = counts_in(folder / "m");
  CHECK(all.size() >= 3);
  for (auto [step, count] : all) { // those that end while values are read may be in it, too
    INFO("step " << step);
    CHECK(count >= static_cast<float>(step));
  }
}

TEST_CASE("a run that begins anew never goes on from a checkpoint of another run") {
  watchdog watch;
  temporary_folder folder;
  auto s = session::local();
  {
    adder other;
    s.run(other.g.initializer());
    saver{other.g, folder / "m"}.save(s, 500);
  }
  s.reset();
  let_first_write_fail(folder / "m");
  adder of;
  auto how = of.numbers(400, folder / "m");
  how.resume = false;
  how.checkpoint_steps = 10;
  bool lost = false;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 15 && !std::exchange(lost, true)) {
      std::this_thread::sleep_for(100ms); // until the checkpoint has failed
      s.reset();
    }
  };
  training_run training{of.g, of.step(), how};
  auto report = training.run(s);
  CHECK(lost);
  CHECK((report.step == 400 && report.why == training_end::last_step));
  CHECK(steps_of(of, kind::restored).empty());
  CHECK(steps_of(of, kind::initialized).size() == 2);
  CHECK(of.value(s, of.sum) == sum_below(400));
}

TEST_CASE("checkpoints go on after what is told of a step has failed") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(10, folder / "m");
  how.checkpoint_steps = 2;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 4)
      throw error{error_kind::unavailable, "nobody listens"};
  };
  training_run training{of.g, of.step(), how};
  CHECK(training.run(s).step == 10);
  CHECK(steps_of(of, kind::saving) == std::vector<int64_t>{2, 5, 6, 8});
  CHECK(of.value(s, of.count) == 10);
}

TEST_CASE("what fails after each step ends the run after so many attempts") {
  adder of;
  auto s = session::local();
  auto how = of.numbers(50);
  how.retries = 3;
  how.on_step = [&](const training_progress& now) {
    throw error{error_kind::unavailable, concat("nobody listens at step ", now.step)};
  };
  training_run training{of.g, of.step(GENERATE(1, 3)), how};
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::unavailable);
  CHECK_THAT(why.what(),
             Contains("nobody listens at step ") && Contains("gave up after 3 attempts"));
  std::vector<int> retries;
  for (const auto& one : of.events)
    if (one.what == kind::retrying)
      retries.push_back(one.retry);
  CHECK(retries == std::vector{1, 2, 3});
}

TEST_CASE("out_of_range is the end of the data in steps, and an error in what is told of them") {
  adder of;
  auto s = session::local();
  auto how = of.numbers(10);
  how.on_step = [&](const training_progress& now) {
    if (now.step == 3)
      throw error{error_kind::out_of_range, "no more room"};
  };
  training_run training{of.g, of.step(), how};
  CHECK_THAT(error_of([&] { training.run(s); }).what(), Contains("no more room"));
}

TEST_CASE("a checkpoint that could not be written does not cost the last one") {
  known_drafts drafts;
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(3, folder / "m");
  how.checkpoint_steps = 2;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 2)
      fs::create_directories(fs::path{folder / "m"} / drafts.name(2) / "notes/a");
  };
  training_run training{of.g, of.step(), how};
  CHECK(training.run(s).checkpoint == folder / "m/step-3");
  CHECK(counts_in(folder / "m") == std::vector<std::pair<int64_t, float>>{{3, 3.0f}});
  CHECK_THAT(of.events.at(2).text, Contains(drafts.name(2)));
}

TEST_CASE("an old checkpoint that cannot be removed is told, and training goes on") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(20, folder / "m");
  how.keep.keep_newest = 2;
  how.checkpoint_steps = 2;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 5)
      fs::create_directories(folder / "m/step-2/notes/a");
  };
  training_run training{of.g, of.step(), how};
  auto report = training.run(s);
  CHECK((report.step == 20 && report.retries == 0));
  CHECK(report.checkpoint == folder / "m/step-20");
  size_t told = 0;
  for (const auto& one : of.events)
    if (one.what == kind::warning) {
      ++told;
      CHECK_THAT(one.text, Contains("m/step-6: saved") && Contains("step-2/notes"));
    }
  CHECK(told == 1);
  CHECK(counts_in(folder / "m") ==
        std::vector<std::pair<int64_t, float>>{{18, 18.0f}, {20, 20.0f}});
}

TEST_CASE("a checkpoint that fails with what may pass is written again") {
  watchdog watch;
  temporary_folder folder;
  let_first_write_fail(folder / "m");
  adder of;
  auto s = session::local();
  auto how = of.numbers(-1, folder / "m");
  how.keep.by_tasks = GENERATE(true, false);
  how.checkpoint_steps = 10;
  std::atomic<int> saved_after{0}; // the failure
  auto tell = how.on_event;
  how.on_event = [&](const training_event& what) {
    tell(what);
    if (what.what == kind::retrying || (what.what == kind::saving && saved_after > 0))
      ++saved_after;
  };
  how.when = [&](const training_progress&) { return saved_after >= 3; };
  training_run training{of.g, of.step(GENERATE(1, 3)), how};
  auto report = training.run(s);
  CHECK(report.checkpoint == concat(folder / "m/step-", report.step));
  CHECK(report.retries == 1);
  CHECK(counts_in(folder / "m").size() >= 2);
  CHECK(of.value(s, of.count) == static_cast<float>(report.step));
}

TEST_CASE("a checkpoint that always fails with what may pass ends the run") {
  watchdog watch;
  known_drafts drafts;
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(1000, folder / "m");
  how.retries = 3;
  how.checkpoint_steps = 2;
  how.on_step = [&](const training_progress& now) { // nobody may remove what is there
    auto draft = fs::path{folder / "m"} / drafts.name(now.step);
    fs::create_directories(folder / "m");
    if (!fs::exists(draft))
      fs::create_directory_symlink("/proc/self/attr", draft);
  };
  training_run training{of.g, of.step(), how};
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::unavailable);
  CHECK_THAT(why.what(), Contains("gave up after 3 attempts"));
}

TEST_CASE("a loss that is not one number when it comes is an error") {
  adder of;
  auto loss = of.g.placeholder(dtype::f32, partial_shape{}, "loss");
  auto s = session::local();
  auto step = of.step();
  step.feeds.push_back(loss);
  step.loss = loss;
  auto how = of.numbers(3);
  how.batch = [&](int64_t) {
    return std::vector{tensor::scalar(1.0f), tensor::vector(std::vector<float>{})};
  };
  training_run training{of.g, step, how};
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::invalid_argument);
  CHECK_THAT(why.what(), Contains("the loss must be one number, got shape [0]"));
}

} // namespace troupe::test::training_run_failures_test
