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
  std::vector<event> events_found;
  for (std::string record; value_or_throw(reader->next(record));)
    events_found.push_back(value_or_throw(parse_event(record)));
  return events_found;
}

} // namespace

TEST_CASE("a step's summaries are written to an event file") {
  temporary_folder folder;
  graph_builder g;
  auto w = g.variable({1.0f, -2.0f, 0.5f}, "w");
  summaries all_summaries;
  all_summaries.scalar("loss", mean(square(w)));
  all_summaries.histogram("layer/w", w);
  all_summaries.images("input",
                       g.constant(tensor::from_values<float>({1, 1, 3, 1}, {0.0f, 0.5f, 1.0f})), 1);
  all_summaries.sounds("song", g.constant(tensor::from_values<float>({1, 2}, {0.0f, 1.0f})), 8000);
  auto merged = all_summaries.merged();
  auto s = session::local();
  s.run(g.initializer());
  auto path = [&] {
    summary_writer writer{folder.path() + "/logs/run"};
    writer.add_graph(g);
    writer.add(s.fetch(merged), 7);
    writer.add("speed", 120.5f, 8);
    writer.flush();
    CHECK(events_in(writer.path()).size() == 4);
    return writer.path();
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
  summary_writer first_writer{folder.path()}, second_writer{folder.path()};
  CHECK(first_writer.path() != second_writer.path());
  first_writer.close();
  try {
    first_writer.add("x", 1, 1);
    FAIL("it wrote");
  } catch (const error& thrown) {
    CHECK(thrown.kind() == error_kind::failed_precondition);
    CHECK_THAT(thrown.what(), Contains(first_writer.path()));
  }
  CHECK_THROWS_AS(second_writer.add(tensor::scalar(1.0f), 1), error);
  CHECK_THROWS_AS(second_writer.add(tensor::scalar(std::string{"no summary"}), 1), error);
}

TEST_CASE("after an error of the file system, records are written to a new, valid file") {
  temporary_folder folder;
  summary_writer writer{folder.path()};
  writer.add("loss", 1, 1);
  writer.flush();
  const auto size = std::filesystem::file_size(writer.path());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto full = before;
  full.rlim_cur = size + 10; // ends within the next record
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
  auto add_and_flush = [&](int64_t step) {
    writer.add("loss", 2, step);
    writer.flush();
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
  for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
    auto path = file.path().string();
    if (path.find("tfevents") == std::string::npos)
      continue;
    ++files;
    if (path != writer.path())
      for (const auto& file_event : events_in(path))
        if (!file_event.values.empty())
          steps.push_back(file_event.step);
  }
  CHECK(files == 2);
  CHECK(steps == std::vector<int64_t>{5, 6});
}

TEST_CASE("a record is flushed when another follows a second later") {
  temporary_folder folder;
  summary_writer writer{folder.path()};
  writer.add("first", 1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds{1100});
  writer.add("second", 2, 2);
  auto events = events_in(writer.path()); // without a call of flush()
  REQUIRE(events.size() == 3);
  CHECK(events[1].values.at(0).tag == "first");
  CHECK(events[2].values.at(0).tag == "second");
}

TEST_CASE("many threads add to one event file") {
  temporary_folder folder;
  summary_writer writer{folder.path()};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 300; ++i) {
          writer.add(concat("thread", t), static_cast<float>(i), i);
          if (i % 100 == 0)
            writer.flush();
        }
      });
  }
  writer.close();
  std::map<std::string, int64_t> last;
  auto events = events_in(writer.path());
  CHECK(events.size() == 1 + 4 * 300);
  for (size_t i = 1; i < events.size(); ++i)
    CHECK(events[i].step == last[events[i].values.at(0).tag]++);
}

TEST_CASE("summaries need at least one value, and distinct tags") {
  graph_builder g;
  summaries all_summaries;
  CHECK_THROWS_AS(all_summaries.merged(), error);
  all_summaries.scalar("a", g.constant(1.0f));
  all_summaries.scalar("a", g.constant(2.0f));
  auto s = session::local();
  try {
    s.fetch(all_summaries.merged());
    FAIL("two values have one tag");
  } catch (const error& thrown) {
    CHECK_THAT(thrown.what(), Contains("'a'"));
  }
}

} // namespace troupe::test::summaries_test
