// Two processes that write to one folder: checkpoints and events.
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

// Another process that trains and saves until it is killed: this program, with the test below.
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

void is_refused(const error& reason, const std::string& folder) {
  CHECK(reason.kind() == error_kind::already_exists);
  CHECK_THAT(reason.what(), Contains(folder) && Contains("here since 20") && Contains("take_over"));
}

replicas_options options_of(replica_mode mode, const std::string& folder) {
  replicas_options options;
  options.mode = mode;
  options.workers = 2;
  options.ps_tasks = 0;
  if (mode == replica_mode::all_reduce)
    options.workers = 1;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.checkpoints = folder;
  return options;
}

} // namespace

TEST_CASE("a process trains in a folder for another test until it is killed", "[.]") {
  const auto* folder = std::getenv(trained_folder);
  if (!folder)
    return;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, std::string{folder} + "/m");
  options.summaries = std::string{folder} + "/logs";
  options.checkpoint_steps = 10;
  options.time_limit = 100;
  options.on_step = [](const training_progress&) { std::this_thread::sleep_for(1ms); };
  training_run training{model.g, model.step(), options};
  training.run(s);
}

TEST_CASE(
    "a writer of a folder in which another process trains gets an error that names the process") {
  watchdog watch;
  temporary_folder folder;
  training_process other_process{folder.path()};
  auto writer_text = concat("process ", other_process.process(), " on host '");
  auto s = session::local();
  adder model;
  bool trained = false;
  auto settings = model.numbered_options(100, folder / "m");
  settings.on_step = [&](const training_progress&) { trained = true; };
  SECTION("a training run") {
    training_run training{model.g, model.step(), settings};
    auto thrown = error_of([&] { training.run(s); });
    is_refused(thrown, folder / "m");
    CHECK_THAT(thrown.what(), Contains(writer_text) &&
                                  Contains("(training_run (two_writers_test.cpp:") &&
                                  Contains("writes checkpoints"));
    CHECK_FALSE(trained);
  }
  SECTION("replicas") {
    auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
    auto options = options_of(mode, folder / "m");
    options.on_step = settings.on_step;
    replicas training{regression::build, options};
    auto thrown = error_of([&] { training.run(s); });
    is_refused(thrown, folder / "m");
    CHECK_FALSE(trained);
  }
  SECTION("a saver, which may read") {
    saver saves{model.g, folder / "m"};
    CHECK(saves.restore(s)->step >= 10);
    is_refused(error_of([&] { saves.save(s, 1); }), folder / "m");
    is_refused(error_of([&] { saves.save_async(s, 1); }), folder / "m");
  }
  SECTION("events") {
    auto thrown = error_of([&] { summary_writer{folder / "logs"}; });
    is_refused(thrown, folder / "logs");
    CHECK_THAT(thrown.what(), Contains(writer_text) && Contains("writes events"));
    settings.checkpoints.clear();
    settings.summaries = folder / "logs";
    training_run training{model.g, model.step(), settings};
    is_refused(error_of([&] { training.run(s); }), folder / "logs");
  }
}

TEST_CASE("a run resumes at once where its process was killed, with its checkpoints and events") {
  watchdog watch;
  temporary_folder folder;
  {
    training_process other_process{folder.path()};
    other_process.kill();
  }
  CHECK(fs::exists(folder / "m/writer.lock"));
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(1, folder / "m");
  options.summaries = folder / "logs";
  {
    training_run training{model.g, model.step(), options};
    auto begin = std::chrono::steady_clock::now();
    CHECK(training.run(s).restored_from >= 10);
    CHECK(std::chrono::steady_clock::now() - begin < 5s * timeout_scale);
    CHECK_FALSE(fs::exists(folder / "m/writer.lock")); // released at the end of the run
  }
  CHECK_FALSE(fs::exists(folder / "logs/events-writer.lock"));
}

