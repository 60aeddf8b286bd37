// Tasks that find each other by etcd: against a real server, where one is installed.
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

announce_options claim(int task, uint64_t incarnation, std::chrono::milliseconds patience = 10s) {
  announce_options made;
  made.what = {"worker", task, incarnation, concat("127.0.0.1:", 1000 + incarnation)};
  made.patience = patience;
  return made;
}

std::shared_ptr<address_source> source_of(const etcd_server& server,
                                          std::chrono::seconds time_to_live = 10s) {
  auto made = make_etcd_source(server.url() + "/test", time_to_live);
  REQUIRE(made);
  return *made;
}

std::unique_ptr<announcement> announce(const std::shared_ptr<address_source>& to,
                                       announce_options what) {
  auto made = to->announce(std::move(what));
  INFO(made.status());
  REQUIRE(made);
  return *std::move(made);
}

// A service that is there may be too slow for once; one that is not refuses at once.
std::string says(address_source& of) {
  auto read = of.read();
  for (int again = 0; !read && again < 2; ++again)
    read = of.read();
  INFO(read.status());
  if (!read)
    return "error";
  std::string all;
  for (const auto& [task, address] : read->tasks)
    all += concat(all.empty() ? "" : ", ", task, ' ', address);
  return all;
}

std::string ask(const etcd_server& server, std::string_view what, std::string body) {
  auto at = *address::parse(server.url().substr(std::string_view{"http://"}.size()));
  auto answer = http_post(at, what, std::move(body), 5s);
  INFO(answer.status());
  REQUIRE(answer);
  return *answer;
}

bool there_is_none() {
  if (etcd_server::is_installed())
    return false;
  WARN("etcd is not installed: its tests are skipped");
  return true;
}

// Answers as etcd 3.6 does, as far as one task needs it, and well or not as a test wants.
class scripted_etcd {
public:
  scripted_etcd() : port_(free_ports(1)[0]) {
    auto made = listen_at({"127.0.0.1", port_});
    REQUIRE(made);
    listening_ = std::move(made->first);
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd wait{listening_.get(), POLLIN, 0};
        if (::poll(&wait, 1, 20) != 1)
          continue;
        plain_connection one{::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        serve(one);
      }
    }};
  }
  std::string url() const { return concat("http://127.0.0.1:", port_); }

  // Still to come:
  std::atomic<int> refused_puts{0}, refused_replacements{0}, refused_reads{0}, odd_reads{0};
  // Have come:
  std::atomic<int> puts{0}, replacements{0};
  std::atomic<bool> forgets_lease{false};

