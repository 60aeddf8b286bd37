// Whoever connects may be anybody, and so may whoever listens where a task should be.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/serialization/wire/frame.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <random>

#include <unistd.h>

namespace troupe::test::stranger_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

const char* small_text = "x = Add(i32(1), i32(2))\nfetch x = i32(3)";

// A task, and a client that checks that it lives.
struct one_task {
  cluster_spec cluster = make_cluster(1);
  std::unique_ptr<task> served = start_task(cluster, {"worker", 0}, 1s);
  uint16_t port() const { return served->port(); }
  bool lives() const { return run_all(*connect_to(cluster), text_case{small_text}).empty(); }
};

// What a link would write first, with a change.
std::string greeting(const std::function<void(std::string&)>& change) {
  link_options options;
  options.self.software = "test";
  options.self.role = "client";
  troupe::link ours{options, {}};
  std::vector<char> bytes;
  ours.fill(bytes, 1 << 20);
  std::string text{bytes.begin(), bytes.end()};
  change(text);
  return text;
}

status run_against(plain_server::manner how, std::chrono::milliseconds timeout) {
  auto cluster = make_cluster(1);
  auto colon = cluster.jobs["worker"][0].rfind(':');
  plain_server other{static_cast<uint16_t>(std::stoi(cluster.jobs["worker"][0].substr(colon + 1))),
                     how};
  auto begin = clock_type::now();
  auto outcome = run(*connect_to(cluster), text_case{small_text}, 0, timeout).status();
  CHECK(clock_type::now() - begin < timeout + 5s * patience_factor());
  INFO(outcome);
  CHECK(!outcome.ok());
  CHECK(outcome.message().find("/job:worker/task:0") != std::string::npos);
  return outcome;
}

} // namespace

TEST_CASE("a browser that connects to a task is sent away, and the task lives on") {
  watchdog watch;
  one_task here;
  plain_connection browser{here.port()};
  CHECK(browser.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  bool closed = false;
  browser.read_to_end(closed);
  CHECK(closed);
  CHECK(here.lives());
}

TEST_CASE("another version of the protocol is refused in words") {
  watchdog watch;
  one_task here;
  hello who;
  who.version = 7;
  who.software = "0.0.7";
  who.role = "client";
  auto body = encode(who);
  REQUIRE(body);
  auto header = header_for(frame_kind::message, 0, body->bytes);
  plain_connection old{here.port()};
  CHECK(old.write({reinterpret_cast<const char*>(header.data()), header.size()}));
  CHECK(old.write({reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size()}));
  bool closed = false;
  auto said = old.read_to_end(closed);
  CHECK(closed);
  CHECK(said.find("speaks version 7") != std::string::npos);
  CHECK(here.lives());
}

TEST_CASE("a build of another week is refused in words, and the task lives on") {
  watchdog watch;
  one_task here;
  hello who;
  who.software = "0.1.0";
  who.role = "client";
  who.max_message = who.max_tensor_bytes = 1 << 20;
  auto refused = [&] {
    auto body = encode(who);
    REQUIRE(body);
    auto header = header_for(frame_kind::message, 0, body->bytes);
    plain_connection other{here.port()};
    CHECK(other.write({reinterpret_cast<const char*>(header.data()), header.size()}));
    CHECK(other.write({reinterpret_cast<const char*>(body->bytes.data()), body->bytes.size()}));
    bool closed = false;
    auto said = other.read_to_end(closed);
    CHECK(closed);
    return said;
  };
  CHECK(refused().find("of a build whose hello does not name it; /job:worker/task:0 is Troupe") !=
        std::string::npos);
  who.schema = 1;
  who.build = "0123456789ab";
  CHECK(refused().find("a client is Troupe 0.1.0, build 0123456789ab, message schema "
                       "0000000000000001; /job:worker/task:0 is Troupe") != std::string::npos);
  CHECK(here.lives());
}

TEST_CASE("a message that announces four gigabytes costs no memory") {
  watchdog watch;
  one_task here;
  auto before = footprint_of(::getpid()).resident_kib;
  auto header = write_header({.kind = frame_kind::message, .size = UINT32_MAX});
  plain_connection liar{here.port()};
  CHECK(liar.write({reinterpret_cast<const char*>(header.data()), header.size()}));
  bool closed = false;
  liar.read_to_end(closed);
  CHECK(closed);
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 16 * 1024);
  CHECK(here.lives());
}

TEST_CASE("who says nothing is sent away after the peer timeout") {
  watchdog watch;
  one_task here;
  plain_connection silent{here.port()};
  bool closed = false;
  silent.read_to_end(closed);
  CHECK(closed);
  CHECK(here.lives());
}

TEST_CASE("something else that listens at a task's address gives an error that names the task") {
  watchdog watch;
  CHECK(!run_against(plain_server::manner::echoes, 2s).ok());
  CHECK(!run_against(plain_server::manner::http, 2s).ok());
  CHECK(!run_against(plain_server::manner::closes, 2s).ok());
  CHECK(soon([] { // it is told a little before time is over, and may come too late
    auto silent = run_against(plain_server::manner::silent, 700ms);
    return silent.message().find("did not introduce itself") != std::string::npos;
  }));
}

TEST_CASE("another task than expected is not mistaken for it") {
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

TEST_CASE("noise and lengths that lie cost a task neither its life nor its memory") {
  watchdog watch;
  one_task here;
  auto before = footprint_of(::getpid()).resident_kib;
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  std::vector<plain_connection> held;
  for (int i = 0; i < 60; ++i) {
    auto bytes = greeting([&](std::string& text) {
      if (i % 3 == 0) // noise
        for (auto& one : text)
          one = static_cast<char>(dice());
      else if (i % 3 == 1) // a long length somewhere
        for (size_t at = dice() % text.size(), n = 0; n < 8 && at + n < text.size(); ++n)
          text[at + n] = static_cast<char>(0xff);
      else // the beginning only, and more to come that never comes
        text.resize(dice() % text.size());
    });
    held.emplace_back(here.port());
    held.back().write(bytes);
  }
  CHECK(here.lives());
  if (size_is_telling)
    CHECK(footprint_of(::getpid()).resident_kib - before < 64 * 1024);
}

TEST_CASE("two hundred connections at once leave the task at work, and no descriptors behind") {
  watchdog watch;
  one_task here;
  REQUIRE(here.lives());
  auto before = footprint_of(::getpid());
  {
    std::vector<plain_connection> storm;
    for (int i = 0; i < 200; ++i)
      storm.emplace_back(here.port());
    CHECK(here.lives());
  }
  auto end = clock_type::now() + 5s;
  while (footprint_of(::getpid()).descriptors > before.descriptors + 4 && clock_type::now() < end)
    std::this_thread::sleep_for(20ms);
  CHECK(footprint_of(::getpid()).descriptors <= before.descriptors + 4);
  CHECK(footprint_of(::getpid()).threads <= before.threads + 2);
  CHECK(here.lives());
}

} // namespace troupe::test::stranger_test
