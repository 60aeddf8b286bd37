// Replicas that train one model together, in one process.
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace troupe::test::replicas_test {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using kind = replica_event::kind;

replicas_options options_of(replica_mode mode, int workers) {
  replicas_options how;
  how.mode = mode;
  how.workers = workers;
  how.ps_tasks = 0;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.retry_seconds = 0.01;
  return how;
}

// A gate that a test opens: batches wait at it, as a slow replica does.
class gate {
public:
  void open() {
    std::lock_guard guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  void pass(std::chrono::milliseconds patience = 20s) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, patience, [&] { return open_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

} // namespace

TEST_CASE("synchronous replicas take the very steps of one device with their batches together") {
  watchdog watch;
  constexpr int workers = 3, steps = 20;
  graph_builder g;
  auto alone = regression::build(g, 0);
  auto* train = momentum{0.05}.minimize(alone.loss);
  auto s = session::local();
  s.run(g.initializer());
  for (int i = 0; i < steps; ++i) {
    std::vector<std::vector<tensor>> parts;
    for (int r = 0; r < workers; ++r)
      parts.push_back(*regression::batch(i * workers + r));
    auto all = regression::joined(parts);
    s.run({{alone.feeds[0], all[0]}, {alone.feeds[1], all[1]}}, {}, {train});
  }
  auto w = s.fetch(alone.others[0]), b = s.fetch(alone.others[1]);

  auto how = options_of(replica_mode::sync, workers);
  how.make_optimizer = [](edge) { return std::make_unique<momentum>(0.05); };
  how.last_step = steps;
  replicas training{regression::build, how};
  auto other = session::local();
  auto report = training.run(other);
  CHECK(report.why == training_end::last_step);
  CHECK(report.step == steps);
  auto close = [](const tensor& mine, const tensor& theirs) {
    return std::ranges::equal(mine.values<float>(), theirs.values<float>(),
                              [](float x, float y) { return std::abs(x - y) < 1e-5f; });
  };
  CHECK(close(w, other.fetch(training.chief().others[0])));
  CHECK(close(b, other.fetch(training.chief().others[1])));
  CHECK(to_scalar<int64_t>(other.fetch(training.global_step())) == steps);
}

TEST_CASE("in each mode, replicas find the solution, and say how far they are") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto how = options_of(mode, 3);
  how.last_step = 300;
  std::atomic<int64_t> told{0}, last{0};
  how.on_step = [&](const training_progress& now) {
    ++told;
    auto known = last.load();
    while (now.step > known && !last.compare_exchange_weak(known, now.step)) {
    }
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.step == 300);
  CHECK(report.loss < 1e-3);
  CHECK(last == 300);
  CHECK(regression::is_found(s, training.chief()));
  int64_t steps = 0;
  for (const auto& one : report.replicas) {
    CHECK(one.failures == 0);
    steps += one.steps;
  }
  CHECK(told == steps);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 300);
}

TEST_CASE("with backups, a step does not wait for the slow; what comes late is dropped") {
  watchdog watch;
  auto how = options_of(replica_mode::sync, 3);
  how.backups = 1;
  how.last_step = 50;
  gate slow;
  std::atomic<int64_t> late{0};
  how.batch = [&](int64_t n) {
    if (n % 3 == 2) { // the third replica
      slow.pass();
      ++late;
      return std::optional{regression::wrong_batch()};
    }
    if (n / 3 == 40)
      slow.open();
    return regression::batch(n);
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto report = training.run(s);
  CHECK(report.step == 50);
  CHECK(report.replicas[0].steps >= 40);
  CHECK(report.replicas[1].steps >= 40);
  CHECK(late >= 1);
}

TEST_CASE("without backups, a step waits for all, until the run gives up") {
  watchdog watch;
  auto how = options_of(replica_mode::sync, 2);
  how.give_up_seconds = 0.5;
  gate slow;
  how.batch = [&](int64_t n) {
    if (n == 7)
      slow.pass(700ms); // a run waits for its batches, whatever happens
    return regression::batch(n);
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::deadline_exceeded);
  CHECK_THAT(std::string{why.what()},
             Contains("no step has ended well for 0.5 s") && Contains("of 2 replicas"));
}

TEST_CASE("with bounded staleness, none is further ahead of the slowest than it may be") {
  watchdog watch;
  auto how = options_of(replica_mode::bounded, 3);
  how.max_lead = 2;
  how.last_step = 100;
  gate slow;
  std::atomic<int> begun{0};
  std::mutex mutex;
  std::array<int64_t, 3> steps{};
  int64_t most = 0;
  how.batch = [&](int64_t n) {
    if (n == 0)
      slow.pass(); // one of them is slow at its first step
    return regression::batch(n);
  };
  how.on_step = [&](const training_progress& now) {
    std::lock_guard guard{mutex};
    ++steps[now.replica];
    most = std::max(most, std::ranges::max(steps) - std::ranges::min(steps));
    if (++begun == 4) // the others have done all that they may
      slow.open();
  };
  replicas training{regression::build, how};
  auto s = session::local();
  CHECK(training.run(s).step == 100);
  CHECK(most <= 3); // what is told of a step may come after what is told of the next
}

TEST_CASE("a replica's nodes are on its own worker and on ps tasks, and the chief's on ps tasks") {
  auto how =
      options_of(GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync), 3);
  INFO(to_string(how.mode));
  how.ps_tasks = 2;
  how.sent = GENERATE(1.0, 0.5);
  replicas training{regression::build, how};
  auto check = [](const graph& of, std::string_view worker) {
    for (const auto& one : of.nodes()) {
      INFO(one->description() << " on '" << one->device() << "'");
      auto on = std::string_view{one->device()};
      CHECK((one->op().name == "Const" || on.starts_with("/job:ps/task:") ||
             (!worker.empty() && on.starts_with(worker))));
    }
  };
  for (int i : {0, 2})
    check(training.graph_of(i), concat("/job:worker/task:", i));
  check(training.graph(), "");
}

TEST_CASE("with bounded staleness, one of a former run holds the others up once") {
  watchdog watch;
  auto how = options_of(replica_mode::bounded, 2);
  how.max_lead = 2;
  how.last_step = 400;
  how.step_seconds = 0.3;
  auto s = session::local();
  graph_builder g;
  auto clock = replica_clock(g, 1024, {.shared_name = "replicas/clock"});
  auto late = replica_clock_tick(clock, int64_t{7}, int64_t{1000});
  std::atomic<bool> came{false};
  how.on_step = [&](const training_progress& now) {
    if (now.step >= 20 && !came.exchange(true))
      s.run({}, {late});
  };
  replicas training{regression::build, how};
  auto report = training.run(s);
  CHECK(report.step == 400);
  CHECK(report.replicas[0].failures + report.replicas[1].failures <= 6);
}

TEST_CASE("a synchronous step of which the answer was lost is not done twice") {
  watchdog watch;
  constexpr int steps = 12, lost = 5;
  auto cluster = make_cluster(1, 1);
  auto server = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  const auto& at = cluster.jobs["ps"].front();
  relay between{static_cast<uint16_t>(std::stoi(at.substr(at.rfind(':') + 1)))};
  auto through = cluster;
  through.jobs["ps"].front() = concat("127.0.0.1:", between.port());
  auto s = session::connect(through), beside = session::connect(cluster);
  auto how = options_of(replica_mode::sync, 1);
  how.ps_tasks = 1;
  how.last_step = steps;
  edge counter;
  std::jthread cuts;
  auto chief_waits = [&] {
    for (const auto& one : beside.state_of("/job:ps/task:0").entries)
      if (one.kind == "accumulator" && one.content.find("1 wait for 1") == std::string::npos)
        return false;
    return true;
  };
  how.batch = [&](int64_t n) {
    if (n == lost && !cuts.joinable()) {
      CHECK(soon(chief_waits));
      between.hold(); // the step will be done, and nobody will hear of it
      cuts = std::jthread{[&] {
        soon([&] { return to_scalar<int64_t>(beside.fetch(counter)) > lost; });
        between.cut();
      }};
    }
    return regression::batch(n);
  };
  replicas training{regression::build, how};
  counter = training.global_step();
  auto report = training.run(s);
  CHECK(report.step == steps);
  CHECK(to_scalar<int64_t>(beside.fetch(counter)) == steps);

  graph_builder g;
  auto alone = regression::build(g, 0);
  auto* train = gradient_descent{0.1}.minimize(alone.loss);
  auto other = session::local();
  other.run(g.initializer());
  for (int i = 0; i < steps; ++i) {
    auto feeds = *regression::batch(i);
    other.run({{alone.feeds[0], feeds[0]}, {alone.feeds[1], feeds[1]}}, {}, {train});
  }
  auto mine = beside.fetch(training.chief().others[0]), theirs = other.fetch(alone.others[0]);
  CHECK(std::ranges::equal(mine.values<float>(), theirs.values<float>(),
                           [](float x, float y) { return std::abs(x - y) < 1e-5f; }));
}

TEST_CASE("runs of several numbers of replicas follow each other in one session") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto s = session::local();
  for (auto workers : {3, 1, 2, 3}) {
    auto how = options_of(mode, workers);
    how.max_lead = 0;
    how.last_step = 40;
    replicas training{regression::build, how};
    auto report = training.run(s);
    CHECK(report.step == 40);
    CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) == 40);
  }
}

