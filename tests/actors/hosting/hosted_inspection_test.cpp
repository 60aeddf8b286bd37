// What operators see of the sessions that a task hosts.
#include "tests/support/catch.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/api/cli/top/cluster_frame.hpp"
#include "troupe/serialization/reports/inspection_json.hpp"
#include "troupe/troupe.hpp"

#include <future>

namespace troupe::test::hosted_inspection_test {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

namespace {

struct watched_host {
  explicit watched_host(const hosting_limits& limits) {
    auto options = options_of_task(cluster, {"worker", 0});
    options.http = "127.0.0.1:0";
    options.hosting = limits;
    task = start_task(std::move(options));
  }
  std::string at() const { return "master:" + cluster.jobs.at("worker")[0]; }
  http_answer get(std::string_view target) const {
    auto answer = http_client{task->http_port()}.get(target);
    if (!answer)
      throw std::runtime_error{"no answer"};
    return *answer;
  }
  inspection look(const std::string& ref) const {
    auto answer = get("/v1/node" + ref);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    auto read = parse_inspection(answer.body);
    REQUIRE(read.ok());
    return *std::move(read);
  }
  // What a sample of /metrics says; -1 where it is not there.
  double sample(const std::string& name) const {
    auto text = get("/metrics").body;
    auto at = text.find('\n' + name + ' ');
    return at == text.npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

  cluster_spec cluster = make_cluster(1);
  std::unique_ptr<troupe::task> task;
};

struct queue_graph {
  graph_builder g;
  edge queue = fifo_queue(g, {dtype::i32}, {.shapes = {{}}, .shared_name = "rows"});
  edge x = g.placeholder(dtype::i32, shape{}, "x");
  node* put = queue_enqueue(queue, {g.constant(tensor::scalar(1)) / x});
  edge taken = queue_dequeue(queue, {dtype::i32}, "take")[0];
};

double number(const inspection& of, std::string_view name) { return number_of(of.find(name)); }

const std::string self = "/job:worker/task:0";

} // namespace

TEST_CASE("a session that a task hosts is seen in the task's tree and in its metrics") {
  watchdog watch;
  watched_host here{{.sessions = 1}};
  CHECK(here.sample("troupe_hosted_sessions") == 0);
  CHECK(here.sample("troupe_hosted_sessions_limit") == 1);
  queue_graph of;
  auto before = here.look(self);
  {
    auto s = session::connect(here.at());
    auto put = s.prepare({of.x}, {}, {of.put});
    for (int i = 0; i < 3; ++i)
      put.run({tensor::scalar(1)});
    CHECK_THROWS_AS(put.run({tensor::scalar(0)}), error);

    auto now = here.look(self + "?depth=2");
    CHECK(number(now, "hosted_sessions") == 1);
    CHECK(number(now, "hosted_sessions_most") == 1);
    auto found = std::ranges::find(now.children, "hosted_session", &inspection::kind);
    REQUIRE(found != now.children.end());
    auto one = here.look(found->ref); // by its own name
    CHECK_THAT(text_of(one.find("client")), Contains("client"));
    CHECK(text_of(one.find("session")).size() == 16);
    CHECK(number(one, "age_seconds") > 0);
    CHECK(number(one, "steps_ended") == 4);
    CHECK(number(one, "steps_failed") == 1);
    CHECK(number(one, "steps_running") == 0);
    CHECK(number(one, "requests_unanswered") == 0);
    CHECK(number(one, "programs") == 1);
    CHECK(number(one, "bytes") > 0); // the graph
    // Its connection has the same id.
    auto id = found->ref.substr(found->ref.find("client"));
    CHECK(text_of(here.look(self + "/link:" + id).find("peer")) == text_of(one.find("client")));

    auto frame = compare(before, now, 2);
    REQUIRE(frame.sessions.size() == 1);
    CHECK(frame.sessions[0].steps_rate == Approx(2));
    CHECK(frame.sessions[0].failed_rate == Approx(0.5));
    CHECK_THAT(print(frame, 10), Contains("SESSION OF") && Contains(frame.sessions[0].client));

    CHECK(here.sample("troupe_hosted_sessions") == 1);
    CHECK(here.sample("troupe_hosted_sessions_opened_total") == 1);
    CHECK(here.sample(R"(troupe_hosted_steps_total{outcome="ok"})") == 3);
    CHECK(here.sample(R"(troupe_hosted_steps_total{outcome="invalid_argument"})") == 1);
    CHECK(here.sample("troupe_hosted_programs") == 1);
    CHECK(here.sample("troupe_hosted_bytes") > 0);

    // One more than there may be is seen, too.
    auto full = session::connect(here.at(), {.timeout = 1s});
    CHECK_THROWS_AS(full.run({{of.x, tensor::scalar(1)}}, {}, {of.put}), error);
    CHECK(here.sample("troupe_hosted_sessions_refused_total") >= 1);
  }
  while (here.sample("troupe_hosted_sessions") != 0) // the watchdog bounds it
    std::this_thread::yield();
  CHECK(here.sample("troupe_hosted_bytes") == 0);
  CHECK(here.sample(R"(troupe_hosted_steps_total{outcome="ok"})") == 3); // still
}

TEST_CASE("a hosted step that waits in the queue until its deadline counts as not begun") {
  watchdog watch;
  watched_host here{{.steps_at_once = 1}};
  queue_graph of;
  auto s = session::connect(here.at());
  auto take = s.prepare({}, {of.taken}), put = s.prepare({of.x}, {}, {of.put});
  auto taken = take.run_async({});
  while (here.sample("troupe_hosted_steps_running") < 1) // the watchdog bounds it
    std::this_thread::yield();
  CHECK_THROWS_AS(put.run({tensor::scalar(1)}, {.timeout = 10ms}), error);
  put.run({tensor::scalar(1)}); // let in when nobody has left for a while
  CHECK(taken.get().size() == 1);
  CHECK(here.sample(R"(troupe_hosted_steps_refused_total{reason="deadline_exceeded"})") == 1);
  CHECK(here.sample(R"(troupe_hosted_steps_total{outcome="deadline_exceeded"})") == 0);
}

TEST_CASE("steps that a host has not let in yet are waits of their session") {
  watchdog watch;
  watched_host here{{.steps_at_once = 1}};
  queue_graph of;
  auto s = session::connect(here.at());
  auto take = s.prepare({}, {of.taken}), put = s.prepare({of.x}, {}, {of.put});
  std::vector<std::future<std::vector<tensor>>> taken;
  for (int i = 0; i < 40; ++i)
    taken.push_back(take.run_async({}));
  inspection seen;
  auto in_line = [&]() -> const inspection* {
    seen = here.look(self + "?depth=3&only=hosted_session,step,wait");
    auto found = std::ranges::find(seen.children, "hosted_session", &inspection::kind);
    return found != seen.children.end() && !found->children.empty() ? &*found : nullptr;
  };
  const inspection* one = nullptr;
  while (!one)
    one = in_line();
  // One more is let in each 50 ms, perhaps while the host is asked.
  CHECK(number(*one, "steps_in_line") ==
        Approx(static_cast<double>(one->children.size())).margin(1));
  CHECK(number(*one, "steps_running") >= 1);
  CHECK(number(*one, "requests_unanswered") >= 2);
  CHECK(text_of(one->children[0].find("for")) == "turn");
  auto waits = waits_in(seen);
  auto turn = std::ranges::find(waits, "turn", &cluster_wait::what_for);
  REQUIRE(turn != waits.end());
  CHECK(turn->is_cause);
  CHECK(turn->step == one->children[0].ref);
  CHECK_THAT(print_waits(waits, 100), Contains(self + " waits for its turn among hosted steps: ") &&
                                          Contains("a step of client"));
  CHECK(here.sample("troupe_hosted_steps_running") >= 1);
  for (int i = 0; i < 40; ++i)
    put.run({tensor::scalar(1)});
  for (auto& each : taken)
    CHECK(each.get().size() == 1);
  CHECK(here.sample("troupe_hosted_steps_in_line") == 0);
}

} // namespace troupe::test::hosted_inspection_test
