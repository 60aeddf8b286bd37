// Tasks and clients that speak over TLS, and those that should not be let in.
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

TEST_CASE("tasks and a client work together over TLS, near memory or not") {
  watchdog watch;
  for (auto near : {false, true}) {
    secure_cluster here{2, near};
    auto client = here.connect(here.authority.client("alice"));
    for (int i = 0; i < 3; ++i)
      CHECK(run_all(*client, text_case{across}) == "");
    CHECK(here.log.lines.empty());
  }
}

TEST_CASE("a client of another authority is refused at once, and both ends say why") {
  watchdog watch;
  secure_cluster here{1};
  test_authority other;
  auto files = other.client("mallory");
  auto outcome = refused(*here.connect(files));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("is not signed by the authority in " + other.file()) &&
                                    Contains("both ends need certificates of one authority"));
  CHECK(here.log.come_to_have("a connection from 127.0.0.1:"));
  CHECK(here.lives());
}

TEST_CASE("a client whose certificate a task does not know hears so when it speaks") {
  watchdog watch;
  secure_cluster here{1};
  test_authority other;
  auto files = other.client("mallory");
  std::ofstream{files.authority, std::ios::app} << std::ifstream{here.authority.file()}.rdbuf();
  auto outcome = refused(*here.connect(files));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("does not know the issuer of our certificate"));
  CHECK(here.log.come_to_have("is not signed by the authority in " + here.authority.file()));
  CHECK(here.lives());
}

TEST_CASE("at the address of a task another one is not believed") {
  watchdog watch;
  secure_cluster here{2};
  auto swapped = here.cluster;
  std::swap(swapped.jobs["worker"][0], swapped.jobs["worker"][1]);
  auto outcome = refused(*here.connect(here.authority.client("alice"), swapped));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("its certificate names troupe:///job:worker/task:1, not "
                                         "troupe:///job:worker/task:0"));
}

TEST_CASE(
    "a caller that says it is a task which its certificate does not name is refused in words") {
  watchdog watch;
  secure_cluster here{1};
  auto identity = tls_identity::load({here.authority.client("mallory"), ""});
  REQUIRE(identity);
  std::atomic<bool> stop{false};
  auto stream = dial_over_tls({"127.0.0.1", here.port()}, *identity, task_name{"worker", 0},
                              step_clock::now() + 5s, stop);
  INFO(stream.status());
  REQUIRE(stream);
  link_options options;
  options.self = {.software = "test", .role = "task", .job = "worker", .task = 7, .incarnation = 1};
  troupe::link liar{options, {}};
  std::vector<char> bytes;
  liar.fill(bytes, 1 << 20);
  iovec place{bytes.data(), bytes.size()};
  REQUIRE((*stream)->write({&place, 1}) == static_cast<ssize_t>(bytes.size()));
  status said;
  while (said.ok()) {
    std::byte room[4096];
    iovec to{room, sizeof room};
    auto came = (*stream)->read({&to, 1});
    if (came > 0)
      said = liar.receive(std::span{room}.first(static_cast<size_t>(came)));
    else if (came == 0)
      break;
    pollfd wait{(*stream)->socket(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 5000) == 1);
  }
  CHECK_THAT(said.message(), Contains("it says that it is /job:worker/task:7, but its certificate "
                                      "names troupe:///client:mallory"));
  CHECK(here.lives());
}

TEST_CASE("who speaks without TLS to a task that wants it is told so") {
  watchdog watch;
  secure_cluster here{1};
  auto outcome = refused(*connect_to(here.cluster));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("connections to this task are over TLS"));
  CHECK(here.log.come_to_have("it speaks without TLS"));
  CHECK(here.lives());
}

TEST_CASE("a task without TLS tells a client that wants it so, at once") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  test_authority authority;
  auto outcome = refused(*secure_cluster::connect(authority.client("alice"), cluster));
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(), Contains("it speaks no TLS 1.3"));
  CHECK(run_all(*connect_to(cluster), text_case{small_text}).empty());
}

TEST_CASE("a browser, noise and silence at a port of TLS are sent away, and the task lives on") {
  watchdog watch;
  secure_cluster here{1, true, 1s};
  plain_connection browser{here.port()}, silent{here.port()}, half{here.port()};
  CHECK(browser.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  CHECK(half.write({"\x16\x03\x01\x02\x00\x01", 6})); // of a handshake
  for (auto* one : {&browser, &silent, &half}) {
    bool closed = false;
    one->read_to_end(closed);
    CHECK(closed);
  }
  CHECK(here.lives());
}

TEST_CASE("a task whose own certificate is of no use does not start") {
  test_authority authority;
  auto cluster = make_cluster(1);
  auto made = task::start({.ops = &library(),
                           .make_devices = [] { return make_devices({.gpus = 0}); },
                           .cluster = cluster,
                           .self = {"worker", 0},
                           .listen = {},
                           .tls = authority.task("worker", 1)});
  REQUIRE(!made);
  CHECK_THAT(made.status().message(),
             Contains("names troupe:///job:worker/task:1, not troupe:///job:worker/task:0"));
}

TEST_CASE("other machines are not spoken to without encryption, unless that is allowed") {
  watchdog watch;
  cluster_spec far;
  far.jobs["worker"] = {"192.0.2.1:7001"};
  auto outcome = refused(*connect_to(far), 2s);
  CHECK(outcome.kind() == error_kind::failed_precondition);
  CHECK_THAT(outcome.message(),
             Contains("192.0.2.1:7001 is another machine, and there is no encryption"));
}

TEST_CASE(
    "a running task believes an authority that is added, and shows a certificate that is new") {
  watchdog watch;
  secure_cluster here{1};
  const text_case small{small_text};
  auto alice = here.connect(here.authority.client("alice"));
  CHECK(run_all(*alice, small).empty());
  test_authority next;
  auto bob = next.client("bob"); // believes both authorities
  std::ofstream{bob.authority, std::ios::app} << std::ifstream{here.authority.file()}.rdbuf();
  CHECK_THAT(refused(*here.connect(bob)).message(),
             Contains("does not know the issuer of our certificate"));
  std::ofstream{here.authority.file(), std::ios::app} << std::ifstream{next.file()}.rdbuf();
  CHECK(run_all(*here.connect(bob), small).empty());
  CHECK(run_all(*alice, small).empty()); // by the connection of before
  CHECK(here.lives());
}

} // namespace troupe::test::secure_cluster_test