TEST_CASE("rows of a table that replicas look up move like those of one device") {
  watchdog watch;
  auto build = [](graph_builder& g, int) {
    auto rows = g.placeholder(dtype::i32, {-1}, "rows");
    auto wanted = g.placeholder(dtype::f32, {-1, 2}, "wanted");
    auto table = g.variable(fill(g, {6, 2}, 1.0f), "table");
    return replica_step{{rows, wanted}, mean_squared_error(gather(table, rows), wanted), {table}};
  };
  auto batch = [](int64_t n) {
    auto a = static_cast<int32_t>(n % 6), b = static_cast<int32_t>((n * n + 1) % 6);
    auto x = static_cast<float>(n % 5);
    auto wanted = *tensor::make(dtype::f32, shape{3, 2});
    std::ranges::copy(std::vector{x, 1.f, 2.f, x, 0.5f, 3.f}, wanted.data<float>());
    return std::optional{std::vector{tensor::vector<int32_t>({a, b, a}), wanted}};
  };
  graph_builder g;
  auto alone = build(g, 0);
  auto* train = adagrad{0.1}.minimize(alone.loss);
  auto s = session::local();
  s.run(g.initializer());
  auto how = options_of(replica_mode::sync, 1);
  how.make_optimizer = [](edge) { return std::make_unique<adagrad>(0.1); };
  how.batch = batch;
  how.last_step = 12;
  replicas training{build, how};
  auto other = session::local();
  training.run(other);
  for (int64_t n = 0; n < 12; ++n) {
    auto feeds = *batch(n);
    s.run({{alone.feeds[0], feeds[0]}, {alone.feeds[1], feeds[1]}}, {}, {train});
  }
  auto mine = s.fetch(alone.others[0]), theirs = other.fetch(training.chief().others[0]);
  for (int64_t i = 0; i < mine.elements(); ++i)
    CHECK(mine.data<float>()[i] == Approx(theirs.data<float>()[i]).margin(1e-6));
  // No node makes a gradient of the whole table.
  for (const auto& one : training.graph().nodes())
    CHECK(one->op().name != "AccumulatorTakeGradient");
}

