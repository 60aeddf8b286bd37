// Tasks that find each other by etcd: tests against a real server, where etcd is installed.
#include "tests/support/catch.hpp"
#include "tests/support/etcd_server.hpp"
#include "tests/support/plain_socket.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/actors/membership/etcd_source.hpp"
#include "troupe/actors/membership/find_cluster.hpp"
#include "troupe/actors/network/dial.hpp"
#include "troupe/actors/network/http_client.hpp"
#include "troupe/api/internal/library.hpp"
#include "troupe/serialization/discovery/etcd_messages.hpp"

#include <future>
#include <set>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

namespace troupe::test::etcd_test {

using namespace std::chrono_literals;

namespace {

using clock_type = std::chrono::steady_clock;

announce_options claim(int task, uint64_t incarnation, std::chrono::milliseconds timeout = 10s) {
  announce_options options;
  options.claim = {"worker", task, incarnation, concat("127.0.0.1:", 1000 + incarnation)};
  options.timeout = timeout;
  return options;
}

std::shared_ptr<address_source> source_of(const etcd_server& server,
                                          std::chrono::seconds time_to_live = 10s) {
  auto result = make_etcd_source(server.url() + "/test", time_to_live);
  REQUIRE(result);
  return *result;
}

std::unique_ptr<announcement> announce(const std::shared_ptr<address_source>& source,
                                       announce_options options) {
  auto result = source->announce(std::move(options));
  INFO(result.status());
  REQUIRE(result);
  return *std::move(result);
}

// A running service may be too slow once; a service that does not run refuses at once.
std::string listing_of(address_source& source) {
  auto read = source.read();
  for (int attempt = 0; !read && attempt < 2; ++attempt)
    read = source.read();
  INFO(read.status());
  if (!read)
    return "error";
  std::string text;
  for (const auto& [task, address] : read->tasks)
    text += concat(text.empty() ? "" : ", ", task, ' ', address);
  return text;
}

std::string ask(const etcd_server& server, std::string_view path, std::string body) {
  auto server_address = *address::parse(server.url().substr(std::string_view{"http://"}.size()));
  auto answer = http_post(server_address, path, std::move(body), 5s);
  INFO(answer.status());
  REQUIRE(answer);
  return *answer;
}

bool skip_without_etcd() {
  if (etcd_server::is_installed())
    return false;
  WARN("etcd is not installed: its tests are skipped");
  return true;
}

// A server that answers as etcd 3.6 does, as far as one task needs it, and fails where a test wants
// it to.
class scripted_etcd {
public:
  scripted_etcd() : port_(free_ports(1)[0]) {
    auto result = listen_at({"127.0.0.1", port_});
    REQUIRE(result);
    listening_ = std::move(result->first);
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd wait{listening_.get(), POLLIN, 0};
        if (::poll(&wait, 1, 20) != 1)
          continue;
        plain_connection connection{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        serve(connection);
      }
    }};
  }
  std::string url() const { return concat("http://127.0.0.1:", port_); }

