// The promises of training_run.hpp, sentence by sentence, where no other test covers them.
#include "tests/api/train/loop/adder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <thread>

namespace troupe::test::training_promises_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = training_event::kind;
namespace fs = std::filesystem;

constexpr auto infinity = std::numeric_limits<float>::infinity();

std::vector<int64_t> steps_in(const std::string& folder) {
  std::vector<int64_t> steps;
  for (const auto& checkpoint : value_or_throw(checkpoint_folder{real_files(), folder}.list()))
    steps.push_back(checkpoint.step);
  return steps;
}

std::vector<int64_t> steps_of(const adder& model, kind event_kind) {
  std::vector<int64_t> steps;
  for (const auto& event : model.events)
    if (event.what == event_kind)
      steps.push_back(event.step);
  return steps;
}

bool all_values_are_finite(const std::string& folder) {
  checkpoint_folder checkpoints{real_files(), folder};
  for (const auto& checkpoint : value_or_throw(checkpoints.list())) {
    auto from =
        value_or_throw(checkpoint_reader::open(real_files(), checkpoints.path_of(checkpoint.name)));
    for (const auto* name : {"sum", "count"})
      if (!std::isfinite(*value_or_throw(from.read(name)).data<float>()))
        return false;
  }
  return true;
}

training_options without_feeds(int64_t steps, std::vector<training_event>* events = nullptr) {
  training_options options{.last_step = steps, .retry_seconds = 0.001};
  if (events)
    options.on_event = [events](const training_event& event) { events->push_back(event); };
  return options;
}

} // namespace

// -- losses ---------------------------------------------------------------------------------------

TEST_CASE("an infinite loss ends the run, and the last good checkpoint stays the newest") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder / "m");
  auto bad_loss =
      GENERATE(as<float>{}, infinity, -infinity, std::numeric_limits<float>::quiet_NaN());
  options.keep.keep_newest = 1;
  options.checkpoint_steps = 1;
  options.batch = [&](int64_t n) { return std::vector{tensor::scalar(n == 3 ? bad_loss : 1.0f)}; };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK(report.why == training_end::not_a_number);
  CHECK(to_string(report.why) == "the loss is not a finite number");
  CHECK(report.step == 4);
  CHECK_FALSE(std::isfinite(report.loss));
  CHECK(report.checkpoint == folder / "m/step-3");
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{3});
  CHECK(all_values_are_finite(folder / "m"));
}

TEST_CASE("weights that an infinite loss makes NaN are in no checkpoint") {
  temporary_folder folder;
  graph_builder g;
  auto w = g.variable({1.0f, 2.0f}, "w");
  auto x = g.placeholder(dtype::f32, {2}, "x");
  auto loss = -sum(log(x * w));
  auto* train = gradient_descent{50.0f}.minimize(loss);
  auto s = session::local();
  training_run training{
      g,
      {.feeds = {x}, .loss = loss, .train = {train}},
      {.batch =
           [](int64_t n) {
             return std::vector{tensor::vector<float>({1.0f, n < 2 ? 1.0f : 0.0f})};
           },
       .checkpoints = folder / "m",
       .keep = {.keep_newest = 1},
       .checkpoint_steps = 1,
       .last_step = 10}};
  auto report = training.run(s);
  CHECK(report.why == training_end::not_a_number);
  REQUIRE(saver{g, folder / "m"}.restore(s));
  auto restored = s.fetch(w);
  for (auto number : restored.values<float>())
    CHECK(std::isfinite(number));
}

namespace {

// Beside the adder's steps, one step that adds infinity to the sum at once, and whose loss is known
// only after an element is put into a queue.
struct slow_loss {
  adder summed;
  edge queue = fifo_queue(summed.g, {dtype::f32}, {.shapes = {partial_shape{}}}, "losses");
  edge next = summed.g.placeholder(dtype::f32, shape{}, "next");
  node* put = queue_enqueue(queue, {next});
  training_step step = [this] {
    auto add = assign_add(summed.sum, infinity).node;
    auto order = summed.g.after({add});
    auto loss = queue_dequeue(queue, {dtype::f32})[0];
    return training_step{.feeds = {summed.x}, .loss = loss, .train = {add}};
  }();
};

} // namespace