TEST_CASE("a writer that takes a folder over ends the other's run, and loses nothing") {
  watchdog watch;
  temporary_folder folder;
  auto sharded_by_task = GENERATE(false, true);
  adder first, second;
  auto s = session::local(), other_session = session::local();
  auto options = first.numbered_options(-1, folder / "m");
  options.checkpoint_steps = 1;
  options.checkpoint_options.sharded_by_task = sharded_by_task;
  std::atomic<bool> saved{false};
  options.on_event = [&](const training_event& event) {
    saved = saved || event.kind == training_event_kind::saved;
  };
  std::string failure;
  std::jthread training_thread{[&] {
    training_run training{first.g, first.step(), options};
    failure = error_of([&] { training.run(s); }).what();
  }};
  for (int i = 0; i < 10'000 && !saved; ++i)
    std::this_thread::sleep_for(1ms);
  auto second_options = second.numbered_options(-1, folder / "m");
  second_options.checkpoint_options.sharded_by_task = sharded_by_task;
  second_options.checkpoint_options.take_over = true;
  second_options.checkpoint_steps = 5;
  int64_t begun_at = 0;
  second_options.stop_when = [&](const training_progress& now) {
    return now.step >= begun_at + 100;
  };
  second_options.on_event = [&](const training_event& event) {
    if (event.kind == training_event_kind::restored)
      begun_at = event.step;
  };
  training_run training{second.g, second.step(), second_options};
  auto report = training.run(other_session);
  CHECK(report.restored_from >= 1);
  CHECK(report.step >= report.restored_from + 100);
  training_thread.join();
  CHECK_THAT(failure, Contains("it has taken the folder over, and this process may write no more"));
  checkpoint_folder checkpoints{real_files(), folder / "m"};
  CHECK(checkpoints.path_of(value_or_throw(checkpoints.latest())) == report.checkpoint);
  auto newest = value_or_throw(checkpoint_reader::open(real_files(), report.checkpoint));
  CHECK(newest.verify());
  CHECK(*value_or_throw(newest.read("count")).data<float>() == static_cast<float>(report.step));
}

TEST_CASE("replicas end when their folder is taken over") {
  watchdog watch;
  temporary_folder folder;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync, replica_mode::all_reduce);
  INFO(to_string(mode));
  auto options = options_of(mode, folder / "m");
  options.checkpoint_steps = 2;
  std::atomic<bool> saved{false};
  options.on_event = [&](const replica_event& event) {
    saved = saved || event.kind == replica_event_kind::saved;
  };
  options.time_limit = 60;
  std::string failure;
  std::jthread training_thread{[&] {
    auto s = session::local();
    replicas training{regression::build, options};
    failure = error_of([&] { training.run(s); }).what();
  }};
  for (int i = 0; i < 10'000 && !saved; ++i)
    std::this_thread::sleep_for(1ms);
  adder other_model;
  auto s = session::local();
  s.run(other_model.g.initializer());
  saver taking_saver{other_model.g, folder / "m", {.take_over = true}};
  taking_saver.save(s, 1'000'000);
  training_thread.join();
  CHECK_THAT(failure, Contains("it has taken the folder over, and this process may write no more"));
  CHECK(taking_saver.latest_step() == 1'000'000);
}

TEST_CASE("two savers of one process are two writers, and a destroyed one is none") {
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
    auto thrown = error_of([&] { b.save(s, 1); });
    is_refused(thrown, folder / "m");
    CHECK_THAT(thrown.what(), Contains("this process (saver (two_writers_test.cpp:"));
    a.save(s, 2);
  }
  saver b{h, folder / "m"};
  CHECK(b.save(s, 3) == folder / "m/step-3");
  saver c{g, folder / "m", {.take_over = true}};
  c.save(s, 4);
  CHECK_THAT(error_of([&] { b.save(s, 5); }).what(), Contains("has taken the folder over"));
  CHECK(c.latest_step() == 4);
}

TEST_CASE("a running training run is the only one in its folder, also in its process") {
  watchdog watch;
  temporary_folder folder;
  adder first, second;
  auto s = session::local();
  std::string failure;
  auto options = first.numbered_options(5, folder / "m");
  options.on_step = [&](const training_progress& now) {
    if (now.step != 3)
      return;
    auto other_session = session::local();
    training_run second_run{second.g, second.step(), second.numbered_options(5, folder / "m")};
    failure = error_of([&] { second_run.run(other_session); }).what();
  };
  training_run training{first.g, first.step(), options};
  CHECK(training.run(s).step == 5);
  CHECK_THAT(failure, Contains("this process (training_run (two_writers_test.cpp:"));
  auto other_session = session::local();
  training_run after{second.g, second.step(), second.numbered_options(7, folder / "m")};
  CHECK(after.run(other_session).restored_from == 5);
  CHECK(training.run(s).step == 7); // either object may run again
}

} // namespace troupe::test::two_writers_test
