#include "troupe/api/train/loop/summaries.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/troupe.hpp"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

namespace troupe::test::summaries_test {
namespace {

using Catch::Matchers::Contains;

std::vector<event> events_in(const std::string& path) {
  auto reader = value_or_throw(open_tfrecord(real_files(), path));
  std::vector<event> found;
  for (std::string record; value_or_throw(reader->next(record));)
    found.push_back(value_or_throw(parse_event(record)));
  return found;
}

} // namespace

TEST_CASE("what a step says of itself stands in an event file") {
  temporary_folder folder;
  graph_builder g;
  auto w = g.variable({1.0f, -2.0f, 0.5f}, "w");
  summaries all;
  all.scalar("loss", mean(square(w)));
  all.histogram("layer/w", w);
  all.images("input", g.constant(tensor::of<float>({1, 1, 3, 1}, {0.0f, 0.5f, 1.0f})), 1);
  all.sounds("song", g.constant(tensor::of<float>({1, 2}, {0.0f, 1.0f})), 8000);
  auto merged = all.merged();
  auto s = session::local();
  s.run(g.initializer());
  auto path = [&] {
    summary_writer to{folder.path() + "/logs/run"};
    to.add_graph(g);
    to.add(s.fetch(merged), 7);
    to.add("speed", 120.5f, 8);
    to.flush();
    CHECK(events_in(to.path()).size() == 4);
    return to.path();
  }();
  auto events = events_in(path);
  REQUIRE(events.size() == 4);
  CHECK(events[0].file_version == "brain.Event:2");
  CHECK(events[1].graph_def == value_or_throw(write_graph_def(g)));
  CHECK(events[2].step == 7);
  CHECK(events[2].seconds > 1e9);
  const auto& values = events[2].values;
  REQUIRE(values.size() == 4);
  CHECK(values[0] == event_value{"loss", 1.75f});
  CHECK(values[1].tag == "layer/w");
  CHECK(std::get<histogram>(values[1].value).count == 3);
  CHECK(std::get<histogram>(values[1].value).min == -2);
  CHECK(values[2].tag == "input/image");
  CHECK(std::get<event_image>(values[2].value).width == 3);
  CHECK(values[3].tag == "song/audio/0");
  CHECK(events[3] == event{events[3].seconds, 8, {{"speed", 120.5f}}});
}

TEST_CASE("each writer has a file of its own, and a closed one writes no more") {
  temporary_folder folder;
  summary_writer one{folder.path()}, other{folder.path()};
  CHECK(one.path() != other.path());
  one.close();
  try {
    one.add("x", 1, 1);
    FAIL("it wrote");
  } catch (const error& why) {
    CHECK(why.kind() == error_kind::failed_precondition);
    CHECK_THAT(why.what(), Contains(one.path()));
  }
  CHECK_THROWS_AS(other.add(tensor::scalar(1.0f), 1), error);
  CHECK_THROWS_AS(other.add(tensor::scalar(std::string{"no summary"}), 1), error);
}

TEST_CASE("after an error of the file system, records go to another file that is whole") {
  temporary_folder folder;
  summary_writer to{folder.path()};
  to.add("loss", 1, 1);
  to.flush();
  const auto size = std::filesystem::file_size(to.path());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto full = before;
  full.rlim_cur = size + 10; // ends within the next record
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  auto add_and_flush = [&](int64_t step) {
    to.add("loss", 2, step);
    to.flush();
  };
  CHECK_THROWS_AS(add_and_flush(2), error);
  full.rlim_cur = 10; // no room for another file
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  CHECK_THROWS_AS(add_and_flush(3), error);
  CHECK_THROWS_AS(add_and_flush(4), error);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  add_and_flush(5);
  add_and_flush(6);
  std::vector<int64_t> steps;
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator{folder.path()}) {
    auto path = each.path().string();
    if (path.find("tfevents") == std::string::npos)
      continue;
    ++files;
    if (path != to.path())
      for (const auto& one : events_in(path))
        if (!one.values.empty())
          steps.push_back(one.step);
  }
  CHECK(files == 2);
  CHECK(steps == std::vector<int64_t>{5, 6});
}

TEST_CASE("what was added is seen once more is added a second later") {
  temporary_folder folder;
  summary_writer to{folder.path()};
  to.add("first", 1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  to.add("second", 2, 2);
  auto events = events_in(to.path()); // nobody has called flush()
  REQUIRE(events.size() == 3);
  CHECK(events[1].values.at(0).tag == "first");
  CHECK(events[2].values.at(0).tag == "second");
}

TEST_CASE("many threads add to one event file") {
  temporary_folder folder;
  summary_writer to{folder.path()};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          to.add(concat("thread", t), static_cast<float>(i), i);
          if (i % 100 == 0)
            to.flush();
        }
      });
  }
  to.close();
  std::map<std::string, int64_t> last;
  auto events = events_in(to.path());
  CHECK(events.size() == 1 + 4 * 300);
  for (size_t i = 1; i < events.size(); ++i)
    CHECK(events[i].step == last[events[i].values.at(0).tag]++);
}

TEST_CASE("summaries need something to say, and tags of their own") {
  graph_builder g;
  summaries all;
  CHECK_THROWS_AS(all.merged(), error);
  all.scalar("a", g.constant(1.0f));
  all.scalar("a", g.constant(2.0f));
  auto s = session::local();
  try {
    s.fetch(all.merged());
    FAIL("two values have one tag");
  } catch (const error& why) {
    CHECK_THAT(why.what(), Contains("'a'"));
  }
}

} // namespace troupe::test::summaries_test
