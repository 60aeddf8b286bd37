#include "troupe/api/train/loop/training_run.hpp"

#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/records/tfrecord.hpp"
#include "troupe/troupe.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

namespace troupe::test::training_run_test {
namespace {

using Catch::Matchers::Contains;
using kind = training_event::kind;

} // namespace

TEST_CASE("a training run ends at its last step, saves, and the next one goes on from there") {
  temporary_folder folder;
  auto at = folder.path() + "/model";
  {
    adder of;
    auto s = session::local();
    std::vector<int64_t> told;
    auto how = of.numbers(10, at);
    how.checkpoint_steps = 4;
    how.on_step = [&](const training_progress& now) {
      told.push_back(now.step);
      CHECK(now.loss == static_cast<double>(1 - now.step));
    };
    training_run training{of.g, of.step(), how};
    auto report = training.run(s);
    CHECK(report.why == training_end::last_step);
    CHECK((report.step == 10 && report.restored_from == -1 && report.retries == 0));
    CHECK(report.loss == -9);
    CHECK(report.checkpoint == at + "/step-10");
    CHECK(told == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(of.kinds() == std::vector{kind::initialized, kind::saving, kind::saved, kind::saving,
                                    kind::saved, kind::saved});
    CHECK((of.events[1].step == 4 && of.events[3].step == 8 && of.events[5].step == 10));
  }
  adder again;
  auto s = session::local();
  training_run training{again.g, again.step(), again.numbers(15, at)};
  auto report = training.run(s);
  CHECK((report.restored_from == 10 && report.step == 15));
  CHECK(again.value(s, again.sum) == sum_below(15));
  CHECK(again.value(s, again.count) == 15);
  CHECK(again.kinds() == std::vector{kind::restored, kind::saved});
  // Nothing is left to do.
  auto idle = training.run(s);
  CHECK((idle.step == 15 && idle.checkpoint == at + "/step-15"));
  adder anew;
  auto how = anew.numbers(3, at);
  how.resume = false;
  training_run fresh{anew.g, anew.step(), how};
  CHECK(fresh.run(s).step == 3);
  CHECK(anew.value(s, anew.sum) == sum_below(3));
}

TEST_CASE("a training run ends for many reasons, and says which") {
  adder of;
  auto s = session::local();
  auto run = [&](const training_options& how) {
    training_run training{of.g, of.step(), how};
    return training.run(s);
  };
  auto how = of.numbers(-1);
  how.batch = [](int64_t n) {
    return n < 5 ? std::optional{std::vector{tensor::scalar(1.0f)}} : std::nullopt;
  };
  auto report = run(how);
  CHECK((report.why == training_end::data_ended && report.step == 5));
  how = of.numbers(-1);
  how.when = [](const training_progress& now) { return now.loss < -6; };
  report = run(how);
  CHECK((report.why == training_end::condition && report.step == 8));
  how = of.numbers(-1);
  how.time_limit = 0.02;
  CHECK(run(how).why == training_end::time_over);
  how = of.numbers(-1);
  how.batch = [](int64_t n) { return std::vector{tensor::scalar(n < 3 ? 1.0f : NAN)}; };
  report = run(how);
  CHECK((report.why == training_end::not_a_number && report.step == 4));
  CHECK(to_string(report.why) == "the loss is not a finite number");
  training_run asked{of.g, of.step(), of.numbers(-1)};
  std::jthread asks{[&] { asked.request_stop(); }};
  CHECK(asked.run(s).why == training_end::asked);
}

TEST_CASE("a loss that is not a number is not saved, and what was saved before stays") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(-1, folder.path() + "/model");
  how.checkpoint_steps = 2;
  how.batch = [](int64_t n) { return std::vector{tensor::scalar(n < 5 ? 1.0f : NAN)}; };
  training_run training{of.g, of.step(), how};
  auto report = training.run(s);
  CHECK((report.why == training_end::not_a_number && report.step == 6));
  CHECK(report.checkpoint.ends_with("step-4"));
}

TEST_CASE("a run that is asked to stop saves at the very step") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(-1, folder.path() + "/model");
  std::optional<training_run> training;
  how.on_step = [&](const training_progress& now) {
    if (now.step == 100)
      training->request_stop();
  };
  training.emplace(of.g, of.step(3), how);
  auto report = training->run(s);
  CHECK(report.why == training_end::asked);
  CHECK(report.step >= 100);
  saver saved{of.g, {of.count}, folder.path() + "/model"};
  s.reset();
  CHECK(saved.restore_partly(s)->step == report.step);
  CHECK(of.value(s, of.count) == static_cast<float>(report.step));
}