TEST_CASE("with concurrent steps, a checkpoint waits for the losses of all steps in it") {
  watchdog watch;
  temporary_folder folder;
  slow_loss model;
  auto& summed = model.summed;
  auto s = session::local();
  auto options = summed.numbered_options(-1, folder / "m");
  auto ends_badly = GENERATE(true, false);
  options.keep.by_tasks = GENERATE(false, true);
  options.checkpoint_steps = 2;
  std::atomic<bool> saving{false}, saved{false};
  options.batch = [](int64_t) { return std::vector{tensor::scalar(1.0f)}; };
  options.on_step = [&](const training_progress& now) {
    for (int i = 0; i < 10'000 && now.replica == 0 && !std::isinf(summed.value(s, summed.sum)); ++i)
      std::this_thread::sleep_for(1ms); // until the slow step has changed the sum
  };
  options.on_event = [&](const training_event& event) {
    if (event.what == kind::saving)
      saving = true;
    if (event.what == kind::saved)
      saved = true;
  };
  s.run(summed.g.initializer());
  options.resume = false;
  training_run training{summed.g, {summed.step(), model.step}, options};
  std::jthread decides{[&] {
    for (int i = 0; i < 20'000 && !saving; ++i)
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(300ms);
    CHECK_FALSE(saved);
    CHECK((!fs::exists(folder / "m") || steps_in(folder / "m").empty()));
    for (int i = 0; i < 20'000 && !saved; ++i) {
      s.run({{model.next, ends_badly ? infinity : 1.0f}}, {}, {model.put});
      if (ends_badly)
        break;
      std::this_thread::sleep_for(1ms);
    }
    if (!ends_badly) {
      training.request_stop();
      for (int i = 0; i < 20; ++i) // steps that wait for a loss
        s.run({{model.next, 1.0f}}, {}, {model.put});
    }
  }};
  auto report = training.run(s);
  if (ends_badly) {
    CHECK(report.why == training_end::not_a_number);
    CHECK(steps_in(folder / "m").empty());
    CHECK(report.checkpoint.empty());
  } else {
    CHECK(report.why == training_end::asked);
    CHECK(saved);
  }
}

TEST_CASE("a bad loss counts though the run is about to end for another reason") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(8, folder / "m");
  std::atomic<int> waiting{0};
  options.batch = [&](int64_t n) { // the last two steps end concurrently
    if (n >= 6) {
      ++waiting;
      for (int i = 0; i < 5000 && waiting < 2; ++i)
        std::this_thread::sleep_for(1ms);
    }
    if (n == 6)
      std::this_thread::sleep_for(50ms);
    return std::vector{tensor::scalar(n == 6 ? infinity : 1.0f)};
  };
  options.when = [](const training_progress& now) { return now.step >= 7; };
  training_run training{model.g, model.step(2), options};
  auto report = training.run(s);
  CHECK(report.why == training_end::not_a_number);
  CHECK(std::isinf(report.loss));
  CHECK(steps_in(folder / "m").empty());
}

TEST_CASE("NaN losses are accepted on request") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(4, folder / "m");
  options.stop_at_nan = false;
  options.batch = [](int64_t n) { return std::vector{tensor::scalar(n == 1 ? infinity : 1.0f)}; };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK((report.why == training_end::last_step && report.step == 4));
  CHECK(report.checkpoint == folder / "m/step-4");
}

// -- events and checkpoints -----------------------------------------------------------------------

TEST_CASE(
    "each checkpoint that is reported as begun is reported as saved, with its path, at once") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(31, folder / "m");
  options.keep.keep_newest = 0;
  options.keep.by_tasks = GENERATE(false, true);
  options.checkpoint_steps = 10;
  std::atomic<int64_t> saved{0};
  auto tell = options.on_event;
  options.on_event = [&](const training_event& event) {
    tell(event);
    if (event.what != kind::saved)
      return;
    CHECK(event.text == concat(folder / "m/step-", event.step));
    CHECK(fs::exists(event.text + "/manifest.json"));
    CHECK(value_or_throw(checkpoint_folder{real_files(), folder / "m"}.latest()) ==
          concat("step-", event.step));
    saved = event.step;
  };
  options.on_step = [&](const training_progress& now) { // long before the next checkpoint is due
    if (now.step % 10 == 5 && now.step > 10)
      for (int i = 0; i < 10'000 && saved != now.step - 5; ++i)
        std::this_thread::sleep_for(1ms);
    if (now.step % 10 == 5 && now.step > 10)
      CHECK(saved == now.step - 5);
  };
  training_run training{model.g, model.step(), options};
  training.run(s);
  CHECK(model.kinds() == std::vector{kind::initialized, kind::saving, kind::saved, kind::saving,
                                     kind::saved, kind::saving, kind::saved, kind::saved});
  CHECK(steps_of(model, kind::saved) == std::vector<int64_t>{10, 20, 30, 31});
}

