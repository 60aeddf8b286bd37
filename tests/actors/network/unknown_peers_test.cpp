// Unknown peers: any process may connect to a task, or listen at a task's address.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <random>

#include <unistd.h>

namespace troupe::test::unknown_peers_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

const char* small_text = "x = Add(i32(1), i32(2))\nfetch x = i32(3)";

// A task, and a client that checks that the task still answers.
struct one_task {
  cluster_spec cluster = make_cluster(1);
  std::unique_ptr<task> served = start_task(cluster, {"worker", 0}, 1s);
  uint16_t port() const { return served->port(); }
  bool is_alive() const { return run_all(*connect_to(cluster), text_case{small_text}).empty(); }
};

// The first bytes of a link, with a change.
std::string greeting(const std::function<void(std::string&)>& change) {
  link_options options;
  options.self.software = "test";
  options.self.role = "client";
  troupe::link client_link{options, {}};
  std::vector<char> bytes;
  client_link.fill(bytes, 1 << 20);
  std::string text{bytes.begin(), bytes.end()};
  change(text);
  return text;
}

status run_against(plain_server::manner manner, std::chrono::milliseconds timeout) {
  auto cluster = make_cluster(1);
  auto colon = cluster.jobs["worker"][0].rfind(':');
  plain_server fake_server{
      static_cast<uint16_t>(std::stoi(cluster.jobs["worker"][0].substr(colon + 1))), manner};
  auto begin = clock_type::now();
  auto outcome = run(*connect_to(cluster), text_case{small_text}, 0, timeout).status();
  CHECK(clock_type::now() - begin < timeout + 5s * timeout_factor());
  INFO(outcome);
  CHECK(!outcome.ok());
  CHECK(outcome.message().find("/job:worker/task:0") != std::string::npos);
  return outcome;
}

} // namespace

TEST_CASE("a browser that connects to a task is disconnected, and the task lives on") {
  watchdog watch;
  one_task server;
  plain_connection browser{server.port()};
  CHECK(browser.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  bool closed = false;
  browser.read_to_end(closed);
  CHECK(closed);
  CHECK(server.is_alive());
}

TEST_CASE("another version of the protocol is refused with a message") {
  watchdog watch;
  one_task server;
  hello old_hello;
  old_hello.version = 7;
  old_hello.software = "0.0.7";
  old_hello.role = "client";
  auto body = encode(old_hello);
  REQUIRE(body);
  auto header = header_for(frame_kind::message, 0, body->bytes);
  plain_connection old_client{server.port()};
  CHECK(old_client.write({reinterpret_cast<const char*>(header.data()), header.size()}));
  CHECK(old_client.write({reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size()}));
  bool closed = false;
  auto answer_text = old_client.read_to_end(closed);
  CHECK(closed);
  CHECK(answer_text.find("speaks version 7") != std::string::npos);
  CHECK(server.is_alive());
}

TEST_CASE("another build of the library is refused with a message, and the task lives on") {
  watchdog watch;
  one_task server;
  hello sent_hello;
  sent_hello.software = "0.1.0";
  sent_hello.role = "client";
  sent_hello.max_message = sent_hello.max_tensor_bytes = 1 << 20;
  auto refused = [&] {
    auto body = encode(sent_hello);
    REQUIRE(body);
    auto header = header_for(frame_kind::message, 0, body->bytes);
    plain_connection connection{server.port()};
    CHECK(connection.write({reinterpret_cast<const char*>(header.data()), header.size()}));
    CHECK(
        connection.write({reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size()}));
    bool closed = false;
    auto answer_text = connection.read_to_end(closed);
    CHECK(closed);
    return answer_text;
  };
  CHECK(refused().find("of a build whose hello does not name it; /job:worker/task:0 is Troupe") !=
        std::string::npos);
  sent_hello.schema = 1;
  sent_hello.build = "0123456789ab";
  CHECK(refused().find("a client is Troupe 0.1.0, build 0123456789ab, message schema "
                       "0000000000000001; /job:worker/task:0 is Troupe") != std::string::npos);
  CHECK(server.is_alive());
}

TEST_CASE("no memory is allocated for a message that announces four gigabytes") {
  watchdog watch;
  one_task server;
  auto before = footprint_of(::getpid()).resident_kib;
  auto header = write_header({.kind = frame_kind::message, .size = UINT32_MAX});
  plain_connection false_client{server.port()};
  CHECK(false_client.write({reinterpret_cast<const char*>(header.data()), header.size()}));
  bool closed = false;
  false_client.read_to_end(closed);
  CHECK(closed);
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 16 * 1024);
  CHECK(server.is_alive());
}