TEST_CASE("an error that may pass is told, and its step runs again with the same number") {
  adder of;
  auto s = session::local();
  auto how = of.numbers(10);
  std::atomic<int> failures{0};
  how.batch = [&](int64_t n) {
    if (n == 6 && failures++ < 3)
      throw error{error_kind::unavailable, concat("failure ", failures.load())};
    return std::vector{tensor::scalar(static_cast<float>(n))};
  };
  training_run training{of.g, of.step(), how};
  auto report = training.run(s);
  CHECK((report.step == 10 && report.retries == 3));
  CHECK(of.value(s, of.sum) == sum_below(10));
  CHECK(of.value(s, of.count) == 10);
  REQUIRE(of.kinds() == std::vector{kind::initialized, kind::retrying, kind::recovered,
                                    kind::retrying, kind::recovered, kind::retrying,
                                    kind::recovered});
  CHECK((of.events[1].retry == 1 && of.events[3].retry == 2 && of.events[5].retry == 3));
  CHECK_THAT(of.events[5].cause->what(), Contains("failure 1"));
  CHECK_THAT(of.events[5].text, Contains("failure 3"));
  CHECK(of.events[1].step == 6);
}

TEST_CASE("a run gives up after so many attempts, and throws the first cause") {
  adder of;
  auto s = session::local();
  auto how = of.numbers(10);
  how.retries = 4;
  int calls = 0;
  how.batch = [&](int64_t) -> std::optional<std::vector<tensor>> {
    throw error{error_kind::aborted, concat("failure ", ++calls)};
  };
  training_run training{of.g, of.step(), how};
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::aborted);
  CHECK_THAT(why.what(), Contains("failure 1; gave up after 4 attempts"));
  CHECK(calls == 5);
  how.batch = [&](int64_t) -> std::optional<std::vector<tensor>> {
    throw error{error_kind::invalid_argument, "a mistake"};
  };
  training_run wrong{of.g, of.step(3), how};
  why = error_of([&] { wrong.run(s); });
  CHECK(why.kind() == error_kind::invalid_argument);
  how.batch = [](int64_t) -> std::optional<std::vector<tensor>> {
    throw std::runtime_error{"other"};
  };
  training_run other{of.g, of.step(3), how};
  CHECK_THROWS_WITH(other.run(s), "other");
}

TEST_CASE("a run that has lost its variables goes on from the newest checkpoint") {
  temporary_folder folder;
  auto threads = GENERATE(1, 4);
  adder of;
  auto s = session::local();
  auto how = of.numbers(60, folder.path() + "/model");
  how.checkpoint_steps = 10;
  how.pause_to_checkpoint = true;
  std::atomic<int> losses{0};
  auto next = how.batch;
  how.batch = [&, next](int64_t n) {
    if (n == 25 && losses++ == 0)
      s.reset(); // as a task that was restarted
    return next(n);
  };
  training_run training{of.g, of.step(threads), how};
  auto report = training.run(s);
  CHECK(report.step == 60);
  CHECK(report.retries >= 1);
  CHECK(of.value(s, of.count) == 60);
  CHECK(of.value(s, of.sum) == sum_below(60));
  auto restored = std::ranges::find(of.events, kind::restored, &training_event::what);
  REQUIRE(restored != of.events.end());
  CHECK((restored->step >= 10 && restored->step < 30));
  // Without checkpoints, it begins anew.
  losses = 0;
  how.checkpoints.clear();
  how.checkpoint_steps = 0;
  training_run poor{of.g, of.step(threads), how};
  CHECK(poor.run(s).step == 60);
  CHECK(of.value(s, of.count) == 60);
}

TEST_CASE("what is saved in a pause is a consistent cut, also with many steps at once") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(400, folder.path() + "/model");
  how.keep.keep_newest = 0;
  how.checkpoint_steps = 50;
  how.pause_to_checkpoint = true;
  how.keep.by_tasks = GENERATE(false, true); // which read a moment later
  training_run training{of.g, of.step(GENERATE(1, 8)), how};
  CHECK(training.run(s).step == 400);
  CHECK(of.value(s, of.sum) == sum_below(400));
  size_t checked = 0;
  checkpoint_folder all{real_files(), folder.path() + "/model"};
  for (const auto& one : value_or_throw(all.list())) {
    auto from = value_or_throw(checkpoint_reader::open(real_files(), all.path_of(one.name)));
    CHECK(*value_or_throw(from.read("count")).data<float>() == static_cast<float>(one.step));
    ++checked;
  }
  CHECK(checked >= 2);
}

TEST_CASE("a run keeps the best of its checkpoints, by the metric that it is given") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  auto how = of.numbers(10, folder.path() + "/model");
  how.keep = {.keep_newest = 1, .keep_best = 2, .lower_is_better = true};
  how.checkpoint_steps = 2;
  std::vector<int64_t> asked;
  how.metric = [&](int64_t step) {
    asked.push_back(step);
    CHECK(of.value(s, of.count) == static_cast<float>(step)); // it may run steps of its own
    return std::abs(static_cast<double>(step) - 5);
  };
  training_run training{of.g, of.step(), how};
  CHECK(training.run(s).step == 10);
  CHECK(asked == std::vector<int64_t>{2, 4, 6, 8, 10});
  std::vector<int64_t> left;
  for (const auto& one :
       value_or_throw(checkpoint_folder{real_files(), folder.path() + "/model"}.list()))
    left.push_back(one.step);
  CHECK(left == std::vector<int64_t>{4, 6, 10});
}