TEST_CASE("replicas that send the greatest elements of their gradients alone find the solution") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  auto how = options_of(mode, 3);
  constexpr int64_t width = 40;
  how.sent = 0.05;
  how.last_step = 1500;
  how.batch = [&](int64_t n) {
    std::mt19937 dice{static_cast<unsigned>(n)};
    auto x = *tensor::make(dtype::f32, shape{16, width}),
         y = *tensor::make(dtype::f32, shape{16, 4});
    for (auto& one : x.values<float>())
      one = static_cast<float>(dice() % 2001) / 1000.0f - 1.0f;
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t i = 0; i < 4; ++i) { // each output is a difference of two inputs
        const auto* from = x.data<float>() + row * width;
        y.data<float>()[row * 4 + i] = from[9 * i] - from[9 * i + 3];
      }
    return std::optional{std::vector{x, y}};
  };
  replicas training{[&](graph_builder& g, int) {
                      auto x = g.placeholder(dtype::f32, {-1, width}, "x");
                      auto y = g.placeholder(dtype::f32, {-1, 4}, "y");
                      auto w = g.variable(fill(g, tensor::vector<int64_t>({width, 4}), 0.0f), "w");
                      return replica_step{{x, y}, mean_squared_error(matmul(x, w), y), {w}};
                    },
                    how};
  for (const auto& one : training.graph_of(1).nodes())
    if (one->op().name == "SparsifyTopK")
      CHECK(one->output_shape(0) == partial_shape{8}); // of 160
  auto s = session::local();
  CHECK(training.run(s).loss < 1e-3);
}

