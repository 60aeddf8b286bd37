// Tasks that serve their state only after a session has initialized it.
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

namespace troupe::test::initialize_before_serving_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const std::string ps = "/job:ps/task:0";

// A parameter server that has to be initialized after each start.
struct waiting_ps {
  waiting_ps() { start(); }
  void start(std::chrono::milliseconds timeout = 60s) {
    server.reset();
    auto options = options_of_task(cluster, {"ps", 0});
    options.initialize_before_serving = timeout;
    options.http = "127.0.0.1:0";
    server = start_task(std::move(options));
  }
  session connect(recovery_options options = {}) const {
    return session::connect(cluster, {.recovery = std::move(options), .timeout = 20s});
  }
  bool metrics_have(const std::string& line) const {
    auto answer = http_client{server->http_port()}.get("/metrics");
    return answer && answer->body.find('\n' + line + '\n') != std::string::npos;
  }

  cluster_spec cluster = make_cluster(1, 1);
  std::unique_ptr<task> worker = start_task(cluster, {"worker", 0});
  std::unique_ptr<task> server;
};

// On the parameter server: a variable, a queue, a table, and a node without state.
struct model {
  model() {
    auto placement = g.on(ps);
    w = g.variable(dtype::f32, {}, "w");
    initialize = assign(w, 5.0f).node;
    set_nine = assign(w, 9.0f).node;
    q = fifo_queue(g, {dtype::f32}, {.shapes = {partial_shape{}}, .capacity = 10}, "q");
    put = queue_enqueue(q, {g.constant(1.0f)});
    size = queue_size(q);
    sum = g.constant(1.0f) + g.constant(2.0f);
  }
  graph_builder g;
  edge w, q, size, sum;
  node *initialize = nullptr, *set_nine = nullptr, *put = nullptr;
};

status why_not(const std::function<void()>& body) {
  try {
    body();
  } catch (const error& e) {
    return status{e.kind(), e.what()};
  }
  return {};
}

int32_t size_of(session& s, const model& m) { return to_scalar<int32_t>(s.fetch(m.size)); }

} // namespace

TEST_CASE("a queue of a task that waits to be initialized is not silently empty for any session") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto filler = waiting_server.connect(), looking_session = waiting_server.connect();
  auto refused = [&](session& s) {
    auto outcome = why_not([&] { size_of(s, m); });
    INFO(outcome);
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK_THAT(outcome.message(),
               Contains(ps + " was restarted; its variables must be initialized or"));
    return outcome.message();
  };
  CHECK_THAT(refused(looking_session),
             Contains("no session does so yet") && Contains("session::initialize_tasks()"));
  CHECK(to_scalar<float>(looking_session.fetch(m.sum)) == 3); // it uses no state of the task
  CHECK(waiting_server.metrics_have("troupe_uninitialized 1"));
  filler.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.initialize);
    CHECK_THAT(refused(looking_session),
               Contains("client") && Contains(" has been doing so for 0 s; try again"));
    initializing_session.run(m.put);
  });
  CHECK(waiting_server.metrics_have("troupe_uninitialized 0"));
  CHECK(size_of(looking_session, m) == 1);
  CHECK(to_scalar<float>(looking_session.fetch(m.w)) == 5);
  // After a restart the task has to be initialized again.
  waiting_server.start();
  CHECK(becomes_true([&] {
    return why_not([&] { size_of(filler, m); }).message().find("was restarted; its variables") !=
           std::string::npos;
  }));
  auto second_session = waiting_server.connect();
  refused(second_session);
}

TEST_CASE("an initialization that a session does not complete may be done by the next session") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto first = waiting_server.connect(), second = waiting_server.connect();
  auto outcome = why_not([&] {
    first.initialize_tasks([&](session& initializing_session) {
      initializing_session.run(m.initialize);
      auto nested_outcome = why_not([&] {
        second.initialize_tasks([&](session& nested_session) { nested_session.run(m.put); });
      });
      CHECK(nested_outcome.kind() == error_kind::unavailable);
      CHECK_THAT(nested_outcome.message(), Contains("client") && Contains("has been doing so"));
      throw error{failure(error_kind::data_loss, "the file is damaged")};
    });
  });
  CHECK(outcome.kind() == error_kind::data_loss);
  CHECK(why_not([&] { size_of(first, m); }).kind() == error_kind::unavailable);
  second.initialize_tasks([&](session& initializing_session) { initializing_session.run(m.put); });
  CHECK(size_of(first, m) == 1);
}