TEST_CASE("checkpoints are at multiples of checkpoint_steps, also after a run that resumes") {
  temporary_folder folder;
  for (auto last : {7, 21}) {
    adder model;
    auto s = session::local();
    auto options = model.numbered_options(last, folder / "m");
    options.keep.keep_newest = 0;
    options.checkpoint_steps = 5;
    training_run training{model.g, model.step(), options};
    training.run(s);
  }
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{5, 7, 10, 15, 20, 21});
}

TEST_CASE("checkpoints are saved at intervals of seconds") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder / "m");
  options.checkpoint_seconds = 0.05;
  std::atomic<int> saved{0};
  options.on_event = [&](const training_event& event) { saved += event.what == kind::saved; };
  options.on_step = [&](const training_progress&) { std::this_thread::sleep_for(1ms); };
  options.when = [&](const training_progress&) { return saved >= 3; };
  training_run training{model.g, model.step(), options};
  CHECK(training.run(s).why == training_end::condition);
}

TEST_CASE("a condition on the metric of a checkpoint ends the run with that checkpoint") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(-1, folder / "m");
  options.keep.keep_newest = 0;
  options.checkpoint_steps = 5;
  std::vector<int64_t> measured_steps, asked_steps;
  options.metric = [&](int64_t step) {
    measured_steps.push_back(step);
    return static_cast<double>(step);
  };
  options.when = [&](const training_progress& now) {
    asked_steps.push_back(now.step);
    return !measured_steps.empty() && measured_steps.back() >= 10;
  };
  training_run training{model.g, model.step(), options};
  auto report = training.run(s);
  CHECK((report.why == training_end::condition && report.step == 10));
  CHECK(measured_steps == std::vector<int64_t>{5, 10});
  CHECK(asked_steps == std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); // once for each step
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{5, 10});
  CHECK(report.checkpoint == folder / "m/step-10");
}

TEST_CASE("a run that fails saves no checkpoint beyond the existing ones") {
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(100, folder / "m");
  options.checkpoint_steps = 4;
  auto next = options.batch;
  options.batch = [&](int64_t n) -> std::optional<std::vector<tensor>> {
    if (n == 6)
      throw error{error_kind::invalid_argument, "a mistake"};
    return next(n);
  };
  training_run training{model.g, model.step(), options};
  CHECK_THAT(error_of([&] { training.run(s); }).what(), Contains("a mistake"));
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{4});
}

// -- going on with a checkpoint of another graph --------------------------------------------------

namespace {

// A model with one renamed variable in version 2, and another of a different shape.
struct changed_model {
  graph_builder g;
  variable_handle kept = g.variable(1.0f, "kept"), resized, changed_name;
  node* train;

  explicit changed_model(int version) {
    resized = version == 1 ? g.variable({1.0f, 2.0f}, "resized")
                           : g.variable({7.0f, 8.0f, 9.0f}, "resized");
    changed_name = version == 1 ? g.variable(3.0f, "old") : g.variable(5.0f, "fresh");
    train = assign_add(kept, 1.0f).node;
  }
};

} // namespace