  // Requests that will fail:
  std::atomic<int> refused_puts{0}, refused_replacements{0}, refused_reads{0}, odd_reads{0};
  // Requests that were received:
  std::atomic<int> puts{0}, replacements{0};
  std::atomic<bool> forgets_lease{false};

private:
  void serve(plain_connection& connection) {
    std::string text;
    char bytes[4096];
    auto is_complete = [&] {
      auto end = text.find("\r\n\r\n"), length = text.find("Content-Length: ");
      return end != text.npos && length != text.npos &&
             text.size() >= end + 4 + std::stoul(text.substr(length + 16));
    };
    while (!is_complete()) {
      auto received = ::recv(connection.descriptor(), bytes, sizeof bytes, 0);
      if (received <= 0)
        return;
      text.append(bytes, static_cast<size_t>(received));
    }
    auto [status, body] = answer(text);
    connection.write(
        concat("HTTP/1.1 ", status, " x\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  }

  std::pair<int, std::string> answer(const std::string& request) {
    static constexpr auto header = R"("header":{"cluster_id":"1","revision":"2"})";
    static constexpr auto error =
        R"({"code":14,"message":"etcdserver: request timed out","details":[]})";
    auto is = [&](std::string_view path) { return request.find(path) != request.npos; };
    auto is_due = [](std::atomic<int>& count) { return count > 0 && count-- > 0; };
    auto entry = [&] {
      return concat(R"("kvs":[{"key":")", key_, R"(","value":")", value_, R"(","lease":")",
                    held_by_, R"("}])");
    };
    if (is("/v3/lease/grant"))
      return {200, concat("{", header, R"(,"ID":")", ++lease_, R"(","TTL":"1"})")};
    if (is("/v3/lease/keepalive"))
      return {200, concat(R"({"result":{)", header, R"(,"ID":")", lease_, '"',
                          forgets_lease.exchange(false) ? "" : R"(,"TTL":"1")", "}}")};
    if (is("/v3/kv/range")) {
      if (is_due(refused_reads))
        return {503, error};
      if (is_due(odd_reads))
        return {200, error};
      return {200,
              concat("{", header, value_.empty() ? "" : ",", value_.empty() ? "" : entry(), "}")};
    }
    if (!is("/v3/kv/txn"))
      return {200, concat("{", header, "}")};
    auto replaces = is(R"("target":"VALUE")");
    ++(replaces ? replacements : puts);
    if (is_due(replaces ? refused_replacements : refused_puts))
      return {503, error};
    if (!replaces && !value_.empty())
      return {200, concat("{", header, R"(,"responses":[{"response_range":{)", header, ",", entry(),
                          "}}]}")};
    auto text_after = [&](std::string_view name) {
      auto begin = request.rfind(name) + name.size();
      return request.substr(begin, request.find('"', begin) - begin);
    };
    key_ = text_after(R"("key":")");
    value_ = text_after(R"("value":")");
    held_by_ = text_after(R"("lease":")");
    return {200, concat("{", header, R"(,"succeeded":true})")};
  }

  const uint16_t port_;
  socket_handle listening_;
  std::string key_, value_, held_by_;
  int lease_ = 6;
  std::jthread thread_; // last, since it uses all other members
};

std::unique_ptr<task> start(const std::string& text, const task_name& self) {
  auto cluster = find_cluster(text);
  INFO(cluster.status());
  REQUIRE(cluster);
  auto options = options_of_task(*cluster, self);
  options.listen = "127.0.0.1:0";
  return start_task(std::move(options));
}

} // namespace

TEST_CASE("a text that names no etcd servers is an error with an example") {
  for (const auto* bad_url :
       {"", "h", "http://h", "http://h:1,", "http://h:1/", "/x", "http:/h:1"}) {
    INFO(bad_url);
    auto source = make_etcd_source(bad_url);
    REQUIRE(!source);
    CHECK(source.status().message().find("etcd:http://host:2379") != std::string::npos);
  }
  CHECK(make_etcd_source("https://h:1").status().message().find("without TLS") !=
        std::string::npos);
  CHECK(make_etcd_source("http://a:1,http://b:2/a/b")->get()->name() ==
        "etcd:http://a:1,http://b:2/a/b");
}

TEST_CASE("an unreachable etcd gives no list, within the time limit") {
  watchdog watch;
  auto source = *make_etcd_source(concat("http://127.0.0.1:", free_ports(1)[0]));
  auto begin = clock_type::now();
  CHECK(source->read().status().kind() == error_kind::unavailable);
  CHECK(clock_type::now() - begin < 5s * timeout_factor());
  CHECK(read_initial_addresses(source)); // the first read may still be pending
  CHECK(!source->announce(claim(0, 1, 100ms)));
  auto stopped = claim(0, 1);
  stopped.is_cancelled = [] { return true; };
  CHECK(source->announce(stopped).status().kind() == error_kind::cancelled);
}

