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

TEST_CASE("a training run ends at its last step, saves, and the next run resumes from there") {
  temporary_folder folder;
  auto model_path = folder.path() + "/model";
  {
    adder model;
    auto s = session::local();
    std::vector<int64_t> reported_steps;
    auto options = model.numbered_options(10, model_path);
    options.checkpoint_steps = 4;
    options.on_step = [&](const training_progress& now) {
      reported_steps.push_back(now.step);
      CHECK(now.loss == static_cast<double>(1 - now.step));
    };
    training_run training{model.g, model.step(), options};
    auto report = training.run(s);
    CHECK(report.why == training_end::last_step);
    CHECK((report.step == 10 && report.restored_from == -1 && report.retries == 0));
    CHECK(report.loss == -9);
    CHECK(report.checkpoint == model_path + "/step-10");
    CHECK(reported_steps == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(model.kinds() == std::vector{kind::initialized, kind::saving, kind::saved, kind::saving,
                                       kind::saved, kind::saved});
    CHECK((model.events[1].step == 4 && model.events[3].step == 8 && model.events[5].step == 10));
  }
  adder restored_model;
  auto s = session::local();
  training_run training{restored_model.g, restored_model.step(),
                        restored_model.numbered_options(15, model_path)};
  auto report = training.run(s);
  CHECK((report.restored_from == 10 && report.step == 15));
  CHECK(restored_model.value(s, restored_model.sum) == sum_below(15));
  CHECK(restored_model.value(s, restored_model.count) == 15);
  CHECK(restored_model.kinds() == std::vector{kind::restored, kind::saved});
  // All steps are done.
  auto idle = training.run(s);
  CHECK((idle.step == 15 && idle.checkpoint == model_path + "/step-15"));
  adder fresh_model;
  auto options = fresh_model.numbered_options(3, model_path);
  options.resume = false;
  training_run fresh{fresh_model.g, fresh_model.step(), options};
  CHECK(fresh.run(s).step == 3);
  CHECK(fresh_model.value(s, fresh_model.sum) == sum_below(3));
}

TEST_CASE("a training run reports which of its conditions ended it") {
  adder model;
  auto s = session::local();
  auto run = [&](const training_options& settings) {
    training_run training{model.g, model.step(), settings};
    return training.run(s);
  };
  auto options = model.numbered_options(-1);
  options.batch = [](int64_t n) {
    return n < 5 ? std::optional{std::vector{tensor::scalar(1.0f)}} : std::nullopt;
  };
  auto report = run(options);
  CHECK((report.why == training_end::data_ended && report.step == 5));
  options = model.numbered_options(-1);
  options.when = [](const training_progress& now) { return now.loss < -6; };
  report = run(options);
  CHECK((report.why == training_end::condition && report.step == 8));
  options = model.numbered_options(-1);
  options.time_limit = 0.02;
  CHECK(run(options).why == training_end::time_over);
  options = model.numbered_options(-1);
  options.batch = [](int64_t n) { return std::vector{tensor::scalar(n < 3 ? 1.0f : NAN)}; };
  report = run(options);
  CHECK((report.why == training_end::not_a_number && report.step == 4));
  CHECK(to_string(report.why) == "the loss is not a finite number");
  training_run stopped_run{model.g, model.step(), model.numbered_options(-1)};
  std::jthread stopper{[&] { stopped_run.request_stop(); }};
  CHECK(stopped_run.run(s).why == training_end::asked);
}

TEST_CASE("a NaN loss is not saved, and earlier checkpoints stay") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder.path() + "/model");
  options.checkpoint_steps = 2;
  options.batch = [](int64_t n) { return std::vector{tensor::scalar(n < 5 ? 1.0f : NAN)}; };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK((report.why == training_end::not_a_number && report.step == 6));
  CHECK(report.checkpoint.ends_with("step-4"));
}

TEST_CASE("a run whose stop is requested saves at exactly that step") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder.path() + "/model");
  std::optional<training_run> training;
  options.on_step = [&](const training_progress& now) {
    if (now.step == 100)
      training->request_stop();
  };
  training.emplace(model.g, model.step(3), options);
  auto report = training->run(s);
  CHECK(report.why == training_end::asked);
  CHECK(report.step >= 100);
  saver saved{model.g, {model.count}, folder.path() + "/model"};
  s.reset();
  CHECK(saved.restore_partly(s)->step == report.step);
  CHECK(model.value(s, model.count) == static_cast<float>(report.step));
}

TEST_CASE("a transient error is reported, and its step runs again with the same number") {
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(10);
  std::atomic<int> failures{0};
  options.batch = [&](int64_t n) {
    if (n == 6 && failures++ < 3)
      throw error{error_kind::unavailable, concat("failure ", failures.load())};
    return std::vector{tensor::scalar(static_cast<float>(n))};
  };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK((report.step == 10 && report.retries == 3));
  CHECK(model.value(s, model.sum) == sum_below(10));
  CHECK(model.value(s, model.count) == 10);
  REQUIRE(model.kinds() == std::vector{kind::initialized, kind::retrying, kind::recovered,
                                       kind::retrying, kind::recovered, kind::retrying,
                                       kind::recovered});
  CHECK((model.events[1].retry == 1 && model.events[3].retry == 2 && model.events[5].retry == 3));
  CHECK_THAT(model.events[5].cause->what(), Contains("failure 1"));
  CHECK_THAT(model.events[5].text, Contains("failure 3"));
  CHECK(model.events[1].step == 6);
}

