// Tasks that serve nothing of what they hold before a session has filled it.
#include "tests/api/train/loop/adder.hpp"
#include "tests/api/train/loop/regression.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <functional>
#include <future>
#include <optional>

namespace troupe::test::fill_before_serving_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const std::string ps = "/job:ps/task:0";

// A parameter server that waits to be filled, each time that it begins.
struct waiting_ps {
  waiting_ps() { start(); }
  void start(std::chrono::milliseconds patience = 60s) {
    server.reset();
    auto options = options_of_task(cluster, {"ps", 0});
    options.fill_before_serving = patience;
    options.http = "127.0.0.1:0";
    server = start_task(std::move(options));
  }
  session connect(recovery_options how = {}) const {
    return session::connect(cluster, {.recovery = std::move(how), .timeout = 20s});
  }
  bool metrics_have(const std::string& line) const {
    auto answer = http_client{server->http_port()}.get("/metrics");
    return answer && answer->body.find('\n' + line + '\n') != std::string::npos;
  }

  cluster_spec cluster = make_cluster(1, 1);
  std::unique_ptr<task> worker = start_task(cluster, {"worker", 0});
  std::unique_ptr<task> server;
};

// All on the parameter server: a variable, a queue, a table; and a node that uses none of them.
struct model {
  model() {
    auto on = g.on(ps);
    w = g.variable(dtype::f32, {}, "w");
    fill = assign(w, 5.0f).node;
    nine = assign(w, 9.0f).node;
    q = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .capacity = 10}, "q");
    put = queue_enqueue(q, {g.constant(1.0f)});
    size = queue_size(q);
    sum = g.constant(1.0f) + g.constant(2.0f);
  }
  graph_builder g;
  edge w, q, size, sum;
  node *fill = nullptr, *nine = nullptr, *put = nullptr;
};

status why_not(const std::function<void()>& act) {
  try {
    act();
  } catch (const error& e) {
    return status{e.kind(), e.what()};
  }
  return {};
}

int32_t size_of(session& s, const model& m) { return to_scalar<int32_t>(s.fetch(m.size)); }

} // namespace

TEST_CASE("a queue of a task that waits to be filled is not silently empty for any session") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto trains = all.connect(), looks = all.connect();
  auto refused = [&](session& of) {
    auto why = why_not([&] { size_of(of, m); });
    INFO(why);
    CHECK(why.kind() == error_kind::unavailable);
    CHECK_THAT(why.message(),
               Contains(ps + " was restarted; its variables must be initialised or"));
    return why.message();
  };
  CHECK_THAT(refused(looks), Contains("no session does so yet") && Contains("session::fill()"));
  CHECK(to_scalar<float>(looks.fetch(m.sum)) == 3); // it uses nothing of what the task holds
  CHECK(all.metrics_have("troupe_unfilled 1"));
  trains.fill([&](session& in) {
    in.run(m.fill);
    CHECK_THAT(refused(looks),
               Contains("client") && Contains(" has been doing so for 0 s; try again"));
    in.run(m.put);
  });
  CHECK(all.metrics_have("troupe_unfilled 0"));
  CHECK(size_of(looks, m) == 1);
  CHECK(to_scalar<float>(looks.fetch(m.w)) == 5);
  // It begins anew: once more, for all.
  all.start();
  CHECK(soon([&] {
    return why_not([&] { size_of(trains, m); }).message().find("begun anew") != std::string::npos;
  }));
  auto anew = all.connect();
  refused(anew);
}

TEST_CASE("what a session does not end to fill may be filled by the next") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto first = all.connect(), second = all.connect();
  auto why = why_not([&] {
    first.fill([&](session& in) {
      in.run(m.fill);
      auto both = why_not([&] { second.fill([&](session& other) { other.run(m.put); }); });
      CHECK(both.kind() == error_kind::unavailable);
      CHECK_THAT(both.message(), Contains("client") && Contains("does so"));
      throw error{failure(error_kind::data_loss, "the file is damaged")};
    });
  });
  CHECK(why.kind() == error_kind::data_loss);
  CHECK(why_not([&] { size_of(first, m); }).kind() == error_kind::unavailable);
  second.fill([&](session& in) { in.run(m.put); });
  CHECK(size_of(first, m) == 1);
}