TEST_CASE("an error answer of etcd, in the form of any version, is not taken for a list") {
  constexpr auto of_3_4 = R"({"error":"etcdserver: no leader","code":14})",
                 of_3_6 = R"({"code":14,"message":"etcdserver: no leader","details":[]})",
                 of_a_stream = R"({"error":{"grpc_code":14,"message":"etcdserver: no leader"}})";
  for (const auto* answer : {of_3_4, of_3_6, of_a_stream}) {
    INFO(answer);
    for (const auto& outcome :
         {parse_etcd_range(answer).status(), parse_etcd_lease(answer).status(),
          parse_etcd_outcome(answer).status()}) {
      CHECK(outcome.kind() == error_kind::unavailable);
      CHECK(outcome.message().find("no leader") != std::string::npos);
    }
  }
  CHECK(parse_etcd_range("{}").status().kind() == error_kind::data_loss);
  CHECK(parse_etcd_outcome(R"({"result":{}})").status().kind() == error_kind::data_loss);
  CHECK(parse_etcd_range(R"({"header":{}})")->empty());
  CHECK(parse_etcd_lease(R"({"result":{"header":{},"ID":"7","TTL":"3"}})")->time_left == 3s);
}

TEST_CASE("a task keeps its place while etcd answers with errors, and its list stays") {
  watchdog watch;
  scripted_etcd server;
  auto source = *make_etcd_source(server.url() + "/test", 1s);
  std::atomic<bool> lost{false};
  auto options = claim(0, 1);
  options.on_lost = [&](const status&) { lost = true; };
  auto first_announcement = announce(source, options);
  server.refused_puts = 3;
  CHECK(becomes_true([&] { return server.refused_puts == 0; }));
  auto before = server.puts.load();
  CHECK(becomes_true([&] { return server.puts > before + 1; }));
  CHECK(!lost);

  server.refused_reads = 1;
  auto read = source->read();
  CHECK(read.status().kind() == error_kind::unavailable);
  CHECK(read.status().message().find("request timed out") != std::string::npos);
  server.odd_reads = 1;
  CHECK(source->read().status().kind() == error_kind::unavailable);
  CHECK(listing_of(*source) == "/job:worker/task:0 127.0.0.1:1001");
}

TEST_CASE("a key on an old lease is attached to the lease that is kept alive") {
  watchdog watch;
  scripted_etcd server;
  auto source = *make_etcd_source(server.url() + "/test", 1s);
  auto announced = announce(source, claim(0, 1));
  server.refused_replacements = 1;
  server.forgets_lease = true; // a new lease is taken, and has no keys yet
  CHECK(becomes_true([&] { return server.replacements == 2; }));
  auto before = server.puts.load();
  CHECK(becomes_true([&] { return server.puts > before + 1; }));
  CHECK(server.replacements == 2); // one replacement was enough
}

TEST_CASE("tasks get distinct numbers from etcd") {
  watchdog watch;
  if (skip_without_etcd())
    return;
  etcd_server server;
  auto source = source_of(server);
  CHECK(listing_of(*source).empty());
  // Checked on this thread: Catch may be used by one thread alone.
  std::vector<std::future<result<std::unique_ptr<announcement>>>> claims;
  for (uint64_t i = 1; i <= 8; ++i)
    claims.push_back(
        std::async(std::launch::async, [&, i] { return source->announce(claim(-1, i)); }));
  std::set<task_name> numbers;
  std::vector<std::unique_ptr<announcement>> announced;
  for (auto& pending_claim : claims) {
    auto claimed = pending_claim.get();
    INFO(claimed.status());
    REQUIRE(claimed);
    announced.push_back(*std::move(claimed));
    numbers.insert(announced.back()->grant().task);
  }
  CHECK(numbers.size() == 8);
  CHECK(numbers.rbegin()->task == 7);
  // A free place is taken at once, also by a later incarnation at the same address.
  auto freed = announced[3]->grant();
  announced[3] = nullptr;
  auto next = announce(source, claim(-1, 100));
  CHECK(next->grant().task == freed.task);
  // The first process has ended without notice.
  auto next_announcement = announce(source, claim(-1, 100));
  CHECK(next_announcement->grant().task == freed.task);
  CHECK(next_announcement->grant().incarnation == 101);
  auto refused_claim = source->announce(claim(freed.task.task, 102, 300ms));
  REQUIRE(!refused_claim);
  CHECK(refused_claim.status().message().find("until its lease ends") != std::string::npos);
}

