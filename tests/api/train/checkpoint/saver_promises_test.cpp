// The promises of saver.hpp, sentence by sentence, where no other test covers them.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <filesystem>

namespace troupe::test::saver_promises_test {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

// A variable that the test sets.
struct number {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, shape{}, "x");
  variable_handle w = g.variable(0.0f, "w");
  node* set = assign(w, x).node;

  void be(session& s, float value) const { s.run({{x, value}}, {}, {set}); }
  float value(session& s) const { return to_scalar<float>(s.fetch(w)); }
};

} // namespace

TEST_CASE("a saver lists its checkpoints with steps, metrics and times, and marks the latest") {
  temporary_folder folder;
  number variable;
  auto s = session::local();
  saver writer{variable.g, folder / "m", {.keep_newest = 0}};
  CHECK(writer.list().empty()); // the folder does not exist yet
  variable.be(s, 1);
  auto before = std::chrono::system_clock::now();
  writer.save(s, 3, 0.5);
  writer.save(s, 1, 0.75);
  writer.save(s, 2);
  auto checkpoints = writer.list();
  REQUIRE(checkpoints.size() == 3);
  CHECK(checkpoints[0].path == folder / "m/step-1");
  CHECK((checkpoints[0].step == 1 && checkpoints[1].step == 2 && checkpoints[2].step == 3));
  CHECK((checkpoints[0].metric == 0.75 && !checkpoints[1].metric && checkpoints[2].metric == 0.5));
  // The checkpoint that was written last.
  CHECK((!checkpoints[0].is_latest && checkpoints[1].is_latest && !checkpoints[2].is_latest));
  for (const auto& checkpoint : checkpoints) {
    CHECK(checkpoint.time >= before - std::chrono::seconds{2});
    CHECK(checkpoint.time <= std::chrono::system_clock::now() + std::chrono::seconds{2});
  }
}

TEST_CASE("the best checkpoint is restored by its metric, and of equal ones the newest") {
  temporary_folder folder;
  number variable;
  auto s = session::local();
  auto lower = GENERATE(false, true);
  {
    saver writer{variable.g, folder / "m", {.keep_newest = 0}};
    CHECK_FALSE(writer.restore_best(s));
    variable.be(s, 9);
    writer.save(s, 9);
    CHECK_FALSE(writer.restore_best(s)); // no checkpoint has a metric
    for (auto [step, metric] :
         {std::pair{1, 0.5}, {2, 0.9}, {3, 0.1}, {4, 0.9}, {5, 0.1}, {6, 0.3}}) {
      variable.be(s, static_cast<float>(step));
      writer.save(s, step, metric);
    }
  }
  saver from{variable.g, folder / "m", {.lower_is_better = lower}};
  auto report = from.restore_best(s);
  REQUIRE(report);
  CHECK(report->step == (lower ? 5 : 4));
  CHECK(variable.value(s) == (lower ? 5 : 4));
  CHECK(from.restore(s)->step == 6);
}

TEST_CASE("only one checkpoint is written at a time, and a failure is thrown by the next call") {
  watchdog watch;
  fixed_draft_names drafts;
  temporary_folder folder;
  number variable;
  auto s = session::local();
  variable.be(s, 1);
  saver writer{variable.g, folder / "m"};
  CHECK_FALSE(writer.is_writing());
  writer.wait(); // no save is under way
  writer.save_async(s, 1);
  writer.save_async(s, 2);
  writer.wait();
  CHECK_FALSE(writer.is_writing());
  CHECK(writer.latest_step() == 2);
  // Another process's files, which must not be removed.
  fs::create_directories(fs::path{folder / "m"} / drafts.name(3) / "notes/a");
  writer.save_async(s, 3);
  auto call = GENERATE(0, 1, 2, 3);
  auto thrown = error_of([&] {
    switch (call) {
      case 0: writer.save_async(s, 4); break;
      case 1: writer.save(s, 4); break;
      case 2: writer.restore(s); break;
      default: writer.wait();
    }
  });
  CHECK_THAT(thrown.what(), Contains(drafts.name(3)));
  writer.wait(); // the error was reported once
  CHECK(writer.save(s, 5) == folder / "m/step-5");
}

TEST_CASE("the destructor of a saver waits for its pending write") {
  temporary_folder folder;
  number variable;
  auto s = session::local();
  variable.be(s, 1);
  {
    saver first{variable.g, folder / "m"};
    first.save_async(s, 1);
    saver moved = std::move(first);
    moved.save_async(s, 2);
  }
  saver other_saver{variable.g, folder / "m"};
  CHECK(other_saver.latest_step() == 2);
  CHECK(drafts_in(folder / "m") == 0);
}

TEST_CASE("texts are stored in a checkpoint, and passed to a predicate when it is read") {
  temporary_folder folder;
  number variable;
  auto s = session::local();
  variable.be(s, 1);
  int predicate_calls = 0;
  {
    saver writer{variable.g, folder / "m"};
    writer.add_notes([&] {
      return std::map<std::string, std::string>{{"place", concat("the ", ++predicate_calls)}};
    });
    CHECK(predicate_calls == 0);
    writer.save(s, 1);
    writer.save_async(s, 2);
    CHECK(predicate_calls == 2);
  }
  saver from{variable.g, folder / "m"};
  CHECK(from.restore(s)->notes == std::map<std::string, std::string>{{"place", "the 2"}});
}

TEST_CASE("errors of a saver name the file and the line that called it") {
  temporary_folder folder;
  number variable;
  auto s = session::local();
  variable.be(s, 1);
  std::string path;
  {
    saver writer{variable.g, folder / "m"};
    path = writer.save(s, 1);
  }
  fs::resize_file(path + "/tensors.safetensors", 8);
  saver from{variable.g, folder / "m"};
  auto thrown = error_of([&] { from.restore(s); });
  CHECK_THAT(thrown.what(), Contains("restore (saver_promises_test.cpp:") &&
                                Contains("step-1/tensors.safetensors"));
  CHECK(variable.value(s) == 1);
}

} // namespace troupe::test::saver_promises_test