TEST_CASE("a task that is not initialized in time asks no session to retry") {
  watchdog watch;
  waiting_ps waiting_server;
  waiting_server.start(1ms);
  model m;
  auto s = waiting_server.connect({.max_retries = 1000});
  auto outcome = why_not([&] { size_of(s, m); });
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("no session has done so within 0 s"));
  s.initialize_tasks([&](session& initializing_session) { initializing_session.run(m.put); });
  CHECK(size_of(s, m) == 1);
}

TEST_CASE("a session that restores lost state initializes the task for all sessions") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto looking_session =
      waiting_server.connect({.max_retries = 100, .initial_delay = 20ms, .repeat_effects = true});
  auto s =
      waiting_server.connect({.max_retries = 100, .restore_state = [&](session& restoring_session) {
                                restoring_session.run(m.initialize);
                                CHECK(!why_not([&] { waiting_server.connect().fetch(m.w); }).ok());
                                restoring_session.run(m.put);
                              }});
  s.initialize_tasks(
      [&](session& initializing_session) { initializing_session.run(m.initialize); });
  CHECK(to_scalar<float>(s.fetch(m.w)) == 5);
  waiting_server.start();
  CHECK(why_not([&] { waiting_server.connect().fetch(m.w); }).kind() == error_kind::unavailable);
  CHECK(becomes_true([&] { return why_not([&] { s.fetch(m.w); }).ok(); }));
  CHECK(size_of(looking_session, m) == 1); // retries until the task serves
}

// Two sessions notice that a task was restarted; the second restores it while the first initializes
// it.
struct second_that_restores {
  second_that_restores() {
    s.initialize_tasks(
        [&](session& initializing_session) { initializing_session.run(m.initialize); });
    waiting_server.start();
  }
  waiting_ps waiting_server;
  model m;
  std::promise<void> refused;
  std::atomic<int> restores{0}, retries{0};
  session s =
      waiting_server.connect({.max_retries = 100,
                              .initial_delay = 20ms,
                              .restore_state =
                                  [this](session& restoring_session) {
                                    ++restores;
                                    restoring_session.run(m.initialize);
                                  },
                              .on_event =
                                  [this](const recovery_event& e) {
                                    if (e.kind == recovery_event_kind::retrying && ++retries == 3)
                                      refused.set_value();
                                  }});
  std::future<float> look() {
    return std::async(std::launch::async, [this] { return to_scalar<float>(s.fetch(m.w)); });
  }
};

TEST_CASE("a session whose restore lost to another session's initialization does not undo that "
          "session's steps") {
  watchdog watch;
  second_that_restores sessions;
  auto first = sessions.waiting_server.connect();
  std::future<float> read_value;
  first.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(sessions.m.initialize);
    read_value = sessions.look();
    sessions.refused.get_future().wait();
    initializing_session.run(sessions.m.set_nine);
  });
  CHECK(read_value.get() == 9);
  CHECK(to_scalar<float>(sessions.s.fetch(sessions.m.w)) == 9);
}

TEST_CASE("a session restores a task after another session has abandoned its initialization") {
  watchdog watch;
  second_that_restores sessions;
  auto first = sessions.waiting_server.connect();
  std::future<float> read_value;
  CHECK(why_not([&] {
          first.initialize_tasks([&](session& initializing_session) {
            initializing_session.run(sessions.m.set_nine);
            read_value = sessions.look();
            sessions.refused.get_future().wait();
            throw error{failure(error_kind::data_loss, "the file is damaged")};
          });
        }).kind() == error_kind::data_loss);
  CHECK(read_value.get() == 5);
  CHECK(sessions.restores >= 2);
  CHECK(to_scalar<float>(first.fetch(sessions.m.w)) == 5);
}

TEST_CASE("a training run initializes the tasks of its variables when it begins") {
  watchdog watch;
  waiting_ps waiting_server;
  adder model; // its variables are on the first worker
  waiting_server.worker.reset();
  auto options = options_of_task(waiting_server.cluster, {"worker", 0});
  options.initialize_before_serving = 60s;
  waiting_server.worker = start_task(std::move(options));
  auto s = waiting_server.connect();
  training_run training{model.g, model.step(), model.numbered_options(10)};
  CHECK(training.run(s).step == 10);
  CHECK(model.value(s, model.sum) == sum_below(10));
  auto other_session = waiting_server.connect();
  CHECK(model.value(other_session, model.count) == 10);
}

