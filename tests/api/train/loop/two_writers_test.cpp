// Two that write to one folder: checkpoints and events.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/storage/file.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace troupe::test::two_writers_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

constexpr const char* trained_folder = "TROUPE_TEST_TRAINED_FOLDER";

// Another process that trains, and saves, until it is killed: this program, with the test below.
class training_process {
public:
  explicit training_process(const std::string& folder) {
    process_ = ::fork();
    if (process_ == 0) {
      ::setenv(trained_folder, folder.c_str(), 1);
      ::execl("/proc/self/exe", "troupe_test",
              "a process trains in a folder for another test until it is killed",
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    for (int i = 0; i < 6000 && !fs::exists(folder + "/m/latest"); ++i)
      std::this_thread::sleep_for(10ms);
    REQUIRE(fs::exists(folder + "/m/latest"));
  }
  ~training_process() { kill(); }
  void kill() {
    if (process_ <= 0)
      return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, 0), nullptr, 0);
  }
  pid_t process() const { return process_; }

private:
  pid_t process_ = 0;
};

void is_refused(const error& why, const std::string& folder) {
  CHECK(why.kind() == error_kind::already_exists);
  CHECK_THAT(why.what(), Contains(folder) && Contains("here since 20") && Contains("take_over"));
}

replicas_options options_of(replica_mode mode, const std::string& folder) {
  replicas_options how;
  how.mode = mode;
  how.workers = 2;
  how.ps_tasks = 0;
  if (mode == replica_mode::all_reduce)
    how.workers = 1;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.checkpoints = folder;
  return how;
}

} // namespace

TEST_CASE("a process trains in a folder for another test until it is killed", "[.]") {
  const auto* folder = std::getenv(trained_folder);
  if (!folder)
    return;
  adder of;
  auto s = session::local();
  auto how = of.numbers(-1, std::string{folder} + "/m");
  how.summaries = std::string{folder} + "/logs";
  how.checkpoint_steps = 10;
  how.time_limit = 100;
  how.on_step = [](const training_progress&) { std::this_thread::sleep_for(1ms); };
  training_run training{of.g, of.step(), how};
  training.run(s);
}

TEST_CASE("whoever wants to save where another process trains is told by whom, before it trains") {
  watchdog watch;
  temporary_folder folder;
  training_process other{folder.path()};
  auto who = concat("process ", other.process(), " on host '");
  auto s = session::local();
  adder of;
  bool trained = false;
  auto how = of.numbers(100, folder / "m");
  how.on_step = [&](const training_progress&) { trained = true; };
  SECTION("a training run") {
    training_run training{of.g, of.step(), how};
    auto why = error_of([&] { training.run(s); });
    is_refused(why, folder / "m");
    CHECK_THAT(why.what(), Contains(who) && Contains("(training_run (two_writers_test.cpp:") &&
                               Contains("writes checkpoints"));
    CHECK_FALSE(trained);
  }
  SECTION("replicas") {
    auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
    auto options = options_of(mode, folder / "m");
    options.on_step = how.on_step;
    replicas training{regression::build, options};
    auto why = error_of([&] { training.run(s); });
    is_refused(why, folder / "m");
    CHECK_FALSE(trained);
  }
  SECTION("a saver, which may read") {
    saver saves{of.g, folder / "m"};
    CHECK(saves.restore(s)->step >= 10);
    is_refused(error_of([&] { saves.save(s, 1); }), folder / "m");
    is_refused(error_of([&] { saves.save_async(s, 1); }), folder / "m");
  }
  SECTION("events") {
    auto why = error_of([&] { summary_writer{folder / "logs"}; });
    is_refused(why, folder / "logs");
    CHECK_THAT(why.what(), Contains(who) && Contains("writes events"));
    how.checkpoints.clear();
    how.summaries = folder / "logs";
    training_run training{of.g, of.step(), how};
    is_refused(error_of([&] { training.run(s); }), folder / "logs");
  }
}

TEST_CASE("a run goes on at once where its process was killed, with its checkpoints and events") {
  watchdog watch;
  temporary_folder folder;
  {
    training_process other{folder.path()};
    other.kill();
  }
  CHECK(fs::exists(folder / "m/writer.lock"));
  adder of;
  auto s = session::local();
  auto how = of.numbers(1, folder / "m");
  how.summaries = folder / "logs";
  {
    training_run training{of.g, of.step(), how};
    auto begin = std::chrono::steady_clock::now();
    CHECK(training.run(s).restored_from >= 10);
    CHECK(std::chrono::steady_clock::now() - begin < 5s * slowness);
    CHECK_FALSE(fs::exists(folder / "m/writer.lock")); // let go with the end of the run
  }
  CHECK_FALSE(fs::exists(folder / "logs/events-writer.lock"));
}

