// Sessions over a cluster in a program of CAF actors whose middleman watches their sockets.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/base/caf_io.hpp"
#include "troupe/api/caf.hpp"
#include "troupe/troupe.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace troupe::test::shared_io_test {

using namespace std::chrono_literals;

namespace {

struct host_config : caf::actor_system_config {
  host_config() {
    set("scheduler.max-threads", 2);
    load<caf::io::middleman>();
  }
};

size_t count_loop_threads() {
  size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string name;
    std::ifstream{thread.path() / "comm"} >> name;
    count += name == "troupe.io";
  }
  return count;
}

template <class Answer, class Question>
Answer ask(caf::scoped_actor& self, const caf::actor& session, Question question) {
  Answer answer{};
  status failed;
  self->request(session, 60s, std::move(question))
      .receive([&](Answer& received) { answer = std::move(received); },
               [&](const caf::error& cause) { failed = from_caf(cause); });
  INFO(failed);
  REQUIRE(failed.ok());
  return answer;
}

// A step that moves a tensor from the second worker to the first, whose size needs chunks.
struct moved_tensor {
  moved_tensor() {
    edge source;
    {
      auto on = g.on("/job:worker/task:1");
      source = g.variable(tensor::vector(std::vector<float>(100'000, 2.0f)));
    }
    auto on = g.on("/job:worker/task:0");
    fetched = square(source);
    initializer = g.initializer();
  }
  graph_builder g;
  edge fetched;
  node* initializer = nullptr;
};

std::shared_ptr<prepared_step> prepare(caf::scoped_actor& self, const caf::actor& session,
                                       const graph& g, step_signature signature) {
  auto question = prepare_request::make(g, signature, step_clock::now() + 60s);
  REQUIRE(question);
  return ask<std::shared_ptr<prepared_step>>(self, session, *std::move(question));
}

step_outcome run(caf::scoped_actor& self, const caf::actor& session,
                 const std::shared_ptr<prepared_step>& step) {
  auto outcome = ask<step_outcome>(self, session, step_request{step, {}, step_clock::now() + 60s});
  INFO(outcome.outcome);
  REQUIRE(outcome.outcome.ok());
  return outcome;
}

} // namespace

TEST_CASE("a session's sockets are on the middleman's thread, or not, and BASP works beside them") {
  watchdog watch;
  auto share_io = GENERATE(true, false);
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, {"worker", 0});
  auto second = start_task(cluster, {"worker", 1});
  moved_tensor content;
  auto threads_before = count_loop_threads();
  host_config config, other_config;
  caf::actor_system system{config}, other_system{other_config};
  auto doubles = system.spawn(
      [](caf::event_based_actor*) -> caf::behavior { return {[](int x) { return 2 * x; }}; });
  auto port = system.middleman().publish(doubles, 0, "127.0.0.1", true);
  REQUIRE(port);
  auto remote = other_system.middleman().remote_actor("127.0.0.1", *port);
  REQUIRE(remote);
  auto session = spawn_session(system, cluster, {.cluster = {.share_io = share_io}});
  {
    caf::scoped_actor self{system};
    run(self, session,
        prepare(self, session, content.g, {.feeds = {}, .targets = {content.initializer}}));
    auto step = prepare(self, session, content.g, {.feeds = {}, .fetches = {content.fetched}});
    std::atomic<int> wrong_answers{0};
    std::jthread caller{[&] {
      caf::scoped_actor calling{other_system};
      for (int i = 0; i < 50; ++i) {
        int answer = 0;
        calling->request(*remote, 60s, i)
            .receive([&](int doubled) { answer = doubled; }, [](const caf::error&) {});
        wrong_answers += answer != 2 * i;
      }
    }};
    for (int i = 0; i < 20; ++i)
      CHECK(run(self, session, step).fetches[0].values<float>()[99'999] == 4.0f);
    CHECK(count_loop_threads() == threads_before + (share_io ? 0 : 1));
    caller.join();
    CHECK(wrong_answers == 0);
  }
  for (const auto& ended : {session, doubles})
    caf::anon_send_exit(ended, caf::exit_reason::user_shutdown);
}

TEST_CASE("an actor of a host may wait for a remote actor when a step of its session has ended") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, {"worker", 0});
  auto second = start_task(cluster, {"worker", 1});
  moved_tensor content;
  host_config config, other_config;
  caf::actor_system system{config}, other_system{other_config};
  auto doubles = other_system.spawn(
      [](caf::event_based_actor*) -> caf::behavior { return {[](int x) { return 2 * x; }}; });
  auto port = other_system.middleman().publish(doubles, 0, "127.0.0.1", true);
  REQUIRE(port);
  auto remote = system.middleman().remote_actor("127.0.0.1", *port);
  REQUIRE(remote);
  auto session = spawn_session(system, cluster);
  {
    caf::scoped_actor self{system};
    auto step = prepare(self, session, content.g, {.feeds = {}, .targets = {content.initializer}});
    for (int i = 1; i <= 5; ++i) {
      std::promise<int> doubled;
      auto asking = system.spawn([&](caf::event_based_actor* asker) {
        asker->request(session, 60s, step_request{step, {}, step_clock::now() + 60s})
            .then(
                [&](const step_outcome&) {
                  int answer = 0;
                  caf::scoped_actor waiting{system};
                  waiting->request(*remote, 10s, i)
                      .receive([&](int received) { answer = received; }, [](const caf::error&) {});
                  doubled.set_value(answer);
                },
                [&](const caf::error&) { doubled.set_value(-1); });
      });
      CHECK(doubled.get_future().get() == 2 * i);
      self->wait_for(asking);
    }
  }
  for (const auto& ended : {session, doubles})
    caf::anon_send_exit(ended, caf::exit_reason::user_shutdown);
}

TEST_CASE("a host's system ends while its session calls tasks that do not answer") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, {"worker", 0}); // the other one is down
  host_config config;
  caf::actor_system system{config};
  auto session = spawn_session(system, cluster);
  std::this_thread::sleep_for(50ms);
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
}

TEST_CASE("a host's system ends after a task that its session is connected to is lost") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto first = start_task(cluster, {"worker", 0});
  auto second = start_task(cluster, {"worker", 1});
  moved_tensor content;
  host_config config;
  caf::actor_system system{config};
  auto session = spawn_session(system, cluster);
  {
    caf::scoped_actor self{system};
    run(self, session,
        prepare(self, session, content.g, {.feeds = {}, .targets = {content.initializer}}));
  }
  second = nullptr;
  caf::anon_send_exit(session, caf::exit_reason::user_shutdown);
}

} // namespace troupe::test::shared_io_test