TEST_CASE("a run gives up after several attempts, and throws the first cause") {
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(10);
  options.retries = 4;
  int calls = 0;
  options.batch = [&](int64_t) -> std::optional<std::vector<tensor>> {
    throw error{error_kind::aborted, concat("failure ", ++calls)};
  };
  training_run training{model.g, model.step(), options};
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() == error_kind::aborted);
  CHECK_THAT(thrown.what(), Contains("failure 1; gave up after 4 attempts"));
  CHECK(calls == 5);
  options.batch = [&](int64_t) -> std::optional<std::vector<tensor>> {
    throw error{error_kind::invalid_argument, "a mistake"};
  };
  training_run mismatched_run{model.g, model.step(3), options};
  thrown = error_of([&] { mismatched_run.run(s); });
  CHECK(thrown.kind() == error_kind::invalid_argument);
  options.batch = [](int64_t) -> std::optional<std::vector<tensor>> {
    throw std::runtime_error{"other"};
  };
  training_run second_run{model.g, model.step(3), options};
  CHECK_THROWS_WITH(second_run.run(s), "other");
}

TEST_CASE("a run that has lost its variables resumes from the newest checkpoint") {
  temporary_folder folder;
  auto threads = GENERATE(1, 4);
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(60, folder.path() + "/model");
  options.checkpoint_steps = 10;
  options.pause_to_checkpoint = true;
  std::atomic<int> losses{0};
  auto next = options.batch;
  options.batch = [&, next](int64_t n) {
    // As by a restart of the task.
    if (n == 25 && losses++ == 0)
      s.reset();
    return next(n);
  };
  training_run training{model.g, model.step(threads), options};
  auto report = training.run(s);
  CHECK(report.step == 60);
  CHECK(report.retries >= 1);
  CHECK(model.value(s, model.count) == 60);
  CHECK(model.value(s, model.sum) == sum_below(60));
  auto restored = std::ranges::find(model.events, kind::restored, &training_event::what);
  REQUIRE(restored != model.events.end());
  CHECK((restored->step >= 10 && restored->step < 30));
  // Without checkpoints, training begins again.
  losses = 0;
  options.checkpoints.clear();
  options.checkpoint_steps = 0;
  training_run limited_run{model.g, model.step(threads), options};
  CHECK(limited_run.run(s).step == 60);
  CHECK(model.value(s, model.count) == 60);
}

TEST_CASE("a checkpoint that is saved in a pause is consistent, also with concurrent steps") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(400, folder.path() + "/model");
  options.keep.keep_newest = 0;
  options.checkpoint_steps = 50;
  options.pause_to_checkpoint = true;
  options.keep.by_tasks = GENERATE(false, true); // tasks read the variables a moment later
  training_run training{model.g, model.step(GENERATE(1, 8)), options};
  CHECK(training.run(s).step == 400);
  CHECK(model.value(s, model.sum) == sum_below(400));
  size_t checked = 0;
  checkpoint_folder checkpoints{real_files(), folder.path() + "/model"};
  for (const auto& checkpoint : value_or_throw(checkpoints.list())) {
    auto from =
        value_or_throw(checkpoint_reader::open(real_files(), checkpoints.path_of(checkpoint.name)));
    CHECK(*value_or_throw(from.read("count")).data<float>() == static_cast<float>(checkpoint.step));
    ++checked;
  }
  CHECK(checked >= 2);
}

TEST_CASE("a run keeps the best of its checkpoints, by the given metric") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(10, folder.path() + "/model");
  options.keep = {.keep_newest = 1, .keep_best = 2, .lower_is_better = true};
  options.checkpoint_steps = 2;
  std::vector<int64_t> metric_steps;
  options.metric = [&](int64_t step) {
    metric_steps.push_back(step);
    // The callback may run steps of its own.
    CHECK(model.value(s, model.count) == static_cast<float>(step));
    return std::abs(static_cast<double>(step) - 5);
  };
  training_run training{model.g, model.step(), options};
  CHECK(training.run(s).step == 10);
  CHECK(metric_steps == std::vector<int64_t>{2, 4, 6, 8, 10});
  std::vector<int64_t> steps_left;
  for (const auto& checkpoint :
       value_or_throw(checkpoint_folder{real_files(), folder.path() + "/model"}.list()))
    steps_left.push_back(checkpoint.step);
  CHECK(steps_left == std::vector<int64_t>{4, 6, 10});
}

TEST_CASE("a checkpoint that cannot be written ends the run") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  std::ofstream{folder.path() + "/file"} << "in the way";
  auto options = model.numbered_options(1000, folder.path() + "/file/model");
  options.resume = false;
  options.checkpoint_steps = 1;
  training_run training{model.g, model.step(), options};
  auto thrown = error_of([&] { training.run(s); });
  CHECK(thrown.kind() != error_kind::ok);
  CHECK_THAT(thrown.what(), Contains(folder.path()));
}

