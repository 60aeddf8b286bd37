// The promises of saver.hpp, sentence by sentence, where other tests do not show it.
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

// A variable that a test sets.
struct number {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, shape{}, "x");
  variable_handle w = g.variable(0.0f, "w");
  node* set = assign(w, x).node;

  void be(session& in, float value) const { in.run({{x, value}}, {}, {set}); }
  float value(session& in) const { return to_scalar<float>(in.fetch(w)); }
};

} // namespace

TEST_CASE("a saver lists its checkpoints with steps, metrics and times, and which is the latest") {
  temporary_folder folder;
  number of;
  auto s = session::local();
  saver to{of.g, folder / "m", {.keep_newest = 0}};
  CHECK(to.list().empty()); // there is no folder yet
  of.be(s, 1);
  auto before = std::chrono::system_clock::now();
  to.save(s, 3, 0.5);
  to.save(s, 1, 0.75);
  to.save(s, 2);
  auto all = to.list();
  REQUIRE(all.size() == 3);
  CHECK(all[0].path == folder / "m/step-1");
  CHECK((all[0].step == 1 && all[1].step == 2 && all[2].step == 3));
  CHECK((all[0].metric == 0.75 && !all[1].metric && all[2].metric == 0.5));
  CHECK((!all[0].is_latest && all[1].is_latest && !all[2].is_latest)); // the one written last
  for (const auto& one : all) {
    CHECK(one.time >= before - std::chrono::seconds{2});
    CHECK(one.time <= std::chrono::system_clock::now() + std::chrono::seconds{2});
  }
}

TEST_CASE("the best checkpoint is restored by its metric, of equal ones the newest") {
  temporary_folder folder;
  number of;
  auto s = session::local();
  auto lower = GENERATE(false, true);
  {
    saver to{of.g, folder / "m", {.keep_newest = 0}};
    CHECK_FALSE(to.restore_best(s));
    of.be(s, 9);
    to.save(s, 9);
    CHECK_FALSE(to.restore_best(s)); // none has a metric
    for (auto [step, metric] :
         {std::pair{1, 0.5}, {2, 0.9}, {3, 0.1}, {4, 0.9}, {5, 0.1}, {6, 0.3}}) {
      of.be(s, static_cast<float>(step));
      to.save(s, step, metric);
    }
  }
  saver from{of.g, folder / "m", {.lower_is_better = lower}};
  auto report = from.restore_best(s);
  REQUIRE(report);
  CHECK(report->step == (lower ? 5 : 4));
  CHECK(of.value(s) == (lower ? 5 : 4));
  CHECK(from.restore(s)->step == 6);
}

TEST_CASE("only one checkpoint is written at a time, and what fails is thrown by the next call") {
  watchdog watch;
  known_drafts drafts;
  temporary_folder folder;
  number of;
  auto s = session::local();
  of.be(s, 1);
  saver to{of.g, folder / "m"};
  CHECK_FALSE(to.is_writing());
  to.wait(); // there is nothing to wait for
  to.save_async(s, 1);
  to.save_async(s, 2);
  to.wait();
  CHECK_FALSE(to.is_writing());
  CHECK(to.latest_step() == 2);
  fs::create_directories(fs::path{folder / "m"} / drafts.name(3) / "notes/a"); // not ours to remove
  to.save_async(s, 3);
  auto call = GENERATE(0, 1, 2, 3);
  auto why = error_of([&] {
    switch (call) {
      case 0: to.save_async(s, 4); break;
      case 1: to.save(s, 4); break;
      case 2: to.restore(s); break;
      default: to.wait();
    }
  });
  CHECK_THAT(why.what(), Contains(drafts.name(3)));
  to.wait(); // it was told once
  CHECK(to.save(s, 5) == folder / "m/step-5");
}

TEST_CASE("a saver waits for what it writes before it is gone") {
  temporary_folder folder;
  number of;
  auto s = session::local();
  of.be(s, 1);
  {
    saver first{of.g, folder / "m"};
    first.save_async(s, 1);
    saver moved = std::move(first);
    moved.save_async(s, 2);
  }
  saver other{of.g, folder / "m"};
  CHECK(other.latest_step() == 2);
  CHECK(drafts_in(folder / "m") == 0);
}

TEST_CASE("texts are kept in a checkpoint, and asked for when it is read") {
  temporary_folder folder;
  number of;
  auto s = session::local();
  of.be(s, 1);
  int asked = 0;
  {
    saver to{of.g, folder / "m"};
    to.also_note([&] {
      return std::map<std::string, std::string>{{"place", concat("the ", ++asked)}};
    });
    CHECK(asked == 0);
    to.save(s, 1);
    to.save_async(s, 2);
    CHECK(asked == 2);
  }
  saver from{of.g, folder / "m"};
  CHECK(from.restore(s)->notes == std::map<std::string, std::string>{{"place", "the 2"}});
}

TEST_CASE("errors of a saver name the file and the line that called it") {
  temporary_folder folder;
  number of;
  auto s = session::local();
  of.be(s, 1);
  std::string path;
  {
    saver to{of.g, folder / "m"};
    path = to.save(s, 1);
  }
  fs::resize_file(path + "/tensors.safetensors", 8);
  saver from{of.g, folder / "m"};
  auto why = error_of([&] { from.restore(s); });
  CHECK_THAT(why.what(), Contains("restore (saver_promises_test.cpp:") &&
                             Contains("step-1/tensors.safetensors"));
  CHECK(of.value(s) == 1);
}

} // namespace troupe::test::saver_promises_test