TEST_CASE("what is not sent of a gradient counts once, though its step fails and is run again") {
  watchdog watch;
  constexpr int64_t width = 100;
  constexpr int steps = 5;
  auto s = session::local();
  graph_builder g;
  auto keys = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .shared_name = "keys"});
  auto put = queue_enqueue(keys, {g.constant(1.0f)});
  auto gradient_of = [](int64_t n) {
    std::mt19937 dice{static_cast<unsigned>(n)};
    auto made = *tensor::make(dtype::f32, shape{width});
    for (auto& one : made.values<float>())
      one = static_cast<float>(dice() % 2001) / 1000.0f - 1.0f;
    return made;
  };
  auto how = options_of(replica_mode::async, 1);
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(1.0); };
  how.sent = 0.1;
  how.last_step = steps;
  how.step_seconds = 0.2;
  std::map<int64_t, int> attempts;
  how.batch = [&](int64_t n) {
    if (++attempts[n] > 1)
      s.run(put);
    return std::optional{std::vector{gradient_of(n)}};
  };
  graph_builder* in = nullptr;
  how.change = [&](std::vector<variable_gradient> all) { // each step waits for a key behind it
    auto same = fifo_queue(*in, {dtype::f32}, {.shapes = {partial_shape{}}, .shared_name = "keys"});
    auto later = in->after({queue_dequeue(same, {dtype::f32}).front().node});
    for (auto& one : all)
      one.gradient = identity(one.gradient);
    return all;
  };
  replicas training{[&](graph_builder& to, int) {
                      in = &to;
                      auto x = to.placeholder(dtype::f32, {width}, "x");
                      auto w = to.variable(fill(to, tensor::vector<int64_t>({width}), 0.0f), "w");
                      return replica_step{{x}, sum(w * x), {w}};
                    },
                    how};
  auto report = training.run(s);
  CHECK(report.replicas[0].failures == steps);
  edge rest;
  for (const auto& one : training.graph_of(0).nodes())
    if (one->name() == "replicas/rest_0/w")
      rest = {one.get(), 0};
  REQUIRE_FALSE(rest.is_nothing());
  auto w = s.fetch(training.chief().others[0]), kept = s.fetch(rest);
  for (int64_t i = 0; i < width; ++i) {
    auto all = 0.0f;
    for (int64_t n = 0; n < steps; ++n)
      all += gradient_of(n).data<float>()[i];
    CHECK(kept.data<float>()[i] - w.data<float>()[i] == Approx(all).margin(1e-4));
  }
}

TEST_CASE("replicas end at the end of the data, in time, when asked, and at a loss that is none") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::bounded, replica_mode::sync);
  INFO(to_string(mode));
  auto how = options_of(mode, 2);
  auto s = session::local();
  auto begin = std::chrono::steady_clock::now();
  SECTION("data") {
    how.batch = [](int64_t n) { return n < 20 ? regression::batch(n) : std::nullopt; };
    replicas training{regression::build, how};
    auto report = training.run(s);
    CHECK(report.why == training_end::data_ended);
    CHECK(report.step == (mode == replica_mode::sync ? 10 : 20));
  }
  SECTION("time") {
    how.time_limit = 0.2;
    replicas training{regression::build, how};
    CHECK(training.run(s).why == training_end::time_over);
  }
  SECTION("asked") {
    replicas* all = nullptr;
    how.on_step = [&](const training_progress& now) {
      if (now.step == 5)
        all->request_stop();
    };
    replicas training{regression::build, how};
    all = &training;
    CHECK(training.run(s).why == training_end::asked);
  }
  SECTION("condition") {
    how.when = [](const training_progress& now) { return now.step >= 7; };
    replicas training{regression::build, how};
    CHECK(training.run(s).why == training_end::condition);
  }
  SECTION("not a number") {
    how.batch = [](int64_t n) {
      auto made = *regression::batch(n);
      if (n == 9)
        made[1].data<float>()[0] = NAN;
      return std::optional{made};
    };
    temporary_folder folder;
    how.checkpoints = folder / "m";
    replicas training{regression::build, how};
    auto report = training.run(s);
    CHECK(report.why == training_end::not_a_number);
    CHECK(report.checkpoint.empty());
  }
  CHECK(std::chrono::steady_clock::now() - begin < 5s * slowness);
}