TEST_CASE("summaries are written at an interval of steps") {
  temporary_folder folder;
  adder model;
  summaries summary_set;
  summary_set.scalar("sum", model.sum);
  auto options = model.numbered_options(20);
  options.summaries = folder.path() + "/logs";
  options.summary = summary_set.merged();
  options.summary_steps = 8;
  auto s = session::local();
  {
    training_run training{model.g, model.step(), options};
    training.run(s);
  }
  using written = std::vector<std::pair<std::string, int64_t>>;
  auto tags_in = [](const std::string& logs) {
    written tags;
    for (const auto& file : std::filesystem::directory_iterator{logs}) {
      auto reader = value_or_throw(open_tfrecord(real_files(), file.path()));
      for (std::string record; value_or_throw(reader->next(record));) {
        auto read = value_or_throw(parse_event(record));
        for (const auto& summary_value : read.values)
          if (summary_value.tag != "steps_per_second")
            tags.emplace_back(summary_value.tag, read.step);
      }
    }
    return tags;
  };
  CHECK(tags_in(options.summaries) ==
        written{{"sum", 1}, {"loss", 1}, {"sum", 9}, {"loss", 9}, {"sum", 17}, {"loss", 17}});
  auto logs_of = [&](const char* name, edge loss, edge summary) {
    options.summaries = folder.path() + name;
    options.summary = summary;
    options.summary_steps = 20;
    auto step = model.step();
    step.loss = loss;
    training_run{model.g, step, options}.run(s);
    return tags_in(options.summaries);
  };
  CHECK(logs_of("/no-loss", {}, {}).empty());
  CHECK(logs_of("/loss", model.loss, {}) == written{{"loss", 1}});
  summary_set.scalar("loss", model.loss); // then no summary has to be given
  CHECK(logs_of("/both", model.loss, summary_set.merged()) == written{{"sum", 1}, {"loss", 1}});
}

TEST_CASE("a run with an input pipeline ends with the data, and restarts it after a loss") {
  temporary_folder folder;
  graph_builder g;
  input_pipeline input{g};
  auto row = input.producer({1.0f, 2.0f, 3.0f, 4.0f}, {.epochs = 5, .shuffle = false});
  auto batch = input.batch({row}, 2);
  auto total = g.variable(0.0f, "total");
  auto loss = mean(batch[0]);
  auto* train = assign_add(total, sum(batch[0])).node;
  // The reset below may leave a step that waits for rows which no runner enqueues any more.
  auto s = session::local({.timeout = std::chrono::seconds{2}});
  training_options options{.input = &input,
                           .checkpoints = folder.path() + "/model",
                           .checkpoint_steps = 2,
                           .retry_seconds = 0.001};
  training_run training{g, {.loss = loss, .train = {train}}, options};
  auto report = training.run(s);
  CHECK((report.why == training_end::data_ended && report.step == 10));
  CHECK(to_scalar<float>(s.fetch(total)) == 50);

  std::atomic<int> losses{0};
  options.checkpoints = folder.path() + "/other";
  options.on_step = [&](const training_progress& now) {
    if (now.step == 5 && losses++ == 0)
      s.reset();
  };
  training_run second_run{g, {.loss = loss, .train = {train}}, options};
  s.reset();
  report = second_run.run(s);
  CHECK(report.why == training_end::data_ended);
  CHECK(report.retries >= 1);
  // 2 or 4 earlier steps, and all of the data again.
  CHECK((report.step == 12 || report.step == 14));
  CHECK(to_scalar<float>(s.fetch(total)) == static_cast<float>(report.step) * 5);
}

TEST_CASE("a training run refuses invalid models") {
  adder model;
  auto refused = [&](const training_step& step, const training_options& options) {
    auto thrown = error_of([&] { training_run training(model.g, step, options); });
    CHECK(thrown.kind() == error_kind::invalid_argument);
    return std::string{thrown.what()};
  };
  CHECK_THAT(refused({.feeds = {model.x}}, {}), Contains("something to train"));
  CHECK_THAT(refused({.loss = model.g.constant(1), .train = {model.train}}, {}),
             Contains("floating"));
  CHECK_THAT(refused({.loss = model.g.constant({1.0f, 2.0f}), .train = {model.train}}, {}),
             Contains("one number"));
  CHECK_THAT(refused(model.step(), {.checkpoint_steps = 5}), Contains("folder"));
  CHECK_THAT(refused(model.step(), {.checkpoints = "none", .keep = {.keep_best = 2}}),
             Contains("keep_best needs a metric"));
  CHECK_THAT(refused(model.step(), {.metric = [](int64_t) { return 1.0; }}), Contains("folder"));
  CHECK_THAT(refused(model.step(0), {}), Contains("at_once"));
  graph_builder empty;
  auto thrown = error_of([&] { training_run training(empty, {.train = {no_op(empty)}}, {}); });
  CHECK_THAT(thrown.what(), Contains("no variables"));
}

} // namespace troupe::test::training_run_test