// A training run that begins while another session initializes the task of its variables.
struct second_that_trains {
  waiting_ps waiting_server;
  adder model; // its variables are on the first worker
  session first, second;
  std::promise<void> refused;
  training_run training;

  second_that_trains()
      : first(filled_first()), second(waiting_server.connect()),
        training(model.g, model.step(), options()) {}

  // Returns after the run has been refused.
  std::future<training_report> train() {
    auto report = std::async(std::launch::async, [&] { return training.run(second); });
    refused.get_future().wait();
    return report;
  }

private:
  session filled_first() {
    waiting_server.worker.reset();
    auto task_settings = options_of_task(waiting_server.cluster, {"worker", 0});
    task_settings.initialize_before_serving = 60s;
    waiting_server.worker = start_task(std::move(task_settings));
    return waiting_server.connect();
  }
  training_options options() {
    auto run_settings = model.numbered_options(10);
    run_settings.max_retries = 1000;
    run_settings.retry_delay_seconds = 0.02;
    run_settings.on_event = [this, told = false](const training_event& event) mutable {
      if (event.kind == training_event_kind::retrying && !std::exchange(told, true))
        refused.set_value();
    };
    return run_settings;
  }
};

TEST_CASE("a training run that met another initialization does not undo the other's steps") {
  watchdog watch;
  second_that_trains sessions;
  auto& model = sessions.model;
  std::future<training_report> trained;
  sessions.first.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(model.g.initializer());
    trained = sessions.train();
    initializing_session.run({{model.x, tensor::scalar(1000.0f)}}, {}, {model.train});
  });
  CHECK(trained.get().step == 10);
  CHECK(model.value(sessions.second, model.sum) == 1000 + sum_below(10));
}

TEST_CASE("a training run that met an abandoned initialization initializes the task itself") {
  watchdog watch;
  second_that_trains sessions;
  auto& model = sessions.model;
  std::future<training_report> trained;
  auto outcome = why_not([&] {
    sessions.first.initialize_tasks([&](session& initializing_session) {
      initializing_session.run(model.g.initializer());
      // All variables have values.
      initializing_session.run({{model.x, tensor::scalar(1000.0f)}}, {}, {model.train});
      trained = sessions.train();
      throw error{failure(error_kind::data_loss, "it ends before it has initialized the queues")};
    });
  });
  CHECK(outcome.kind() == error_kind::data_loss);
  CHECK(trained.get().step == 10);
  CHECK(model.value(sessions.second, model.sum) == sum_below(10));
}

TEST_CASE("a program learns that another session initializes a task, and whether that has ended") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto first = waiting_server.connect(), second = waiting_server.connect();
  CHECK(!first.is_initializing());
  first.initialize_tasks([&](session& initializing_session) {
    CHECK(!initializing_session.is_initializing()); // it has used no state yet
    initializing_session.run(m.initialize);
    CHECK(initializing_session.is_initializing());
    initializing_session.initialize_tasks([&](session& inner) { CHECK(inner.is_initializing()); });
    try {
      second.initialize_tasks([&](session& other_session) { other_session.run(m.set_nine); });
      FAIL("two sessions initialize the task");
    } catch (const initialized_by_other_client& refusal) {
      CHECK(refusal.kind() == error_kind::unavailable);
      CHECK(refusal.tasks() == std::set<std::string>{ps});
    }
  });
  CHECK(!first.is_initializing());
  second.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.put);
    CHECK(!initializing_session.is_initializing());
  });
  CHECK(to_scalar<float>(second.fetch(m.w)) == 5);
}

TEST_CASE("a training run initializes a task that holds only queues of its input") {
  watchdog watch;
  waiting_ps waiting_server;
  adder model; // its variables are on the first worker
  input_pipeline input{model.g};
  edge row;
  {
    auto placement = model.g.on(ps);
    row = input.producer(tensor::vector<float>({1, 2, 3, 4}), {.epochs = 1});
  }
  auto* train =
      model.g.group({assign_add(model.sum, row).node, assign_add(model.count, 1.0f).node});
  auto options = model.numbered_options(100);
  options.batch = nullptr;
  options.input = &input;
  auto s = waiting_server.connect();
  training_run training{model.g, {.train = {train}}, std::move(options)};
  CHECK(training.run(s).step == 4); // until the data ends
  CHECK(model.value(s, model.sum) == 10);
  CHECK(waiting_server.metrics_have("troupe_uninitialized 0"));
}