TEST_CASE("a task that is not filled in time tells no session to try again") {
  watchdog watch;
  waiting_ps all;
  all.start(1ms);
  model m;
  auto s = all.connect({.retries = 1000});
  auto why = why_not([&] { size_of(s, m); });
  CHECK(why.kind() == error_kind::failed_precondition);
  CHECK_THAT(why.message(), Contains("no session has done so within 0 s"));
  s.fill([&](session& in) { in.run(m.put); });
  CHECK(size_of(s, m) == 1);
}

TEST_CASE("a session that restores what a task has lost fills it for all") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto looks = all.connect({.retries = 100, .wait = 20ms, .repeat_effects = true});
  auto s = all.connect({.retries = 100, .restore = [&](session& in) {
                          in.run(m.fill);
                          CHECK(!why_not([&] { all.connect().fetch(m.w); }).ok());
                          in.run(m.put);
                        }});
  s.fill([&](session& in) { in.run(m.fill); });
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  all.start();
  CHECK(why_not([&] { all.connect().fetch(m.w); }).kind() == error_kind::unavailable);
  CHECK(soon([&] { return why_not([&] { s.fetch(m.w); }).ok(); }));
  CHECK(size_of(looks, m) == 1); // it tries until it is served
}

// Two sessions notice that a task was restarted; the second wants to restore it while the first
// fills it.
struct second_that_restores {
  second_that_restores() {
    s.fill([&](session& in) { in.run(m.fill); });
    all.start();
  }
  waiting_ps all;
  model m;
  std::promise<void> refused;
  std::atomic<int> restores{0}, retries{0};
  session s = all.connect({.retries = 100,
                           .wait = 20ms,
                           .restore =
                               [this](session& in) {
                                 ++restores;
                                 in.run(m.fill);
                               },
                           .on_event =
                               [this](const recovery_event& e) {
                                 if (e.what == recovery_event::kind::retrying && ++retries == 3)
                                   refused.set_value();
                               }});
  std::future<float> look() {
    return std::async(std::launch::async, [this] { return to_scalar<float>(s.fetch(m.w)); });
  }
};

TEST_CASE("a session that was to restore what another fills does not undo its steps") {
  watchdog watch;
  second_that_restores both;
  auto first = both.all.connect();
  std::future<float> seen;
  first.fill([&](session& in) {
    in.run(both.m.fill);
    seen = both.look();
    both.refused.get_future().wait();
    in.run(both.m.nine);
  });
  CHECK(seen.get() == 9);
  CHECK(to_scalar<float>(both.s.fetch(both.m.w)) == 9);
}

TEST_CASE("a session restores what another has begun to fill and given up") {
  watchdog watch;
  second_that_restores both;
  auto first = both.all.connect();
  std::future<float> seen;
  CHECK(why_not([&] {
          first.fill([&](session& in) {
            in.run(both.m.nine);
            seen = both.look();
            both.refused.get_future().wait();
            throw error{failure(error_kind::data_loss, "the file is damaged")};
          });
        }).kind() == error_kind::data_loss);
  CHECK(seen.get() == 5);
  CHECK(both.restores >= 2);
  CHECK(to_scalar<float>(first.fetch(both.m.w)) == 5);
}

TEST_CASE("a training run fills the tasks of its variables when it begins") {
  watchdog watch;
  waiting_ps all;
  adder of; // its variables are on the first worker
  all.worker.reset();
  auto options = options_of_task(all.cluster, {"worker", 0});
  options.fill_before_serving = 60s;
  all.worker = start_task(std::move(options));
  auto s = all.connect();
  training_run training{of.g, of.step(), of.numbers(10)};
  CHECK(training.run(s).step == 10);
  CHECK(of.value(s, of.sum) == sum_below(10));
  auto other = all.connect();
  CHECK(of.value(other, of.count) == 10);
}