TEST_CASE("a run that cannot resume lists the new, the missing, and the reshaped variables") {
  temporary_folder folder;
  {
    changed_model first{1};
    auto s = session::local();
    auto options = without_feeds(3);
    options.checkpoints = folder / "m";
    training_run{first.g, {.train = {first.train}}, options}.run(s);
  }
  changed_model second{2};
  std::vector<training_event> events;
  auto options = without_feeds(5, &events);
  options.checkpoints = folder / "m";
  auto s = session::local();
  auto thrown = error_of([&] {
    training_run{second.g, {.train = {second.train}}, options}.run(s);
  });
  CHECK(thrown.kind() == error_kind::failed_precondition);
  CHECK_THAT(
      thrown.what(),
      Contains("m/step-3: does not fit the graph; training_options::partial takes what fits") &&
          Contains("fresh: is not in the checkpoint") &&
          Contains("old: is in the checkpoint, and not in the graph") &&
          Contains("resized: f32[3] in the graph, f32[2] in the checkpoint"));
  CHECK(steps_in(folder / "m") == std::vector<int64_t>{3});

  options.partial = true;
  training_run resumed_run{second.g, {.train = {second.train}}, options};
  auto report = resumed_run.run(s);
  CHECK((report.restored_from == 3 && report.step == 5));
  CHECK(to_scalar<float>(s.fetch(second.kept)) == 6); // 1, and 5 steps
  CHECK(to_scalar<float>(s.fetch(second.changed_name)) == 5);
  CHECK(s.fetch(second.resized).values<float>()[2] == 9);
  std::string warning_text;
  for (const auto& event : events)
    if (event.what == kind::warning)
      warning_text += event.text + '\n';
  CHECK_THAT(warning_text, Contains("m/step-3: does not have fresh\n") &&
                               Contains("resized: f32[3] in the graph") &&
                               Contains("m/step-3: has old, which the graph does not have"));
}

// -- ends, numbers and threads --------------------------------------------------------------------

TEST_CASE("a run whose stop is requested before its begin ends at once") {
  adder model;
  auto s = session::local();
  training_run training{model.g, model.step(), model.numbered_options(-1)};
  training.request_stop();
  auto report = training.run(s);
  CHECK((report.why == training_end::asked && report.step == 0));
}

TEST_CASE("the reasons of a run's end are printed in words") {
  std::set<std::string_view> texts;
  for (auto end_reason :
       {training_end::last_step, training_end::time_over, training_end::asked,
        training_end::condition, training_end::data_ended, training_end::not_a_number})
    texts.insert(to_string(end_reason));
  CHECK(texts.size() == 6);
  CHECK(texts.contains("the last step was done"));
}

TEST_CASE("steps of each kind run concurrently, on as many threads, with one number each") {
  watchdog watch;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(60);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::set<int64_t> numbers, steps;
  std::set<size_t> replicas;
  std::atomic<int> inside{0}, most{0};
  options.batch = [&](int64_t n) {
    auto now = ++inside;
    for (auto previous_most = most.load();
         previous_most < now && !most.compare_exchange_weak(previous_most, now);) {
    }
    if (n < 5) // until all five threads have taken a step
      for (int i = 0; i < 5000 && most < 5; ++i)
        std::this_thread::sleep_for(1ms);
    --inside;
    std::lock_guard guard{mutex};
    threads.insert(std::this_thread::get_id());
    CHECK(numbers.insert(n).second);
    return std::vector{tensor::scalar(static_cast<float>(n))};
  };
  options.on_step = [&](const training_progress& now) {
    std::lock_guard guard{mutex};
    CHECK(now.steps_per_second > 0);
    CHECK(steps.insert(now.step).second);
    replicas.insert(now.replica);
  };
  training_run training{model.g, {model.step(2), model.step(3)}, options};
  CHECK(training.run(s).step == 60);
  CHECK(model.value(s, model.sum) == sum_below(60));
  CHECK(threads.size() == 5);
  CHECK(threads.contains(std::this_thread::get_id())); // also on the caller's thread
  CHECK(most == 5);
  CHECK((*numbers.begin() == 0 && *numbers.rbegin() == 59));
  CHECK((*steps.begin() == 1 && *steps.rbegin() == 60));
  CHECK(replicas == std::set<size_t>{0, 1});
}

