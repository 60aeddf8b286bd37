// The inspection of sessions that a task hosts.
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
  inspection inspect_part(const std::string& ref) const {
    auto answer = get("/v1/node" + ref);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    auto read = parse_inspection(answer.body);
    REQUIRE(read.ok());
    return *std::move(read);
  }
  // The value of a sample in /metrics; -1 if it is absent.
  double sample(const std::string& name) const {
    auto text = get("/metrics").body;
    auto position = text.find('\n' + name + ' ');
    return position == text.npos ? -1 : std::stod(text.substr(position + name.size() + 2));
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

double number(const inspection& parent, std::string_view name) {
  return number_of(parent.find(name));
}

const std::string self = "/job:worker/task:0";

} // namespace

TEST_CASE("a session that a task hosts appears in the task's tree and in its metrics") {
  watchdog watch;
  watched_host host{{.sessions = 1}};
  CHECK(host.sample("troupe_hosted_sessions") == 0);
  CHECK(host.sample("troupe_hosted_sessions_limit") == 1);
  queue_graph queues;
  auto before = host.inspect_part(self);
  {
    auto s = session::connect(host.at());
    auto put_step = s.prepare({queues.x}, {}, {queues.put});
    for (int i = 0; i < 3; ++i)
      put_step.run({tensor::scalar(1)});
    CHECK_THROWS_AS(put_step.run({tensor::scalar(0)}), error);

    auto now = host.inspect_part(self + "?depth=2");
    CHECK(number(now, "hosted_sessions") == 1);
    CHECK(number(now, "hosted_sessions_most") == 1);
    auto found_entry = std::ranges::find(now.children, "hosted_session", &inspection::kind);
    REQUIRE(found_entry != now.children.end());
    auto inspected = host.inspect_part(found_entry->ref); // by its own reference
    CHECK_THAT(text_of(inspected.find("client")), Contains("client"));
    CHECK(text_of(inspected.find("session")).size() == 16);
    CHECK(number(inspected, "age_seconds") > 0);
    CHECK(number(inspected, "steps_ended") == 4);
    CHECK(number(inspected, "steps_failed") == 1);
    CHECK(number(inspected, "steps_running") == 0);
    CHECK(number(inspected, "requests_unanswered") == 0);
    CHECK(number(inspected, "programs") == 1);
    CHECK(number(inspected, "bytes") > 0); // the graph's bytes
    // The session's connection has the same id.
    auto id = found_entry->ref.substr(found_entry->ref.find("client"));
    CHECK(text_of(host.inspect_part(self + "/link:" + id).find("peer")) ==
          text_of(inspected.find("client")));

    auto frame = compare(before, now, 2);
    REQUIRE(frame.sessions.size() == 1);
    CHECK(frame.sessions[0].steps_rate == Approx(2));
    CHECK(frame.sessions[0].failed_rate == Approx(0.5));
    CHECK_THAT(print(frame, 10), Contains("SESSION OF") && Contains(frame.sessions[0].client));

    CHECK(host.sample("troupe_hosted_sessions") == 1);
    CHECK(host.sample("troupe_hosted_sessions_opened_total") == 1);
    CHECK(host.sample(R"(troupe_hosted_steps_total{outcome="ok"})") == 3);
    CHECK(host.sample(R"(troupe_hosted_steps_total{outcome="invalid_argument"})") == 1);
    CHECK(host.sample("troupe_hosted_programs") == 1);
    CHECK(host.sample("troupe_hosted_bytes") > 0);

    // A client beyond the limit is counted as well.
    auto full = session::connect(host.at(), {.timeout = 1s});
    CHECK_THROWS_AS(full.run({{queues.x, tensor::scalar(1)}}, {}, {queues.put}), error);
    CHECK(host.sample("troupe_hosted_sessions_refused_total") >= 1);
  }
  while (host.sample("troupe_hosted_sessions") != 0) // the watchdog bounds it
    std::this_thread::yield();
  CHECK(host.sample("troupe_hosted_bytes") == 0);
  // The counter keeps its value.
  CHECK(host.sample(R"(troupe_hosted_steps_total{outcome="ok"})") == 3);
}

TEST_CASE(
    "a hosted step that is not admitted before its deadline counts as a step that was not begun") {
  watchdog watch;
  watched_host host{{.max_concurrent_steps = 1}};
  queue_graph queues;
  auto s = session::connect(host.at());
  auto take = s.prepare({}, {queues.taken}), put_step = s.prepare({queues.x}, {}, {queues.put});
  auto take_answer = take.run_async({});
  while (host.sample("troupe_hosted_steps_running") < 1) // the watchdog bounds it
    std::this_thread::yield();
  CHECK_THROWS_AS(put_step.run({tensor::scalar(1)}, {.timeout = 10ms}), error);
  put_step.run({tensor::scalar(1)}); // admitted after no step has ended for a while
  CHECK(take_answer.get().size() == 1);
  CHECK(host.sample(R"(troupe_hosted_steps_refused_total{reason="deadline_exceeded"})") == 1);
  CHECK(host.sample(R"(troupe_hosted_steps_total{outcome="deadline_exceeded"})") == 0);
}

TEST_CASE("hosted steps that are not admitted yet appear as waits of their session") {
  watchdog watch;
  watched_host host{{.max_concurrent_steps = 1}};
  queue_graph queues;
  auto s = session::connect(host.at());
  auto take = s.prepare({}, {queues.taken}), put_step = s.prepare({queues.x}, {}, {queues.put});
  std::vector<std::future<std::vector<tensor>>> take_answers;
  for (int i = 0; i < 40; ++i)
    take_answers.push_back(take.run_async({}));
  inspection task_inspection;
  auto in_line = [&]() -> const inspection* {
    task_inspection = host.inspect_part(self + "?depth=3&only=hosted_session,step,wait");
    auto found_entry =
        std::ranges::find(task_inspection.children, "hosted_session", &inspection::kind);
    return found_entry != task_inspection.children.end() && !found_entry->children.empty()
               ? &*found_entry
               : nullptr;
  };
  const inspection* hosted_session = nullptr;
  while (!hosted_session)
    hosted_session = in_line();
  // One more step is admitted every 50 ms, perhaps between the host's two answers.
  CHECK(number(*hosted_session, "queued_steps") ==
        Approx(static_cast<double>(hosted_session->children.size())).margin(1));
  CHECK(number(*hosted_session, "steps_running") >= 1);
  CHECK(number(*hosted_session, "requests_unanswered") >= 2);
  CHECK(text_of(hosted_session->children[0].find("for")) == "turn");
  auto cluster_waits = waits_in(task_inspection);
  auto admission_wait = std::ranges::find(cluster_waits, "turn", &cluster_wait::wait_kind);
  REQUIRE(admission_wait != cluster_waits.end());
  CHECK(admission_wait->is_cause);
  CHECK(admission_wait->step == hosted_session->children[0].ref);
  CHECK_THAT(print_waits(cluster_waits, 100),
             Contains(self + " waits for its turn among hosted steps: ") &&
                 Contains("a step of client"));
  CHECK(host.sample("troupe_hosted_steps_running") >= 1);
  for (int i = 0; i < 40; ++i)
    put_step.run({tensor::scalar(1)});
  for (auto& take_answer : take_answers)
    CHECK(take_answer.get().size() == 1);
  CHECK(host.sample("troupe_hosted_steps_queued") == 0);
}

} // namespace troupe::test::hosted_inspection_test
