// Tasks and clients over TLS, and peers that must be refused.
#include "tests/support/catch.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/secure_cluster.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/tls_stream.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <fstream>

#include <poll.h>

namespace troupe::test::secure_cluster_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

const char* across = R"(
v = VariableV2 dtype=f32 shape=[3000000] @"/job:worker/task:0"
n = Fill(i32[3000000], f32(0.5)) @"/job:worker/task:0"
init = Assign(v, n)
target init
run
s = Sum(v, i32[0]) @"/job:worker/task:1"
b = Neg(v) @"/job:worker/task:1"
t = Sum(b, i32[0]) @"/job:worker/task:0"
fetch s = f32(1500000)
fetch t = f32(-1500000)
)";

} // namespace

TEST_CASE("tasks and a client work together over TLS, with and without same-host reads") {
  watchdog watch;
  for (auto same_host_reads : {false, true}) {
    secure_cluster cluster{2, same_host_reads};
    auto client = cluster.connect(cluster.authority.client("alice"));
    for (int i = 0; i < 3; ++i)
      CHECK(run_all(*client, text_case{across}) == "");
    CHECK(cluster.log.lines.empty());
  }
}

TEST_CASE("a client of another authority is refused at once, and both ends report why") {
  watchdog watch;
  secure_cluster cluster{1};
  test_authority other_authority;
  auto files = other_authority.client("mallory");
  auto outcome = refused(*cluster.connect(files));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(),
             Contains("is not signed by the authority in " + other_authority.file()) &&
                 Contains("both ends need certificates of one authority"));
  CHECK(cluster.log.eventually_contain("a connection from 127.0.0.1:"));
  CHECK(cluster.runs_steps());
}

TEST_CASE("a client whose certificate a task does not trust gets the reason when it sends") {
  watchdog watch;
  secure_cluster cluster{1};
  test_authority other_authority;
  auto files = other_authority.client("mallory");
  std::ofstream{files.authority, std::ios::app} << std::ifstream{cluster.authority.file()}.rdbuf();
  auto outcome = refused(*cluster.connect(files));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("does not know the issuer of our certificate"));
  CHECK(cluster.log.eventually_contain("is not signed by the authority in " +
                                       cluster.authority.file()));
  CHECK(cluster.runs_steps());
}

TEST_CASE("another server at the address of a task is not trusted") {
  watchdog watch;
  secure_cluster cluster{2};
  auto swapped = cluster.cluster;
  std::swap(swapped.jobs["worker"][0], swapped.jobs["worker"][1]);
  auto outcome = refused(*cluster.connect(cluster.authority.client("alice"), swapped));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("its certificate names troupe:///job:worker/task:1, not "
                                         "troupe:///job:worker/task:0"));
}

TEST_CASE(
    "a caller that claims the name of a task without its certificate is refused with a message") {
  watchdog watch;
  secure_cluster cluster{1};
  auto identity = tls_identity::load({cluster.authority.client("mallory"), ""});
  REQUIRE(identity);
  std::atomic<bool> stop{false};
  auto stream = dial_over_tls({"127.0.0.1", cluster.port()}, *identity, task_name{"worker", 0},
                              step_clock::now() + 5s, stop);
  INFO(stream.status());
  REQUIRE(stream);
  link_options options;
  options.self = {.software = "test", .role = "task", .job = "worker", .task = 7, .incarnation = 1};
  troupe::link false_peer{options, {}};
  std::vector<char> bytes;
  false_peer.fill(bytes, 1 << 20);
  iovec buffer{bytes.data(), bytes.size()};
  REQUIRE((*stream)->write({&buffer, 1}) == static_cast<ssize_t>(bytes.size()));
  status answer;
  while (answer.ok()) {
    std::byte room[4096];
    iovec read_buffer{room, sizeof room};
    auto received = (*stream)->read({&read_buffer, 1});
    if (received > 0)
      answer = false_peer.receive(std::span{room}.first(static_cast<size_t>(received)));
    else if (received == 0)
      break;
    pollfd wait{(*stream)->socket(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 5000) == 1);
  }
  CHECK_THAT(answer.message(),
             Contains("it says that it is /job:worker/task:7, but its certificate "
                      "names troupe:///client:mallory"));
  CHECK(cluster.runs_steps());
}

TEST_CASE("a peer without TLS gets the error that the task requires it") {
  watchdog watch;
  secure_cluster cluster{1};
  auto outcome = refused(*connect_to(cluster.cluster));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("connections to this task are over TLS"));
  CHECK(cluster.log.eventually_contain("it speaks without TLS"));
  CHECK(cluster.runs_steps());
}

TEST_CASE("a client that requires TLS gets an error at once from a task without TLS") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  test_authority authority;
  auto outcome = refused(*secure_cluster::connect(authority.client("alice"), cluster));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("it speaks no TLS 1.3"));
  CHECK(run_all(*connect_to(cluster), text_case{small_text}).empty());
}

TEST_CASE(
    "browsers, random bytes and silent peers at a TLS port are disconnected; the task lives on") {
  watchdog watch;
  secure_cluster cluster{1, true, 1s};
  plain_connection browser{cluster.port()}, silent{cluster.port()}, half{cluster.port()};
  CHECK(browser.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  CHECK(half.write({"\x16\x03\x01\x02\x00\x01", 6})); // part of a handshake
  for (auto* connection : {&browser, &silent, &half}) {
    bool closed = false;
    connection->read_to_end(closed);
    CHECK(closed);
  }
  CHECK(cluster.runs_steps());
}

TEST_CASE("a task with an unusable certificate does not start") {
  test_authority authority;
  auto cluster = make_cluster(1);
  auto started = task::start({.ops = &library(),
                              .make_devices = [] { return make_devices({.gpus = 0}); },
                              .cluster = cluster,
                              .self = {"worker", 0},
                              .listen = {},
                              .tls = authority.task("worker", 1)});
  REQUIRE(!started);
  CHECK_THAT(started.status().message(),
             Contains("names troupe:///job:worker/task:1, not troupe:///job:worker/task:0"));
}

TEST_CASE("unencrypted connections to other machines are refused, unless that is allowed") {
  watchdog watch;
  cluster_spec remote_cluster;
  remote_cluster.jobs["worker"] = {"192.0.2.1:7001"};
  auto outcome = refused(*connect_to(remote_cluster), 2s);
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(),
             Contains("192.0.2.1:7001 is another machine, and there is no encryption"));
}

TEST_CASE("a running task trusts an added authority, and presents a renewed certificate") {
  watchdog watch;
  secure_cluster cluster{1};
  const text_case small{small_text};
  auto alice = cluster.connect(cluster.authority.client("alice"));
  CHECK(run_all(*alice, small).empty());
  test_authority next;
  auto bob = next.client("bob"); // trusts both authorities
  std::ofstream{bob.authority, std::ios::app} << std::ifstream{cluster.authority.file()}.rdbuf();
  CHECK_THAT(refused(*cluster.connect(bob)).message(),
             Contains("does not know the issuer of our certificate"));
  std::ofstream{cluster.authority.file(), std::ios::app} << std::ifstream{next.file()}.rdbuf();
  CHECK(run_all(*cluster.connect(bob), small).empty());
  CHECK(run_all(*alice, small).empty()); // over the earlier connection
  CHECK(cluster.runs_steps());
}

} // namespace troupe::test::secure_cluster_test