TEST_CASE("events and conditions are called one at a time") {
  watchdog watch;
  temporary_folder folder;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(200, folder / "m");
  options.checkpoint_steps = 3;
  options.summary_steps = 1;
  std::atomic<int> in_events{0}, in_conditions{0};
  std::atomic<bool> is_together{false};
  auto run_alone = [&](std::atomic<int>& inside) {
    is_together = is_together || ++inside > 1;
    std::this_thread::sleep_for(100us);
    --inside;
  };
  options.on_event = [&](const training_event&) { run_alone(in_events); };
  options.when = [&](const training_progress&) {
    run_alone(in_conditions);
    return false;
  };
  training_run training{model.g, model.step(4), options};
  CHECK(training.run(s).step == 200);
  CHECK_FALSE(is_together);
}

TEST_CASE("without batches steps have no feeds, and an initializer may be the caller's own") {
  graph_builder g;
  auto w = g.variable(1.0f, "w");
  auto* other_assign = assign(w, 10.0f).node;
  auto* train = assign_add(w, 1.0f).node;
  auto s = session::local();
  auto options = without_feeds(3);
  options.initializer = other_assign;
  options.trace_steps = 2;
  training_run training{g, {.train = {train}}, options};
  auto report = training.run(s);
  CHECK(to_scalar<float>(s.fetch(w)) == 13);
  CHECK(report.loss == 0);
  CHECK(report.trace.size() == 2);
  CHECK(report.checkpoint.empty());
}

TEST_CASE("the wait between attempts doubles") {
  watchdog watch;
  adder model;
  auto s = session::local();
  auto options = model.numbered_options(3);
  options.retry_seconds = 0.02;
  options.retries = 4;
  std::vector<std::chrono::steady_clock::time_point> calls;
  options.batch = [&](int64_t) -> std::optional<std::vector<tensor>> {
    calls.push_back(std::chrono::steady_clock::now());
    throw error{error_kind::unavailable, "gone"};
  };
  training_run training{model.g, model.step(), options};
  CHECK(error_of([&] { training.run(s); }).kind() == error_kind::unavailable);
  REQUIRE(calls.size() == 5);
  for (size_t i = 1; i < calls.size(); ++i)
    CHECK(calls[i] - calls[i - 1] >= 20ms * (1 << (i - 1)));
}

TEST_CASE("the restored checkpoint is reported with its path and step") {
  temporary_folder folder;
  for (auto last : {4, 6}) {
    adder model;
    auto s = session::local();
    training_run training{model.g, model.step(), model.numbered_options(last, folder / "m")};
    auto report = training.run(s);
    if (last == 4)
      continue;
    CHECK(report.restored_from == 4);
    REQUIRE(model.events.front().what == kind::restored);
    CHECK(model.events.front().text == folder / "m/step-4");
    CHECK(model.events.front().step == 4);
  }
}

// -- local variables ------------------------------------------------------------------------------

TEST_CASE("a run resumes after its program was given another metric, which counts from zero") {
  temporary_folder folder;
  int64_t last = 0;
  for (auto is_measured : {false, true, true, false}) {
    graph_builder g;
    auto x = g.placeholder(dtype::f32, {-1, 3}, "x");
    auto y = g.placeholder(dtype::i64, {-1}, "y");
    auto logits = dense(g, x, 4);
    auto loss = softmax_loss(logits, y);
    training_step step{.feeds = {x, y}, .loss = loss, .train = {adam{0.01}.minimize(loss)}};
    metric count;
    if (is_measured) {
      count = metrics::mean(g, cast(y, dtype::f64));
      step.train.emplace_back(count.update);
    }
    auto s = session::local();
    training_run training{g,
                          step,
                          {.batch =
                               [](int64_t n) {
                                 return std::vector{tensor::of<float>({1, 3}, {1, 2, 3}),
                                                    tensor::vector<int64_t>({n < 25 ? 1 : 2})};
                               },
                           .checkpoints = folder / "m",
                           .last_step = last + 10}};
    auto report = training.run(s);
    CHECK(report.restored_from == (last == 0 ? -1 : last));
    last += 10;
    CHECK(report.step == last);
    if (is_measured) // of the steps of this run alone
      CHECK(to_scalar<double>(s.fetch(count.value)) == (last == 20 ? 1.0 : 1.5));
    auto newest = value_or_throw(checkpoint_reader::open(real_files(), report.checkpoint));
    CHECK_FALSE(newest.find("mean/total"));
  }
}

} // namespace troupe::test::training_promises_test