TEST_CASE("a silent peer is disconnected after the peer timeout") {
  watchdog watch;
  one_task server;
  plain_connection silent_client{server.port()};
  bool closed = false;
  silent_client.read_to_end(closed);
  CHECK(closed);
  CHECK(server.is_alive());
}

TEST_CASE("another program that listens at a task's address gives an error that names the task") {
  watchdog watch;
  CHECK(!run_against(plain_server::manner::echoes, 2s).ok());
  CHECK(!run_against(plain_server::manner::http, 2s).ok());
  CHECK(!run_against(plain_server::manner::closes, 2s).ok());
  CHECK(
      becomes_true([] { // the refusal is sent shortly before the deadline, and may arrive too late
        auto outcome = run_against(plain_server::manner::silent, 700ms);
        return outcome.message().find("did not introduce itself") != std::string::npos;
      }));
}

TEST_CASE("another task than the expected one is refused") {
  watchdog watch;
  auto cluster = make_cluster(2);
  auto swapped = cluster;
  std::swap(swapped.jobs["worker"][0], swapped.jobs["worker"][1]);
  auto zero = start_task(swapped, {"worker", 0});
  auto outcome = run(*connect_to(cluster),
                     text_case{"x = Neg(i32(1)) @\"/job:worker/task:1\"\nfetch x"}, 0, 2s)
                     .status();
  INFO(outcome);
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK(outcome.message().find("expected /job:worker/task:1") != std::string::npos);
  CHECK(outcome.message().find("found /job:worker/task:0") != std::string::npos);
}

TEST_CASE("a task survives random bytes and false lengths, and allocates no memory for them") {
  watchdog watch;
  one_task server;
  auto before = footprint_of(::getpid()).resident_kib;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 generator{seed};
  std::vector<plain_connection> held_connections;
  for (int i = 0; i < 60; ++i) {
    auto bytes = greeting([&](std::string& text) {
      if (i % 3 == 0) // random bytes
        for (auto& character : text)
          character = static_cast<char>(generator());
      else if (i % 3 == 1) // a large length at a random place
        for (size_t position = generator() % text.size(), n = 0;
             n < 8 && position + n < text.size(); ++n)
          text[position + n] = static_cast<char>(0xff);
      else // only the beginning: the announced rest never comes
        text.resize(generator() % text.size());
    });
    held_connections.emplace_back(server.port());
    held_connections.back().write(bytes);
  }
  CHECK(server.is_alive());
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 64 * 1024);
}

TEST_CASE("a task serves others after two hundred connections at once, and leaks no descriptors") {
  watchdog watch;
  one_task server;
  REQUIRE(server.is_alive());
  auto before = footprint_of(::getpid());
  {
    std::vector<plain_connection> connections;
    for (int i = 0; i < 200; ++i)
      connections.emplace_back(server.port());
    CHECK(server.is_alive());
  }
  auto end = clock_type::now() + 5s;
  while (footprint_of(::getpid()).descriptors > before.descriptors + 4 && clock_type::now() < end)
    std::this_thread::sleep_for(20ms);
  CHECK(footprint_of(::getpid()).descriptors <= before.descriptors + 4);
  CHECK(footprint_of(::getpid()).threads <= before.threads + 2);
  CHECK(server.is_alive());
}

} // namespace troupe::test::unknown_peers_test