TEST_CASE("replicas go on from a checkpoint, and from the newest where variables are lost") {
  watchdog watch;
  auto mode = GENERATE(replica_mode::async, replica_mode::sync);
  INFO(to_string(mode));
  temporary_folder folder;
  auto how = options_of(mode, 2);
  how.checkpoints = folder / "m";
  how.last_step = 10;
  {
    auto s = session::local();
    replicas training{regression::build, how};
    auto report = training.run(s);
    CHECK(report.restored_from == -1);
    CHECK(report.checkpoint == folder / "m/step-10");
  }
  how.last_step = 60;
  how.checkpoint_steps = 5;
  std::vector<kind> events;
  how.on_event = [&](const replica_event& what) { events.push_back(what.what); };
  auto s = session::local();
  std::atomic<bool> lost{false};
  how.on_step = [&](const training_progress& now) {
    if (now.step >= 35 && !lost.exchange(true))
      s.reset(); // as if the task had been restarted
  };
  replicas training{regression::build, how};
  auto report = training.run(s);
  CHECK(report.restored_from == 10);
  CHECK(report.step == 60);
  CHECK(events.front() == kind::restored);
  CHECK(std::ranges::count(events, kind::restored) == 2);
  CHECK(std::ranges::count(events, kind::recovered) >= 1);
  CHECK(std::ranges::count(events, kind::initialized) == 0);
  CHECK(to_scalar<int64_t>(s.fetch(training.global_step())) >= 60);
}

TEST_CASE("options that make no sense are refused, and so are models that differ") {
  auto text_of = [](replicas_options how, replicas::builder build = regression::build) {
    return std::string{error_of([&] { replicas made(build, std::move(how)); }).what()};
  };
  auto how = options_of(replica_mode::sync, 2);
  CHECK(text_of(how).empty());
  auto wrong = how;
  wrong.backups = 2;
  CHECK_THAT(text_of(wrong), Contains("of 2 workers, 0 to 1 may be backups, got 2"));
  wrong = how;
  wrong.mode = replica_mode::async;
  wrong.backups = 1;
  CHECK_THAT(text_of(wrong), Contains("backups need the mode sync, not async"));
  wrong = how;
  wrong.make_optimizer = {};
  CHECK_THAT(text_of(wrong), Contains("no optimizer"));
  wrong = how;
  wrong.sent = 0;
  CHECK_THAT(text_of(wrong), Contains("sent is a share, above 0 and up to 1, got 0"));
  wrong = how;
  wrong.workers = 0;
  CHECK_THAT(text_of(wrong), Contains("workers must be 1 to 1024"));
  wrong = how;
  wrong.batch = {};
  CHECK_THAT(text_of(wrong), Contains("there are edges to feed, and no batches"));
  wrong = how;
  wrong.checkpoint_steps = 5;
  CHECK_THAT(text_of(wrong), Contains("checkpoints need a folder"));
  CHECK_THAT(text_of(how,
                     [](graph_builder& g, int replica) {
                       auto made = regression::build(g, replica);
                       auto more = g.variable(1.0f, concat("more", replica));
                       made.loss = made.loss * more;
                       return made;
                     }),
             Contains("it must build the same for each"));
}

TEST_CASE("what a model cannot compute ends the run, with the first error") {
  watchdog watch;
  auto how = options_of(GENERATE(replica_mode::async, replica_mode::sync), 2);
  how.batch = [](int64_t n) {
    auto made = *regression::batch(n);
    if (n == 5)
      made[1] = tensor::vector<float>({1, 2});
    return std::optional{made};
  };
  replicas training{regression::build, how};
  auto s = session::local();
  auto why = error_of([&] { training.run(s); });
  CHECK(why.kind() == error_kind::invalid_argument);
  how.batch = regression::batch;
  how.on_step = [](const training_progress&) { throw error{error_kind::unavailable, "no disk"}; };
  replicas second{regression::build, how};
  CHECK_THAT(std::string{error_of([&] { second.run(s); }).what()}, Contains("no disk"));
}

} // namespace troupe::test::replicas_test
