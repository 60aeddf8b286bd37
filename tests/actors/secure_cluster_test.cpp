// Tasks and clients that speak over TLS, and those that should not be let in.
#include "tests/support/catch.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/dial.hpp"
#include "troupe/actors/tls_stream.hpp"
#include "troupe/api/library.hpp"
#include "troupe/serialization/tls/tls.hpp"
#include "troupe/serialization/wire/link.hpp"

#include <fstream>
#include <mutex>

#include <poll.h>

namespace troupe::test::secure_cluster_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

const char* small_text = "x = Add(i32(1), i32(2))\nfetch x = i32(3)";

// What a task has to say to its log.
struct log_lines {
  std::mutex mutex;
  std::vector<std::string> lines;
  void add(const std::string& text) {
    std::lock_guard guard{mutex};
    lines.push_back(text);
  }
  bool have(std::string_view part) {
    std::lock_guard guard{mutex};
    return std::ranges::any_of(lines, [&](auto& one) { return one.find(part) != one.npos; });
  }
  // Another thread tells it.
  bool come_to_have(std::string_view part) {
    for (auto end = clock_type::now() + 5s; clock_type::now() < end; std::this_thread::yield())
      if (have(part))
        return true;
    return false;
  }
};

struct secure_cluster {
  explicit secure_cluster(size_t workers, bool near = true,
                          std::chrono::milliseconds peer_timeout = 10s)
      : cluster(make_cluster(workers)) {
    for (size_t i = 0; i < workers; ++i)
      tasks.push_back(start(static_cast<int>(i), near, peer_timeout));
  }
  std::unique_ptr<task> start(int number, bool near, std::chrono::milliseconds peer_timeout) {
    auto made = task::start(
        {.ops = &library(),
         .make_devices = [] { return make_devices({.intra_op_threads = 1, .gpus = 0}); },
         .cluster = cluster,
         .self = {"worker", number},
         .listen = {},
         .tls = authority.task("worker", number),
         .inter_op_threads = 2,
         .peer_timeout = peer_timeout,
         .near_memory = near,
         .on_warning = [this](const std::string& text) { log.add(text); }});
    INFO(made.status());
    REQUIRE(made);
    return *std::move(made);
  }
  std::unique_ptr<client> connect(const tls_files& files) const {
    return connect(files, cluster);
  }
  static std::unique_ptr<client> connect(const tls_files& files, const cluster_spec& to) {
    auto made = client::connect(
        to, {.ops = &library(), .make_devices = {}, .inter_op_threads = 2, .container = {}, .tls = files});
    INFO(made.status());
    REQUIRE(made);
    return *std::move(made);
  }
  uint16_t port() const { return tasks[0]->port(); }
  bool lives() { return run_all(*connect(authority.client("alice")), text_case{small_text}).empty(); }

  test_authority authority;
  log_lines log; // outlives those who write to it
  cluster_spec cluster;
  std::vector<std::unique_ptr<task>> tasks;
};

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

// How a step of a client fails that is not let in.
status refused(client& who, std::chrono::milliseconds patience = 5s) {
  auto begin = clock_type::now();
  auto outcome = run(who, text_case{small_text}, 0, patience).status();
  CHECK(clock_type::now() - begin < patience + 1s);
  INFO(outcome);
  CHECK(!outcome.ok());
  CHECK_THAT(outcome.message(), Contains("/job:worker/task:0"));
  return outcome;
}

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
  CHECK_THAT(outcome.message(), Contains("does not know who signed our certificate"));
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

TEST_CASE("a caller that says it is a task which its certificate does not name is refused in words") {
  watchdog watch;
  secure_cluster here{1};
  auto identity = tls_identity::load({here.authority.client("mallory"), ""});
  REQUIRE(identity);
  std::atomic<bool> stop{false};
  auto stream =
      dial_over_tls({"127.0.0.1", here.port()}, *identity, task_name{"worker", 0}, step_clock::now() + 5s, stop);
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

TEST_CASE("a task without TLS gives a client that wants it an error that says so") {
  watchdog watch;
  auto cluster = make_cluster(1);
  auto plain = start_task(cluster, {"worker", 0});
  test_authority authority;
  auto outcome = refused(*secure_cluster::connect(authority.client("alice"), cluster), 700ms);
  CHECK_THAT(outcome.message(), Contains("TLS"));
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
  CHECK_THAT(outcome.message(), Contains("192.0.2.1:7001 is another machine, and there is no encryption"));
}

} // namespace troupe::test::secure_cluster_test