private:
  void serve(plain_connection& to) {
    std::string all;
    char bytes[4096];
    auto whole = [&] {
      auto end = all.find("\r\n\r\n"), length = all.find("Content-Length: ");
      return end != all.npos && length != all.npos &&
             all.size() >= end + 4 + std::stoul(all.substr(length + 16));
    };
    while (!whole()) {
      auto came = ::recv(to.descriptor(), bytes, sizeof bytes, 0);
      if (came <= 0)
        return;
      all.append(bytes, static_cast<size_t>(came));
    }
    auto [status, body] = answer(all);
    to.write(concat("HTTP/1.1 ", status, " x\r\nContent-Length: ", body.size(), "\r\n\r\n", body));
  }

  std::pair<int, std::string> answer(const std::string& asked) {
    static constexpr auto header = R"("header":{"cluster_id":"1","revision":"2"})";
    static constexpr auto error =
        R"({"code":14,"message":"etcdserver: request timed out","details":[]})";
    auto is = [&](std::string_view path) { return asked.find(path) != asked.npos; };
    auto due = [](std::atomic<int>& count) { return count > 0 && count-- > 0; };
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
      if (due(refused_reads))
        return {503, error};
      if (due(odd_reads))
        return {200, error};
      return {200,
              concat("{", header, value_.empty() ? "" : ",", value_.empty() ? "" : entry(), "}")};
    }
    if (!is("/v3/kv/txn"))
      return {200, concat("{", header, "}")};
    auto replaces = is(R"("target":"VALUE")");
    ++(replaces ? replacements : puts);
    if (due(replaces ? refused_replacements : refused_puts))
      return {503, error};
    if (!replaces && !value_.empty())
      return {200, concat("{", header, R"(,"responses":[{"response_range":{)", header, ",", entry(),
                          "}}]}")};
    auto text_after = [&](std::string_view name) {
      auto begin = asked.rfind(name) + name.size();
      return asked.substr(begin, asked.find('"', begin) - begin);
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
  std::jthread thread_; // last: it uses all else
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

TEST_CASE("a text that names no servers of etcd is an error that says how to") {
  for (const auto* bad : {"", "h", "http://h", "http://h:1,", "http://h:1/", "/x", "http:/h:1"}) {
    INFO(bad);
    auto made = make_etcd_source(bad);
    REQUIRE(!made);
    CHECK(made.status().message().find("etcd:http://host:2379") != std::string::npos);
  }
  CHECK(make_etcd_source("https://h:1").status().message().find("without TLS") !=
        std::string::npos);
  CHECK(make_etcd_source("http://a:1,http://b:2/a/b")->get()->name() ==
        "etcd:http://a:1,http://b:2/a/b");
}

TEST_CASE("etcd that cannot be reached says nothing, in time") {
  watchdog watch;
  auto source = *make_etcd_source(concat("http://127.0.0.1:", free_ports(1)[0]));
  auto begin = clock_type::now();
  CHECK(source->read().status().kind() == error_kind::unavailable);
  CHECK(clock_type::now() - begin < 5s * patience_factor());
  CHECK(first_look(source)); // it may come
  CHECK(!source->announce(claim(0, 1, 100ms)));
  auto stopped = claim(0, 1);
  stopped.give_up = [] { return true; };
  CHECK(source->announce(stopped).status().kind() == error_kind::cancelled);
}

TEST_CASE("an error of etcd's, as any version says it, is no answer") {
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
  CHECK(parse_etcd_lease(R"({"result":{"header":{},"ID":"7","TTL":"3"}})")->left == 3s);
}

TEST_CASE("a task stays in its place while etcd answers with errors, and its list stays") {
  watchdog watch;
  scripted_etcd server;
  auto source = *make_etcd_source(server.url() + "/test", 1s);
  std::atomic<bool> lost{false};
  auto what = claim(0, 1);
  what.on_lost = [&](const status&) { lost = true; };
  auto kept = announce(source, what);
  server.refused_puts = 3;
  CHECK(soon([&] { return server.refused_puts == 0; }));
  auto before = server.puts.load();
  CHECK(soon([&] { return server.puts > before + 1; }));
  CHECK(!lost);

  server.refused_reads = 1;
  auto read = source->read();
  CHECK(read.status().kind() == error_kind::unavailable);
  CHECK(read.status().message().find("request timed out") != std::string::npos);
  server.odd_reads = 1;
  CHECK(source->read().status().kind() == error_kind::unavailable);
  CHECK(says(*source) == "/job:worker/task:0 127.0.0.1:1001");
}

TEST_CASE("a key that hangs on a lease of before is put onto the one that is kept") {
  watchdog watch;
  scripted_etcd server;
  auto source = *make_etcd_source(server.url() + "/test", 1s);
  auto kept = announce(source, claim(0, 1));
  server.refused_replacements = 1;
  server.forgets_lease = true; // another is taken, and nothing hangs on it yet
  CHECK(soon([&] { return server.replacements == 2; }));
  auto before = server.puts.load();
  CHECK(soon([&] { return server.puts > before + 1; }));
  CHECK(server.replacements == 2); // that was enough
}

TEST_CASE("tasks get numbers from etcd, each one alone") {
  watchdog watch;
  if (there_is_none())
    return;
  etcd_server server;
  auto source = source_of(server);
  CHECK(says(*source).empty());
  // Checked here: Catch may be used by one thread alone.
  std::vector<std::future<result<std::unique_ptr<announcement>>>> claims;
  for (uint64_t i = 1; i <= 8; ++i)
    claims.push_back(
        std::async(std::launch::async, [&, i] { return source->announce(claim(-1, i)); }));
  std::set<task_name> numbers;
  std::vector<std::unique_ptr<announcement>> announced;
  for (auto& each : claims) {
    auto made = each.get();
    INFO(made.status());
    REQUIRE(made);
    announced.push_back(*std::move(made));
    numbers.insert(announced.back()->granted().task);
  }
  CHECK(numbers.size() == 8);
  CHECK(numbers.rbegin()->task == 7);
  // Whose place is free is followed at once, and by a later incarnation at the same address.
  auto freed = announced[3]->granted();
  announced[3] = nullptr;
  auto next = announce(source, claim(-1, 100));
  CHECK(next->granted().task == freed.task);
  auto back = announce(source, claim(-1, 100)); // the first has ended, without a word
  CHECK(back->granted().task == freed.task);
  CHECK(back->granted().incarnation == 101);
  auto taken = source->announce(claim(freed.task.task, 102, 300ms));
  REQUIRE(!taken);
  CHECK(taken.status().message().find("until its lease ends") != std::string::npos);
}

TEST_CASE("what keeps no lease alive leaves etcd, and who loses its lease takes another") {
  watchdog watch;
  if (there_is_none())
    return;
  etcd_server server;
  auto source = source_of(server, 2s);
  auto kept = announce(source, claim(0, 1));
  auto left_alone = *parse_etcd_lease(ask(server, "/v3/lease/grant", etcd_grant(5s)));
  ask(server, "/v3/kv/txn",
      etcd_put_if_absent({"/test/worker/1", "127.0.0.1:1002 2", left_alone.id}));
  ask(server, "/v3/kv/txn", etcd_put_if_absent({"/test/worker/x", "127.0.0.1:1", 0}));
  ask(server, "/v3/kv/txn", etcd_put_if_absent({"/test/worker/2", "nowhere", 0}));
  CHECK(says(*source) == "/job:worker/task:0 127.0.0.1:1001, /job:worker/task:1 127.0.0.1:1002");
  CHECK(soon([&] { return says(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
  auto entry =
      (*parse_etcd_range(ask(server, "/v3/kv/range", etcd_range("/test/worker/0", false)))).at(0);
  ask(server, "/v3/lease/revoke", etcd_revoke(entry.lease));
  CHECK(soon([&] { return says(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
  // The service may be away for a while.
  server.stop();
  CHECK(says(*source) == "error");
  server.start();
  CHECK(soon([&] { return says(*source) == "/job:worker/task:0 127.0.0.1:1001"; }));
}

TEST_CASE("a task that another has taken the place of in etcd is told") {
  watchdog watch;
  if (there_is_none())
    return;
  etcd_server server;
  auto source = source_of(server, 2s);
  std::promise<status> lost;
  auto what = claim(0, 1);
  what.on_lost = [&](const status& why) { lost.set_value(why); };
  auto kept = announce(source, what);
  auto successor = claim(0, 5);
  successor.what.address = what.what.address; // as if the first had ended
  auto next = announce(source, successor);
  CHECK(next->granted().incarnation == 5);
  auto told = lost.get_future();
  REQUIRE(told.wait_for(20s) == std::future_status::ready);
  CHECK(told.get().message().find("/job:worker/task:0 with the incarnation 1") !=
        std::string::npos);
  kept = nullptr; // which takes nothing out that is not its own
  CHECK(says(*source) == "/job:worker/task:0 127.0.0.1:1001");
}

TEST_CASE("tasks and clients find each other by etcd, in whatever order they start") {
  watchdog watch;
  if (there_is_none())
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
  auto zero = start(text, {"worker", -1}), one = start(text, {"worker", -1});
  CHECK(one->self() == task_name{"worker", 1});
  CHECK(outcome.get() == "");
  one.reset();
  CHECK(start(text, {"worker", -1})->self() == task_name{"worker", 1});
}

} // namespace troupe::test::etcd_test