// A training run that begins while another session fills the task of its variables.
struct second_that_trains {
  waiting_ps all;
  adder of; // its variables are on the first worker
  session first, second;
  std::promise<void> refused;
  training_run training;

  second_that_trains()
      : first(filled_first()), second(all.connect()), training(of.g, of.step(), options()) {}

  // Returns when the run has been refused.
  std::future<training_report> train() {
    auto made = std::async(std::launch::async, [&] { return training.run(second); });
    refused.get_future().wait();
    return made;
  }

private:
  session filled_first() {
    all.worker.reset();
    auto how = options_of_task(all.cluster, {"worker", 0});
    how.fill_before_serving = 60s;
    all.worker = start_task(std::move(how));
    return all.connect();
  }
  training_options options() {
    auto made = of.numbers(10);
    made.retries = 1000;
    made.retry_seconds = 0.02;
    made.on_event = [this, told = false](const training_event& what) mutable {
      if (what.what == training_event::kind::retrying && !std::exchange(told, true))
        refused.set_value();
    };
    return made;
  }
};

TEST_CASE("a training run that met another one that fills does not undo its steps") {
  watchdog watch;
  second_that_trains both;
  auto& of = both.of;
  std::future<training_report> trained;
  both.first.fill([&](session& in) {
    in.run(of.g.initializer());
    trained = both.train();
    in.run({{of.x, tensor::scalar(1000.0f)}}, {}, {of.train});
  });
  CHECK(trained.get().step == 10);
  CHECK(of.value(both.second, of.sum) == 1000 + sum_below(10));
}

TEST_CASE("a training run that met another one that has not ended to fill begins anew") {
  watchdog watch;
  second_that_trains both;
  auto& of = both.of;
  std::future<training_report> trained;
  auto why = why_not([&] {
    both.first.fill([&](session& in) {
      in.run(of.g.initializer());
      in.run({{of.x, tensor::scalar(1000.0f)}}, {}, {of.train}); // all variables have values
      trained = both.train();
      throw error{failure(error_kind::data_loss, "it ends before it has filled the queues")};
    });
  });
  CHECK(why.kind() == error_kind::data_loss);
  CHECK(trained.get().step == 10);
  CHECK(of.value(both.second, of.sum) == sum_below(10));
}

TEST_CASE("a program is told that another fills, and whether that has ended") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto first = all.connect(), second = all.connect();
  CHECK(!first.is_filling());
  first.fill([&](session& in) {
    CHECK(!in.is_filling()); // it has used nothing yet
    in.run(m.fill);
    CHECK(in.is_filling());
    in.fill([&](session& inner) { CHECK(inner.is_filling()); });
    try {
      second.fill([&](session& other) { other.run(m.nine); });
      FAIL("two fill the task");
    } catch (const filled_elsewhere& said) {
      CHECK(said.kind() == error_kind::unavailable);
      CHECK(said.tasks() == std::set<std::string>{ps});
    }
  });
  CHECK(!first.is_filling());
  second.fill([&](session& in) {
    in.run(m.put);
    CHECK(!in.is_filling());
  });
  CHECK(to_scalar<float>(second.fetch(m.w)) == 5);
}

TEST_CASE("a training run fills a task that holds nothing but queues of its input") {
  watchdog watch;
  waiting_ps all;
  adder of; // its variables are on the first worker
  input_pipeline input{of.g};
  edge row;
  {
    auto on = of.g.on(ps);
    row = input.producer(tensor::vector<float>({1, 2, 3, 4}), {.epochs = 1});
  }
  auto* train = of.g.group({assign_add(of.sum, row).node, assign_add(of.count, 1.0f).node});
  auto options = of.numbers(100);
  options.batch = nullptr;
  options.input = &input;
  auto s = all.connect();
  training_run training{of.g, {.train = {train}}, std::move(options)};
  CHECK(training.run(s).step == 4); // until the data ends
  CHECK(of.value(s, of.sum) == 10);
  CHECK(all.metrics_have("troupe_unfilled 0"));
}