TEST_CASE("replicas that met another program's initialization do not undo its steps") {
  watchdog watch;
  waiting_ps waiting_server;
  std::promise<void> refused;
  replicas_options options;
  options.mode = replica_mode::async;
  options.workers = options.ps_tasks = 1;
  options.make_optimizer = [](edge) { return std::make_unique<gradient_descent>(0.1); };
  options.batch = regression::batch;
  options.retry_delay_seconds = 0.02;
  options.last_step = 10;
  options.on_event = [&, told = false](const replica_event& event) mutable {
    if (event.kind == replica_event_kind::retrying && !std::exchange(told, true))
      refused.set_value();
  };
  replicas training{regression::build, options};
  auto* thousand =
      assign_add(training.global_step(), training.graph().constant(int64_t{1000})).node;
  auto* initializer = training.graph().initializer();
  auto first = waiting_server.connect(), second = waiting_server.connect();
  std::future<replicas_report> trained;
  first.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(initializer);
    trained = std::async(std::launch::async, [&] { return training.run(second); });
    refused.get_future().wait();
    initializing_session.run(thousand);
  });
  CHECK(trained.get().step == 10);
  CHECK(to_scalar<int64_t>(second.fetch(training.global_step())) >= 1010);
}

TEST_CASE("a nested initialization does not open the task") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto s = waiting_server.connect(), looking_session = waiting_server.connect();
  s.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.initialize);
    initializing_session.initialize_tasks([&](session& inner) { inner.run(m.initialize); });
    CHECK(why_not([&] { size_of(looking_session, m); }).kind() == error_kind::unavailable);
    initializing_session.run(m.put);
  });
  CHECK(size_of(looking_session, m) == 1);
}

TEST_CASE("of two threads of a session that initialize a task, the last one opens it") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto s = waiting_server.connect(), looking_session = waiting_server.connect();
  s.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.initialize);
    std::async(std::launch::async, [&] {
      s.initialize_tasks([&](session& nested_session) { nested_session.run(m.initialize); });
    }).get();
    CHECK(why_not([&] { size_of(looking_session, m); }).kind() == error_kind::unavailable);
    initializing_session.run(m.put);
  });
  CHECK(size_of(looking_session, m) == 1);
}

TEST_CASE("a task that restarts during its initialization is not opened without the first part") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto s = waiting_server.connect();
  auto outcome = why_not([&] {
    s.initialize_tasks([&](session& initializing_session) {
      initializing_session.run(m.initialize);
      waiting_server.start();
      CHECK(becomes_true([&] { return why_not([&] { initializing_session.run(m.put); }).ok(); }));
    });
  });
  CHECK(outcome.kind() == error_kind::aborted);
  CHECK_THAT(outcome.message(), Contains(ps + " was restarted while it was initialized"));
  auto looking_session = waiting_server.connect();
  CHECK_THAT(why_not([&] { size_of(looking_session, m); }).message(),
             Contains("no session does so yet"));
}

TEST_CASE("asynchronous runs initialize no task") {
  watchdog watch;
  waiting_ps waiting_server;
  model m;
  auto s = waiting_server.connect();
  auto put_step = s.prepare({}, {}, {m.put});
  s.initialize_tasks([&](session& initializing_session) {
    initializing_session.run(m.initialize);
    auto outcome = why_not([&] { put_step.run_async({}).get(); });
    CHECK(outcome.kind() == error_kind::unavailable);
  });
  put_step.run_async({}).get();
  CHECK(size_of(s, m) == 1);
}

TEST_CASE("initializing tasks of a local session only calls the function") {
  model m;
  graph_builder g;
  auto w = g.variable(dtype::f32, {}, "w");
  auto* initialize = assign(w, 5.0f).node;
  auto s = session::local();
  s.initialize_tasks([&](session& initializing_session) { initializing_session.run(initialize); });
  CHECK(to_scalar<float>(s.fetch(w)) == 5);
  auto outcome = why_not([&] {
    s.initialize_tasks(
        [&](session&) { throw error{failure(error_kind::data_loss, "the file is damaged")}; });
  });
  CHECK(outcome.kind() == error_kind::data_loss);
}

} // namespace troupe::test::initialize_before_serving_test
