#include "troupe/actors/network/http_server.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/watchdog.hpp"

#include <random>
#include <thread>

namespace troupe::test::http_server_test {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<http_server> start(http_server::handler answers, const http_limits& limits = {}) {
  auto started = http_server::start({"127.0.0.1", 0}, std::move(answers), limits);
  REQUIRE(started.ok());
  return *std::move(started);
}

std::unique_ptr<http_server> echo(const http_limits& limits = {}) {
  return start([](const http_request& request,
                  http_server::respond respond) { respond({.body = request.target}); },
               limits);
}

bool still_serves(http_server& server) {
  auto answer = http_client{server.port()}.get("/still");
  return answer && answer->status == 200 && answer->body == "/still";
}

} // namespace

TEST_CASE("a connection serves one request after the other, also when they arrive together") {
  watchdog watch;
  auto server = echo();
  http_client client{server->port()};
  CHECK(client.get("/a?b=c")->body == "/a?b=c");
  CHECK(client.get("/b")->body == "/b");
  client.send(
      "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(client.receive()->body == "/1");
  CHECK(client.receive()->body == "/2");
}

TEST_CASE("an answer may come from another thread, and a missing answer is given up") {
  watchdog watch;
  std::vector<http_server::respond> kept_responses;
  std::jthread reply_thread;
  auto waiting_server = start([&](const http_request&, http_server::respond respond) {
    reply_thread = std::jthread{[respond] { respond({.body = "later"}); }};
  });
  http_client unhurried{waiting_server->port()};
  CHECK(unhurried.get("/later")->body == "later");
  CHECK(unhurried.get("/later")->body == "later");
  auto server = start(
      [&](const http_request& request, http_server::respond respond) {
        if (request.target == "/now")
          respond({.body = "now"});
        else if (request.target == "/throw")
          throw std::runtime_error{"no luck"};
        else
          kept_responses.push_back(std::move(respond));
      },
      {.answer = 50ms});
  http_client client{server->port()};
  CHECK(client.get("/never")->status == 504);
  CHECK(client.get("/throw")->status == 500);
  CHECK(client.get("/now")->body == "now");
  server = nullptr;
  // The server is gone.
  for (auto& respond_later : kept_responses)
    respond_later({.body = "too late"});
}

TEST_CASE("HEAD gets only the headers; other methods and garbage are refused") {
  watchdog watch;
  auto server = echo();
  http_client client{server->port()};
  client.send("HEAD /abc HTTP/1.1\r\nHost: localhost\r\n\r\n");
  auto head = client.receive(false);
  CHECK(head->status == 200);
  CHECK(head->headers.find("Content-Length: 4") != head->headers.npos);
  client.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
  auto refused = client.receive();
  CHECK(refused->status == 405);
  CHECK(refused->headers.find("Allow: GET, HEAD") != refused->headers.npos);
  CHECK(client.get("/after")->status == 200);

  http_client bad_client{server->port()};
  bad_client.send("this is not HTTP\r\n\r\n");
  CHECK(bad_client.receive()->status == 400);
  CHECK(bad_client.ends_within(5s));
}

TEST_CASE("random bytes and truncated requests end only their own connection") {
  watchdog watch;
  auto server = echo({.request = 200ms});
  std::mt19937 generator{11};
  const std::string good_request = "GET /x HTTP/1.1\r\nHost: localhost\r\nX-More: yes\r\n\r\n";
  for (int i = 0; i < 200; ++i) {
    auto bytes = good_request;
    for (auto n = generator() % 8; n > 0; --n)
      bytes[generator() % bytes.size()] = static_cast<char>(generator());
    if (i % 3 == 0)
      bytes.resize(generator() % bytes.size());
    http_client client{server->port()};
    client.send(bytes);
  }
  CHECK(still_serves(*server));
}

TEST_CASE("headers and bodies that are too long are refused, and the peer reads the reason") {
  watchdog watch;
  auto server = echo({.header_bytes = 2048, .body_bytes = 100});
  http_client client{server->port()};
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  CHECK(client.receive()->status == 431);
  http_client second_client{server->port()};
  second_client.send(
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nxxxx");
  CHECK(second_client.receive()->status == 413);
  http_client endless{server->port()};
  endless.send("GET / HTTP/1.1\r\n");
  while (endless.send("X: y\r\n")) // until the server closes the connection
    ;
  CHECK(still_serves(*server));
}

TEST_CASE("a slow request is disconnected, however regularly its bytes arrive") {
  watchdog watch;
  auto server = echo({.request = 100ms});
  http_client silent_client{server->port()};
  CHECK(silent_client.ends_within(5s));
  http_client slow{server->port()};
  auto begin = std::chrono::steady_clock::now();
  while (slow.send("G") && std::chrono::steady_clock::now() - begin < 20s)
    if (slow.ends_within(10ms))
      break;
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK(still_serves(*server));
}

TEST_CASE("a peer that does not read its answer is disconnected") {
  watchdog watch;
  auto server = start(
      [](const http_request& request, http_server::respond respond) {
        respond({.body = std::string(request.target == "/large" ? 64 << 20 : 1, 'x')});
      },
      {.connections = 1, .response = 100ms});
  http_client client{server->port()};
  client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (;;) { // until a slot is free
    http_client second_client{server->port()};
    auto answer = second_client.get("/small");
    if (answer && answer->status == 200)
      break;
  }
  CHECK(!client.receive());
}

TEST_CASE(
    "where all connections are in use, an idle one is closed for a new one, and busy ones stay") {
  watchdog watch;
  std::vector<http_server::respond> kept_responses;
  std::mutex mutex;
  auto server = start(
      [&](const http_request& request, http_server::respond respond) {
        std::lock_guard guard{mutex};
        if (request.target == "/hold")
          kept_responses.push_back(std::move(respond));
        else
          respond({.body = request.target});
      },
      {.connections = 3});
  http_client busy{server->port()}, idle{server->port()}, also_idle{server->port()};
  busy.send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(idle.get("/x")->status == 200);
  CHECK(also_idle.get("/x")->status == 200);
  for (int i = 0; i < 10; ++i) {
    http_client third_client{server->port()};
    CHECK(third_client.get("/y")->status == 200);
  }
  CHECK(idle.ends_within(5s));
  // Now all slots are busy.
  http_client second{server->port()}, third{server->port()};
  for (auto* busy_client : {&second, &third})
    busy_client->send("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (;;) {
    std::lock_guard guard{mutex};
    if (kept_responses.size() == 3)
      break;
  }
  http_client refused{server->port()};
  CHECK(refused.receive()->status == 503);
  for (auto& respond_later : kept_responses)
    respond_later({.body = "held"});
  CHECK(busy.receive()->body == "held");
}

TEST_CASE("on loopback, a page that names this machine by another host name reads nothing") {
  watchdog watch;
  auto server = echo();
  auto status_for = [&](const std::string& host) {
    http_client client{server->port()};
    client.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    return client.receive()->status;
  };
  CHECK(status_for("evil.example") == 421);
  CHECK(status_for("127.0.0.1.evil.example:80") == 421);
  CHECK(status_for("localhost:8080") == 200);
  CHECK(status_for("127.0.0.1") == 200);
  CHECK(status_for("[::1]:80") == 200);
}

TEST_CASE("a port in use is an error") {
  auto first = echo();
  auto second = http_server::start({"127.0.0.1", first->port()},
                                   [](const http_request&, http_server::respond) {});
  REQUIRE(!second.ok());
  CHECK(second.status().kind() == error_kind::unavailable);
}

} // namespace troupe::test::http_server_test