TEST_CASE("replicas that met another program that fills do not undo its steps") {
  watchdog watch;
  waiting_ps all;
  std::promise<void> refused;
  replicas_options how;
  how.mode = replica_mode::async;
  how.workers = how.ps_tasks = 1;
  how.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  how.batch = regression::batch;
  how.retry_seconds = 0.02;
  how.last_step = 10;
  how.on_event = [&, told = false](const replica_event& what) mutable {
    if (what.what == replica_event::kind::retrying && !std::exchange(told, true))
      refused.set_value();
  };
  replicas training{regression::build, how};
  auto* thousand =
      assign_add(training.global_step(), training.graph().constant(int64_t{1000})).node;
  auto* initializer = training.graph().initializer();
  auto first = all.connect(), second = all.connect();
  std::future<replicas_report> trained;
  first.fill([&](session& in) {
    in.run(initializer);
    trained = std::async(std::launch::async, [&] { return training.run(second); });
    refused.get_future().wait();
    in.run(thousand);
  });
  CHECK(trained.get().step == 10);
  CHECK(to_scalar<int64_t>(second.fetch(training.global_step())) >= 1010);
}

TEST_CASE("a fill within another opens nothing") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto s = all.connect(), looks = all.connect();
  s.fill([&](session& in) {
    in.run(m.fill);
    in.fill([&](session& inner) { inner.run(m.fill); });
    CHECK(why_not([&] { size_of(looks, m); }).kind() == error_kind::unavailable);
    in.run(m.put);
  });
  CHECK(size_of(looks, m) == 1);
}

TEST_CASE("of two threads of a session that fill a task the last opens it") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto s = all.connect(), looks = all.connect();
  s.fill([&](session& in) {
    in.run(m.fill);
    std::async(std::launch::async, [&] { s.fill([&](session& also) { also.run(m.fill); }); }).get();
    CHECK(why_not([&] { size_of(looks, m); }).kind() == error_kind::unavailable);
    in.run(m.put);
  });
  CHECK(size_of(looks, m) == 1);
}

TEST_CASE("a task that is restarted while it is filled is not opened without the first part") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto s = all.connect();
  auto why = why_not([&] {
    s.fill([&](session& in) {
      in.run(m.fill);
      all.start();
      CHECK(soon([&] { return why_not([&] { in.run(m.put); }).ok(); }));
    });
  });
  CHECK(why.kind() == error_kind::aborted);
  CHECK_THAT(why.message(), Contains(ps + " was restarted while it was filled"));
  auto looks = all.connect();
  CHECK_THAT(why_not([&] { size_of(looks, m); }).message(), Contains("no session does so yet"));
}

TEST_CASE("what runs asynchronously fills no task") {
  watchdog watch;
  waiting_ps all;
  model m;
  auto s = all.connect();
  auto put = s.prepare({}, {}, {m.put});
  s.fill([&](session& in) {
    in.run(m.fill);
    auto why = why_not([&] { put.run_async({}).get(); });
    CHECK(why.kind() == error_kind::unavailable);
  });
  put.run_async({}).get();
  CHECK(size_of(s, m) == 1);
}

TEST_CASE("to fill a local session is to call the function") {
  model m;
  graph_builder g;
  auto w = g.variable(dtype::f32, {}, "w");
  auto* fill = assign(w, 5.0f).node;
  auto s = session::local();
  s.fill([&](session& in) { in.run(fill); });
  CHECK(to_scalar<float>(s.fetch(w)) == 5);
  auto why = why_not([&] {
    s.fill([&](session&) { throw error{failure(error_kind::data_loss, "the file is damaged")}; });
  });
  CHECK(why.kind() == error_kind::data_loss);
}

} // namespace troupe::test::fill_before_serving_test