TEST_CASE("who takes a folder over ends the run of the other, and loses nothing") {
  watchdog watch;
  temporary_folder folder;
  auto by_tasks = GENERATE(false, true);
  adder first, second;
  auto s = session::local(), other = session::local();
  auto how = first.numbers(-1, folder / "m");
  how.checkpoint_steps = 1;
  how.keep.by_tasks = by_tasks;
  std::atomic<bool> saved{false};
  how.on_event = [&](const training_event& what) {
    saved = saved || what.what == training_event::kind::saved;
  };
  std::string failure;
  std::jthread trains{[&] {
    training_run training{first.g, first.step(), how};
    failure = error_of([&] { training.run(s); }).what();
  }};
  for (int i = 0; i < 10'000 && !saved; ++i)
    std::this_thread::sleep_for(1ms);
  auto more = second.numbers(-1, folder / "m");
  more.keep.by_tasks = by_tasks;
  more.keep.take_over = true;
  more.checkpoint_steps = 5;
  int64_t begun_at = 0;
  more.when = [&](const training_progress& now) { return now.step >= begun_at + 100; };
  more.on_event = [&](const training_event& what) {
    if (what.what == training_event::kind::restored)
      begun_at = what.step;
  };
  training_run training{second.g, second.step(), more};
  auto report = training.run(other);
  CHECK(report.restored_from >= 1);
  CHECK(report.step >= report.restored_from + 100);
  trains.join();
  CHECK_THAT(failure, Contains("it has taken the folder over, and this process may write no more"));
  checkpoint_folder all{real_files(), folder / "m"};
  CHECK(all.path_of(value_or_throw(all.latest())) == report.checkpoint);
  auto newest = value_or_throw(checkpoint_reader::open(real_files(), report.checkpoint));
  CHECK(newest.verify());
  CHECK(*value_or_throw(newest.read("count")).data<float>() == static_cast<float>(report.step));
}

TEST_CASE("replicas end when their folder is taken over") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto how = options_of(mode, folder / "m");
  how.checkpoint_steps = 2;
  std::atomic<bool> saved{false};
  how.on_event = [&](const replica_event& what) {
    saved = saved || what.what == replica_event::kind::saved;
  };
  how.time_limit = 60;
  std::string failure;
  std::jthread trains{[&] {
    auto s = session::local();
    replicas training{regression::build, how};
    failure = error_of([&] { training.run(s); }).what();
  }};
  for (int i = 0; i < 10'000 && !saved; ++i)
    std::this_thread::sleep_for(1ms);
  adder other;
  auto s = session::local();
  s.run(other.g.initializer());
  saver takes{other.g, folder / "m", {.take_over = true}};
  takes.save(s, 1'000'000);
  trains.join();
  CHECK_THAT(failure, Contains("it has taken the folder over, and this process may write no more"));
  CHECK(takes.latest_step() == 1'000'000);
}

TEST_CASE("two savers of one process are two writers, and one that has ended is none") {
  temporary_folder folder;
  graph_builder g, h;
  g.variable(1.0f, "w");
  h.variable(2.0f, "v");
  auto s = session::local();
  s.run(g.initializer());
  s.run(h.initializer());
  {
    saver a{g, folder / "m"}, b{h, folder / "m"};
    a.save(s, 1);
    auto why = error_of([&] { b.save(s, 1); });
    is_refused(why, folder / "m");
    CHECK_THAT(why.what(), Contains("this process (saver (two_writers_test.cpp:"));
    a.save(s, 2);
  }
  saver b{h, folder / "m"};
  CHECK(b.save(s, 3) == folder / "m/step-3");
  saver c{g, folder / "m", {.take_over = true}};
  c.save(s, 4);
  CHECK_THAT(error_of([&] { b.save(s, 5); }).what(), Contains("has taken the folder over"));
  CHECK(c.latest_step() == 4);
}

TEST_CASE("a run that is under way is the only one in its folder, also in its process") {
  watchdog watch;
  temporary_folder folder;
  adder first, second;
  auto s = session::local();
  std::string failure;
  auto how = first.numbers(5, folder / "m");
  how.on_step = [&](const training_progress& now) {
    if (now.step != 3)
      return;
    auto other = session::local();
    training_run again{second.g, second.step(), second.numbers(5, folder / "m")};
    failure = error_of([&] { again.run(other); }).what();
  };
  training_run training{first.g, first.step(), how};
  CHECK(training.run(s).step == 5);
  CHECK_THAT(failure, Contains("this process (training_run (two_writers_test.cpp:"));
  auto other = session::local();
  training_run after{second.g, second.step(), second.numbers(7, folder / "m")};
  CHECK(after.run(other).restored_from == 5);
  CHECK(training.run(s).step == 7); // either object may run again
}

} // namespace troupe::test::two_writers_test