TEST_CASE(
    "a task without a live lease leaves etcd, and a task that loses its lease takes another") {
  watchdog watch;
  if (skip_without_etcd())
    return;
  etcd_server server;
  auto source = source_of(server, 2s);
  auto announced = announce(source, claim(0, 1));
  auto left_alone = *parse_etcd_lease(ask(server, "/v3/lease/grant", etcd_grant(5s)));
  ask(server, "/v3/kv/txn",
      etcd_put_if_absent({"/test/worker/1", "127.0.0.1:1002 2", left_alone.id}));
  ask(server, "/v3/kv/txn", etcd_put_if_absent({"/test/worker/x", "127.0.0.1:1", 0}));
  ask(server, "/v3/kv/txn", etcd_put_if_absent({"/test/worker/2", "nowhere", 0}));
  CHECK(listing_of(*source) ==
        "/job:worker/task:0 127.0.0.1:1001, /job:worker/task:1 127.0.0.1:1002");
  CHECK(becomes_true([&] { return listing_of(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
  auto entry =
      (*parse_etcd_range(ask(server, "/v3/kv/range", etcd_range("/test/worker/0", false)))).at(0);
  ask(server, "/v3/lease/revoke", etcd_revoke(entry.lease));
  CHECK(becomes_true([&] { return listing_of(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
  // The service may be unavailable for a while.
  server.stop();
  CHECK(listing_of(*source) == "error");
  server.start();
  CHECK(becomes_true([&] { return listing_of(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
}

TEST_CASE("a task is notified when another task takes its place in etcd") {
  watchdog watch;
  if (skip_without_etcd())
    return;
  etcd_server server;
  auto source = source_of(server, 2s);
  std::promise<status> lost;
  auto options = claim(0, 1);
  options.on_lost = [&](const status& reason) { lost.set_value(reason); };
  auto first_announcement = announce(source, options);
  auto successor = claim(0, 5);
  successor.claim.address = options.claim.address; // as if the first process had ended
  auto next = announce(source, successor);
  CHECK(next->grant().incarnation == 5);
  auto lost_future = lost.get_future();
  REQUIRE(lost_future.wait_for(20s) == std::future_status::ready);
  CHECK(lost_future.get().message().find("/job:worker/task:0 with the incarnation 1") !=
        std::string::npos);
  first_announcement = nullptr; // it removes only keys of its own
  CHECK(listing_of(*source) == "/job:worker/task:0 127.0.0.1:1001");
}

TEST_CASE("tasks and clients find each other by etcd, in any order of starting") {
  watchdog watch;
  if (skip_without_etcd())
    return;
  etcd_server server;
  auto text = concat("etcd:", server.url(), "/train");
  client_options options;
  options.ops = &library();
  options.inter_op_threads = 2;
  auto cluster = find_cluster(text);
  REQUIRE(cluster);
  auto client = client::connect(*cluster, std::move(options));
  REQUIRE(client);
  text_case graph{R"(
x = Add(i32(1), i32(2)) @"/job:worker/task:0"
y = Mul(x, i32(5)) @"/job:worker/task:1"
fetch y = i32(15)
)"};
  auto outcome = std::async(std::launch::async, [&] { return run_all(**client, graph); });
  auto zeroth_task = start(text, {"worker", -1}), first_task = start(text, {"worker", -1});
  CHECK(first_task->self() == task_name{"worker", 1});
  CHECK(outcome.get() == "");
  first_task.reset();
  CHECK(start(text, {"worker", -1})->self() == task_name{"worker", 1});
}

} // namespace troupe::test::etcd_test
