// Connections as such: how many there may be, and what a peer costs that does not read.
#include "troupe/actors/exchange.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/dial.hpp"
#include "troupe/actors/errors.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/actors/step_server.hpp"
#include "troupe/actors/system.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test::exchange_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

exchange_options options_of(std::shared_ptr<step_server> server = nullptr) {
  exchange_options made;
  made.self.role = "task";
  made.self.job = "worker";
  made.server = std::move(server);
  made.peer_timeout = 10s * patience_factor();
  return made;
}

// An exchange, and the other end of its connection.
struct connected {
  explicit connected(std::shared_ptr<step_server> server = nullptr) {
    auto listening = listen_at({"127.0.0.1", 0});
    REQUIRE(listening);
    std::atomic<bool> stop{false};
    auto dialed = dial({"127.0.0.1", listening->second}, step_clock::now() + 5s, stop);
    REQUIRE(dialed);
    auto accepted = ::accept4(listening->first.get(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(accepted >= 0);
    other = std::make_unique<plain_connection>(accepted);
    exchange = spawn_exchange(system, dialed->release(), options_of(std::move(server)));
  }
  ~connected() {
    caf::anon_send_exit(exchange, caf::exit_reason::user_shutdown);
    exchange = nullptr;
  }
  // Says hello, as a link does, and no more.
  void introduce() {
    link_options options;
    options.self.role = "client";
    troupe::link peer{options, {}};
    std::vector<char> bytes;
    peer.fill(bytes, 1 << 20);
    REQUIRE(other->write({bytes.data(), bytes.size()}));
  }

  system_config config{1, true};
  caf::actor_system system{config};
  std::unique_ptr<plain_connection> other;
  caf::actor exchange;
};

double seconds_of_processor(pid_t process) {
  std::ifstream in{concat("/proc/", process, "/stat")};
  std::string skipped;
  for (int i = 0; i < 13; ++i)
    in >> skipped;
  double user = 0, kernel = 0;
  in >> user >> kernel;
  return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

} // namespace

TEST_CASE("one connection more than allowed is refused in words, until another has ended") {
  watchdog watch;
  system_config config{1, true};
  caf::actor_system system{config};
  auto listening = listen_at({"127.0.0.1", 0});
  REQUIRE(listening);
  auto options = options_of();
  options.max_connections = 2;
  auto port = listening->second;
  auto listener = spawn_listener(system, listening->first.release(), std::move(options));
  {
    plain_connection first{port}, second{port};
    std::this_thread::sleep_for(50ms);
    plain_connection third{port};
    bool closed = false;
    auto said = third.read_to_end(closed);
    CHECK(closed);
    CHECK_THAT(said, Contains("/job:worker/task:0 has 2 connections already, at most 2"));
  }
  auto heard = [&] {
    plain_connection again{port};
    char byte = 0;
    return ::recv(again.descriptor(), &byte, 1, 0) == 1 &&
           ::recv(again.descriptor(), &byte, 1, MSG_DONTWAIT) == 1;
  };
  CHECK(heard());
  caf::anon_send_exit(listener, caf::exit_reason::user_shutdown);
}

TEST_CASE("a task without a free descriptor neither spins nor forgets to accept later") {
  watchdog watch;
  auto cluster = make_cluster(1);
  task_process here{cluster, {"worker", 0}};
  const text_case small{"x = Add(i32(1), i32(2))\nfetch x = i32(3)"};
  REQUIRE(run_all(*connect_to(cluster), small).empty());
  auto used = footprint_of(here.pid()).descriptors;
  rlimit few{static_cast<rlim_t>(used) + 3, static_cast<rlim_t>(used) + 3}, before{};
  REQUIRE(::prlimit(here.pid(), RLIMIT_NOFILE, &few, &before) == 0);
  auto colon = cluster.jobs["worker"][0].rfind(':');
  auto port = static_cast<uint16_t>(std::stoi(cluster.jobs["worker"][0].substr(colon + 1)));
  {
    std::vector<plain_connection> storm;
    for (int i = 0; i < 20; ++i)
      storm.emplace_back(port);
    auto spent = seconds_of_processor(here.pid());
    std::this_thread::sleep_for(500ms);
    CHECK(seconds_of_processor(here.pid()) - spent < 0.25);
    bool closed = false;
    storm.back().read_to_end(closed);
    CHECK(closed); // not left to wait
  }
  CHECK(run_all(*connect_to(cluster), small).empty());
}

TEST_CASE("a peer that does not read fails steps, and costs no more than the limit") {
  watchdog watch;
  auto server = std::make_shared<step_server>(task_name{"worker", 0});
  connected pair{server};
  pair.introduce();
  auto value = tensor::make(dtype::u8, shape{60'000});
  REQUIRE(value);
  auto before = footprint_of(::getpid()).resident_kib;
  for (int i = 0; i < 3000; ++i) // 180 MB
    caf::anon_send(pair.exchange,
                   outgoing{tensor_push{{0, 7}, static_cast<uint32_t>(i), false, *value}});
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 110 * 1024);
  auto outcome = server->steps().announce({0, 7});
  CHECK(outcome.kind() == error_kind::resource_exhausted);
  CHECK_THAT(outcome.message(), Contains("sending to") &&
                                    Contains("bytes of messages wait already, at most 67108864"));
}

TEST_CASE("questions to a peer that has gone are answered, also later ones") {
  watchdog watch;
  connected pair;
  pair.introduce();
  std::this_thread::sleep_for(20ms);
  pair.other = nullptr;
  for (int i = 0; i < 2; ++i) {
    caf::scoped_actor self{pair.system, true};
    status outcome;
    self->request(pair.exchange, 5s,
                  run_request{.handle = 1, .step = {0, 1}, .deadline = {}, .feeds = {}})
        .receive([](const step_result&) {},
                 [&](const caf::error& why) { outcome = from_caf(why); });
    CHECK(outcome.kind() == error_kind::unavailable);
    CHECK_THAT(outcome.message(), Contains("client"));
  }
}

} // namespace troupe::test::exchange_test