TEST_CASE("a checkpoint that cannot be written ends the run") {
  temporary_folder folder;
  adder of;
  auto s = session::local();
  std::ofstream{folder.path() + "/file"} << "in the way";
  auto how = of.numbers(1000, folder.path() + "/file/model");
  how.resume = false;
  how.checkpoint_steps = 1;
  training_run training{of.g, of.step(), how};
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() != error_kind::ok);
  CHECK_THAT(why.what(), Contains(folder.path()));
}

TEST_CASE("summaries are written every so many steps") {
  temporary_folder folder;
  adder of;
  summaries shown;
  shown.scalar("sum", of.sum);
  auto how = of.numbers(20);
  how.summaries = folder.path() + "/logs";
  how.summary = shown.merged();
  how.summary_steps = 8;
  auto s = session::local();
  {
    training_run training{of.g, of.step(), how};
    training.run(s);
  }
  using written = std::vector<std::pair<std::string, int64_t>>;
  auto tags_in = [](const std::string& logs) {
    written tags;
    for (const auto& file : std::filesystem::directory_iterator{logs}) {
      auto reader = value_or_throw(open_tfrecord(real_files(), file.path()));
      for (std::string record; value_or_throw(reader->next(record));) {
        auto read = value_or_throw(parse_event(record));
        for (const auto& one : read.values)
          if (one.tag != "steps_per_second")
            tags.emplace_back(one.tag, read.step);
      }
    }
    return tags;
  };
  CHECK(tags_in(how.summaries) ==
        written{{"sum", 1}, {"loss", 1}, {"sum", 9}, {"loss", 9}, {"sum", 17}, {"loss", 17}});
  auto logs_of = [&](const char* name, edge loss, edge summary) {
    how.summaries = folder.path() + name;
    how.summary = summary;
    how.summary_steps = 20;
    auto step = of.step();
    step.loss = loss;
    training_run{of.g, step, how}.run(s);
    return tags_in(how.summaries);
  };
  CHECK(logs_of("/no-loss", {}, {}).empty());
  CHECK(logs_of("/loss", of.loss, {}) == written{{"loss", 1}});
  shown.scalar("loss", of.loss); // then it need not be said again
  CHECK(logs_of("/both", of.loss, shown.merged()) == written{{"sum", 1}, {"loss", 1}});
}

TEST_CASE("a run with an input pipeline ends with the data, and starts it again after a loss") {
  temporary_folder folder;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer({1.0f, 2.0f, 3.0f, 4.0f}, {.epochs = 5, .shuffle = false});
  auto batch = input.batch({row}, 2);
  auto total = g.variable(0.0f, "total");
  auto loss = mean(batch[0]);
  auto* train = assign_add(total, sum(batch[0])).node;
  // The reset below may leave a step that waits for rows which nobody brings any more.
  auto s = session::local({.timeout = std::chrono::seconds{2}});
  training_options how{.input = &input,
                       .checkpoints = folder.path() + "/model",
                       .checkpoint_steps = 2,
                       .retry_seconds = 0.001};
  training_run training{g, {.loss = loss, .train = {train}}, how};
  auto report = training.run(s);
  CHECK((report.why == training_end::data_ended && report.step == 10));
  CHECK(to_scalar<float>(s.fetch(total)) == 50);

  std::atomic<int> losses{0};
  how.checkpoints = folder.path() + "/other";
  how.on_step = [&](const training_progress& now) {
    if (now.step == 5 && losses++ == 0)
      s.reset();
  };
  training_run again{g, {.loss = loss, .train = {train}}, how};
  s.reset();
  report = again.run(s);
  CHECK(report.why == training_end::data_ended);
  CHECK(report.retries >= 1);
  CHECK((report.step == 12 || report.step == 14)); // 2 or 4 of before, and all of the data again
  CHECK(to_scalar<float>(s.fetch(total)) == static_cast<float>(report.step) * 5);
}

TEST_CASE("a training run refuses what cannot be trained") {
  adder of;
  auto refused = [&](const training_step& step, const training_options& how) {
    auto why = error_of([&] { training_run training(of.g, step, how); });
    CHECK(why.kind() == error_kind::invalid_argument);
    return std::string{why.what()};
  };
  CHECK_THAT(refused({.feeds = {of.x}}, {}), Contains("something to train"));
  CHECK_THAT(refused({.loss = of.g.constant(1), .train = {of.train}}, {}), Contains("floating"));
  CHECK_THAT(refused({.loss = of.g.constant({1.0f, 2.0f}), .train = {of.train}}, {}),
             Contains("one number"));
  CHECK_THAT(refused(of.step(), {.checkpoint_steps = 5}), Contains("folder"));
  CHECK_THAT(refused(of.step(), {.checkpoints = "none", .keep = {.keep_best = 2}}),
             Contains("keep_best needs a metric"));
  CHECK_THAT(refused(of.step(), {.metric = [](int64_t) { return 1.0; }}), Contains("folder"));
  CHECK_THAT(refused(of.step(0), {}), Contains("at_once"));
  graph_builder empty;
  auto why = error_of([&] { training_run training(empty, {.train = {no_op(empty)}}, {}); });
  CHECK_THAT(why.what(), Contains("no variables"));
}

} // namespace troupe::test::training_run_test
